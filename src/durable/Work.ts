/**
 * Work that survives its process: Effect's `PersistedQueue` on the user's own database, and the fibers that
 * handle its elements.
 *
 * Details: delivery is at least once. An element is leased to the process that took it, and the lease is renewed while the
 * handler runs. If the process dies or is suspended, its lease ends after `lease`, and another process takes the element.
 *
 * Gotcha: a handler may run twice, even while its earlier run continues. Its last write has to be conditional.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as PersistedQueue from "effect/persistence/PersistedQueue"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { followWrites, type NextWrite, soleWritesOf, type Writes } from "../internal/soleWriter.ts"
import { log } from "../internal/spans.ts"
import { DatabaseError, sqlErrorOf, untilReachable } from "./Database.ts"
import { migrate, requireNewest, requireVersion, type Tables } from "./Tables.ts"

/** The table of the queue, for payouts and webhooks. */
export const queueTable = "effect_pix_queue"

const index = [`CREATE INDEX ${queueTable}_ended ON ${queueTable} (state, updated_at)`]
/** The index by which finished elements are deleted. */
const indexes: Tables = { name: `${queueTable}_ended`, migrations: { "0001_create": { pg: index, sqlite: index } } }

/** The version of the queue's table, which Effect makes and versions. */
const queueVersion = 2

/** Fails unless the queue's tables are as `layerQueue` makes them: it then finds nothing to migrate. */
export const requireQueue = Effect.andThen(requireVersion(queueTable, queueVersion), requireNewest(indexes))

/** How a worker shares the queue with others. */
export interface LeaseOptions {
  /**
   * How long the elements of a process are leased to it without a renewal; after that another process takes them. A lease is
   * renewed five times in this time. Whole seconds. Default 30 seconds.
   */
  readonly lease?: Duration.Input | undefined
  /** How often the queue is polled for elements of other processes. Those of this process are taken at once. Default 1 second. */
  readonly poll?: Duration.Input | undefined
}

/** A clock by which a sleep that is over ends only when the latch is open. */
const restingClock =
  (isAwake: Latch.Latch) =>
  (clock: Clock.Clock): Clock.Clock =>
    Object.create(clock, {
      sleep: { value: (duration: Duration.Duration) => Effect.andThen(clock.sleep(duration), isAwake.await) }
    })

/**
 * Has the timers of Effect's store, by which it looks for elements and renews its leases, wait until an element is due or in
 * work, or something is written. What is offered to the store itself is taken without them.
 */
const restingStore = <E, R>(
  make: Effect.Effect<PersistedQueue.PersistedQueueStore["Service"], E, R>,
  { name, poll, sql, writes }: { name: string; poll: Duration.Input; sql: SqlClient.SqlClient; writes: Writes }
) =>
  Effect.gen(function* () {
    const isAwake = Latch.makeUnsafe()
    const nextWrite = yield* followWrites(writes)
    // What is in work was due.
    const secondsUntilDue = sql<{ readonly seconds: number | null }>`
      SELECT unixepoch(MIN(visible_at)) - unixepoch(CURRENT_TIMESTAMP) AS seconds
      FROM ${sql(queueTable)} WHERE queue_name = ${name} AND state = 'pending'`
    const untilDue: Effect.Effect<void, SqlError> = Effect.flatMap(secondsUntilDue, ([row]) => {
      const seconds = row?.seconds ?? Infinity
      if (seconds <= 0) return Effect.void
      isAwake.closeUnsafe()
      // While the machine is suspended its clock goes on, and the timers do not.
      const most = seconds === Infinity ? seconds : Math.min(seconds, 60)
      return Effect.andThen(Effect.sleep(Duration.seconds(most)), untilDue)
    })
    const rest = Effect.ensuring(Effect.raceFirst(nextWrite, untilDue), isAwake.open)
    // A process that only submits looks for nothing.
    const isTaking = Latch.makeUnsafe()
    yield* Effect.forkScoped(Effect.andThen(isTaking.await, repeatedly("Looking for what is due", poll, rest)))
    const store = yield* Effect.updateService(make, Clock.Clock, restingClock(isAwake))
    return PersistedQueue.PersistedQueueStore.of({
      ...store,
      take: (options) =>
        Effect.andThen(isTaking.open, Effect.updateService(store.take(options), Clock.Clock, restingClock(isAwake)))
    })
  })

/** The queue of this name on the ambient `SqlClient`. It creates its table. */
export const layerQueue = (
  name: string,
  { lease = "30 seconds", poll = "1 second" }: LeaseOptions = {}
): Layer.Layer<
  PersistedQueue.PersistedQueueFactory | PersistedQueue.PersistedQueueStore,
  SqlError,
  SqlClient.SqlClient
