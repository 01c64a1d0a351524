/**
 * Decides when a worker may send a payout. Nothing is sent during a pause, or before the time of the account's next request. After a
 * refusal that is about the account, or five refusals in a minute that leave payouts in doubt, one payout is tried at a time, until
 * the service takes one or refuses one by itself. The permit to try it is a lease in the account's row, so that the end of its
 * process stops no other one. Ten payouts in a row that an answer ends pause the account: a person looks whether a rule reads it wrongly.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import type { Withdrawal } from "../../../contract/Withdrawal.ts"
import { TryAgain } from "../../../durable/Work.ts"
import { log } from "../../../internal/spans.ts"
import type { Because } from "../../PayoutBecause.ts"
import { accountCause, causeOfOneOrAll, isAboutPayout, isDoubtfulRefusal } from "../machine.ts"
import { databaseTime, type ReadAccount } from "./account.ts"
import { makeCheckedAccount } from "./checkDatabase.ts"
import { isDueBy, isInWindow, isNextNow, isSpaced } from "./conditions.ts"
import type { Core } from "./core.ts"
import { writePause } from "./entries.ts"
import { minuteOfDay } from "./days.ts"
import { tooLate } from "./late.ts"
import { makeLine } from "./line.ts"
import { probeDelay } from "./probes.ts"
import type { Row } from "./row.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import { payoutFields } from "./signals.ts"
import { spacingOf } from "./spacing.ts"
import { requestedWait, untilMinute } from "./waits.ts"

/** A payout may be sent. With `isProbe` it is the one that is tried. */
export interface Permit {
  readonly account: ReadAccount
  readonly isProbe: boolean
}

/** A payout waits in the table: its time has not come, or the window of its account is closed. `dueIn` is in milliseconds. */
export interface Later {
  readonly account: ReadAccount
  readonly because: "NotBefore" | "Window"
  readonly dueIn: number
}

/** An answer, and the tag of the error that a refusal is by itself where an earlier request leaves the payout in doubt. */
export interface Answered {
  readonly answer: Result.Result<Withdrawal, RequestWithdrawalError>
  readonly refusedAs: string | undefined
}

/** So many payouts in a row that an answer ends hold the account. */
const endsToHold = 10

/** Where a payout stands whose refusal is about the account: with the others, or alone, since the balance covers others. */
export type Standing = "InLine" | "Alone"

/** What the service said, masked. */
const words = (error: RequestWithdrawalError) =>
  "serviceMessage" in error && error.serviceMessage !== undefined ? ` The service said: "${error.serviceMessage}".` : ""

/** The time that the service named for the next request, in milliseconds. */
const namedBy = (error: RequestWithdrawalError) => {
  const named = requestedWait(error)
  return named === undefined ? undefined : Duration.toMillis(named)
}

/** After how long the next payout is tried: as the service asked, and longer after each try that it refused all the same. */
const delayAfter = (error: RequestWithdrawalError, probes: number) => Math.max(namedBy(error) ?? 0, probeDelay(probes))

export type Gate = Effect.Success<ReturnType<typeof makeGate>>

