/**
 * Compares your books with the gateway, in both directions: functions of `Payments`.
 *
 * `stream` looks up each of your orders, and says what became of it there. `unknownRows` reads the gateway's list, and
 * gives the rows that your books do not know. Both run in constant memory and change nothing. Amounts are in centavos.
 *
 * Gotchas:
 * - The service lists no withdrawals and documents no lookup of one: payouts are compared otherwise, see
 *   docs/reconciling.md.
 * - Leave out the orders and rows of the last minutes: one side may know of them before the other.
 * - If every order is `MissingAtGateway`, look at the base URL and at whose credentials these are. If every amount is a
 *   hundred times the other, the service's `value` is not in centavos, as it is stated to be (service interface, section 2.6).
 *
 * ```ts
 * import { Effect, Stream } from "effect"
 * import { Money, Payments, Reconcile } from "effect-pix"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * const program = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   const sandbox = yield* Sandbox
 *   const charge = yield* payments.createTransaction({
 *     amount: Money.centavos(2500),
 *     paymentMethod: "PIX",
 *     customer: { name: "Maria Silva", email: "maria@example.com" }
 *   })
 *   yield* sandbox.markPaid(charge.id)
 *   const orders = [
 *     { invoice: 41, transactionId: charge.id, amount: Money.centavos(2500), status: "Awaiting" },
 *     { invoice: 42, transactionId: "no-such-charge", amount: Money.centavos(900) }
 *   ]
 *   const results = yield* Stream.runCollect(Reconcile.stream(orders))
 *   return results.map(({ _tag, order }) => [order.invoice, _tag])
 * })
 *
 * const found = await Effect.runPromise(Effect.provide(program, Sandbox.layerPayments)) // => [[41, "StatusDiffers"], [42, "MissingAtGateway"]]
 * ```
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Payments } from "../client/Payments.ts"
import {
  type AuthError,
  type GetTransactionError,
  InvalidRequest,
  type RateLimited,
  type RequestRejected,
  type ServiceUnavailable,
  type TransactionNotFound
} from "../contract/PaymentsError.ts"
import { issuesOf } from "../contract/RequestIssues.ts"
import * as Check from "../contract/Settings.ts"
import { DetailStatus } from "../contract/Status.ts"
import type { TransactionDetail, TransactionListItem } from "../contract/Transaction.ts"
import { Centavos } from "../pix/Money.ts"
import * as TransactionStream from "./TransactionStream.ts"

/** An order of your books: the charge that you created for it. It may have more fields, which the result shows again. */
export const Order = Schema.Struct({
  /** The `id` that the creation of the charge answered. */
  transactionId: Schema.String,
  /** In centavos. It is compared with the `value` of the lookup, which is in centavos too. */
  amount: Centavos,
  /**
   * What your books say, in the words of a lookup, such as `Awaiting` or `Paid`: it is compared as it is written, a word
   * that is not documented too. The creation and the list have words of their own, which do not fit. Default: the status
   * is not compared.
   */
  status: Schema.optional(DetailStatus)
})
/** See the schema of the same name. */
export interface Order extends Schema.Schema.Type<typeof Order> {}

/** How to look up the orders. What makes no sense is an `InvalidRequest`. */
export interface Options {
  /** How many lookups may be under way at the same time. Default: 4. */
  readonly concurrency?: number | undefined
  /** How many orders to pass over: the `position` of the last result that an earlier run stored. Default: 0. */
  readonly from?: number | undefined
}

interface OfOrder<O> {
  /** The order as it was given. */
  readonly order: O
  /**
   * The place of the order among all orders, from 1. Store it with the result: a later run over the same orders in the same
   * sequence goes on `from` there.
   */
  readonly position: number
}

interface Compared<O> extends OfOrder<O> {
  /** What the lookup answered. It holds the payer's data: store what you need of it, such as its `id`. */
  readonly transaction: TransactionDetail
}

/** The amount is the same, and so is the status, where the order has one. */
export interface Matched<O extends Order = Order> extends Compared<O> {
  readonly _tag: "Matched"
}

