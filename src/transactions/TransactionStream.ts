/**
 * All transactions of the company, page by page, in constant memory: a function of `Payments`.
 *
 * Details: the service numbers its pages (`docs/service.md`) and adds rows while they are read, so rows move
 * from one page to another. Each request therefore shows the last row that was read again, with the rows after it: pages of
 * different sizes overlap. If an answer does not show that row, the reader searches for it. Where rows of one instant keep
 * their order, every row that is in the list from the start of the stream to its end is delivered exactly once, or the stream
 * fails with a `PaginationError`, which has a checkpoint. A row that is added late, with an older `createdAt` than rows that
 * were read, is delivered once or not at all.
 *
 * Gotchas:
 * - A list that does not change costs a little more than one request a page.
 * - Oldest first (the default), the rows that are added meanwhile are delivered too, at the end. Newest first they are not.
 * - A service that sorts by `createdAt` alone may order rows of the same time differently in each request. So a request also
 *   shows all rows of the last instant, and one before it: up to 98 rows of one instant. If there are more, the rows are
 *   counted at the end. If fewer were delivered than there are, the stream fails with `MissingRows`. If such rows changed
 *   places and the service counts too few, it fails with `WrongCount`. In such a list, a row that is removed while it is read
 *   can hide one that was missed.
 * - If a service ignores `pageSize`, no page shows both sides of a border. Then the page before is read again, and must not
 *   have changed.
 * - The last thousand ids are remembered. If more rows than that share one `createdAt`, or have none, and they move while
 *   they are read, the stream may fail with `LostPlace`.
 * - `Stream.retry` would start again and repeat rows. Use `pages`, store the last checkpoint, and give it as `from`.
 */
declare module "./TransactionStream.ts" {}

import type * as Arr from "effect/Array"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Payments } from "../client/Payments.ts"
import { advance, Checkpoint, never, timeOf, toCheckpoint, toPlace } from "./internal/pagePlace.ts"
import * as PageReader from "./internal/pageReader.ts"
import { PaginationError } from "./internal/PaginationError.ts"
import { largestPage } from "../contract/Endpoints.ts"
import { checkOptionsBy, instant, whole, withDefault } from "../contract/Options.ts"
import type { ListTransactionsError } from "../contract/PaymentsError.ts"
import { type TransactionListItem, TransactionSort } from "../contract/Transaction.ts"

export { Checkpoint, PaginationError }

/** Which rows to read, and how. */
export interface Options {
  /**
   * The order of the list. Default: that of `from`, else `createdAt_asc` (oldest first), in which the fewest rows move.
   */
  readonly sort?: TransactionSort | undefined
  /**
   * How many new rows a request should bring: 1 to 100. Requests ask for more rows, to show the last ones again, but for at
   * most 100. Default: 100, which needs the fewest requests. A `Page` may have some more or fewer rows.
   */
  readonly pageSize?: number | undefined
  /** Only rows created at this time or later; rows without `createdAt` are left out. Default: all. */
  readonly since?: DateTime.DateTime | Date | undefined
  /** Only rows created before this time; rows without `createdAt` are left out. Default: all. */
  readonly until?: DateTime.DateTime | Date | undefined
  /** The most rows to deliver in this run. Default: all. */
  readonly limit?: number | undefined
  /** Where to continue: the checkpoint of an earlier run. Default: from the beginning. */
  readonly from?: Checkpoint | undefined
}

/** Rows that were not delivered before, and the checkpoint after them. */
export interface Page {
  /** In the order of the list, at least one. */
  readonly rows: Arr.NonEmptyReadonlyArray<TransactionListItem>
  /** The checkpoint after the rows: store it when they are processed. */
  readonly checkpoint: Checkpoint
}

/** The errors of a stream of transactions. */
export type StreamTransactionsError = ListTransactionsError | PaginationError

const checkOptions = checkOptionsBy(
  "listTransactions",
  Schema.Struct({
    sort: Schema.optional(TransactionSort),
    pageSize: withDefault(whole(1, largestPage), largestPage),
    since: Schema.optional(instant),
    until: Schema.optional(instant),
    limit: withDefault(whole(0, Infinity), Infinity),
    from: Schema.optional(Schema.toType(Checkpoint))
  }).check(
    Schema.makeFilter(({ from, sort }) =>
      from === undefined || sort === undefined || from.sort === sort
        ? undefined
        : { path: ["sort"], issue: "must be that of `from`" }
    )
  )
)

