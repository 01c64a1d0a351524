/**
 * Compares your books with the gateway, in both directions: functions of `Payments`.
 *
 * `stream` looks up each of your orders and compares it. `changes` reads the gateway's list, and looks up only what differs:
 * refunds after months. `unknownRows` returns the rows of the list that are not in your books. They run in constant memory.
 * `statement` compares your bank's statement with payouts. All change nothing. Amounts are in centavos.
 *
 * Gotchas:
 * - The service documents no list and no lookup of withdrawals: compare payouts with your bank's statement.
 * - Leave out the orders and rows of the last minutes: one side may have recorded them before the other.
 * - If every order is `MissingAtGateway`, check the base URL, and which company the credentials belong to. If every amount
 *   differs by the factor 100, the service's `value` is not in centavos, although it is documented so (`docs/service.md`).
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
declare module "./Reconcile.ts" {}

import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { legible } from "../internal/legible.ts"
import { Payments } from "../client/Payments.ts"
import { factsHere } from "../client/PaymentsClient.ts"
import {
  AuthError,
  type GetTransactionError,
  type InvalidRequest,
  RateLimited,
  RequestRejected,
  ServiceUnavailable,
  type TransactionNotFound,
  type UnexpectedResponse
} from "../contract/PaymentsError.ts"
import { checkOptionsBy, fn, invalidRequest, whole, withDefault } from "../contract/Options.ts"
import type { Concern } from "../contract/Outcome.ts"
import { meaningOf, type Words } from "../contract/Status.ts"
import type { TransactionDetail, TransactionListItem } from "../contract/Transaction.ts"
import { changePages, changes, type KnownOrder } from "./internal/changes.ts"
import { checkOrderBy, endsRun, Order } from "./internal/order.ts"
import * as TransactionStream from "./TransactionStream.ts"

export { changePages, changes, type KnownOrder, type Order }
export { statement } from "./internal/statement.ts"
export type { Statement, StatementDoubt, StatementLine, StatementPayout } from "./internal/statement.ts"
export type { Change, ChangePage, ChangesError, ChangesOptions } from "./internal/changes.ts"

/** Options of `stream`. A wrong option is an `InvalidRequest`. */
export interface Options {
  /** How many lookups may be under way at the same time. Default: 4. */
  readonly concurrency?: number | undefined
  /** How many orders to skip: the `position` of the last result of an earlier run, or of its error. Default: 0. */
  readonly from?: number | undefined
}

interface OfOrder<O> {
  /** The order as it was given. */
  readonly order: O
  /**
   * The position of the order among all orders, from 1. Store it with the result, and give it as `from` to a later run over
   * the same orders in the same sequence.
   */
  readonly position: number
}

interface Compared<O> extends OfOrder<O> {
  /** The answer of the lookup. It holds the payer's data: store only the fields that you need, such as `id`. */
  readonly transaction: TransactionDetail
}

/** The amount is the same, and so is the status, if the order has one. */
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

/** The service answered that there is no transaction with this id. */
export interface MissingAtGateway<O extends Order = Order> extends OfOrder<O> {
  readonly _tag: "MissingAtGateway"
  /** The answer of the lookup. */
  readonly error: TransactionNotFound
}

/**
 * The order has no comparable answer: `error` says why. Look it up again in a later run; after an `InvalidRequest`, correct
 * the order first.
 */
export interface Unreadable<O extends Order = Order> extends OfOrder<O> {
  readonly _tag: "Unreadable"
  /** The reason why there is no answer. */
  readonly error: InvalidRequest | RequestRejected | UnexpectedResponse
}

/** The result for one order. */
export type ReconcileResult<O extends Order = Order> =
  | Matched<O>
  | AmountDiffers<O>
  | StatusDiffers<O>
  | MissingAtGateway<O>
  | Unreadable<O>

/**
 * The run ended before an order whose lookup had no answer, or would be refused for every order: after an outage, a rate limit,
 * refused credentials or a redirect. All orders before it have a result. Give `position` as `from` to a later run over the same
 * orders.
 */
export class ReconcileStopped extends legible(
  Schema.TaggedError<ReconcileStopped>("effect-pix/ReconcileStopped")("ReconcileStopped", {
    operation: Schema.Literal("getTransaction"),
    outcome: Schema.Literal("NoEffect"),
    /** How many orders have a result, those that `from` skipped included. */
    position: Schema.Natural,
    /** The error of the lookup of the next order. */
    error: Schema.Union([AuthError, RateLimited, RequestRejected, ServiceUnavailable])
  })
) {
  get concerns(): Exclude<Concern, "Balance"> {
    return this.error.concerns
  }
  override get message(): string {
    return `The comparison stopped after ${this.position} order(s). ${this.error.message} Nothing was changed; go on from position ${this.position}.`
  }
}

/** The errors of a run over orders. */
export type ReconcileError = InvalidRequest | ReconcileStopped

const concurrency = withDefault(whole(1), 4)

const checkOptions = checkOptionsBy("getTransaction", Schema.Struct({ concurrency, from: withDefault(whole(0), 0) }))

