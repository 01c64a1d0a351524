/**
 * Compares the list of the service with the books: what changed since is found at the cost of the list, which has the
 * statuses of a hundred charges in one request. What differs is looked up, so that no finding rests on a word of the list.
 */
import type * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Payments } from "../../client/Payments.ts"
import { factsHere } from "../../client/PaymentsClient.ts"
import { checkOptionsBy, fn, whole, withDefault } from "../../contract/Options.ts"
import type {
  GetTransactionError,
  InvalidRequest,
  RequestRejected,
  TransactionNotFound,
  UnexpectedResponse
} from "../../contract/PaymentsError.ts"
import { meaningOf, type Words } from "../../contract/Status.ts"
import { DetailStatus } from "../../contract/StatusWords.ts"
import type { TransactionDetail, TransactionListItem } from "../../contract/Transaction.ts"
import * as TransactionStream from "../TransactionStream.ts"
import { checkOrderBy, endsRun, Order, type Stopping } from "./order.ts"

/** An order in your books, as `changes` compares it: it has a status. `amount` is in centavos. */
export const KnownOrder = Schema.Struct({
  ...Order.fields,
  /** The status in your books, in the words of a lookup, such as `Awaiting` or `Paid`. */
  status: DetailStatus,
  /** The `customer.externalRef` of the charge, if it names this one charge. It is used for rows whose `providerTxId` finds no order. */
  externalRef: Schema.optional(Schema.String)
})
/** See the schema of the same name. */
export interface KnownOrder extends Schema.Schema.Type<typeof KnownOrder> {}

interface OfRow<O> {
  /** The order, as your books returned it. */
  readonly order: O
  /** The row of the list. It holds the payer's data. */
  readonly row: TransactionListItem
}

/** A difference between a row of the list and your books. The lookups and the row hold people's data: store ids alone. */
export type Change<O extends KnownOrder = KnownOrder> =
  /** The lookup says another status, as `Refunded`: `transaction.enStatusTransaction`. Its amount may differ too. */
  | (OfRow<O> & { readonly _tag: "StatusDiffers"; readonly transaction: TransactionDetail })
  /** The status is the same, and the lookup has another amount: `transaction.value`. */
  | (OfRow<O> & { readonly _tag: "AmountDiffers"; readonly transaction: TransactionDetail })
  /** The row differs, and the service knows no transaction of the order's id. */
  | (OfRow<O> & { readonly _tag: "MissingAtGateway"; readonly error: TransactionNotFound })
  /** The row differs, and its lookup cannot be compared: `error` says why. */
  | (OfRow<O> & { readonly _tag: "Unreadable"; readonly error: InvalidRequest | RequestRejected | UnexpectedResponse })
  /**
   * Money arrived, or came back, and no order of your books has an id of the row. `transaction` is its lookup, where the row has
   * the id of one.
   */
  | { readonly _tag: "NotInBooks"; readonly row: TransactionListItem; readonly transaction?: TransactionDetail }

/** What is different in some rows of the list, and the checkpoint after them. */
export interface ChangePage<O extends KnownOrder = KnownOrder> {
  /** In the order of the list. Often none. */
  readonly changes: ReadonlyArray<Change<O>>
  /** How many rows were compared. */
  readonly rows: number
  /** The checkpoint after these rows: store it with what you did about the changes, and give it as `from` to go on there. */
  readonly checkpoint: TransactionStream.Checkpoint
}

/** Options of `changes`: which rows of the list to read, and how to find their orders in your books. */
export interface ChangesOptions<O extends KnownOrder = KnownOrder, E = never, R = never> extends Omit<
  TransactionStream.Options,
  "limit" | "sort"
> {
  /**
   * The orders of your books whose `transactionId` or `externalRef` is one of these ids, in any order; called once for each page
   * of the list, with at most 300 ids. What else it returns is ignored. If it fails, the stream fails with the same error.
   */
  readonly known: (ids: ReadonlyArray<string>) => Effect.Effect<Iterable<O>, E, R>
  /** How many lookups may be under way at the same time. Default: 4. */
  readonly concurrency?: number | undefined
}

/** The errors of a run over the list. */
export type ChangesError = TransactionStream.StreamTransactionsError | Stopping

const checkOptions = checkOptionsBy(
  "listTransactions",
  Schema.Struct({ known: fn<(ids: never) => unknown>(), concurrency: withDefault(whole(1), 4) })
)