> =>
  PersistedQueue.layer.pipe(
    Layer.provideMerge(
      Layer.effect(
        PersistedQueue.PersistedQueueStore,
        Effect.gen(function* () {
          const sql = (yield* SqlClient.SqlClient).withoutTransforms()
          const store = PersistedQueue.makeStoreSql({
            tableName: queueTable,
            lockExpiration: lease,
            lockRefreshInterval: Duration.times(Duration.fromInputUnsafe(lease), 0.2),
            pollInterval: poll
          })
          const writes = soleWritesOf(sql)
          return yield* writes === undefined ? store : restingStore(store, { name, poll, sql, writes })
        })
      )
    ),
    Layer.tap(() => migrate(indexes)),
    Layer.provide(Layer.effectDiscard(untilReachable)),
    // Most polls find nothing, so they make no spans.
    Layer.provide(Layer.succeed(References.TracerEnabled, false))
  )

/** A clock in whole milliseconds: with fractions of one, the store in memory may wait for ever. */
const wholeMillis = (clock: Clock.Clock): Clock.Clock => ({
  ...clock,
  currentTimeMillisUnsafe: () => Math.floor(clock.currentTimeMillisUnsafe())
})

/**
 * The queue in memory, for tests under `TestClock`: it ends with the process. Each take reads all elements, so an element
 * with a delay is added only when the delay is over. The next cleanup deletes finished elements.
 */
export const layerQueueMemory: Layer.Layer<PersistedQueue.PersistedQueueFactory | PersistedQueue.PersistedQueueStore> =
  Layer.provideMerge(
    PersistedQueue.layer,
    Layer.effect(
      PersistedQueue.PersistedQueueStore,
      Effect.gen(function* () {
        const scope = yield* Effect.scope
        const built = Layer.build(Layer.fresh(PersistedQueue.layerStoreMemory))
        const store = yield* Effect.map(
          Effect.updateService(built, Clock.Clock, wholeMillis),
          Context.get(PersistedQueue.PersistedQueueStore)
        )
        return PersistedQueue.PersistedQueueStore.of({
          ...store,
          offer: ({ delay, ...element }) => {
            const offer = store.offer(element)
            if (delay === undefined) return offer
            return Effect.asVoid(Effect.forkIn(Effect.delay(offer, delay), scope, { startImmediately: true }))
          },
          cleanup: () => store.cleanup({ timeToLive: Duration.zero, failedTimeToLive: Duration.zero })
        })
      })
    )
  )

/** Deletes finished elements. Their results are in the rows of payouts and webhooks. */
export const forgetDone = Effect.flatMap(PersistedQueue.PersistedQueueStore, (store) =>
  store.cleanup({ timeToLive: Duration.days(1), failedTimeToLive: Duration.days(30) })
)

/** The limit of attempts that the queue needs: in practice none. The handlers decide by time and by the answers when to stop. */
export const unlimited = 2 ** 31 - 1

/**
 * The element will be tried again later, by the queue's schedule. The queue stores the text of the failure in its table, so
 * the text is only a word of this library.
 */
