/**
 * Decides when a worker may send a payout. Nothing is sent during a pause. After a 401 or a redirect, which every payout of the
 * account would meet, or five refusals in a minute that leave payouts in doubt, one payout is tried at a time until another answer
 * comes. The permit to try it is a lease in the
 * account's row, so that the end of its process stops no other one.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import type { Withdrawal } from "../../../contract/Withdrawal.ts"
import { log } from "../../../internal/spans.ts"
import type { ParkedBecause } from "../../PayoutState.ts"
import { accountWideRefusal, isAnswer, isDoubtfulRefusal } from "../machine.ts"
import { databaseTime, type ReadAccount } from "./account.ts"
import { needsApproval } from "./approval.ts"
import { makeCheckedAccount } from "./checkDatabase.ts"
import { isDueBy } from "./conditions.ts"
import { tooLate } from "./late.ts"
import type { Row } from "./row.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import { payoutFields } from "./signals.ts"
import type { Store } from "./store.ts"

/** A payout may be sent. With `isProbe` it is the one that is tried. */
export interface Permit {
  readonly account: ReadAccount
  readonly isProbe: boolean
}

/** A payout is not wanted yet: it was taken too early, as where a clock was set. In milliseconds. */
export interface TooEarly {
  readonly account: ReadAccount
  readonly dueIn: number
}

/** How long after a failed try the next payout is tried, in milliseconds. */
const probeDelay = (probes: number) => Math.min(1000 * 2 ** probes, 300_000)

export type Gate = Effect.Success<ReturnType<typeof makeGate>>

export const makeGate = Effect.fnUntraced(function* (store: Store, settings: Settings) {
  const { accounts } = store
  const checked = makeCheckedAccount(store, settings)
  const scope = yield* Effect.scope
  const reading = Semaphore.makeUnsafe(1)
  const probing = Semaphore.makeUnsafe(1)
  let known: ReadAccount | undefined
  /** When refusals of the last minute left a payout in doubt: each one more that is sent then is one more in doubt. */
  let doubts: ReadonlyArray<number> = []
  const forget = Effect.sync(() => {
    known = undefined
  })
  /** The account in a database that was checked, read at most once a second. A timer ends that second, since the wall clock may go back. */
  const current: Effect.Effect<ReadAccount, SqlError> = reading.withPermit(
    Effect.suspend(() =>
      known === undefined
        ? Effect.tap(Effect.withTracerEnabled(checked, false), (read) => {
            known = read
            return Effect.forkIn(Effect.delay(forget, "1 second"), scope)
          })
        : Effect.succeed(known)
    )
  )

  const takeProbe = (account: ReadAccount, key: string) =>
    (account.probeAt ?? 0) > account.readAt
      ? Effect.succeed(false)
      : Effect.map(
          probing.withPermitsIfAvailable(1)(Effect.tap(accounts.takeProbe(key, settings.lease), forget)),
          (taken) => taken._tag === "Some" && taken.value
        )

  /** Why a payout must not be sent. */
  const obstacle = (row: Row, account: ReadAccount): Effect.Effect<ParkedBecause | undefined> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const { dailyCap, horizon, maxAmount } = settings
      const late = tooLate(row, { account, horizon, now })
      if (late === "PastHorizon") return late
      if (row.mayHaveLeftAt === null && needsApproval(row, account.fourEyesAbove)) return "NeedsApproval"
      if (late !== undefined) return late
      if (maxAmount !== undefined && row.amount > maxAmount) return "OverMaxAmount"
      return dailyCap !== undefined && row.amount > dailyCap ? "OverDailyCap" : undefined
    })

  /** Waits until a payout may be sent, or until there is a reason to park it, or to give it back. */
  const untilAllowed = (row: Row): Effect.Effect<Permit | TooEarly | ParkedBecause, SqlError> =>
    Effect.gen(function* () {
      for (;;) {
        const account = yield* current
        const now = databaseTime(account, yield* Clock.currentTimeMillis)
        if (!isDueBy.of({ payout: row, given: { now } })) return { account, dueIn: (row.notBefore ?? now) - now }
        const because = yield* obstacle(row, account)
        if (because !== undefined) return because
        if (!account.paused && account.blockedAt === null) return { account, isProbe: false }
        if (!account.paused && (yield* takeProbe(account, row.idempotencyKey))) return { account, isProbe: true }
        yield* Effect.sleep("1 second")
      }
    })

  /** The attributes of a line about the account, in the send of a payout. */
  const attributes = (row: Row) => ({ ...payoutFields(row), "payments.account": settings.account })

  /** What an error says about all payouts of the account. */
  const causeOf = (error: RequestWithdrawalError, isProbe: boolean) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (!isDoubtfulRefusal(error)) return accountWideRefusal(error)
      doubts = [...doubts.filter((at) => Math.abs(now - at) < 60_000), now]
      return isProbe || doubts.length >= 5 ? "ServiceUnavailable" : undefined
    })

  const begin = Effect.fnUntraced(function* (row: Row, because: string) {
    if (!(yield* accounts.block(because, probeDelay(0)))) return
    const what =
      because === "ServiceUnavailable" ? "The service leaves payouts in doubt" : "The service refuses every payout"
    yield* log(
      "Warn",
      `${what} of the account ${settings.account}: ${because}. One payout at a time is tried until it gives another answer.`,
      attributes(row)
    )
  })

  const endProbe = ({ probes }: ReadAccount, row: Row) => accounts.endProbe(row.idempotencyKey, probeDelay(probes + 1))

  /** Gives the permit of a probe back where no answer has ended it: the next payout is tried later. */
  const releaseProbe = ({ account, isProbe }: Permit, row: Row) =>
    isProbe ? Effect.andThen(endProbe(account, row), forget) : Effect.void

  /** Stores what an answer says about all payouts of the account. */
  const report = ({ account, isProbe }: Permit, row: Row, answer: Result.Result<Withdrawal, RequestWithdrawalError>) =>
    Effect.gen(function* () {
      const error = Result.isFailure(answer) ? answer.failure : undefined
      const because = error && (yield* causeOf(error, isProbe))
      if (!isProbe) return error && because !== undefined ? yield* Effect.tap(begin(row, because), forget) : undefined
      if (error !== undefined && (because !== undefined || !isAnswer(error))) {
        yield* endProbe(account, row)
      } else if (yield* accounts.unblock(row.idempotencyKey)) {
        doubts = []
        yield* log("Info", `The service takes the requests of the account ${settings.account} again.`, attributes(row))
      }
      return yield* forget
    })

  return { current, forget, obstacle, untilAllowed, report, releaseProbe }
})