const read = Effect.fnUntraced(function* (options: Options) {
  const { listTransactions } = yield* Payments
  const { from, limit, pageSize, since = -Infinity, until = Infinity, ...given } = yield* checkOptions(options)
  if (limit === 0) return Stream.empty
  const sort = given.sort ?? from?.sort ?? "createdAt_asc"
  // Rows before `since` (newest first: after `until`) count as read.
  const floor = Math.max(never, sort === "createdAt_asc" ? since - 1 : -until)
  const start = from ?? { sort, edge: floor + 1, floor, ids: [], index: -1, count: 0, isTied: false }
  const isAll = since === -Infinity && until === Infinity
  const isCounted = until === Infinity
  const next = PageReader.make({ list: listTransactions, start: toPlace(start), pageSize, isCounted })
  return Stream.paginate(limit, (left: number) =>
    Effect.map(next, (batch): readonly [ReadonlyArray<Page>, Option.Option<number>] => {
      if (Option.isNone(batch)) return [[], Option.none()]
      const { before, entries } = batch.value
      const rows: Array<TransactionListItem> = []
      const end = entries.findIndex(({ row }) => {
        const time = timeOf(row, "createdAt_asc")
        if (rows.length >= left || (start.sort === "createdAt_asc" ? time >= until : time < since)) return true
        if (isAll || (time >= since && time < until)) rows.push(row)
        return false
      })
      const checkpoint = toCheckpoint(advance(before, end === -1 ? entries : entries.slice(0, end)))
      const [head, ...tail] = rows
      const isOver = end !== -1 || rows.length >= left
      return [
        head === undefined ? [] : [{ rows: [head, ...tail], checkpoint }],
        isOver ? Option.none() : Option.some(left - rows.length)
      ]
    })
  )
})

/**
 * The same as `stream`, in pages: each has rows and the checkpoint after them. Store the checkpoint when the rows are
 * processed, and give it as `from` to continue there. After the end of a stream that ran oldest first, its last checkpoint
 * continues with the rows that were added since.
 *
 * ```ts
 * import { Effect, Schema, Stream } from "effect"
 * import { Money, Payments, TransactionStream } from "effect-pix"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * const charge = (centavos: number) =>
 *   Effect.flatMap(Payments, (payments) =>
 *     payments.createTransaction({
 *       amount: Money.centavos(centavos),
 *       paymentMethod: "PIX",
 *       customer: { name: "Maria Silva", email: "maria@example.com" }
 *     })
 *   )
 *
 * const program = Effect.gen(function* () {
 *   yield* charge(1000)
 *   yield* charge(2000)
 *   const [page] = yield* Stream.runCollect(TransactionStream.pages())
 *   const stored = JSON.stringify(yield* Schema.encodeEffect(TransactionStream.Checkpoint)(page!.checkpoint))
 *
 *   yield* charge(3000)
 *   const from = yield* Schema.decodeUnknownEffect(TransactionStream.Checkpoint)(JSON.parse(stored))
 *   const rows = yield* Stream.runCollect(TransactionStream.stream({ from }))
 *   return rows.map((row) => row.amount)
 * })
 *
 * const amounts = await Effect.runPromise(Effect.provide(program, Sandbox.layerPayments)) // => [3000]
 * ```
 */
export const pages = (options: Options = {}): Stream.Stream<Page, StreamTransactionsError, Payments> =>
  Stream.unwrap(read(options))

/**
 * All transactions of the company, one by one: each that is in the list from the start of the stream to its end is
 * delivered exactly once, where rows of one instant keep their order. Amounts are in centavos.
 *
 * Fails with `PaginationError` if the pages cannot show that no row was lost or repeated, and as `listTransactions`
 * does. Gotcha: `Stream.retry` would start again and repeat rows. Use `pages`, and give the last checkpoint as `from`.
 */
export const stream = (options?: Options): Stream.Stream<TransactionListItem, StreamTransactionsError, Payments> =>
  Stream.flattenArray(Stream.map(pages(options), ({ rows }) => rows))
