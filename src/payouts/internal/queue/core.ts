/**
 * The rows, and the notices of their changes, for clients and workers. Only `insert` and `change` write the state of a row.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as RcMap from "effect/RcMap"
import type { Fragment } from "effect/sql/Statement"
import * as Tracer from "effect/Tracer"
import { repeatedly } from "../../../durable/Work.ts"
import { parked } from "./approval.ts"
import { entryOf, type Event } from "./entries.ts"
import { type Changes, park, type Row } from "./row.ts"
import type { Settings } from "./settings.ts"
import { countChange, logParked } from "./signals.ts"
import type { Store } from "./store.ts"

/** The span of the operation by which a payout is to be sent, as `traceId-spanId`. */
export const OfferedBy = Context.Reference<string | null>("effect-pix/OfferedBy", { defaultValue: () => null })

/** The links of the span in which a row is handled. */
export const linksOf = ({ offeredBy }: Row): Array<Tracer.SpanLink> => {
  const [traceId, spanId] = offeredBy?.split("-") ?? []
  return traceId === undefined || spanId === undefined
    ? []
    : [{ span: Tracer.externalSpan({ traceId, spanId }), attributes: {} }]
}

export type Core = Effect.Success<ReturnType<typeof makeCore>>

export const makeCore = Effect.fnUntraced(function* (store: Store, { poll }: Settings) {
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
  const wakeClosed = Effect.gen(function* () {
    const keys = [...(yield* RcMap.keys(awaited))]
    if (keys.length === 0) return
    const open = new Set(yield* store.open(keys))
    yield* Effect.forEach(
      keys.filter((key) => !open.has(key)),
      wake,
      { discard: true }
    )
  })
  yield* Effect.forkScoped(
    repeatedly("Looking for awaited payouts", Duration.millis(poll), wakeClosed, store.followWrites)
  )

  /** Opened when this process writes a row that is due. */
  const isDue = Latch.makeUnsafe()
  const publish = (row: Row, isQueued: boolean) =>
    store.afterCommit(Effect.andThen(isQueued ? isDue.open : Effect.void, Effect.asVoid(wake(row.idempotencyKey))))

  /**
   * Inserts a row of a list with this sum, which is due at once, or parked where the sum is above the account's limit; `undefined`
   * where there is a row with its key.
   */
  const insert = Effect.fnUntraced(function* (wanted: Row, sum: number) {
    const offered = { ...wanted, offeredBy: yield* OfferedBy }
    const inserted = yield* store.insert(offered, sum)
    if (inserted === undefined) return undefined
    const accepted = { ...offered, wantedAt: inserted.wantedAt }
    const row = inserted.needsApproval ? { ...accepted, ...park(parked.because) } : accepted
    if (row.needsApproval) {
      yield* store.insertEntry(row.idempotencyKey, entryOf(parked, row))
      yield* store.afterCommit(logParked(row, parked.because))
    }
    yield* publish(row, !row.needsApproval)
    yield* store.afterCommit(countChange(row))
    return row
  })

  /**
   * Changes a row, and writes the event of its history if there is one; `undefined` where another process changed it
   * first, and the row as it was where a cap is reached.
   */
  const change = Effect.fnUntraced(function* (
    row: Row,
    changes: Changes,
    event: Event | undefined,
    options: {
      /** Another condition: see `update` of the store. */
      readonly only?: Fragment | undefined
      /** The cap of a day on which the row is counted by the change. */
      readonly cap?: number | undefined
      /** A worker takes the row after this time. Default: when its lease ends, or when the worker gives it back. */
      readonly dueIn?: Duration.Duration | undefined
    } = {}
  ) {
    const { cap, dueIn, only } = options
    const offeredBy = dueIn === undefined ? row.offeredBy : ((yield* OfferedBy) ?? row.offeredBy)
    const updatedAt = yield* Clock.currentTimeMillis
    // What the first of two people asked for was about the row as it was.
    const wanted: Row = {
      ...row,
      askedStep: null,
      askedBy: null,
      ...changes,
      offeredBy,
      updatedAt,
      version: row.version + 1
    }
    const conditions = { cap, dueIn: dueIn && Duration.toMillis(dueIn), only }
    const to = yield* store.update(row, wanted, event && entryOf(event, wanted), conditions)
    if (to === undefined || to === row) return to
    yield* publish(to, dueIn !== undefined)
    if (to.state !== row.state) yield* store.afterCommit(countChange(to))
    return to
  })

  /**
   * Changes a row by a step, and repeats it where another process changed the row first. `undefined` of a step changes
   * nothing. A row that `isQueued` is due at once.
   */
  const changeBy = Effect.fnUntraced(function* <E>(
    row: Row | undefined,
    step: (row: Row) => Effect.Effect<Changes | undefined, E>,
    eventOf: (row: Row, changes: Changes) => Event | undefined,
    isQueued: (row: Row) => boolean = () => false
  ) {
    let current = row
    while (current !== undefined) {
      const changes = yield* step(current)
      const dueIn = isQueued({ ...current, ...changes }) ? Duration.zero : undefined
      const next =
        changes === undefined ? current : yield* change(current, changes, eventOf(current, changes), { dueIn })
      if (next !== undefined) return next
      current = yield* store.get(current.idempotencyKey)
    }
    return undefined
  })

  return { store, isDue, changeOf, insert, change, changeBy }
})
