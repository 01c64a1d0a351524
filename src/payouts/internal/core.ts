/**
 * The rows, and the notices of their changes, for clients and workers. Only `insert` and `change` write the state of a row.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as RcMap from "effect/RcMap"
import type { Fragment } from "effect/sql/Statement"
import { repeatedly } from "../../durable/Work.ts"
import { released } from "./machine/accountTime.ts"
import { step as stepOf, type Step } from "./machine/edges.ts"
import type { Because } from "../PayoutBecause.ts"
import { entryOf } from "./store/entries.ts"
import type { Event } from "./machine/events.ts"
import { logContradicted, makePayoutLog } from "./signals/log.ts"
import { handedOutOf, toldState } from "./machine/status.ts"
import { isOpen, type Row } from "./machine/row.ts"
import type { Settings } from "../PayoutQueueOptions.ts"
import { countChange } from "./signals/signals.ts"
import type { Store } from "./store/store.ts"
import type { Conditions } from "./store/update.ts"
import { mapDatabaseError } from "../../durable/Database.ts"
import { inSpan } from "../../internal/spans.ts"

const isTaken = (taken: ReturnType<typeof stepOf>): taken is Step => typeof taken === "object"

export type Core = Effect.Success<ReturnType<typeof makeCore>>

export const makeCore = Effect.fnUntraced(function* (store: Store, { account, poll }: Settings) {
  const logPayout = makePayoutLog(account, yield* Effect.scope)
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
  const wakeAwaited = repeatedly("Looking for awaited payouts", Duration.millis(poll), wakeClosed, store.followWrites)

  /** Opened when this process writes a row that is due. */
  const isDue = Latch.makeUnsafe()
  /** How often this process changed the account. */
  let accountChanges = 0
  /** The account was changed by this process: its workers read it anew, and send what it held. */
  const accountChanged = Effect.suspend(() => {
    accountChanges++
    return isDue.open
  })
  /** A person changed what the account waits for: its next request may leave. */
  const releaseAccount = Effect.andThen(store.accounts.retime(released), store.afterCommit(accountChanged))
  /** Opened when this process writes a row whose withdrawal is looked up at once. */
  const isLookupDue = Latch.makeUnsafe()
  /** Opened when this process writes a state that is to be handed out. */
  const isStateDue = Latch.makeUnsafe()
  /** Opened when this process writes a row, for the gauges. */
  const hasNews = Latch.makeUnsafe()
  const publish = (row: Row, due: Latch.Latch | undefined, status: string | undefined) =>
    store.afterCommit(
      Effect.gen(function* () {
        if (due !== undefined) yield* due.open
        if (status !== undefined) yield* isStateDue.open
        yield* hasNews.open
        yield* wake(row.idempotencyKey)
      })
    )

  /** Inserts a row, which is due at once or at its time; `undefined` where there is a row with its key. */
  const insert = Effect.fnUntraced(function* (wanted: Row) {
    const row = yield* store.insert(wanted)
    if (row === undefined) return undefined
    yield* publish(row, isDue, undefined)
    yield* store.afterCommit(countChange(row))
    return row
  })

  /** Writes the change of a row that a step says, with the entry of its history: see `step`. */
  const change = Effect.fnUntraced(function* (
    row: Row,
    { changes, dueIn: ownDue, entry }: Step,
    { cap, dueIn = ownDue, where }: Conditions = {}
  ) {
    const updatedAt = yield* Clock.currentTimeMillis
    const wanted: Row = { ...row, ...changes, updatedAt, version: row.version + 1 }
    const conditions = { cap, dueIn, where }
    const status = entry && handedOutOf(row, entry, wanted)
    const to = yield* store.update(row, wanted, entry && entryOf(entry, wanted), conditions, status)
    if (typeof to !== "object") return to
    const waked = dueIn === undefined ? undefined : isOpen(to) ? isDue : dueIn === 0 ? isLookupDue : undefined
    yield* publish(to, waked, status)
    if (toldState(to) !== toldState(row)) yield* store.afterCommit(countChange(to))
    if (to.contradicted && !row.contradicted) yield* store.afterCommit(logContradicted(logPayout, to))
    return to
  })

  /**
   * Takes the step of an event; `undefined` where another process changed the row first, or the row has no such step, and why where
   * a cap is reached.
   */
  const step = (row: Row, event: Event, options?: Conditions) => {
    const taken = stepOf(row, event)
    return isTaken(taken) ? change(row, taken, options) : Effect.undefined
  }

  /** A worker takes the row after so many milliseconds; where there are none, in its place among the others. */
  const delay = (row: Row, dueIn: number) => change(row, { changes: {}, entry: undefined, dueIn })

  /**
   * Takes the step of an event, and repeats it where another process changed the row first. An event without a step changes
   * nothing; one that is refused fails, and so does one whose condition does not hold for the row as it is.
   */
  const stepBy = Effect.fnUntraced(function* <E>(
    row: Row | undefined,
    eventOf: (row: Row) => Event,
    refuse: (row: Row, problem: string) => Effect.Effect<never, E>,
    condition?: { readonly where: Fragment; readonly problem: string }
  ) {
    let current = row
    while (current !== undefined) {
      const taken = stepOf(current, eventOf(current))
      if (typeof taken === "string") return yield* refuse(current, taken)
      if (taken === undefined) return current
      const next = yield* change(current, taken, { where: condition?.where })
      if (typeof next === "object") return next
      const found: Row | undefined = yield* store.get(current.idempotencyKey)
      if (condition !== undefined && found?.version === current.version) return yield* refuse(found, condition.problem)
      current = found
    }
    return undefined
  })

  /** All that wait for a cause are due, each in its place among the others; of those of the balance, up to an amount that it covers. */
  const callBack = (cause: Because<"accepted">, most?: number) =>
    Effect.andThen(store.callBack(cause, most), isDue.open)

  return {
    store,
    logPayout,
    wakeAwaited,
    isDue,
    isLookupDue,
    isStateDue,
    hasNews,
    accountChanges: () => accountChanges,
    accountChanged,
    releaseAccount,
    changeOf,
    insert,
    step,
    stepBy,
    delay,
    callBack
  }
})

/** Runs one operation in its span. Its failures of the database name the operation and drop the database's message. */
export const guard =
  (operation: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    inSpan(`PayoutQueue.${operation}`, { kind: "internal", attributes: {} }, () => mapDatabaseError(operation)(effect))

export const operationsOf = (store: Store) => ({
  /** An operation that writes, in the caller's transaction where there is one. */
  writing: <A, E, R>(operation: string, effect: Effect.Effect<A, E, R>) =>
    guard(operation)(Effect.andThen(store.requireOwnTransaction(operation), effect))
})