export const makeGate = Effect.fnUntraced(function* ({ logPayout, store }: Core, settings: Settings) {
  const { accounts } = store
  const checked = makeCheckedAccount(store, settings)
  const scope = yield* Effect.scope
  const reading = Semaphore.makeUnsafe(1)
  const probing = Semaphore.makeUnsafe(1)
  const line = makeLine(settings.concurrency)
  let known: ReadAccount | undefined
  /** When refusals of the last minute left a payout in doubt: each one more that is sent then is one more in doubt. */
  let doubts: ReadonlyArray<number> = []
  /** The payouts, since the service took one, whose refusals may be about them alone: three are about the account. */
  const refusedAlone = new Set<string>()
  /** Whether this process has counted an end since the service took a payout. */
  let hasCounted = false
  const forget = Effect.suspend(() => {
    known = undefined
    return Effect.asVoid(line.changed.release)
  })
  /** The account in a database that was checked, read at most once a second. A timer ends that second, since the wall clock may go back. */
  const current: Effect.Effect<ReadAccount, SqlError> = reading.withPermit(
    Effect.suspend(() =>
      known === undefined
        ? Effect.tap(Effect.withTracerEnabled(checked, false), (read) => {
            known = read
            line.read(read)
            const expire = Effect.sync(() => {
              known = undefined
            })
            return Effect.forkIn(Effect.delay(expire, "1 second"), scope)
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
  const obstacle = (row: Row, account: ReadAccount): Effect.Effect<Because<"parked"> | undefined> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const { dailyCap, horizon, maxAmount } = settings
      const late = tooLate(row, { account, horizon, now })
      if (late !== undefined) return late
      return row.amount > Math.min(maxAmount ?? Infinity, dailyCap ?? Infinity) ? "OverCap" : undefined
    })

  /** Takes the time of the account's next request in this process, before the statement that marks it does. */
  const reserve = (account: ReadAccount, now: number) => {
    if (known !== undefined && isSpaced.of({ account })) known = { ...known, nextAt: now + spacingOf(account) }
  }

  /** Waits until a payout may be sent, until there is a reason to park it, or until it has to stand in the table. */
  const untilAllowed = (row: Row): Effect.Effect<Permit | Later | Because<"parked">, SqlError | TryAgain> =>
    Effect.gen(function* (): Effect.fn.Return<Permit | Later | Because<"parked">, SqlError | TryAgain> {
      for (;;) {
        const account = yield* current
        const now = databaseTime(account, yield* Clock.currentTimeMillis)
        if (!isDueBy.of({ payout: row, given: { now } }))
          return { account, because: "NotBefore", dueIn: (row.notBefore ?? now) - now }
        const because = yield* obstacle(row, account)
        if (because !== undefined) return because
        const asked = { payout: row, account, given: { now, minute: minuteOfDay(now) } }
        if (!account.paused && !isInWindow.of(asked))
          return { account, because: "Window", dueIn: Duration.toMillis(untilMinute(now, account.windowFrom ?? 0)) }
        if (!line.isHeld(row, account)) return yield* new TryAgain({ reason: "InLine", isAtOnce: true })
        const isBlocked = account.blockedAt !== null
        const isInTurn = (!isBlocked && !isSpaced.of(asked)) || (line.isNext(row, account) && isNextNow.of(asked))
        const isNext = line.hasRoom() && isInTurn
        if (!account.paused && isNext && (!isBlocked || (yield* takeProbe(account, row.idempotencyKey)))) {
          reserve(account, now)
          return { account, isProbe: isBlocked }
        }
        const untilNext = isBlocked || isNextNow.of(asked) ? 1000 : Math.min(1000, (account.nextAt ?? 0) - now)
        yield* Effect.raceFirst(Effect.sleep(Duration.millis(Math.max(1, untilNext))), line.changed.await)
      }
    }).pipe(
      Effect.onExit((exit) =>
        Effect.sync(() =>
          line.leave(row, exit._tag === "Success" && typeof exit.value === "object" && "isProbe" in exit.value)
        )
      ),
      (effect) => Effect.suspend(() => (line.add(row), effect))
    )

  /** What an error says about all payouts of the account. */
  const causeOf = (key: string, error: RequestWithdrawalError, refusedAs: string | undefined, isProbe: boolean) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const ofOneOrAll = causeOfOneOrAll(error)
      if (ofOneOrAll !== undefined) return refusedAlone.add(key).size >= 3 ? ofOneOrAll : undefined
      if (!isDoubtfulRefusal(error)) return accountCause(error, refusedAs)
      doubts = [...doubts.filter((at) => Math.abs(now - at) < 60_000), now]
      return isProbe || doubts.length >= 5 ? "Outage" : undefined
    })

  const begin = Effect.fnUntraced(function* (row: Row, because: string, error: RequestWithdrawalError) {
    line.shrink()
    if (!(yield* accounts.block({ because, key: row.idempotencyKey }, namedBy(error)))) return
    const what = because === "Outage" ? "The service leaves payouts in doubt" : "The service refuses the payouts"
    const text = `${what} of the account ${settings.account}: ${because}.${words(error)} One payout at a time is tried until it takes one.`
    yield* logPayout(row, { level: "Warn", of: "Waits", cause: because, text })
  })

  /** The send is over. The permit of a probe is given back where no answer has ended it. */
  const releaseProbe = ({ isProbe }: Permit, row: Row) => {
    line.end(row)
    return isProbe ? Effect.andThen(accounts.releaseProbe(row.idempotencyKey), forget) : line.changed.release
  }

  /** Ends the wait, or goes on with it. */
  const reportProbe = Effect.fnUntraced(function* (
    { probes }: ReadAccount,
    row: Row,
    because: string | undefined,
    error: RequestWithdrawalError | undefined
  ) {
    const key = row.idempotencyKey
    if (error !== undefined && (because !== undefined || !isAboutPayout(error))) {
      const delay = delayAfter(error, probes + 1)
      yield* accounts.endProbe(key, delay, because === undefined ? undefined : { because, key })
      return
    }
    if (!(yield* accounts.unblock(key, error === undefined))) return
    doubts = []
    line.grow()
    yield* log("Info", `The service takes the requests of the account ${settings.account} again.`, {
      ...payoutFields(row),
      "payments.account": settings.account
    })
  })

  /** Pauses the account, and says why in its history. */
  const hold = Effect.fnUntraced(function* (note: string) {
    const at = yield* DateTime.now
    yield* Effect.andThen(accounts.setPaused(true, writePause({ at, paused: true, note })), forget)
  })

  const countEnds = Effect.fnUntraced(function* (
    account: ReadAccount,
    { state }: Row,
    error: RequestWithdrawalError | undefined
  ) {
    if (error === undefined) {
      refusedAlone.clear()
      if (!hasCounted && account.endsInRow === 0) return
      hasCounted = false
      return yield* Effect.andThen(accounts.endRow, forget)
    }
    if (error.outcome !== "Rejected" || (state !== "refused" && state !== "failed")) return
    hasCounted = true
    const count = yield* accounts.countEnd
    if (count < endsToHold || (yield* current).paused) return
    const text = `${count} payouts in a row were refused or failed, and the service took none between them.`
    yield* hold(text)
    yield* log(
      "Error",
      `The payouts of the account ${settings.account} are paused: ${text} See why in effect-pix payouts list, and continue when that is right.`,
      { "payments.account": settings.account }
    )
  })

  /** Stores what an answer says about all payouts of the account, and returns where a refused one stands then. */
  const report = Effect.fnUntraced(function* (
    { account, isProbe }: Permit,
    row: Row,
    { answer, refusedAs }: Answered
  ): Effect.fn.Return<Standing | undefined, SqlError> {
    const error = Result.isFailure(answer) ? answer.failure : undefined
    const because = error && (yield* causeOf(row.idempotencyKey, error, refusedAs, isProbe))
    yield* countEnds(account, row, error)
    // One that may be refused alone goes by its own schedule, so that others are tried.
    const isOwn =
      error === undefined || because === undefined || because === "Outage" || causeOfOneOrAll(error) !== undefined
    const standing = isOwn ? undefined : "InLine"
    if (isProbe) {
      yield* Effect.andThen(reportProbe(account, row, because, error), forget)
      return standing
    }
    if (error === undefined || (because === undefined && isAboutPayout(error))) line.grow()
    if (error === undefined || because === undefined) return standing
    const { blockedAt, refusedKey } = yield* current
    if (because === "Balance" && blockedAt === null && refusedKey === row.idempotencyKey) return "Alone"
    yield* Effect.andThen(begin(row, because, error), forget)
    return standing
  })

  const { isFree, most } = line
  return { current, forget, hold, obstacle, room: { isFree, most }, untilAllowed, report, releaseProbe }
})
