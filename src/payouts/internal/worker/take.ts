/**
 * Takes the payouts that may be sent now, the oldest first, over all workers of the account.
 *
 * - While the account has a time to wait for, it gives turns: one statement moves that time and takes, for the winner alone, the first
 *   payout that may be sent. Who loses takes none, so no worker holds a payout that an older one should precede.
 * - Else as many are taken at once as this process may have under way.
 *
 * A payout in back-off, leased or under way is not due, so it stops no other. While the balance or a limit did not cover an amount,
 * smaller payouts are taken first; where none is due, the oldest is tried alone.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import type { PaymentsClient } from "../../../client/PaymentsClient.ts"
import { millisOf } from "../../../contract/Options.ts"
import type { DueRow } from "../../../durable/Due.ts"
import type { Rows } from "../../../durable/WorkRows.ts"
import { databaseTime, type ReadAccount } from "../machine/account.ts"
import {
  type AccountTime,
  afterAnswer,
  afterTurn,
  givesTurns,
  isSameTime,
  leftOf,
  marginOf
} from "../machine/accountTime.ts"
import type { Said } from "../machine/said.ts"
import { makeCheckedAccount } from "./checkDatabase.ts"
import type { Core } from "../core.ts"
import { dayOf, isWindowOpen, untilMinute } from "../machine/days.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"

/** By what a payout may be sent. */
export interface Permit {
  /** The account as it was when the payout was taken. */
  readonly account: ReadAccount
  /** Until when its request has to leave, by the clock of the database; `undefined`: it took no turn. */
  readonly leavesBy: number | undefined
}

export interface TakenRow extends DueRow {
  readonly permit: Permit
}

const nowOf = (account: ReadAccount) => Effect.map(Clock.currentTimeMillis, (now) => databaseTime(account, now))

/** In how many milliseconds the account's window opens; `Infinity` where it is open. */
const untilOpening = (account: ReadAccount, now: number) =>
  isWindowOpen(account, now) ? Infinity : Duration.toMillis(untilMinute(now, account.windowFrom ?? 0))

const withPermit =
  (permit: Permit) =>
  (row: DueRow): TakenRow =>
    Object.assign(row, { permit })

/** So many payouts in a row that an answer ends hold the account. */
export const endsToHold = 10

export type Take = Effect.Success<ReturnType<typeof makeTake>>