/** The gateway has another amount, in `transaction.value`. The status may differ too: it is not compared then. */
export interface AmountDiffers<O extends Order = Order> extends Compared<O> {
  readonly _tag: "AmountDiffers"
}

/** The amount is the same, and the gateway has another status, in `transaction.enStatusTransaction`. */
export interface StatusDiffers<O extends Order = Order> extends Compared<O> {
  readonly _tag: "StatusDiffers"
}

/** The service answered that it knows no transaction of this id. */
export interface MissingAtGateway<O extends Order = Order> extends OfOrder<O> {
  readonly _tag: "MissingAtGateway"
  readonly error: TransactionNotFound
}

/**
 * Nothing is known of this order: `error` says why. Look it up again in a later run; for an `InvalidRequest`, correct the
 * order first.
 */
export interface Unreadable<O extends Order = Order> extends OfOrder<O> {
  readonly _tag: "Unreadable"
  readonly error: Exclude<GetTransactionError, AuthError | TransactionNotFound>
}

/** What became of an order. */
export type ReconcileResult<O extends Order = Order> =
  | Matched<O>
  | AmountDiffers<O>
  | StatusDiffers<O>
  | MissingAtGateway<O>
  | Unreadable<O>

/** What a run over orders can fail with. */
export type ReconcileError = AuthError | InvalidRequest | RateLimited | RequestRejected | ServiceUnavailable

/** How many orders in a row are left without an answer when the run ends. */
const patience = 10

type Operation = "getTransaction" | "listTransactions"

const invalid = (operation: Operation, issues: InvalidRequest["issues"]) =>
  new InvalidRequest({ operation, attempts: 0, outcome: "NotSent", issues })

/** Checks what a caller without types may give, too. */
const check = <A extends object>(operation: Operation, settings: Parameters<typeof Check.all<A>>[0]) =>
  Effect.mapError(Check.all(settings), (error) =>
    invalid(
      operation,
      error.settings.map(({ problem, setting }) => ({ path: setting, problem }))
    )
  )

const decodeOrder = Schema.decodeUnknownEffect(Schema.toType(Order), { errors: "all" })

const compare = ({ amount, status }: Order, { enStatusTransaction, value }: TransactionDetail) => {
  if (value !== amount) return "AmountDiffers"
  return status === undefined || status === enStatusTransaction ? "Matched" : "StatusDiffers"
}

/** What the service did not answer is held until it answers again: in an outage it is no result. */
type Step<O extends Order> = readonly [
  held: ReadonlyArray<ReconcileResult<O>>,
  results: ReadonlyArray<ReconcileResult<O>>
]

/** The next order would meet the same: wrong credentials, or a redirect, by which the base URL is wrong. */
const concernsAll = (error: GetTransactionError): error is AuthError | RequestRejected => error.concerns === "Setup"

const isStream = <O, E, R>(orders: Iterable<O> | Stream.Stream<O, E, R>): orders is Stream.Stream<O, E, R> =>
  Stream.isStream(orders)

/**
 * Looks up each order once, and gives a result for each, in the order of the input. A stream of orders is pulled as the
 * results are, `concurrency` ahead.
 *
 * One order that cannot be looked up is `Unreadable`, and the others go on. The run ends in a failure where the next order
 * would meet the same:
 *
 * - `AuthError`, and a `RequestRejected` that is a redirect (the base URL is wrong), at once.
 * - `ServiceUnavailable` or `RateLimited`, where ten orders in a row end in one of the two. These have no result.
 * - What the stream of orders fails with, and `InvalidRequest` for a wrong option.
 *
 * A run goes on from the `position` that you stored with the last result, whether it failed or was killed: the orders
 * after it are looked up again. Where orders are added or removed between two runs, go on after your own key of the last
 * order instead.
 */
