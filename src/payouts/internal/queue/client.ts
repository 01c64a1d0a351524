/**
 * Submitting, asking and steering: everything that needs no worker.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import * as DateTime from "effect/DateTime"
import { fromReference } from "../../../contract/IdempotencyKey.ts"
import { Centavos } from "../../../pix/Money.ts"
import { inSpan } from "../../../internal/spans.ts"
import { DatabaseError, type ForeignTransaction, naming } from "../../../durable/Database.ts"
import { type PayoutItem, ReferenceConflict } from "../../Payout.ts"
import type { Seal } from "../../PayoutQueueOptions.ts"
import { PayoutNotFound, type PayoutState, PayoutStateConflict, type PayoutStatus } from "../../PayoutStatus.ts"
import { type Core, retrying } from "./core.ts"
import { isSameRequest, type Submission, submission } from "./request.ts"
import { type Changes, isOpen, mustNotRepeat, parked, type Row, statusOf } from "./row.ts"
import type { Settings } from "./settings.ts"
import type { Place } from "./store.ts"

/** How far apart the clocks of two processes may be, and how long a transaction may take, for `changes` to see all. */
const overlap = 5000
const pageSize = 200

/** One operation in its span: drops what the database said, and names the operation. */
const guard =
  (operation: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    inSpan(`PayoutQueue.${operation}`, { kind: "internal", attributes: {} }, () => naming(operation)(effect))

const keyOf = (reference: string) =>
  Effect.try({
    try: () => fromReference("payout", reference),
    catch: () => new PayoutNotFound({ reference: typeof reference === "string" ? reference : "" })
  })

const ready = (row: Row): Changes => ({
  state: row.leftAt !== null && row.error !== null ? "unknown" : "accepted",
  because: null
})
const clean: Changes = { state: "accepted", because: null, leftAt: null, countedDay: null, error: null }

const paged = (
  operation: string,
  page: (after: Place) => Effect.Effect<ReadonlyArray<Row>, SqlError>,
  first: Place,
  of: "submittedAt" | "updatedAt"
) =>
  Stream.paginate(first, (after) =>
    Effect.map(naming(operation)(page(after)), (rows) => {
      const last = rows.at(-1)
      const next =
        last === undefined || rows.length < pageSize
          ? Option.none<Place>()
          : Option.some({ at: last[of], key: last.key })
      return [rows, next] as const
    })
  )

export const makeClient = (
  core: Core,
  settings: Settings,
  seal: Seal,
  requireOwn: (operation: string) => Effect.Effect<void, ForeignTransaction>
) => {
  const { store } = core

  const conflictOf = Effect.fnUntraced(function* (row: Row, wanted: Submission) {
    const differs: Array<"amount" | "content"> = []
    if (row.amount !== wanted.amount) differs.push("amount")
    // The stored request holds the amount too, so the rest can be compared only where the amounts are equal.
    const isComparable = row.request !== null && differs.length === 0
    const stored = isComparable ? yield* seal.open(row.request, row.reference) : undefined
    const isSame = (stored === undefined ? undefined : isSameRequest(stored, wanted.text)) ?? row.check === wanted.check
    if (!isSame) differs.push("content")
    return differs.length === 0
      ? undefined
      : new ReferenceConflict({
          outcome: "NotSent",
          reference: row.reference,
          differs,
          earlier: {
            state: "Submitted",
            idempotencyKey: row.key,
            amount: Centavos.make(row.amount),
            check: row.check,
            since: DateTime.makeUnsafe(row.submittedAt)
          }
        })
  })

  const insert = Effect.fnUntraced(function* (wanted: Submission, sealed: string) {
    const now = yield* Clock.currentTimeMillis
    const { amount, check, key, reference } = wanted
    const row: Row = {
      key,
      reference,
      amount,
      request: sealed,
      check,
      state: "accepted",
      generation: 1,
      sends: 0,
      leftAt: null,
      countedDay: null,
      withdrawalId: null,
      error: null,
      because: null,
      submittedAt: now,
      updatedAt: now,
      version: 1
    }
    if (yield* store.insert(row)) {
      yield* core.offer(row)
      yield* core.publish(key)
      return statusOf(row)
    }
    const earlier = yield* store.get(key)
    if (earlier === undefined) {
      // It was committed after this transaction had begun, and this one does not see it.
      return yield* new DatabaseError({ operation: "submit", reason: "SerializationError", isRetryable: true })
    }
    const conflict = yield* conflictOf(earlier, wanted)
    return conflict === undefined ? statusOf(earlier) : yield* conflict
  })

  const submitAll = (operation: string, payouts: ReadonlyArray<PayoutItem>) =>
    Effect.gen(function* () {
      yield* requireOwn(operation)
      const wanted = yield* Effect.forEach(payouts, (payout, index) =>
        Effect.flatMap(
          Effect.fromResult(submission(payout, operation === "submitMany" ? `[${index}]` : undefined)),
          (one) => Effect.map(seal.seal(one.text, one.reference), (sealed) => [one, sealed] as const)
        )
      )
      return yield* store.transaction(Effect.forEach(wanted, ([one, sealed]) => insert(one, sealed)))
    }).pipe(guard(operation))

  const find = (reference: string) =>
    Effect.flatMap(keyOf(reference), (key) =>
      Effect.filterOrFail(
        store.get(key),
        (row) => row !== undefined,
        () => new PayoutNotFound({ reference })
      )
    )

  /** A step of an operator: checked, written, and queued anew where the payout is to be taken at once. */
  const steer = (
    operation: PayoutStateConflict["operation"],
    reference: string,
    step: (row: Row, now: number) => { readonly changes: Changes; readonly queue: boolean } | string
  ) =>
    Effect.gen(function* () {
      yield* requireOwn(operation)
      const now = yield* Clock.currentTimeMillis
      const key = yield* keyOf(reference)
      const next = yield* store.transaction(
        retrying(core)(key, (row) => {
          const to = step(row, now)
          if (typeof to === "string") {
            return Effect.fail(new PayoutStateConflict({ operation, reference, state: row.state, problem: to }))
          }
          const changes = { ...to.changes, ...(to.queue && { generation: row.generation + 1 }) }
          return Effect.succeed(changes)
        }).pipe(Effect.tap((row) => (row !== undefined && isOpen(row) ? core.offer(row) : Effect.void)))
      )
      return next === undefined ? yield* new PayoutNotFound({ reference }) : statusOf(next)
    }).pipe(guard(operation))

  const changes: Stream.Stream<PayoutStatus, DatabaseError> = Stream.unwrap(
    Effect.gen(function* () {
      const subscription = yield* PubSub.subscribe(core.changedKeys)
      const began = yield* Clock.currentTimeMillis
      const emitted = new Map<string, Row>()
      let newest = began
      let looked = began - settings.poll
      const place = Effect.map(Clock.currentTimeMillis, (now): Place => {
        // After a change by this process the newest rows are enough.
        if (now - looked < settings.poll) return { at: newest, key: "" }
        // The clocks of other processes differ and their transactions take time: so this look begins earlier, and skips
        // what was emitted.
        const since = Math.max(newest, looked)
        for (const [key, row] of emitted) if (row.updatedAt < since - 2 * overlap) emitted.delete(key)
        looked = now
        return { at: since - overlap, key: "" }
      })
      const untilNext = Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.race(PubSub.takeAll(subscription), Effect.sleep(Duration.millis(looked + settings.poll - now)))
      )
      const look = Stream.unwrap(
        Effect.map(place, (first) =>
          paged(
            "changes",
            (after) => Effect.withTracerEnabled(store.changed(after, pageSize), false),
            first,
            "updatedAt"
          )
        )
      ).pipe(
        Stream.filter((row) => {
          const isNew = row.updatedAt >= began && emitted.get(row.key)?.version !== row.version
          emitted.set(row.key, row)
          newest = Math.max(newest, row.updatedAt)
          return isNew
        }),
        Stream.map(statusOf),
        Stream.concat(Stream.fromEffectDrain(untilNext))
      )
      return Stream.forever(look)
    })
  )

  return {
    // One was given.
    submit: (payout: PayoutItem) => Effect.map(submitAll("submit", [payout]), ([status]) => status as PayoutStatus),
    submitMany: (payouts: Iterable<PayoutItem>) => Effect.suspend(() => submitAll("submitMany", [...payouts])),
    status: (reference: string) =>
      find(reference).pipe(
        Effect.map(statusOf),
        guard("status"),
        Effect.asSome,
        Effect.catchTag("PayoutNotFound", () => Effect.succeedNone)
      ),
    await: (reference: string) =>
      Effect.gen(function* () {
        const key = yield* keyOf(reference)
        const change = yield* core.changeOf(key)
        const row = yield* find(reference)
        if (isOpen(row)) yield* change.await
        return row
      }).pipe(Effect.scoped, Effect.repeat({ while: isOpen }), Effect.map(statusOf), guard("await")),
    list: ({ state }: { readonly state?: PayoutState | undefined } = {}) =>
      Stream.map(
        paged("list", (after) => store.list(state, after, pageSize), { at: -1, key: "" }, "submittedAt"),
        statusOf
      ),
    changes,
    retry: (reference: string) =>
      steer("retry", reference, (row) =>
        isOpen(row)
          ? { changes: {}, queue: true }
          : row.state === "refused"
            ? { changes: clean, queue: true }
            : row.state === "parked"
              ? "resume it, when you know that it may be sent"
              : "it was recorded or settled, and is not sent any more"
      ),
    park: (reference: string) =>
      steer("park", reference, (row) =>
        isOpen(row) || row.state === "refused" || row.state === "parked"
          ? { changes: row.state === "parked" ? {} : parked("Operator"), queue: false }
          : "it was recorded or settled, and is not sent any more"
      ),
    resume: (reference: string, { notExecuted = false }: { readonly notExecuted?: boolean | undefined } = {}) =>
      steer("resume", reference, (row, now) => {
        if (row.state !== "parked") return "only what is parked can be resumed"
        if (notExecuted) return { changes: clean, queue: true }
        if (mustNotRepeat(row, now, settings.horizon)) {
          return "a request left longer ago than the horizon, so another one may pay twice. Look in the panel: settle it, or resume it with notExecuted: true"
        }
        return { changes: ready(row), queue: true }
      }),
    settle: (reference: string, { as = "settled" }: { readonly as?: "settled" | "failed" | undefined } = {}) =>
      steer("settle", reference, (row) =>
        row.state === "refused" || row.state === "accepted"
          ? row.leftAt === null
            ? "no request of it is in doubt. If you know that it was paid, park it and then settle it"
            : "a request of it may be under way. Wait for its answer, or park it and then settle it"
          : { changes: { state: as, leftAt: null, error: null, because: null }, queue: false }
      ),
    setPaused: (paused: boolean) =>
      Effect.andThen(requireOwn("setPaused"), store.setPaused(paused)).pipe(guard("setPaused")),
    isPaused: naming("isPaused")(store.isPaused)
  }
}
