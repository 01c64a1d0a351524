/**
 * The entries of the history: an event and the row after it, as JSON.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { InvalidRequest } from "../../../contract/PaymentsError.ts"
import { invalidWithdrawal } from "../../../contract/WithdrawalCheck.ts"
import { Centavos } from "../../../pix/Money.ts"
import { issuesOfStep, type Person, personOf, type StepOptions } from "../../../durable/Step.ts"
import { PauseChange, PayoutChange } from "../../PayoutHistory.ts"
import type { Known } from "../machine.ts"
import type { Row } from "./row.ts"

/** A change without the fields that its row has: the time, the state and the mark. */
export type Event = PayoutChange extends infer Change
  ? Change extends PayoutChange
    ? Omit<Change, "at" | "state" | "mayHaveLeftAt">
    : never
  : never

const Entry = Schema.fromJsonString(Schema.toCodecJson(PayoutChange))
const writeEntry = Schema.encodeSync(Entry)
export const readEntries = Schema.decodeUnknownEffect(Schema.Array(Entry))

const PauseEntry = Schema.fromJsonString(Schema.toCodecJson(PauseChange))
export const writePause = Schema.encodeSync(PauseEntry)
export const readPauses = Schema.decodeUnknownEffect(Schema.Array(PauseEntry))

/** The entry of an event, with the fields of the changed row. */
export const entryOf = (event: Event, { mayHaveLeftAt, state, updatedAt }: Row): string =>
  writeEntry({
    ...event,
    at: DateTime.makeUnsafe(updatedAt),
    state,
    ...(mayHaveLeftAt !== null && { mayHaveLeftAt: DateTime.makeUnsafe(mayHaveLeftAt) })
  })

/** The first change of a payout. Its row shows it, so the table has no entry for it. */
export const submittedOf = ({ amount, submittedAt }: Row): PayoutChange => ({
  _tag: "Submitted",
  at: DateTime.makeUnsafe(submittedAt),
  state: "accepted",
  amount: Centavos.make(amount)
})

/** The event of an answer to a request of a row. */
export const answeredEvent = ({ state }: Row, known: Known): Event => {
  if (known._tag !== "Recorded") return { _tag: "Answered", answer: known._tag, error: known.error }
  const { id: withdrawalId } = known.withdrawal
  return state === "failed"
    ? { _tag: "Contradicted", withdrawalId }
    : { _tag: "Answered", answer: "Recorded", withdrawalId }
}

/** Checks the person and the reason of a step. */
export const checkedPerson = (options: StepOptions): Effect.Effect<Person, InvalidRequest> => {
  const issues = issuesOfStep(options)
  return issues.length === 0 ? Effect.succeed(personOf(options)) : Effect.fail(invalidWithdrawal(issues))
}
