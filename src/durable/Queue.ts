/**
 * Effect's `PersistedQueue` on the user's own database, and in memory: its tables, and when its store looks for elements.
 *
 * Details: delivery is at least once. An element is leased to the process that took it, and the lease is renewed while the
 * handler runs. If the process dies or is suspended, its lease ends after `lease`, and another process takes the element.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as PersistedQueue from "effect/persistence/PersistedQueue"
import * as Queue from "effect/Queue"
import * as References from "effect/References"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { ConfigurationError } from "../contract/ConfigurationError.ts"
import { followWrites, soleWritesOf, type Writes } from "../internal/soleWriter.ts"
import { failWithDefect, untilReachable } from "./Database.ts"
import { migrate, type Tables } from "./Tables.ts"
import { makeWarn, noAnswer, repeatedly } from "./Work.ts"

/** The table of the queue, for payouts and webhooks. */
const queueTable = "effect_pix_queue"

const index = [`CREATE INDEX ${queueTable}_ended ON ${queueTable} (state, updated_at)`]
/** The index by which finished elements are deleted. */
const indexes: Tables = { name: `${queueTable}_ended`, migrations: { "0001_create": { pg: index, sqlite: index } } }

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

/**
 * A store of Effect whose failures are logged as those of this library. Effect logs each failed poll, two a second, as a cause
 * without a message.
 */
const reportingStore = <E, R>(make: Effect.Effect<PersistedQueue.PersistedQueueStore["Service"], E, R>, name: string) =>
  Effect.gen(function* () {
    const failures = yield* Queue.sliding<Cause.Cause<unknown>>(1)
    const loggers = yield* Logger.CurrentLoggers
    const logger = Logger.make((line) => {
      if (line.cause.reasons.length > 0) return void Queue.offerUnsafe(failures, line.cause)
      for (const each of loggers) each.log(line)
    })
    const warn = makeWarn(noAnswer(name))
    yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(failures), warn)))
    const reporting = Effect.provideService(Logger.CurrentLoggers, new Set([logger]))
    const store = yield* reporting(make)
    // Its polls have the services of the fiber that takes.
    return PersistedQueue.PersistedQueueStore.of({ ...store, take: (options) => reporting(store.take(options)) })
  })

/** A clock by which a sleep that is over ends only when the latch is open. */
const restingClock =
  (isAwake: Latch.Latch) =>
  (clock: Clock.Clock): Clock.Clock =>
    Object.create(clock, {
      sleep: { value: (duration: Duration.Duration) => Effect.andThen(clock.sleep(duration), isAwake.await) }
    })

/**
 * A store of Effect whose timers wait until an element is due or in work, or something is written. By these timers it polls
 * for elements and renews its leases. An element that this process offers is taken without them.
 */
const restingStore = <E, R>(
  make: Effect.Effect<PersistedQueue.PersistedQueueStore["Service"], E, R>,
  { name, poll, sql, writes }: { name: string; poll: Duration.Input; sql: SqlClient.SqlClient; writes: Writes }
) =>
  Effect.gen(function* () {
    const isAwake = Latch.makeUnsafe()
    const nextWrite = yield* followWrites(writes)
    // An element in work was due before.
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
    // A process that only submits does not poll.
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
  SqlError | ConfigurationError,
  SqlClient.SqlClient
> =>
  PersistedQueue.layer.pipe(
    Layer.provideMerge(
      Layer.effect(
        PersistedQueue.PersistedQueueStore,
        Effect.gen(function* () {
          const sql = (yield* SqlClient.SqlClient).withoutTransforms()
          const store = failWithDefect(
            PersistedQueue.makeStoreSql({
              tableName: queueTable,
              lockExpiration: lease,
              lockRefreshInterval: Duration.times(Duration.fromInputUnsafe(lease), 0.2),
              pollInterval: poll
            })
          )
          const writes = soleWritesOf(sql)
          return yield* reportingStore(
            writes === undefined ? store : restingStore(store, { name, poll, sql, writes }),
            name
          )
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
