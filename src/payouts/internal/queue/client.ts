/**
 * The operations of the queue that need no worker: submitting, reading and steering.
 */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import { Centavos } from "../../../pix/Money.ts"
import { inSpan } from "../../../internal/spans.ts"
import { DatabaseError, mapDatabaseError } from "../../../durable/Database.ts"
import type { StepOptions } from "../../../durable/Step.ts"
import { type PayoutItem, PayoutsNotAccepted } from "../../Payout.ts"
import type { Seal } from "../../PayoutQueueOptions.ts"
import { PayoutNotFound, type PayoutState, PayoutStateConflict, type PayoutStatus } from "../../PayoutStatus.ts"
import type { PayoutChange } from "../../PayoutHistory.ts"
import { conflictOf, nameOf, payoutKey } from "../content.ts"
import { accountOperations, makeServedWarning } from "./accountClient.ts"
import { type Core, OfferedBy } from "./core.ts"
import { checkedPerson, type Event, readEntries, submittedOf } from "./entries.ts"
import { readPayee } from "./record.ts"
import { isSameRequest, type Submission, submission } from "./request.ts"
import * as Row from "./row.ts"
import type { Settings } from "./settings.ts"
import type { Place } from "./store.ts"

const { isOpen, statusOf } = Row

const pageSize = 200

