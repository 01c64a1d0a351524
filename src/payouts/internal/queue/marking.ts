/**
 * What comes before a request of a payout: its sender is compared with that of the account, and the mark is committed that a request
 * may have left.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { PaymentsClient } from "../../../client/PaymentsClient.ts"
import { millisOf } from "../../../contract/Options.ts"
import { TryAgain } from "../../../durable/Work.ts"
import type { Because } from "../../PayoutBecause.ts"
import type { ReadAccount } from "./account.ts"
import { isSpaced } from "./conditions.ts"
import type { Core } from "./core.ts"
import type { Gate } from "./gate.ts"
import type { Row } from "./row.ts"
import { isOf } from "./sender.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import { payoutFields } from "./signals.ts"
import { dayOf } from "./waits.ts"

/** The row was changed by another process since it was read, or the account does not allow the request any more. */
export const changedMeanwhile = () => new TryAgain({ reason: "ChangedMeanwhile" })

/** No request leaves. `again`: why the payout is tried again by the queue's own schedule, if it is. */
class NotSent extends Data.TaggedError("NotSent")<{ readonly again: string | undefined }> {}

export type Park = (row: Row, because: Because<"parked">) => Effect.Effect<void, SqlError | TryAgain>

export const makeMarking = (
  core: Core,
  gate: Gate,
  park: Park,
  client: PaymentsClient["Service"],
  { dailyCap, horizon, lease }: Settings
) => {
  const { accounts } = core.store

  const parkInstead = (row: Row, because: Because<"parked">) =>
    Effect.andThen(park(row, because), Effect.fail(new NotSent({ again: undefined })))

  /** A payout waits for the next day, by the clock of the database. */
  const waitForTomorrow = Effect.fnUntraced(function* (row: Row) {
    const account = yield* accounts.get
    const { day, left } = dayOf(account.readAt)
    const at = { account, horizon, now: yield* Clock.currentTimeMillis }
    yield* core.step(row, { _tag: "Waits", at, because: "DailyCap" }, { dueIn: Duration.toMillis(left) })
    yield* Effect.annotateCurrentSpan(payoutFields(row))
    const text = `The daily cap of ${day} is reached: payouts wait for the next day.`
    yield* core.logPayout(row, { level: "Warn", of: "Waits", cause: "DailyCap", text })
    return yield* new NotSent({ again: undefined })
  })

  /** The worker's credentials are not those of the account: the payout waits for them. */
  const waitForSender = Effect.fnUntraced(function* (row: Row, account: ReadAccount, fingerprint: string) {
    yield* gate.forget
    if (row.mayHaveLeftAt === null && row.because !== "OtherClientId") {
      const now = yield* Clock.currentTimeMillis
      yield* core.step(row, { _tag: "Waits", at: { account, horizon, now }, because: "OtherClientId" })
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

  /** Commits the mark, or fails with `NotSent`: then no request may leave. */
  return Effect.fnUntraced(function* (row: Row, account: ReadAccount) {
    const fingerprint = yield* checkedSender(row, account)
    const now = yield* Clock.currentTimeMillis
    const { deadline } = yield* client.policy
    const underWayUntil = now + Math.min(lease + (millisOf(deadline) ?? horizon), horizon)
    const isTimed = isSpaced.of({ account })
    const where = yield* accounts.allows(row.idempotencyKey, fingerprint, account.session, horizon, isTimed)
    const marked = yield* core.step(
      row,
      { _tag: "Marked", at: { account, now, horizon }, fingerprint, underWayUntil },
      { where, isTimed, cap: row.countedDay === null ? dailyCap : undefined }
    )
    if (typeof marked !== "object") yield* gate.forget
    if (marked === undefined) return yield* changedMeanwhile()
    if (marked === "Capped") return yield* waitForTomorrow(row)
    if (marked === "TooSoon") return yield* new TryAgain({ reason: "TooSoon", isAtOnce: true })
    // The process may have been suspended since the mark was committed.
    const because = yield* gate.obstacle(marked, account)
    return because === undefined ? { fingerprint, marked } : yield* parkInstead(marked, because)
  })
}
