/**
 * What submitting and working share: the rows, the queue, and the notices of changes.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as PersistedQueue from "effect/persistence/PersistedQueue"
import * as PubSub from "effect/PubSub"
import * as RcMap from "effect/RcMap"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { repeatedly } from "../../../durable/Work.ts"
import type { Changes, Row } from "./row.ts"
import type { Store } from "./store.ts"

/** An element of the queue: the key of a payout, and the generation that its row must have. It holds no person's data. */
export const Element = Schema.Struct({ v: Schema.tag(1), key: Schema.String, generation: Schema.Int })
export type Element = typeof Element.Type

type QueueError = PersistedQueue.PersistedQueueError

export interface Core {
  readonly store: Store
  readonly queue: PersistedQueue.PersistedQueue<Element>
  /** The keys of the rows that this process changed. */
  readonly changedKeys: PubSub.PubSub<string>
  /** Changes a row, and publishes its key after the commit; `undefined` where another process changed it first. */
  readonly change: (row: Row, changes: Changes) => Effect.Effect<Row | undefined, SqlError>
  /** Offers a new element for a row. The element that it had is outdated, and a worker that takes it drops it. */
  readonly requeue: (
    row: Row,
    options?: { readonly changes?: Changes; readonly delay?: Duration.Input }
  ) => Effect.Effect<Row | undefined, SqlError | QueueError>
  readonly offer: (row: Row, delay?: Duration.Input) => Effect.Effect<void, QueueError>
  /** Publishes after the commit that a row was changed. */
  readonly publish: (key: string) => Effect.Effect<void>
  /**
   * A latch that opens when this process changes the payout, or sees that it is not open any more. All who wait in this
   * process share one look at the database for each `poll`.
   */
  readonly changeOf: (key: string) => Effect.Effect<Latch.Latch, never, Scope.Scope>
}

/** The id of the element that a row waits for. */
export const elementId = ({ generation, key }: Pick<Row, "generation" | "key">) => `${key}#${generation}`

export const makeCore = Effect.fnUntraced(function* (
  store: Store,
  queue: PersistedQueue.PersistedQueue<Element>,
  poll: number
) {
  const changedKeys = yield* PubSub.sliding<string>(1024)
  const awaited = yield* RcMap.make({ lookup: (_key: string) => Latch.make() })
  const changeOf = (key: string) => RcMap.get(awaited, key)
  const wake = (key: string) =>
    Effect.when(
      Effect.scoped(
        Effect.andThen(
          Effect.flatMap(changeOf(key), (latch) => latch.open),
          RcMap.invalidate(awaited, key)
        )
      ),
      RcMap.has(awaited, key)
    )
  const look = Effect.gen(function* () {
    const keys = [...(yield* RcMap.keys(awaited))]
    if (keys.length === 0) return
    const open = new Set(yield* store.open(keys))
    yield* Effect.forEach(
      keys.filter((key) => !open.has(key)),
      wake,
      { discard: true }
    )
  })
  yield* Effect.forkScoped(repeatedly("Looking for awaited payouts", Duration.millis(poll), look))
  const publish = (key: string) =>
    store.afterCommit(Effect.asVoid(Effect.andThen(PubSub.publish(changedKeys, key), wake(key))))
  const change: Core["change"] = (row, changes) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => store.change(row, changes, now)).pipe(
      Effect.tap((next) => (next === undefined ? Effect.void : publish(row.key)))
    )
  const offer: Core["offer"] = ({ generation, key }, delay) =>
    queue.offer({ v: 1, key, generation }, { id: elementId({ generation, key }), delay }).pipe(
      // A key and a number can always be written.
      Effect.catchTag("SchemaError", Effect.die),
      Effect.asVoid
    )
  const requeue: Core["requeue"] = (row, { changes, delay } = {}) =>
    store.shortTransaction(
      Effect.tap(change(row, { ...changes, generation: row.generation + 1 }), (next) =>
        next === undefined ? Effect.void : offer(next, delay)
      )
    )
  return { store, queue, changedKeys, change, requeue, offer, publish, changeOf } satisfies Core
})

/** Loads a row and changes it; again, where another process changed it meanwhile. `step` answers what to change, if anything. */
export const retrying =
  (core: Core) =>
  <E>(
    key: string,
    step: (row: Row) => Effect.Effect<Changes | undefined, E>,
    first?: Row
  ): Effect.Effect<Row | undefined, SqlError | E> => {
    const once = (row: Row | undefined): Effect.Effect<Row | undefined, SqlError | E> =>
      row === undefined
        ? Effect.undefined
        : Effect.flatMap(step(row), (changes) =>
            changes === undefined
              ? Effect.succeed(row)
              : Effect.filterOrElse(
                  core.change(row, changes),
                  (next) => next !== undefined,
                  () => Effect.flatMap(core.store.get(key), once)
                )
          )
    return first === undefined ? Effect.flatMap(core.store.get(key), once) : once(first)
  }
