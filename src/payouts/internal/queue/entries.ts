/**
 * The entries of the history: made from a change and the row that it made, and written as JSON.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { InvalidRequest } from "../../../contract/PaymentsError.ts"
import { invalidWithdrawal } from "../../../contract/WithdrawalCheck.ts"
import { Centavos } from "../../../pix/Money.ts"
import { PauseChange, PayoutChange, type StepOptions } from "../../PayoutHistory.ts"
import type { Known } from "../machine.ts"
import type { Row } from "./row.ts"

/** A change without what its row says: the time, the state and the mark. */
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

/** The entry of an event, with what the changed row says. */
export const entryOf = (event: Event, { mayHaveLeftAt, state, updatedAt }: Row): string =>
  writeEntry({
    ...event,
    at: DateTime.makeUnsafe(updatedAt),
    state,
    ...(mayHaveLeftAt !== null && { mayHaveLeftAt: DateTime.makeUnsafe(mayHaveLeftAt) })
  })

export const submitted = ({ amount }: Row): Event => ({ _tag: "Submitted", amount: Centavos.make(amount) })

/** The event of an answer to a request of a row. */
export const answeredEvent = ({ state }: Row, known: Known): Event => {
  if (known._tag !== "Recorded") return { _tag: "Answered", answer: known._tag, error: known.error }
  const { id: withdrawalId } = known.withdrawal
  return state === "failed"
    ? { _tag: "Contradicted", withdrawalId }
    : { _tag: "Answered", answer: "Recorded", withdrawalId }
}

const lengths = { by: 100, note: 1000 } as const

/** Who takes a step and why, checked, also of a caller without types. */
export const personOf = (options: StepOptions): Effect.Effect<Pick<PauseChange, "by" | "note">, InvalidRequest> => {
  const names = (["by", "note"] as const).filter((name) => options[name] !== undefined)
  const wrong = names.filter((name) => {
    const text: unknown = options[name]
    return !Predicate.isString(text) || text.trim() === "" || text.length > lengths[name]
  })
  return wrong.length === 0
    ? Effect.succeed(Object.fromEntries(names.map((name) => [name, options[name]])))
    : Effect.fail(
        invalidWithdrawal(
          wrong.map((path) => ({
            path,
            problem: `must be a text of 1 to ${lengths[path]} characters that is not blank`
          }))
        )
      )
}
