/**
 * The rows, their queue and the notices of their changes, for clients and workers. Only `insert` and `change` write the
 * state of a row.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as PersistedQueue from "effect/persistence/PersistedQueue"
import * as PubSub from "effect/PubSub"
import * as RcMap from "effect/RcMap"
import * as Schema from "effect/Schema"
import type { Fragment } from "effect/sql/Statement"
import * as Tracer from "effect/Tracer"
import { unlimited } from "../../../durable/Queue.ts"
import { repeatedly } from "../../../durable/Work.ts"
import { entryOf, type Event } from "./entries.ts"
import type { Changes, Row } from "./row.ts"
import type { Settings } from "./settings.ts"
import { countChange } from "./signals.ts"
import { queueNameOf } from "./sqlStore.ts"
import type { Store } from "./store.ts"

/**
 * An element of the queue: the key of a payout, the generation that its row must have, and the span that offered it. It
 * holds no person's data.
 */
export const Element = Schema.Struct({
  key: Schema.String,
  generation: Schema.Int,
  span: Schema.optionalKey(Schema.Struct({ traceId: Schema.String, spanId: Schema.String }))
})
export type Element = typeof Element.Type

/**
 * The span of the submit, or of the operator's step, by which a payout is queued. A worker that queues it anew uses the same
 * span.
 */
export const OfferedBy = Context.Reference<Element["span"]>("effect-pix/OfferedBy", { defaultValue: () => undefined })

/** The links of the span in which an element is handled. */
export const linksOf = ({ span }: Element): Array<Tracer.SpanLink> =>
  span === undefined ? [] : [{ span: Tracer.externalSpan(span), attributes: {} }]

/** The id of the element that a row waits for. A reference that was forgotten and is submitted again gets new ids. */
export const elementId = ({ generation, idempotencyKey, submittedAt }: Row) =>
  `${idempotencyKey}#${submittedAt}#${generation}`

export type Core = Effect.Success<ReturnType<typeof makeCore>>

export const makeCore = Effect.fnUntraced(function* (store: Store, { account, poll }: Settings) {
  const queue = yield* PersistedQueue.make({ name: queueNameOf(account), schema: Element, maxAttempts: unlimited })
  /** The rows that this process inserted or changed, published after the commit. */
  const written = yield* PubSub.sliding<Row>(1024)
  const awaited = yield* RcMap.make({ lookup: (_key: string) => Latch.make() })
  /**
   * A latch that opens when this process changes the payout, or sees that it is not open any more. All waiting fibers of
   * this process share one look at the database for each `poll` in which something was written.
   */
  const changeOf = (key: string) => RcMap.get(awaited, key)
  const wake = (key: string) =>
    changeOf(key).pipe(
      Effect.flatMap((latch) => latch.open),
      Effect.andThen(RcMap.invalidate(awaited, key)),
      Effect.scoped,
      Effect.when(RcMap.has(awaited, key))
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
  yield* Effect.forkScoped(repeatedly("Looking for awaited payouts", Duration.millis(poll), look, store.followWrites))

  /** Offers the element that a new row, or a row of a new generation, waits for. */
  const offer = Effect.fnUntraced(
    function* (row: Row, delay?: Duration.Input) {
      const span = yield* OfferedBy
      const { generation, idempotencyKey: key } = row
      const element = { key, generation, ...(span !== undefined && { span }) }
      return yield* queue.offer(element, { id: elementId(row), delay })
    },
    // Texts and a number can always be written.
    Effect.catchTag("SchemaError", Effect.die)
  )
  const publish = (row: Row) =>
    store.afterCommit(Effect.asVoid(Effect.andThen(PubSub.publish(written, row), wake(row.idempotencyKey))))

  /** Inserts and queues a row; false where there is a row with its key. */
  const insert = Effect.fnUntraced(function* (row: Row) {
    if (!(yield* store.insert(row))) return false
    yield* offer(row)
    yield* publish(row)
    yield* store.afterCommit(countChange(row))
    return true
  })

  /**
   * Changes a row, and writes the event of its history if there is one; `undefined` where another process changed it
   * first. A row of a new generation gets a new element, after `delay`, and a worker drops the element that it had. A row
   * that no longer counts against the cap of a day is subtracted from the sum of that day. Either needs a transaction
   * around the change.
   */
  const change = Effect.fnUntraced(function* (
    row: Row,
    changes: Changes,
    event: Event | undefined,
    options: {
      /** Another condition: see `update` of the store. */
      readonly only?: Fragment
      readonly delay?: Duration.Input | undefined
    } = {}
  ) {
    const to: Row = { ...row, ...changes, updatedAt: yield* Clock.currentTimeMillis, version: row.version + 1 }
    if (!(yield* store.update(row, to, event && entryOf(event, to), options.only))) return undefined
    if (row.countedDay !== null && to.countedDay === null) yield* store.accounts.unspend(row.countedDay, row.amount)
    if (to.generation !== row.generation) yield* offer(to, options.delay)
    yield* publish(to)
    if (to.state !== row.state) yield* store.afterCommit(countChange(to))
    return to
  })

  /** Queues a row anew. */
  const requeue = (row: Row, delay?: Duration.Input, changes: Changes = {}) =>
    store.shortTransaction(change(row, { ...changes, generation: row.generation + 1 }, undefined, { delay }))

  /**
   * Changes a row by a step, and repeats it where another process changed the row first. `undefined` of a step changes
   * nothing.
   */
  const changeBy = Effect.fnUntraced(function* <E>(
    row: Row | undefined,
    step: (row: Row) => Effect.Effect<Changes | undefined, E>,
    eventOf: (row: Row) => Event
  ) {
    let current = row
    while (current !== undefined) {
      const changes = yield* step(current)
      const next = changes === undefined ? current : yield* change(current, changes, eventOf(current))
      if (next !== undefined) return next
      current = yield* store.get(current.idempotencyKey)
    }
    return undefined
  })

  return { store, queue, written, changeOf, insert, change, requeue, changeBy }
})
