/**
 * The entries of the history: an event and the row after it, as JSON.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { InvalidRequest } from "../../../contract/PaymentsError.ts"
import { invalidWithdrawal } from "../../../contract/WithdrawalCheck.ts"
import { Centavos } from "../../../pix/Money.ts"
import { issuesOfStep, type Person, personOf, type StepOptions } from "../../../durable/Step.ts"
import { AccountChange, PauseChange, type PayoutAccount, PayoutChange } from "../../PayoutHistory.ts"
import type { Known } from "../machine.ts"
import type { Account } from "./account.ts"
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

const AccountEntry = Schema.fromJsonString(Schema.toCodecJson(AccountChange))
export const writeChange = Schema.encodeSync(AccountEntry)
export const readChange = Schema.decodeSync(AccountEntry)

const isBecause = Schema.is(Schema.Literals(["AuthError", "Redirect"]))

/** The account as its users see it. The entries of its table are the library's own: one that cannot be read is a defect. */
export const accountOf = (
  {
    account,
    asked,
    blockedAt,
    blockedBecause,
    companyId,
    fingerprint,
    fourEyesAbove,
    pause,
    paused,
    servedAt
  }: Account,
  changes: ReadonlyArray<string>
): PayoutAccount => ({
  account,
  paused,
  ...(servedAt !== null && { servedAt: DateTime.makeUnsafe(servedAt) }),
  ...(fingerprint !== null && { fingerprint }),
  ...(companyId !== null && { companyId }),
  ...(pause !== null && { lastPause: Schema.decodeSync(PauseEntry)(pause) }),
  ...(blockedAt !== null &&
    isBecause(blockedBecause) && { refusedSince: { at: DateTime.makeUnsafe(blockedAt), because: blockedBecause } }),
  ...(fourEyesAbove !== null && { fourEyesAbove: Centavos.make(fourEyesAbove) }),
  ...(asked !== null && { asked: readChange(asked) }),
  changes: changes.map((entry) => readChange(entry))
})

/** The entry of an event, with the fields of the changed row. */
export const entryOf = (event: Event, { mayHaveLeftAt, state, updatedAt }: Row): string =>
  writeEntry({
    ...event,
    at: DateTime.makeUnsafe(updatedAt),
    state,
    ...(mayHaveLeftAt !== null && { mayHaveLeftAt: DateTime.makeUnsafe(mayHaveLeftAt) })
  })

/** The first change of a payout. Its row shows it, so the table has no entry for it. */
export const submittedOf = ({ amount, submittedAt, submittedBy }: Row): PayoutChange => ({
  _tag: "Submitted",
  at: DateTime.makeUnsafe(submittedAt),
  state: "accepted",
  amount: Centavos.make(amount),
  ...(submittedBy !== null && { by: submittedBy })
})

/** The event of an answer to a request of a row. */
export const answeredEvent = ({ state }: Row, known: Known): Event => {
  if (known._tag !== "Recorded") {
    const { error } = known
    const recorded = error._tag === "WithdrawalFailed" && { withdrawalId: error.withdrawalId }
    return { _tag: "Answered", answer: known._tag, error, ...recorded }
  }
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

/** Fails about one field of what a caller gave. */
export const invalid = (path: string, problem: string): Effect.Effect<never, InvalidRequest> =>
  Effect.fail(invalidWithdrawal([{ path, problem }]))

/** Checks the fingerprint of a sender, which a person copied. */
export const checkedFingerprint = (fingerprint: unknown): Effect.Effect<void, InvalidRequest> =>
  Predicate.isString(fingerprint) && /^[0-9a-f]{40}$/.test(fingerprint)
    ? Effect.void
    : invalid("fingerprint", "must be the 40 letters and digits that the worker shows when it does not start")

/** Checks the limit of an account, which a caller without types may have given. */
export const checkedLimit = (above: unknown): Effect.Effect<void, InvalidRequest> =>
  above === null || (Number.isSafeInteger(above) && Number(above) > 0)
    ? Effect.void
    : invalid("above", "must be a whole number of centavos from 1, or null")