const checkOrder = checkOrderBy(KnownOrder)
const isOrder = Schema.is(KnownOrder)

/** The ids that a lookup may know a row by. Some services write a UUID without its hyphens there. */
const lookupIdsOf = ({ providerTxId = "" }: TransactionListItem): ReadonlyArray<string> => {
  const [, ...parts] = /^([\da-f]{8})([\da-f]{4})([\da-f]{4})([\da-f]{4})([\da-f]{12})$/i.exec(providerTxId) ?? []
  if (providerTxId === "") return []
  return parts.length === 0 ? [providerTxId] : [parts.join("-"), providerTxId]
}

const idsOf = (row: TransactionListItem): ReadonlyArray<string> => {
  const ref = row.lead?.externalId ?? ""
  return ref === "" ? lookupIdsOf(row) : [...lookupIdsOf(row), ref]
}

const plainId = (id: string): string => id.replaceAll("-", "").toLowerCase()

const groupBy = <O>(orders: Iterable<O>, keyOf: (order: O) => string | undefined): ReadonlyMap<string, Array<O>> => {
  const groups = new Map<string, Array<O>>()
  for (const order of orders) {
    const key = keyOf(order)
    if (key === undefined) continue
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [order])
    else group.push(order)
  }
  return groups
}

interface Compared {
  readonly amount: number
  readonly status: string
}

/** Compares two records of a charge, by what their statuses mean. */
const makeCompare = (statuses: Words) => {
  const meaning = (status: string) => meaningOf(status, "charge", statuses)
  const isSameStatus = (one: string, other: string) =>
    one.toLowerCase() === other.toLowerCase() || (meaning(one) !== "unlisted" && meaning(one) === meaning(other))
  return {
    /** Whether no money moved, by this status. */
    isWithoutMoney: (status: string) => meaning(status) === "open" || meaning(status) === "closed",
    isSame: (one: Compared, other: Compared) => one.amount === other.amount && isSameStatus(one.status, other.status),
    differenceOf: (order: Compared, { enStatusTransaction, value }: TransactionDetail) => {
      if (!isSameStatus(order.status, enStatusTransaction)) return "StatusDiffers"
      return order.amount === value ? undefined : "AmountDiffers"
    }
  }
}

const compareRows = Effect.gen(function* () {
  const { getTransaction } = yield* Payments
  const { differenceOf, isSame, isWithoutMoney } = makeCompare((yield* factsHere).statuses)

  /** Looks the order of a row up. None where the books are right, or where the lookup shows that it is another row's. */
  const compare = Effect.fnUntraced(function* <O extends KnownOrder>(
    of: OfRow<O>,
    isSure: boolean
  ): Effect.fn.Return<Change<O> | "Same" | "OtherRow", Stopping> {
    const answer = yield* Effect.result(
      Effect.flatMap(checkOrder(of.order), () => getTransaction(of.order.transactionId))
    )
    if (Result.isSuccess(answer)) {
      const transaction = answer.success
      if (!isSure && transaction.id !== of.row.id) return "OtherRow"
      const difference = differenceOf(of.order, transaction)
      return difference === undefined ? "Same" : { _tag: difference, ...of, transaction }
    }
    const error = answer.failure
    if (endsRun(error)) return yield* error
    if (error._tag === "TransactionNotFound") return isSure ? { _tag: "MissingAtGateway", ...of, error } : "OtherRow"
    return { _tag: "Unreadable", ...of, error }
  })

  /** A row that has no order: looked up by the ids that it may have there. */
  const compareUnknown = Effect.fnUntraced(function* (row: TransactionListItem) {
    if (isWithoutMoney(row.status)) return []
    for (const id of lookupIdsOf(row)) {
      const answer: Result.Result<TransactionDetail, GetTransactionError> = yield* Effect.result(getTransaction(id))
      if (Result.isFailure(answer) && endsRun(answer.failure)) return yield* answer.failure
      if (Result.isFailure(answer) || answer.success.id !== row.id) continue
      const transaction = answer.success
      return isWithoutMoney(transaction.enStatusTransaction) ? [] : [{ _tag: "NotInBooks", row, transaction } as const]
    }
    return [{ _tag: "NotInBooks", row } as const]
  })

  const compareRow = Effect.fnUntraced(function* <O extends KnownOrder>(
    row: TransactionListItem,
    exact: O | undefined,
    byRef: ReadonlyArray<O>
  ): Effect.fn.Return<ReadonlyArray<Change<O>>, Stopping> {
    const isSure = exact !== undefined
    const candidates = isSure ? [exact] : byRef
    const [only, another] = candidates
    // What several orders share names none of them: then only the lookup shows whose row it is.
    if (only !== undefined && another === undefined && isOrder(only) && isSame(only, row)) return []
    for (const order of candidates) {
      const found = yield* compare({ order, row }, isSure)
      if (found !== "OtherRow") return found === "Same" ? [] : [found]
    }
    return yield* compareUnknown(row)
  })

  return <O extends KnownOrder>(
    rows: Arr.NonEmptyReadonlyArray<TransactionListItem>,
    orders: ReadonlyArray<O>,
    concurrency: number
  ): Effect.Effect<ReadonlyArray<Change<O>>, Stopping> => {
    const byId = groupBy(orders, ({ transactionId }) => plainId(transactionId))
    const byRef = groupBy(orders, ({ externalRef }) => externalRef)
    return Effect.map(
      Effect.forEach(
        rows,
        (row) =>
          compareRow(row, byId.get(plainId(row.providerTxId ?? ""))?.[0], byRef.get(row.lead?.externalId ?? "") ?? []),
        { concurrency }
      ),
      (found) => found.flat()
    )
  }
})