export const makeTake = Effect.fnUntraced(function* (
  core: Core,
  settings: Settings,
  client: PaymentsClient["Service"]
) {
  const { store } = core
  const { accounts } = store
  const checked = makeCheckedAccount(store, settings)
  const scope = yield* Effect.scope
  const reading = Semaphore.makeUnsafe(1)
  /** The account as it was read last, and of which change of this process that is; `isKnown`: less than a second ago. */
  let last: ReadAccount | undefined
  let isKnown = false
  let change = -1
  let again: number | undefined
  const forget = Effect.sync(() => {
    isKnown = false
  })
  /** The account in a database that was checked, read at most once a second. A timer ends that second, since the wall clock may go back. */
  const current: Effect.Effect<ReadAccount, SqlError> = reading.withPermit(
    Effect.suspend(() => {
      if (isKnown && last !== undefined && change === core.accountChanges()) return Effect.succeed(last)
      change = core.accountChanges()
      return Effect.tap(Effect.withTracerEnabled(checked, false), (read) => {
        last = read
        isKnown = true
        return Effect.forkIn(Effect.delay(forget, "1 second"), scope)
      })
    })
  )
  const deadline = Effect.map(client.policy, (policy) =>
    Math.min(millisOf(policy.deadline) ?? settings.horizon, settings.horizon)
  )

  /** The account's next turn: what its row has then, and by what a payout may be sent in it. */
  const turnOf = Effect.fnUntraced(function* (account: ReadAccount, isAlone: boolean) {
    const now = yield* nowOf(account)
    const { next, time } = afterTurn(account, now, yield* deadline, isAlone)
    const after = { ...account, ...next }
    return { after, permit: { account: after, leavesBy: time + marginOf(account) }, next }
  })

  const take: Rows<TakenRow>["take"] = Effect.fnUntraced(function* (
    taker: string,
    lease: number,
    most: number
  ): Effect.fn.Return<ReadonlyArray<TakenRow>, SqlError> {
    const account = yield* current
    const now = yield* nowOf(account)
    const wasTurn = again !== undefined
    again = undefined
    // Each that is under way may end, as those before it did.
    const isEnding = account.endsInRow > 0
    const room = isEnding ? Math.max(1, endsToHold - account.endsInRow) - (settings.concurrency - most) : most
    if (account.paused || room <= 0) return []
    const isClosed = untilOpening(account, now) < Infinity
    const left = leftOf(account, now)
    if (left > 0) {
      // More may be due after the last turn: its time is known without a look. While the account is held, a person may change it.
      if (wasTurn && !isClosed) again = account.heldBecause === null ? left : Math.min(left, settings.poll)
      return []
    }
    const { shortOf } = account
    const isGiven = givesTurns(account, now)
    if (!isGiven) {
      const only = yield* store.mayBeTaken(account, { isClosed, isInTurn: false, below: shortOf ?? undefined })
      const rows = yield* store.due.take(taker, lease, Math.min(room, most, settings.concurrency), { only })
      if (rows.length > 0 || shortOf === null) return rows.map(withPermit({ account, leavesBy: undefined }))
    }
    const { after, next, permit } = yield* turnOf(account, !isGiven)
    const rows = yield* store.due.take(taker, lease, 1, {
      only: yield* store.mayBeTaken(account, { isClosed, isInTurn: true }),
      first: shortOf === null ? undefined : store.firstBelow(shortOf),
      turn: (found) => accounts.turn(account, next, found)
    })
    if (rows.length > 0) {
      last = after
      again = 0
    } else {
      isKnown = false
      // What is above the rest of the day's cap is due, and cannot be taken.
      if (account.dailyCap !== null) yield* store.waitForTomorrow(account.dailyCap, Duration.toMillis(dayOf(now).left))
    }
    return rows.map(withPermit(permit))
  })

  /** What waits is looked for by one statement; the account is read where something is due. */
  const untilNext = Effect.gen(function* () {
    const account = last === undefined || last.paused ? yield* current : last
    if (account.paused) return settings.poll
    const now = yield* nowOf(account)
    const opening = untilOpening(account, now)
    const only = yield* store.mayBeTaken(account, { isClosed: opening < Infinity, isInTurn: false })
    const millis = yield* store.due.untilNextOf(only)
    if (millis > 0) return Math.min(millis, opening)
    const read = yield* current
    return Math.min(leftOf(read, yield* nowOf(read)), settings.poll)
  })

  /** Stores what an answer says of the account's time, where that changes it. */
  const retime = Effect.fnUntraced(function* ({ account: { refusals } }: Permit, said: Said) {
    const account = yield* current
    const change = (read: ReadAccount, now: number): AccountTime => afterAnswer(read, said, refusals, now)
    if (isSameTime(account, change(account, yield* nowOf(account)))) return undefined
    return yield* Effect.tap(accounts.retime(change), core.accountChanged)
  })

  /** Waits for another time of the account, where that of a request is over before it leaves. */
  const leave = Effect.fnUntraced(function* (permit: Permit): Effect.fn.Return<void, SqlError> {
    if (permit.leavesBy === undefined || (yield* nowOf(permit.account)) <= permit.leavesBy) return
    for (;;) {
      yield* forget
      const account = yield* current
      const left = leftOf(account, yield* nowOf(account))
      if (left > 0) {
        yield* Effect.sleep(Duration.millis(left))
        continue
      }
      const { next, permit: later } = yield* turnOf(account, false)
      const turned = yield* yield* accounts.turn(account, next, store.anyRow)
      if (turned.length > 0 && (yield* nowOf(account)) <= later.leavesBy) return
    }
  })

  const isPaced = () => last !== undefined && last.pacePer !== null
  const { giveBack, renew } = store.due
  const rows: Rows<TakenRow> = { take, untilNext, renew, giveBack, again: () => again }
  return {
    rows,
    /** How many payouts may be under way: with a pace, as many as it starts. */
    most: () => (isPaced() ? Infinity : settings.concurrency),
    current,
    forget,
    leave,
    retime
  }
})
