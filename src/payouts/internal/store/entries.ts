/**
 * What is stored as JSON: the entries of the history with the row after each, payees and judgements.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { InvalidRequest } from "../../../contract/PaymentsError.ts"
import { invalidWithdrawal } from "../../../contract/WithdrawalCheck.ts"
import { Centavos } from "../../../pix/Money.ts"
import { issuesOfStep, type Person, personOf, type StepOptions } from "../../../durable/Step.ts"
import { becauseOf } from "../../PayoutBecause.ts"
import { AccountChange, PauseChange, type PayoutAccount, PayoutChange } from "../../PayoutHistory.ts"
import { Judgement } from "../../PayoutSentence.ts"
import { PayoutPayee } from "../../PayoutStatus.ts"
import type { Account } from "../machine/account.ts"
import { textOfMinute } from "../../PayoutQueueOptions.ts"
import type { Entry } from "../machine/events.ts"
import type { Row } from "../machine/row.ts"

const StoredEntry = Schema.fromJsonString(Schema.toCodecJson(PayoutChange))
const writeEntry = Schema.encodeSync(StoredEntry)
export const readEntries = Schema.decodeUnknownEffect(Schema.Array(StoredEntry))

const PauseEntry = Schema.fromJsonString(Schema.toCodecJson(PauseChange))
export const writePause = Schema.encodeSync(PauseEntry)

const AccountEntry = Schema.fromJsonString(Schema.toCodecJson(AccountChange))
export const writeChange = Schema.encodeSync(AccountEntry)
export const readChange = Schema.decodeSync(AccountEntry)

const StoredPayee = Schema.fromJsonString(PayoutPayee)
export const writePayee = Schema.encodeSync(StoredPayee)
/** Reads a stored payee; none where the text is not one. */
export const readPayee = Schema.decodeUnknownOption(StoredPayee)

const StoredJudgement = Schema.fromJsonString(Schema.toCodecJson(Judgement))
export const writeJudgement = Schema.encodeSync(StoredJudgement)
export const readJudgement = Schema.decodeUnknownOption(StoredJudgement)

/** How a stored judgement says to read its sentence; `undefined` where there is none. */
export const judgedAs = (stored: string | undefined) =>
  stored === undefined ? undefined : Option.getOrUndefined(readJudgement(stored))?.as

const isBecause = Schema.is(becauseOf.accepted)

/** The fields that are not null. */
const present = <A extends object>(fields: A) =>
  // Nothing else is left out.
  Record.filter({ ...fields }, Predicate.isNotNull) as { readonly [Name in keyof A]?: Exclude<A[Name], null> }

const timeOf = (millis: number | null) => (millis === null ? null : DateTime.makeUnsafe(millis))
const centavosOf = (amount: number | null) => (amount === null ? null : Centavos.make(amount))

/** The account as its users see it. The entries of its table are the library's own: one that cannot be read is a defect. */
export const accountOf = (
  { account, fingerprint, companyId, heldAt, heldBecause, pause, paused, ...row }: Account,
  changes: ReadonlyArray<string>
): PayoutAccount => {
  const at = timeOf(heldAt)
  const { paceMost, pacePer, windowFrom, windowTo } = row
  const isOfWindow = windowFrom !== null && windowTo !== null
  return {
    account,
    paused,
    ...present({
      servedAt: timeOf(row.servedAt),
      fingerprint,
      companyId,
      lastPause: pause === null ? null : Schema.decodeSync(PauseEntry)(pause),
      refusedSince: at && isBecause(heldBecause) ? { at, because: heldBecause } : null,
      pace: paceMost !== null && pacePer !== null ? { most: paceMost, per: Duration.millis(pacePer) } : null,
      window: isOfWindow ? { from: textOfMinute(windowFrom), to: textOfMinute(windowTo) } : null,
      dailyCap: centavosOf(row.dailyCap),
      maxAmount: centavosOf(row.maxAmount)
    }),
    changes: changes.map((entry) => readChange(entry))
  }
}

/** The text of an entry, with the fields of the changed row. */
export const entryOf = (entry: Entry, { mayHaveLeftAt, state, updatedAt }: Row): string =>
  writeEntry({
    ...entry,
    at: DateTime.makeUnsafe(updatedAt),
    state,
    ...present({ mayHaveLeftAt: timeOf(mayHaveLeftAt) })
  })

/** The first change of a payout. Its row shows it, so the table has no entry for it. */
export const submittedOf = ({ amount, submittedAt, submittedBy }: Row): PayoutChange => ({
  _tag: "Submitted",
  at: DateTime.makeUnsafe(submittedAt),
  state: "accepted",
  amount: Centavos.make(amount),
  ...present({ by: submittedBy })
})

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