export const stream = <O extends Order, E = never, R = never>(
  orders: Iterable<O> | Stream.Stream<O, E, R>,
  options: Options = {}
): Stream.Stream<ReconcileResult<O>, ReconcileError | E, Payments | R> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { getTransaction } = yield* Payments
      const given: Options = Predicate.isObject(options) ? options : {}
      const isSource = Stream.isStream(orders) || Predicate.isIterable(orders)
      const { from = 0 } = given
      const { concurrency } = yield* check("getTransaction", {
        orders: Check.checked("orders", undefined, isSource, "is not a list or a stream of orders"),
        options: Check.checked("options", undefined, given === options, "is not an object"),
        concurrency: Check.count("concurrency", given.concurrency ?? 4),
        from: Check.checked("from", from, Number.isSafeInteger(from) && from >= 0, "is not a whole number from 0")
      })
      const lookUp = (order: O) =>
        decodeOrder(order).pipe(
          Effect.mapError((error) => invalid("getTransaction", issuesOf(error))),
          Effect.andThen(({ transactionId }) => getTransaction(transactionId))
        )
      const source = isStream(orders) ? orders : Stream.fromIterable(orders, { chunkSize: 1 })
      return source.pipe(
        Stream.drop(from),
        Stream.mapEffect(
          (order, index) =>
            // A failure as a value: it must not overtake the results of the orders before it.
            Effect.map(Effect.result(lookUp(order)), (answer) => ({
              of: { order, position: from + index + 1 },
              answer
            })),
          { concurrency }
        ),
        Stream.mapAccumEffect(
          (): ReadonlyArray<ReconcileResult<O>> => [],
          Effect.fnUntraced(function* (held, { answer, of }): Effect.fn.Return<Step<O>, ReconcileError> {
            if (Result.isSuccess(answer)) {
              const transaction = answer.success
              return [[], [...held, { _tag: compare(of.order, transaction), ...of, transaction }]]
            }
            const error = answer.failure
            if (error._tag === "TransactionNotFound") return [[], [...held, { _tag: "MissingAtGateway", ...of, error }]]
            if (concernsAll(error)) return yield* error
            const isUnanswered = error._tag === "RateLimited" || error._tag === "ServiceUnavailable"
            if (isUnanswered && held.length + 1 >= patience) return yield* error
            const all: ReadonlyArray<ReconcileResult<O>> = [...held, { _tag: "Unreadable", ...of, error }]
            return isUnanswered ? [all, []] : [[], all]
          }),
          { onHalt: (held) => held }
        )
      )
    })
  )

/** Which rows of the list to read, how, and which of them the books know. */
export interface UnknownRowsOptions<E = never, R = never> extends Omit<TransactionStream.Options, "limit"> {
  /** Whether your books know this row, which holds the payer's data. docs/reconciling.md shows which ids may meet. */
  readonly isKnown: (row: TransactionListItem) => Effect.Effect<boolean, E, R>
  /** How many rows may be asked about at the same time. Default: 4. */
  readonly concurrency?: number | undefined
}

/**
 * The rows of the gateway's list that the books do not know, in the order of the list. All rows are read, as
 * `TransactionStream` reads them: each exactly once, or the stream fails with a `PaginationError`, whose checkpoint a
 * later run takes as `from`.
 */
export const unknownRows = <E = never, R = never>(
  options: UnknownRowsOptions<E, R>
): Stream.Stream<TransactionListItem, TransactionStream.StreamTransactionsError | E, Payments | R> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const given: Partial<UnknownRowsOptions<E, R>> = Predicate.isObject(options) ? options : {}
      const { concurrency: most = 4, isKnown, ...list } = given
      const { concurrency } = yield* check("listTransactions", {
        isKnown: Check.checked("isKnown", undefined, Predicate.isFunction(isKnown), "is not a function"),
        concurrency: Check.count("concurrency", most)
      })
      const isUnknown = (row: TransactionListItem) => Effect.map(options.isKnown(row), (known) => !known)
      return Stream.flatMap(TransactionStream.pages(list), ({ rows }) =>
        Stream.fromIterableEffect(Effect.filter(rows, isUnknown, { concurrency }))
      )
    })
  )
