/**
 * The fibers that handle the rows that are due.
 *
 * Gotcha: a row may be handled twice, even while its earlier handler runs. Its last write has to be conditional.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as SecureRandom from "effect/crypto/SecureRandom"
import type { SqlError } from "effect/sql/SqlError"
import { monotonicMillisOf } from "../internal/monotonic.ts"
import type { NextWrite } from "../internal/soleWriter.ts"
import type { Due, DueRow, Taken } from "./Due.ts"
import { makeWarn, noAnswer, repeatedly, type TryAgain } from "./Work.ts"

/** Where rows are taken from. */
export interface Rows<Row extends DueRow = DueRow> extends Pick<Due, "renew" | "giveBack" | "untilNext"> {
  readonly take: (taker: string, lease: number, most: number) => Effect.Effect<ReadonlyArray<Row>, SqlError>
  /** In how many milliseconds rows are taken again after the last take, without a look when the next one is due. */
  readonly again?: (() => number | undefined) | undefined
}

/** How the rows of a table are taken and handled. Times are in milliseconds. */
export interface WorkOptions<R, Row extends DueRow = DueRow> {
  /** The name of the worker in the log. */
  readonly name: string
  readonly due: Rows<Row>
  /** How many rows may be held. */
  readonly concurrency: number
  /**
   * How many of them are handled at a time, where rows come one after the other and end soon. As long as they do, more are taken at
   * once, and those of a burst once a `poll`; else no more than these, so that other processes have the rest. Default: all.
   */
  readonly atATime?: number | undefined
  /** How long a row is leased without a renewal. */
  readonly lease: number
  /** How often it looks for rows that other processes have written. */
  readonly poll: number
  /** Opened when this process writes a row that is due. */
  readonly isDue: Latch.Latch
  readonly followWrites: Effect.Effect<NextWrite, never, Scope.Scope>
  /** How many rows may be held now. Default: `concurrency`. */
  readonly most?: (() => number) | undefined
  /** Success: the handler has written what becomes of the row. A failure gives the row back, for a later try. */
  readonly handle: (row: Row) => Effect.Effect<void, TryAgain, R>
}

/** After how many milliseconds a row is tried again: 1, 2, 4 seconds, and so on, up to 5 minutes. */
const backoff = (tries: number) => Math.min(1000 * 2 ** (tries - 1), 300_000)

/** Takes rows and handles `concurrency` of them at the same time, until it is interrupted. */
export const workRows = <R, Row extends DueRow = DueRow>(
  options: WorkOptions<R, Row>
): Effect.Effect<never, never, R> =>
  Effect.gen(function* () {
    const { atATime, due, isDue, lease, name, poll, most = () => options.concurrency } = options
    const held = new Set<Taken>()
    const isFree = Latch.makeUnsafe(true)
    const turns = Semaphore.makeUnsafe(atATime ?? Infinity)
    const isFull = () => held.size >= (atATime ?? most())
    const clock = yield* Clock.Clock
    const now = () => monotonicMillisOf(clock)
    let room = 0
    let tookAt = -Infinity
    /** How many rows are taken next. */
    const wanted = () => {
      if (atATime === undefined) return most() - held.size
      const areQuick = now() - tookAt <= 2 * poll
      room = areQuick ? Math.min(4 * room, most()) : atATime
      tookAt = now()
      return room - held.size
    }
    const isHolding = Latch.makeUnsafe()
    const handling = yield* FiberSet.make<void>()
    const nextWrite = yield* options.followWrites
    const warn = makeWarn(noAnswer(name))
    // Most looks find nothing, so they make no spans.
    const quietly = Effect.withTracerEnabled(false)

    const giveBack = (taken: Taken, { tries }: DueRow, cause: Cause.Cause<TryAgain>) => {
      const failure = Cause.findError(cause)
      const isAtOnce = Result.isSuccess(failure) && failure.success.isAtOnce === true
      const millis = Cause.hasInterrupts(cause) || isAtOnce ? 0 : backoff(tries)
      // Where the database does not answer, the lease ends.
      return Effect.andThen(Effect.exit(quietly(due.giveBack(taken, millis, !isAtOnce))), isDue.open)
    }
    const handle = (row: Row, taken: Taken) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Effect.exit(restore(turns.withPermit(options.handle(row)))), (exit) =>
          Exit.isSuccess(exit) ? Effect.void : giveBack(taken, row, exit.cause)
        )
      ).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            held.delete(taken)
            if (held.size === 0) isHolding.closeUnsafe()
            isFree.openUnsafe()
          })
        )
      )

    /** A row that was taken has its handler, which gives it back: no interruption comes between. */
    const takeRows = (count: number) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const taker = SecureRandom.uuidV4Unsafe()
          const rows = yield* restore(quietly(due.take(taker, lease, count)))
          for (const row of rows) {
            const taken = { key: row.key, taker }
            held.add(taken)
            isHolding.openUnsafe()
            if (isFull()) isFree.closeUnsafe()
            yield* FiberSet.run(handling, handle(row, taken))
          }
          return rows
        })
      )
    /** Waits until a row is due, as the last look says: each write of another process is followed by one. */
    const untilDue = Effect.gen(function* () {
      // In a burst of rows of this process the next one is taken before this.
      yield* Effect.sleep("50 millis")
      let dueAt = Infinity
      while (dueAt > now()) {
        dueAt = Math.min(dueAt, now() + (yield* quietly(due.untilNext)))
        const left = dueAt - now()
        if (left <= 0) return
        // While the machine is suspended its clock goes on, and the timers do not.
        const isDueThen = left === Infinity ? Effect.never : Effect.sleep(Duration.millis(Math.min(left, 60_000)))
        // The workers of a process look at the same time.
        const pause = Effect.sleep(Duration.millis(Math.ceil(poll - (now() % poll))))
        yield* Effect.raceFirst(isDueThen, Effect.andThen(pause, nextWrite))
      }
    })

    const takeSome = Effect.gen(function* () {
      yield* isFree.await
      isDue.closeUnsafe()
      if (isFull()) {
        isFree.closeUnsafe()
        return
      }
      const count = wanted()
      const rows = yield* takeRows(count)
      const again = due.again?.()
      if (rows.length === count || again === 0) return
      if (rows.length > 0 && atATime !== undefined) yield* Effect.sleep(Duration.millis(poll))
      yield* Effect.raceFirst(isDue.await, again === undefined ? untilDue : Effect.sleep(Duration.millis(again)))
    })

    const renew = Effect.suspend(() => (held.size === 0 ? Effect.void : due.renew([...held], lease)))
    const whileHolding = Effect.succeed(isHolding.await)
    yield* Effect.forkScoped(repeatedly(`${name}: renewing leases`, Duration.millis(lease / 5), renew, whileHolding))
    // Its own interruption is not caught: what is, came from below.
    const taking = Effect.catchCause(takeSome, (cause) => Effect.andThen(warn(cause), Effect.sleep("1 second")))
    return yield* Effect.forever(taking)
  }).pipe(Effect.scoped)
