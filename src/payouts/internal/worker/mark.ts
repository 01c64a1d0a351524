/**
 * All that comes before the first byte of a request: asks whether the payout may leave, opens its request, commits the mark that a
 * request may have left, and waits for the time of the request.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SqlError } from "effect/sql/SqlError"
import type { PaymentsClient } from "../../../client/PaymentsClient.ts"
import { millisOf } from "../../../contract/Options.ts"
import type { WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import { TryAgain } from "../../../durable/Work.ts"
import type { Because } from "../../PayoutBecause.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import type { Core } from "../core.ts"
import { databaseTime, type ReadAccount } from "../machine/account.ts"
import { isDueBy } from "../machine/conditions.ts"
import { dayOf } from "../machine/days.ts"
import { tooLate } from "../machine/events.ts"
import type { Row } from "../machine/row.ts"
import { payoutFields } from "../signals/signals.ts"
import { payoutKey } from "../store/request.ts"
import { isOf } from "./sender.ts"
import type { Permit, Take } from "./take.ts"

/** The row was changed by another process since it was read, or the account does not allow the request any more. */
export const changedMeanwhile = () => new TryAgain({ reason: "ChangedMeanwhile" })

/** No request leaves. `again`: why the payout is tried again by the queue's own schedule, if it is. */
class NotSent extends Data.TaggedError("NotSent")<{ readonly again: string | undefined }> {}

export interface MarkParts {
  readonly client: PaymentsClient["Service"]
  readonly core: Core
  /** The stored request of a row, where it can be opened. */
  readonly open: (
    row: Row,
    account: ReadAccount
  ) => Effect.Effect<WithdrawalRequestBody | undefined, SqlError | TryAgain>
  readonly park: (row: Row, because: Because<"parked">) => Effect.Effect<void, SqlError | TryAgain>
  readonly settings: Settings
  readonly take: Take
}

export const makeMark = ({ client, core, open, park, settings: { horizon, lease }, take }: MarkParts) => {
  const { accounts } = core.store
  /** What a step is decided by. */
  const deciding = (account: ReadAccount) => Effect.map(Clock.currentTimeMillis, (now) => ({ account, horizon, now }))

  const parkInstead = (row: Row, because: Because<"parked">) =>
    Effect.andThen(park(row, because), Effect.fail(new NotSent({ again: undefined })))

  /** Parks what must not be sent: it is too old, or above a limit by itself. */
  const parkObstacle = Effect.fnUntraced(function* (row: Row, account: ReadAccount) {
    const late = tooLate(row, yield* deciding(account))
    if (late !== undefined) return yield* parkInstead(row, late)
    const { dailyCap, maxAmount } = account
    if (row.amount > Math.min(maxAmount ?? Infinity, dailyCap ?? Infinity)) return yield* parkInstead(row, "OverCap")
  })

  /** It waits in the table until its time. */
  const checkTime = Effect.fnUntraced(function* (row: Row, account: ReadAccount) {
    const at = yield* deciding(account)
    const now = databaseTime(account, at.now)
    if (isDueBy.of({ payout: row, given: { now } })) return
    yield* core.step(row, { _tag: "Waits", at, because: "NotBefore" }, { dueIn: (row.notBefore ?? now) - now })
    return yield* new NotSent({ again: undefined })
  })

  /** It waits for the next day, by the clock of the database, and so does all that is above the rest of the cap. */
  const waitForTomorrow = Effect.fnUntraced(function* (row: Row, dailyCap: number) {
    const account = yield* accounts.get
    const { day, left } = dayOf(account.readAt)
    const at = yield* deciding(account)
    const dueIn = Duration.toMillis(left)
    yield* core.step(row, { _tag: "Waits", at, because: "DailyCap" }, { dueIn })
    yield* core.store.waitForTomorrow(dailyCap, dueIn)
    yield* Effect.annotateCurrentSpan(payoutFields(row))
    const text = `The daily cap of ${day} is reached: payouts wait for the next day.`
    yield* core.logPayout(row, { level: "Warn", of: "Waits", cause: "DailyCap", text })
    return yield* new NotSent({ again: undefined })
  })

  /** The worker's credentials are not those of the account: the payout waits for them. */
  const waitForSender = Effect.fnUntraced(function* (row: Row, account: ReadAccount, fingerprint: string) {
    yield* take.forget
    if (row.mayHaveLeftAt === null && row.because !== "OtherClientId") {
      yield* core.step(row, { _tag: "Waits", at: yield* deciding(account), because: "OtherClientId" })
      const text = `A payout is not sent: the worker's credentials (fingerprint ${fingerprint}) are not those of the account ${account.account} (${account.fingerprint}).`
      yield* core.logPayout(row, { level: "Error", of: "Waits", cause: "OtherClientId", text })
    }
    return yield* new NotSent({ again: "OtherClientId" })
  })

  /** Whose request it would be. */
  const checkedSender = Effect.fnUntraced(function* (row: Row, account: ReadAccount) {
    const sender = yield* client.sender
    const fingerprint = sender.fingerprint(account.companyId ?? undefined)
    if (row.mayHaveLeftAt !== null && !isOf(sender, account, row.fingerprint)) {
      return yield* parkInstead(row, "OtherClientId")
    }
    if (account.fingerprint !== fingerprint) return yield* waitForSender(row, account, fingerprint)
    return fingerprint
  })

  /** Commits the mark by a statement that asks all conditions again. */
  const mark = Effect.fnUntraced(function* (row: Row, { account, leavesBy }: Permit, fingerprint: string) {
    const at = yield* deciding(account)
    const { deadline } = yield* client.policy
    const underWayUntil = at.now + Math.min(lease + (millisOf(deadline) ?? horizon), horizon)
    const where = yield* accounts.allows(account, fingerprint, horizon, leavesBy !== undefined)
    const marked = yield* core.step(
      row,
      { _tag: "Marked", at, fingerprint, underWayUntil },
      { where, cap: row.countedDay === null ? (account.dailyCap ?? undefined) : undefined }
    )
    if (typeof marked === "object") return marked
    yield* take.forget
    return yield* marked === "Capped" && account.dailyCap !== null
      ? waitForTomorrow(row, account.dailyCap)
      : new TryAgain({ reason: "ChangedMeanwhile", isAtOnce: true })
  })

  /** All that comes before the mark, and the stored request. */
  const prepare = Effect.fnUntraced(function* (row: Row, { account }: Permit) {
    yield* checkTime(row, account)
    yield* parkObstacle(row, account)
    const stored = yield* open(row, account)
    const isOfRow = Option.getOrUndefined(payoutKey(row.account, row.reference)) === row.idempotencyKey
    return stored !== undefined && isOfRow ? stored : yield* parkInstead(row, "Unreadable")
  })

  /** Commits the mark, and waits for the time of the request. */
  const markInTime = Effect.fnUntraced(function* (row: Row, permit: Permit) {
    const { account } = permit
    const fingerprint = yield* checkedSender(row, account)
    const marked = yield* mark(row, permit, fingerprint)
    yield* take.leave(permit)
    // The process may have been suspended since the mark was committed.
    yield* parkObstacle(marked, account)
    return { fingerprint, marked }
  })

  return { prepare, markInTime }
}