const noOrders = invalidRequest("getTransaction", [{ path: "orders", problem: "must be a list or a stream of orders" }])

const checkOrder = checkOrderBy(Order)

const compare = (
  { amount, status = "" }: Order,
  { enStatusTransaction: word, value }: TransactionDetail,
  statuses: Words
) => {
  if (value !== amount) return "AmountDiffers"
  const isPaid = (one: string) => meaningOf(one, "charge", statuses) === "paid"
  const isSame = status === "" || status === word || (isPaid(status) && isPaid(word))
  return isSame ? "Matched" : "StatusDiffers"
}

const resultOf = <O extends Order>(
  of: OfOrder<O>,
  answer: Result.Result<TransactionDetail, GetTransactionError>,
  statuses: Words
): Effect.Effect<ReconcileResult<O>, ReconcileStopped> => {
  if (Result.isSuccess(answer)) {
    const transaction = answer.success
    return Effect.succeed({ _tag: compare(of.order, transaction, statuses), ...of, transaction })
  }
  const error = answer.failure
  if (endsRun(error)) {
    const stopped = { operation: "getTransaction", outcome: "NoEffect", position: of.position - 1, error } as const
    return Effect.fail(new ReconcileStopped(stopped))
  }
  if (error._tag === "TransactionNotFound") return Effect.succeed({ _tag: "MissingAtGateway", ...of, error })
  return Effect.succeed({ _tag: "Unreadable", ...of, error })
}

const isStream = <O, E, R>(orders: Iterable<O> | Stream.Stream<O, E, R>): orders is Stream.Stream<O, E, R> =>
  Stream.isStream(orders)

/**
 * Looks up each order once, and returns a result for each, in the order of the input. A stream of orders is pulled as the
 * results are consumed, with at most `concurrency` lookups ahead.
 *
 * An order that is refused, or whose answer cannot be read, is `Unreadable`, and the run continues. At the first lookup without
 * an answer the run ends with `ReconcileStopped`, after the results of all orders before it. It also ends with the error of the
 * stream of orders, and with `InvalidRequest` for a wrong option.
 *
 * After a failure or a kill, give the `position` of the last stored result as `from`: the orders after it are looked up
 * again. If orders are added or removed between two runs, select the remaining orders by a key of your own instead.
 */
export const stream = <O extends Order, E = never, R = never>(
  orders: Iterable<O> | Stream.Stream<O, E, R>,
  options: Options = {}
): Stream.Stream<ReconcileResult<O>, ReconcileError | E, Payments | R> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { getTransaction } = yield* Payments
      const { statuses } = yield* factsHere
      const { concurrency, from } = yield* checkOptions(options)
      if (!Stream.isStream(orders) && !Predicate.isIterable(orders)) return yield* noOrders
      const lookUp = (order: O) => Effect.flatMap(checkOrder(order), () => getTransaction(order.transactionId))
      const source = isStream(orders) ? orders : Stream.fromIterable(orders, { chunkSize: 1 })
      return source.pipe(
        Stream.drop(from),
        // The failure is a value here, so that the results of the orders before it are emitted first.
        Stream.mapEffect((order) => Effect.map(Effect.result(lookUp(order)), (answer) => ({ order, answer })), {
          concurrency
        }),
        Stream.mapEffect(({ answer, order }, index) =>
          resultOf({ order, position: from + index + 1 }, answer, statuses)
        )
      )
    })
  )

/** Options of `unknownRows`: which rows of the list to read, and how to find a row in your books. */
export interface UnknownRowsOptions<E = never, R = never> extends Omit<TransactionStream.Options, "limit"> {
  /**
   * Whether this row is in your books. It holds the payer's data. `docs/reconciling.md` shows which ids may match. If
   * it fails, the stream fails with the same error.
   */
  readonly isKnown: (row: TransactionListItem) => Effect.Effect<boolean, E, R>
  /** How many calls of `isKnown` may run at the same time. Default: 4. */
  readonly concurrency?: number | undefined
}

const checkUnknownRows = checkOptionsBy(
  "listTransactions",
  Schema.Struct({ isKnown: fn<(row: never) => unknown>(), concurrency })
)

/**
 * The rows of the gateway's list that are not in your books, in the order of the list. `TransactionStream` reads the list:
 * each row exactly once, or the stream fails with a `PaginationError`, whose checkpoint is the `from` of a later run.
 */
export const unknownRows = <E = never, R = never>(
  options: UnknownRowsOptions<E, R>
): Stream.Stream<TransactionListItem, TransactionStream.StreamTransactionsError | E, Payments | R> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { concurrency } = yield* checkUnknownRows(options)
      const { concurrency: _, isKnown, ...list } = options
      const isUnknown = (row: TransactionListItem) => Effect.map(isKnown(row), (known) => !known)
      return Stream.flatMap(TransactionStream.pages(list), ({ rows }) =>
        Stream.fromIterableEffect(Effect.filter(rows, isUnknown, { concurrency }))
      )
    })
  )