/**
 * The same as `changes`, in pages: each has the changes of some rows, and the checkpoint after them. Store the checkpoint
 * with what you did about them, also where there is no change, and give it as `from` after a kill or a failure.
 */
export const changePages = <O extends KnownOrder, E = never, R = never>(
  options: ChangesOptions<O, E, R>
): Stream.Stream<ChangePage<O>, ChangesError | E, Payments | R> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { concurrency } = yield* checkOptions(options)
      const { concurrency: _, known, ...list } = options
      const compare = yield* compareRows
      return Stream.mapEffect(
        TransactionStream.pages({ sort: "createdAt_desc", ...list }),
        Effect.fnUntraced(function* ({ checkpoint, rows }) {
          const ids = [...new Set(rows.flatMap((row) => idsOf(row)))]
          const orders = ids.length === 0 ? [] : [...(yield* known(ids))]
          return { changes: yield* compare(rows, orders, concurrency), rows: rows.length, checkpoint }
        })
      )
    })
  )

/**
 * The rows of the list whose status or amount is not what your books say: refunded after months, cancelled, paid and not known.
 * The list is read once, newest first, as `TransactionStream` reads it, and only what differs is looked up: 30,000 orders with
 * 60 changes are some 360 requests. It changes nothing.
 *
 * A row is found in your books by its `providerTxId`, which is taken for the id of a lookup, or by its `lead.externalId`. Both
 * are assumptions, as is that the list shows a status as soon as the lookup does: `effect-pix doctor --transaction` checks them.
 * A finding has its lookup, and rests on none of them, but for a `NotInBooks` without `transaction`.
 *
 * The stream ends with the error of the list (a `PaginationError` has a checkpoint), of a lookup without an answer, or of `known`.
 * To go on after a failure or a kill, use `changePages`.
 *
 * ```ts
 * import { Effect, Stream } from "effect"
 * import { Money, Reconcile } from "effect-pix"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * const program = Effect.gen(function* () {
 *   const sandbox = yield* Sandbox
 *   const { transactionId } = yield* sandbox.charge(2500)
 *   yield* sandbox.markPaid(transactionId)
 *   const order = { invoice: 41, transactionId, amount: Money.centavos(2500), status: "Paid" }
 *   yield* sandbox.refund(transactionId)
 *   // Your own table: the orders that have one of these ids.
 *   const known = (ids: ReadonlyArray<string>) => Effect.succeed([order].filter((one) => ids.includes(one.transactionId)))
 *   const changes = yield* Stream.runCollect(Reconcile.changes({ known }))
 *   return changes.map(({ _tag }) => _tag)
 * })
 *
 * const found = await Effect.runPromise(Effect.provide(program, Sandbox.layerPayments)) // => ["StatusDiffers"]
 * ```
 */
export const changes = <O extends KnownOrder, E = never, R = never>(
  options: ChangesOptions<O, E, R>
): Stream.Stream<Change<O>, ChangesError | E, Payments | R> =>
  Stream.flatMap(changePages(options), (page) => Stream.fromIterable(page.changes))