/** Runs one operation in its span. Its failures of the database name the operation and drop the database's message. */
const guard =
  (operation: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    inSpan(`PayoutQueue.${operation}`, { kind: "internal", attributes: {} }, (span) =>
      Effect.provideService(
        mapDatabaseError(operation)(effect),
        OfferedBy,
        span === undefined ? null : `${span.traceId}-${span.spanId}`
      )
    )

type Wrong = PayoutsNotAccepted["wrong"][number]

const paged = (operation: string, page: (after: Place) => Effect.Effect<ReadonlyArray<Row.Row>, SqlError>) =>
  Stream.paginate({ at: -1, key: "" }, (after: Place) =>
    Effect.map(mapDatabaseError(operation)(page(after)), (rows) => {
      const last = rows.at(-1)
      const next =
        last === undefined || rows.length < pageSize
          ? Option.none<Place>()
          : Option.some({ at: last.submittedAt, key: last.idempotencyKey })
      return [rows, next] as const
    })
  )

export const makeClient = (core: Core, settings: Settings, seal: Seal) => {
  const { store } = core
  const { account } = settings

  const keyOf = (reference: string) =>
    Effect.mapError(
      Effect.fromOption(payoutKey(account, reference)),
      () => new PayoutNotFound({ reference: typeof reference === "string" ? reference : "" })
    )

  const warnIfUnserved = makeServedWarning(store, account)

  /** An operation that writes, in the caller's transaction where there is one. */
  const writing = <A, E, R>(operation: string, effect: Effect.Effect<A, E, R>) =>
    guard(operation)(Effect.andThen(store.requireOwnTransaction(operation), effect))

  const isSameContent = Effect.fnUntraced(function* (row: Row.Row, wanted: Submission) {
    // The stored request holds the amount too, so the rest can be compared only where the amounts are equal.
    const isComparable = row.request !== null && row.amount === wanted.amount
    const stored = isComparable ? yield* seal.open(row.request, row.reference) : undefined
    return (
      (stored === undefined ? undefined : isSameRequest(stored, wanted.text)) ??
      row.requestCheck === wanted.requestCheck
    )
  })

  /** Inserts one payout. A conflict is a value, so that the transaction goes on to the next payout. */
  const insert = Effect.fnUntraced(function* (submitted: Submission, request: string) {
    const { text: _, ...wanted } = submitted
    const now = yield* Clock.currentTimeMillis
    const row = Row.Row.make({ ...wanted, request, submittedAt: now, updatedAt: now })
    if (yield* core.insert(row)) return Result.succeed(statusOf(row))
    const earlier = yield* store.get(row.idempotencyKey)
    if (earlier === undefined) {
      // The row was committed after this transaction had begun, so this transaction does not see it.
      return yield* new DatabaseError({ operation: "submit", reason: "SerializationError", isRetryable: true })
    }
    const conflict = conflictOf(wanted, yield* isSameContent(earlier, submitted), {
      state: "Submitted",
      idempotencyKey: earlier.idempotencyKey,
      amount: Centavos.make(earlier.amount),
      check: earlier.requestCheck,
      since: DateTime.makeUnsafe(earlier.submittedAt)
    })
    return conflict === undefined ? Result.succeed(statusOf(earlier)) : Result.fail(conflict)
  })

  /** Checks and seals all, before the transaction begins. */
  const sealAll = Effect.forEach((payout: PayoutItem) =>
    Effect.flatMap(Effect.fromResult(submission(account, payout)), (one) =>
      Effect.map(seal.seal(one.text, one.reference), (sealed) => [one, sealed] as const)
    ).pipe(Effect.result)
  )

  /** Accepts all or none. It inserts the right payouts also where another one is wrong, to find every conflict. */
  const submitAll = Effect.fnUntraced(function* (payouts: ReadonlyArray<PayoutItem>) {
    const wanted = yield* sealAll(payouts)
    const insertAll = Effect.gen(function* () {
      yield* warnIfUnserved
      const statuses: Array<PayoutStatus> = []
      const wrong: Array<Wrong> = []
      for (const [index, one] of wanted.entries()) {
        const inserted: Result.Result<PayoutStatus, Wrong["error"]> = Result.isFailure(one)
          ? Result.fail(one.failure)
          : yield* insert(...one.success)
        if (Result.isSuccess(inserted)) statuses.push(inserted.success)
        else wrong.push({ index, ...nameOf(payouts[index]), error: inserted.failure })
      }
      return Arr.isArrayNonEmpty(wrong) ? yield* new PayoutsNotAccepted({ outcome: "NotSent", wrong }) : statuses
    })
    return yield* store.transaction(insertAll)
  })

  const find = (reference: string) =>
    Effect.flatMap(keyOf(reference), (key) =>
      Effect.filterOrFail(
        store.get(key),
        (row) => row !== undefined,
        () => new PayoutNotFound({ reference })
      )
    )

  /** Checks and stores a step of an operator, and queues the payout anew where it is to be sent. */
  const steer = (
    operation: PayoutStateConflict["operation"],
    reference: string,
    options: StepOptions,
    step: (row: Row.Row, deciding: Row.Deciding) => Row.Step,
    event: Event
  ) =>
    writing(
      operation,
      Effect.gen(function* () {
        const person = yield* checkedPerson(options)
        const now = yield* Clock.currentTimeMillis
        const served = yield* store.accounts.get
        const deciding = { account: served, now, horizon: served.horizon ?? settings.horizon }
        const changed = core.changeBy(
          yield* find(reference),
          (row) => {
            const changes = step(row, deciding)
            if (typeof changes === "string") {
              return new PayoutStateConflict({ operation, reference, state: row.state, problem: changes })
            }
            return Effect.succeed(changes)
          },
          () => ({ ...event, ...person }),
          isOpen
        )
        // The person may have corrected the credentials.
        const tries = operation === "retry" || operation === "resume"
        const probeNow = tries && served.blockedAt !== null ? store.accounts.probeNow : Effect.void
        const row = yield* store.transaction(Effect.tap(changed, probeNow))
        return row === undefined ? yield* new PayoutNotFound({ reference }) : statusOf(row)
      })
    )

  return {
    // One payout has one status.
    submit: (payout: PayoutItem) =>
      writing(
        "submit",
        submitAll([payout]).pipe(
          Effect.map(([status]) => status as PayoutStatus),
          Effect.catchTag("PayoutsNotAccepted", ({ wrong: [{ error }] }) => Effect.fail(error))
        )
      ),
    submitMany: (payouts: Iterable<PayoutItem>) =>
      writing(
        "submitMany",
        Effect.suspend(() => submitAll([...payouts]))
      ),
    status: (reference: string) =>
      find(reference).pipe(
        Effect.map(statusOf),
        guard("status"),
        Effect.asSome,
        Effect.catchTag("PayoutNotFound", () => Effect.succeedNone)
      ),
    payee: (reference: string) =>
      find(reference).pipe(
        Effect.flatMap(({ payee }) =>
          payee === null ? Effect.succeedNone : Effect.asSome(seal.open(payee, reference))
        ),
        Effect.map(Option.flatMap(readPayee)),
        guard("payee"),
        Effect.catchTag("PayoutNotFound", () => Effect.succeedNone)
      ),
    await: (reference: string) =>
      Effect.gen(function* () {
        const change = yield* core.changeOf(yield* keyOf(reference))
        const row = yield* find(reference)
        if (isOpen(row)) yield* change.await
        return row
      }).pipe(Effect.scoped, Effect.repeat({ while: isOpen }), Effect.map(statusOf), guard("await")),
    list: ({ state }: { readonly state?: PayoutState | undefined } = {}) =>
      Stream.map(
        paged("list", (after) => store.list(state, after, pageSize)),
        statusOf
      ),
    /** The entries of the table are the library's own: one that cannot be read is a defect. */
    history: (reference: string): Effect.Effect<ReadonlyArray<PayoutChange>, DatabaseError> =>
      find(reference).pipe(
        Effect.flatMap((row) =>
          store.history(row.idempotencyKey).pipe(
            Effect.flatMap((entries) => Effect.orDie(readEntries(entries))),
            Effect.map((changes) => [submittedOf(row), ...changes])
          )
        ),
        Effect.catchTag("PayoutNotFound", () => Effect.succeed([])),
        guard("history")
      ),
    retry: (reference: string, options: StepOptions = {}) =>
      steer("retry", reference, options, Row.retry, { _tag: "Retried" }),
    park: (reference: string, options: StepOptions = {}) =>
      steer("park", reference, options, Row.parkByOperator, { _tag: "Parked", because: "Operator" }),
    resume: (reference: string, options: StepOptions & { readonly notExecuted?: boolean | undefined } = {}) => {
      const { notExecuted = false } = options
      const step = (row: Row.Row, deciding: Row.Deciding) => Row.resume(row, deciding, notExecuted)
      return steer("resume", reference, options, step, { _tag: "Resumed", notExecuted })
    },
    settle: (reference: string, options: StepOptions & { readonly as?: "settled" | "failed" | undefined } = {}) =>
      steer("settle", reference, options, (row) => Row.settle(row, options.as ?? "settled"), { _tag: "Settled" }),
    ...accountOperations(store, guard, writing)
  }
}
