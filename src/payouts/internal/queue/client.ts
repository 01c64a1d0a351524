/**
 * The operations of the queue that need no worker: submitting, reading and steering payouts, and the account's pause and sender.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import { inSpan } from "../../../internal/spans.ts"
import { type DatabaseError, mapDatabaseError } from "../../../durable/Database.ts"
import type { StepOptions } from "../../../durable/Step.ts"
import type { Centavos } from "../../../pix/Money.ts"
import type { PayoutItem } from "../../Payout.ts"
import type { Seal } from "../../Seal.ts"
import { PayoutNotFound, type PayoutState, PayoutStateConflict, type PayoutStatus } from "../../PayoutStatus.ts"
import type { PayoutChange } from "../../PayoutHistory.ts"
import { type Core, OfferedBy } from "./core.ts"
import type { Event } from "./events.ts"
import {
  accountOf,
  checkedFingerprint,
  checkedLimit,
  checkedPerson,
  entryOf,
  readEntries,
  invalid,
  submittedOf,
  writePause
} from "./entries.ts"
import { changeLimit, changeSender } from "./limit.ts"
import { readPayee } from "./record.ts"
import { payoutKey } from "./request.ts"
import { isOpen, type Row } from "./row.ts"
import type { Settings } from "./settings.ts"
import { accountKey, type Place } from "./store.ts"
import { statusOf } from "./status.ts"
import { allOrNone, makeAccept } from "./submit.ts"

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

/** A step of a person, without the person and what it is decided by. */
type Wanted = DistributiveOmit<Event<PayoutStateConflict["operation"]>, "at" | "person">
type DistributiveOmit<A, Key extends keyof A> = A extends unknown ? Omit<A, Key> : never

const paged = (operation: string, page: (after: Place) => Effect.Effect<ReadonlyArray<Row>, SqlError>) =>
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

  /** An operation that writes, in the caller's transaction where there is one. */
  const writing = <A, E, R>(operation: string, effect: Effect.Effect<A, E, R>) =>
    guard(operation)(Effect.andThen(store.requireOwnTransaction(operation), effect))

  const acceptAll = makeAccept(core, settings, seal)
  /** Accepts all or none. */
  const submitAll = Effect.fnUntraced(function* (payouts: ReadonlyArray<PayoutItem>) {
    const rows = yield* acceptAll(payouts, undefined, allOrNone)
    return rows.map((row) => statusOf(row))
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
  const steer = (wanted: Wanted, reference: string, options: StepOptions) => {
    const operation = wanted._tag
    return writing(
      operation,
      Effect.gen(function* () {
        const person = yield* checkedPerson(options)
        const now = yield* Clock.currentTimeMillis
        const served = yield* store.accounts.get
        const at = { account: served, now, horizon: served.horizon ?? settings.horizon }
        const changed = core.stepBy(
          yield* find(reference),
          () => ({ ...wanted, at, person }),
          ({ state }, problem) => Effect.fail(new PayoutStateConflict({ operation, reference, state, problem })),
          isOpen
        )
        // The person may have corrected the credentials.
        const tries = operation === "retry" || operation === "resume"
        const probeNow = tries && served.blockedAt !== null ? store.accounts.probeNow : Effect.void
        const row = yield* store.transaction(Effect.tap(changed, probeNow))
        return row === undefined ? yield* new PayoutNotFound({ reference }) : statusOf(row)
      })
    )
  }

  return {
    // One payout has one status.
    submit: (payout: PayoutItem) =>
      writing(
        "submit",
        submitAll([payout]).pipe(
          Effect.map(([status]) => status as PayoutStatus),
          Effect.catchTag("PayoutsNotAccepted", ({ wrong: [{ error }] }) =>
            // Only a run is refused for what looks like another payout.
            error._tag === "LooksAlike" ? Effect.die(error) : Effect.fail(error)
          )
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
    payee: (reference: string, options: StepOptions = {}) =>
      Effect.gen(function* () {
        const person = yield* checkedPerson(options)
        const row = yield* find(reference)
        if (person.by !== undefined) {
          const at = yield* Clock.currentTimeMillis
          yield* store.requireOwnTransaction("payee")
          yield* store.insertEntry(row.idempotencyKey, entryOf({ _tag: "Shown", ...person }, { ...row, updatedAt: at }))
        }
        return row.payee === null ? Option.none() : readPayee(yield* seal.open(row.payee, reference))
      }).pipe(
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
    retry: (reference: string, options: StepOptions = {}) => steer({ _tag: "retry" }, reference, options),
    park: (reference: string, options: StepOptions = {}) => steer({ _tag: "park" }, reference, options),
    resume: (
      reference: string,
      options: StepOptions & { readonly notExecuted?: boolean | undefined; readonly sum?: Centavos | undefined } = {}
    ) => {
      const { notExecuted = false, sum = 0 } = options
      if (!Predicate.isBoolean(notExecuted)) return invalid("notExecuted", "must be true or false")
      if (!Number.isSafeInteger(sum) || sum < 0) return invalid("sum", "must be a whole number of centavos")
      return steer({ _tag: "resume", notExecuted, sum }, reference, options)
    },
    settle: (reference: string, options: StepOptions & { readonly as?: "paid" | "failed" | undefined } = {}) => {
      const { as = "paid" } = options
      if (as !== "paid" && as !== "failed") return invalid("as", "must be paid or failed")
      return steer({ _tag: "settle", as }, reference, options)
    },
    forget: (reference: string, options: StepOptions = {}) => steer({ _tag: "forget" }, reference, options),
    setPaused: (paused: boolean, options: StepOptions = {}) =>
      writing(
        "setPaused",
        Effect.flatMap(Effect.all([checkedPerson(options), DateTime.now]), ([person, at]) =>
          store.accounts.setPaused(paused, writePause({ at, paused, ...person }))
        )
      ),
    isPaused: mapDatabaseError("isPaused")(Effect.map(store.accounts.get, ({ paused }) => paused)),
    changeSender: (fingerprint: string, options: StepOptions = {}) =>
      writing(
        "changeSender",
        Effect.gen(function* () {
          const person = yield* checkedPerson(options)
          yield* checkedFingerprint(fingerprint)
          const other = yield* store.accounts.otherOf(fingerprint)
          if (other !== undefined) return yield* invalid("fingerprint", `is that of the account ${other}`)
          yield* changeSender(store, fingerprint, person)
        })
      ),
    setFourEyes: (above: Centavos | null, options: StepOptions = {}) =>
      writing(
        "setFourEyes",
        Effect.gen(function* () {
          const person = yield* checkedPerson(options)
          yield* checkedLimit(above)
          return yield* changeLimit(store, above, person)
        })
      ),
    account: guard("account")(
      Effect.map(Effect.all([store.accounts.get, store.history(accountKey)]), ([row, changes]) =>
        accountOf(row, changes)
      )
    )
  }
}