export class TryAgain extends Schema.TaggedError<TryAgain>("effect-pix/TryAgain")("TryAgain", {
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** The class and the stack of a defect, without its message, which may quote a person's data. */
const traceOf = (cause: Cause.Cause<unknown>): string => {
  const defect = Cause.squash(cause)
  if (!Predicate.isError(defect)) return typeof defect
  const frames = String(defect.stack)
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
  return [defect.name, ...frames].join("\n")
}

/** What `error.type` says of a cause: a kind of failure, the class of a defect, or `Interrupted`. No word of an error's own. */
const causeType = (cause: Cause.Cause<unknown>): string => {
  if (Cause.hasInterruptsOnly(cause)) return "Interrupted"
  const error = Cause.squash(cause)
  const reason = error instanceof DatabaseError ? error.reason : sqlErrorOf(error)?.reason._tag
  return reason ?? (Predicate.isError(error) ? error.name : "Defect")
}

/** What a line says of a cause. */
const causeAttributes = (cause: Cause.Cause<unknown>) => ({
  "error.type": causeType(cause),
  "exception.stacktrace": Cause.hasInterruptsOnly(cause) ? undefined : traceOf(cause)
})

/**
 * Makes `TryAgain` of a defect, and of a step that was interrupted by another fiber, for example when the user's pool closed.
 * It is logged in the trace of the calling fiber, without the defect's message.
 */
export const orTryAgain =
  (
    /** The name of the worker in the log. */
    name: string,
    /** What the line says of what was handled. */
    attributes: Readonly<Record<string, unknown>> = {}
  ) =>
  <A, R>(effect: Effect.Effect<A, TryAgain, R>): Effect.Effect<A, TryAgain, R> =>
    Effect.catchCause(effect, (cause) => {
      const failure = Cause.findError(cause)
      if (Result.isSuccess(failure)) return Effect.fail(failure.success)
      const isInterrupted = Cause.hasInterruptsOnly(cause)
      const line = { ...attributes, ...causeAttributes(cause) }
      return Effect.andThen(
        isInterrupted
          ? log("Warn", `${name}: a step was interrupted, it is tried again`, line)
          : log("Error", `${name}: a handler died (${causeType(cause)})`, line),
        Effect.fail(new TryAgain({ reason: isInterrupted ? "Interrupted" : "Defect" }))
      )
    })

/** Takes elements and handles `concurrency` of them at the same time, until it is interrupted. */
export const work = <A, R, HR>(
  queue: PersistedQueue.PersistedQueue<A, R>,
  options: {
    /** The name of the worker in the log. */
    readonly name: string
    readonly concurrency: number
    /** What a line of the log says of an element. Default: nothing. */
    readonly attributesOf?: (value: A) => Readonly<Record<string, unknown>>
    /** Success removes the element. For a defect and an interruption, see `orTryAgain`. */
    readonly handle: (value: A, metadata: { readonly attempts: number }) => Effect.Effect<void, TryAgain, HR>
  }
): Effect.Effect<never, never, R | HR> => {
  const { handle, name } = options
  // If the database cannot be reached for longer than the lease, a take cannot settle its element and dies. The next take
  // follows, and the element is taken again when its lease is over.
  const taker = queue
    .take((value, metadata) => orTryAgain(name, options.attributesOf?.(value))(handle(value, metadata)))
    .pipe(
      Effect.catchCause((cause) => {
        const failure = Cause.findError(cause)
        return Result.isSuccess(failure) && failure.success._tag === "TryAgain"
          ? Effect.void
          : Effect.andThen(
              log("Warn", `${name}: the queue did not answer, it is polled again`, causeAttributes(cause)),
              Effect.sleep("1 second")
            )
      }),
      Effect.forever
    )
  return Effect.andThen(
    Effect.replicateEffect(taker, options.concurrency, { concurrency: options.concurrency, discard: true }),
    Effect.never
  )
}

/**
 * Runs the effect at once, and then every `interval` in which something was written, until it is interrupted. A failure is
 * logged, as a warning at most once a minute, and the next run follows after `interval`. No spans are made, since most runs
 * find nothing to do.
 */
export const repeatedly = <E, R>(
  name: string,
  interval: Duration.Input,
  effect: Effect.Effect<unknown, E, R>,
  follow: Effect.Effect<NextWrite, never, Scope.Scope> = followWrites(undefined)
): Effect.Effect<never, never, Exclude<R, Scope.Scope>> =>
  Effect.flatMap(follow, (nextWrite) => {
    let warnedAt = -Infinity
    const warn = Effect.fnUntraced(function* (cause: Cause.Cause<E>) {
      const now = yield* Clock.currentTimeMillis
      const isQuiet = now - warnedAt < 60_000
      if (!isQuiet) warnedAt = now
      yield* log(isQuiet ? "Debug" : "Warn", `${name} failed, and will run again`, causeAttributes(cause))
    })
    return effect.pipe(
      Effect.as(nextWrite),
      Effect.catchCause((cause) => Effect.as(warn(cause), Effect.void)),
      Effect.flatMap((next) => Effect.andThen(Effect.sleep(interval), next)),
      Effect.forever
    )
  }).pipe(Effect.scoped, Effect.withTracerEnabled(false))

/**
 * Waits for the next write, and reports every minute meanwhile: what was measured is true until then, and a database that
 * cannot be asked is told from one that need not be.
 */
export const reportUntil = (nextWrite: NextWrite, report: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.raceFirst(nextWrite, Effect.forever(Effect.andThen(Effect.sleep("1 minute"), report)))

/**
 * When the calling fiber is interrupted, gives the effect at most `patience` to end before it is interrupted too: a process
 * that stops does not cut off an effect that ends soon.
 */
export const withPatience =
  (patience: Duration.Input) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.forkChild(effect), (fiber) =>
        Effect.onInterrupt(restore(Fiber.join(fiber)), () =>
          Effect.andThen(Effect.timeoutOption(Fiber.await(fiber), patience), Fiber.interrupt(fiber))
        )
      )
    )
