/**
 * All transactions of the company, page by page, in constant memory: a function of `Payments`.
 *
 * The service numbers its pages (service interface, section 4.2) and goes on adding rows while they are read, so a page
 * that is asked for twice may hold other rows. Each request here overlaps what was read already: an answer counts only when
 * it also holds a row at or before the last one read, because then no row is missing between. Where it does not, earlier and
 * later pages are searched until it does. Every row that is in the list from the start of the stream to its end, with
 * the same `createdAt`, comes out exactly once, whatever is added or removed meanwhile; where that is not possible, the
 * stream fails with a `PaginationError` and never skips. A row that shows up late, with an older `createdAt` than rows
 * that were read, comes once or not at all.
 *
 * Gotchas:
 * - It rests on one thing which the service does not document: rows created at the same instant keep their order.
 * - Oldest first (the default), rows that arrive while reading come out too, at the end. Newest first they do not.
 * - To overlap, requests after the first ask for somewhat fewer or more rows than `pageSize`, never over 100.
 * - The end costs a request: a short page ends the list only against a page size that the service has filled before.
 * - A service that ignores `pageSize`, or caps pages at a few rows, leaves no overlap to ask for. Then each page is
 *   compared with the page beside it two or three times: up to five requests for a page, newest first seven.
 * - The last thousand ids are remembered. Where more rows than that share one `createdAt`, or rows show none, and those
 *   read last are removed, the stream may end in `LostPlace` or `StillMoving`.
 * - `Stream.retry` would begin anew and repeat rows. Use `pages`, keep its last checkpoint, and go on `from` it.
 */
import type * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Payments } from "../client/Payments.ts"
import { advance, type Cursor, signed, start, toStore, type Unread, windowSize } from "./internal/pageCursor.ts"
import * as PageReader from "./internal/pageReader.ts"
import { largestPage } from "./internal/pageSizes.ts"
import { IntegerId } from "../internal/wire.ts"
import { InvalidRequest, type ListTransactionsError, type RequestIssue } from "../contract/PaymentsError.ts"
import { type TransactionListItem, TransactionSort } from "../contract/Transaction.ts"

/**
 * A place in the list: all up to it was delivered. Its encoded form is plain JSON (at most a thousand row ids, usually
 * a hundred; no personal data), so it can be stored and read back by another process.
 */
export const Checkpoint = Schema.Struct({
  sort: TransactionSort,
  /** The furthest `createdAt` that was read. Absent when no row had one. */
  createdAt: Schema.optionalKey(Schema.DateTimeUtcFromString),
  /** How many rows were read since the first one of that instant, with it. */
  span: Schema.Natural,
  /** The ids of the rows read last, the very last one at the end. */
  ids: Schema.Array(IntegerId).check(Schema.isMaxLength(windowSize)),
  /** How many of them, from the end, are known to be in the order of the list. */
  ordered: Schema.Natural,
  /** Where the last row stood when it was read, from 0; -1 when none was. A hint only. */
  index: Schema.Int.check(Schema.isGreaterThanOrEqualTo(-1)),
  /** How many rows were read up to here, over all runs. */
  count: Schema.Natural
})
/** See the schema of the same name. */
export type Checkpoint = typeof Checkpoint.Type

/** Which rows to read, and how. */
export interface Options {
  /** Default: `createdAt_asc`, oldest first, which moves the least; or that of `from`. */
  readonly sort?: TransactionSort | undefined
  /** How many rows a request asks for, about: 1 to 100. Default: 100, the most that the service allows. */
  readonly pageSize?: number | undefined
  /** How many pages may wait, read ahead of the consumer; one more may be under way. Default: 0. */
  readonly readAhead?: number | undefined
  /** Only rows created at this time or later; rows without `createdAt` are left out. Default: all. */
  readonly since?: DateTime.DateTime | Date | undefined
  /** Only rows created before this time; rows without `createdAt` are left out. Default: all. */
  readonly until?: DateTime.DateTime | Date | undefined
  /** At most so many rows in this run. Default: all. */
  readonly limit?: number | undefined
  /** Go on after this place. Default: from the beginning. */
  readonly from?: Checkpoint | undefined
}

/** Rows that were not delivered before, and the place after them. */
export interface Page {
  /** In the order of the list, at least one. */
  readonly rows: Arr.NonEmptyReadonlyArray<TransactionListItem>
  /** The place after the rows: store it when they are dealt with. */
  readonly checkpoint: Checkpoint
}

const reasonInWords = {
  /** Asked for a page, the service keeps answering with another one. */
  EchoedPage: "the service keeps answering with another page than the one asked for",
  /** Different pages hold the same rows. */
  RepeatedPage: "the service keeps answering with the same rows, whatever page is asked for",
  /** The list grows as fast as it is read. */
  Endless: "the list has no end: it brought more than twice the rows that the service first counted",
  /** The service counts more rows than it shows. */
  MissingRows: "the service counts more rows than it shows",
  /** The rows are not in the order asked for. */
  OutOfOrder: "the rows do not come in the order asked for",
  /** Rows are added or removed faster than the place can be found again. */
  StillMoving: "the list moves faster than the last row's place in it can be found again",
  /** It is not known any more which rows were read: the last thousand are gone and the others show no time. */
  LostPlace: "the rows read last are gone, and the others do not say whether they come before or after them"
} satisfies Record<PageReader.Reason, string>

/**
 * The pages do not fit together, and going on could lose or repeat rows. All that was delivered is right; `checkpoint`
 * is the place up to which that is so.
 */
export class PaginationError extends Schema.TaggedError<PaginationError>("effect-pix/PaginationError")(
  "PaginationError",
  {
    operation: Schema.Literal("listTransactions"),
    outcome: Schema.Literal("NoEffect"),
    /** How many answers in a row brought nothing new, this one with them. */
    attempts: Schema.Natural,
    /** The page asked for last. */
    page: Schema.Natural,
    reason: Schema.Literals(PageReader.reasons),
    checkpoint: Checkpoint
  }
) {
  override get message(): string {
    return `Reading all transactions stopped at page ${this.page} after ${this.checkpoint.count} row(s): ${reasonInWords[this.reason]}. Nothing was changed, and no row was skipped or repeated up to here; go on from this error's checkpoint, or start anew.`
  }
}

/** What a stream of transactions can fail with. */
export type StreamTransactionsError = ListTransactionsError | PaginationError

interface Plan {
  readonly sort: TransactionSort
  readonly reader: PageReader.Reader
  readonly left: number
  readonly isWanted: (row: TransactionListItem) => boolean
  /** It and all after it are beyond the limits. */
  readonly isBeyond: (row: TransactionListItem) => boolean
}

const isCheckpoint = Schema.is(Checkpoint)
const isSort = Schema.is(TransactionSort)

const instant = (input: DateTime.DateTime | Date | undefined) =>
  input === undefined ? Option.none() : Option.map(DateTime.make(input), DateTime.toEpochMillis)

const millis = (row: TransactionListItem) =>
  row.createdAt === undefined ? undefined : DateTime.toEpochMillis(row.createdAt)

const plan = Effect.fnUntraced(function* (given: Options) {
  const options: Options = Predicate.isObject(given) ? given : {}
  const { from, limit = Infinity, pageSize = largestPage, readAhead = 0 } = options
  const sort = options.sort ?? from?.sort ?? "createdAt_asc"
  const since = instant(options.since)
  const until = instant(options.until)
  const issues: Array<RequestIssue> = []
  const expect = (isRight: boolean, path: string, expected: string) => {
    if (!isRight) issues.push({ path, problem: `Expected ${expected}` })
  }
  expect(options === given, "options", "an object")
  expect(isSort(sort), "sort", `createdAt_asc or createdAt_desc`)
  expect(Number.isInteger(pageSize) && pageSize >= 1 && pageSize <= largestPage, "pageSize", "a whole number, 1 to 100")
  expect(Number.isInteger(readAhead) && readAhead >= 0, "readAhead", "a whole number from 0")
  expect(limit === Infinity || (Number.isInteger(limit) && limit >= 0), "limit", "a whole number from 0")
  expect(options.since === undefined || Option.isSome(since), "since", "a valid time")
  expect(options.until === undefined || Option.isSome(until), "until", "a valid time")
  expect(from === undefined || isCheckpoint(from), "from", "a checkpoint")
  expect(from === undefined || from.sort === sort, "sort", "the checkpoint's own order")
  if (issues.length > 0) {
    return yield* new InvalidRequest({ operation: "listTransactions", attempts: 0, outcome: "NotSent", issues })
  }
  const isAscending = sort === "createdAt_asc"
  const first = isAscending ? since : until
  const hasLimits = Option.isSome(since) || Option.isSome(until)
  const earliest = Option.getOrElse(since, () => -Infinity)
  const end = Option.getOrElse(until, () => Infinity)
  const isWanted = (row: TransactionListItem) => {
    const time = millis(row)
    return time === undefined ? !hasLimits : time >= earliest && time < end
  }
  const isBeyond = (row: TransactionListItem) => {
    const time = millis(row)
    return time !== undefined && (isAscending ? time >= end : time < earliest)
  }
  // Rows before the first limit count as read: so the search finds the first page that matters.
  const begin = Option.map(first, (bound) => signed(bound, sort))
  const cursor = from === undefined ? start(Option.getOrUndefined(begin)) : toCursor(from)
  return { sort, left: limit, isWanted, isBeyond, reader: PageReader.make(cursor, sort, pageSize) } satisfies Plan
})

const toCursor = ({ count, createdAt, ids, index, ordered, sort, span }: Checkpoint): Cursor => ({
  furthest: createdAt === undefined ? undefined : signed(DateTime.toEpochMillis(createdAt), sort),
  span,
  ids,
  ordered,
  index,
  count
})

const toCheckpoint = (cursor: Cursor, sort: TransactionSort): Checkpoint => ({
  sort,
  ...(cursor.furthest !== undefined && { createdAt: DateTime.makeUnsafe(signed(cursor.furthest, sort)) }),
  span: cursor.span,
  ids: toStore(cursor),
  ordered: cursor.ordered,
  index: cursor.index,
  count: cursor.count
})

/** As many of the rows as the limits let pass: which of them to deliver, and up to where they were read. */
const within = ({ isBeyond, isWanted, left }: Plan, unread: ReadonlyArray<Unread>) => {
  const read: Array<Unread> = []
  const rows: Array<TransactionListItem> = []
  for (const item of unread) {
    if (rows.length >= left || isBeyond(item.row)) return { read, rows, isOver: true }
    read.push(item)
    if (isWanted(item.row)) rows.push(item.row)
  }
  return { read, rows, isOver: rows.length >= left }
}

type Turn = readonly [ReadonlyArray<Page>, Option.Option<Plan>]

const turn = ({ listTransactions }: Pick<Payments["Service"], "listTransactions">) =>
  Effect.fnUntraced(function* (current: Plan) {
    const { left, reader, sort } = current
    const { page, pageSize } = reader.ask
    const step = PageReader.step(reader, yield* listTransactions({ page, pageSize, sort }))
    const done: Turn = [[], Option.none()]
    switch (step._tag) {
      case "End":
        return done
      case "Again":
        return [[], Option.some({ ...current, reader: step.next })] satisfies Turn
      case "Failed":
        return yield* new PaginationError({
          operation: "listTransactions",
          outcome: "NoEffect",
          attempts: step.misses,
          page,
          reason: step.reason,
          checkpoint: toCheckpoint(reader.cursor, sort)
        })
      case "Rows": {
        const { isOver, read, rows } = within(current, step.rows)
        const [head, ...tail] = rows
        const checkpoint = toCheckpoint(advance(reader.cursor, read, step.offset, sort), sort)
        const delivered: ReadonlyArray<Page> = head === undefined ? [] : [{ rows: [head, ...tail], checkpoint }]
        return [
          delivered,
          isOver ? Option.none() : Option.some({ ...current, reader: step.next, left: left - rows.length })
        ] satisfies Turn
      }
    }
  })

/**
 * The same as `stream`, in pages of rows that each come with the checkpoint after them. Store it when the rows are
 * dealt with, and give it as `from` to go on there. Taken at the end of a stream that runs oldest first, it brings
 * what has arrived since.
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
export const pages = (options: Options = {}): Stream.Stream<Page, StreamTransactionsError, Payments> => {
  const readAhead = options?.readAhead ?? 0
  const read = Stream.unwrap(
    Effect.gen(function* () {
      const payments = yield* Payments
      const first = yield* plan(options)
      return first.left === 0
        ? Stream.empty
        : Stream.paginate<Plan, Page, StreamTransactionsError>(first, turn(payments))
    })
  )
  return readAhead >= 1 && Number.isInteger(readAhead) ? Stream.bufferArray(read, { capacity: readAhead }) : read
}

/**
 * All transactions of the company, one by one. What it promises, and on what that rests, is at the head of this module.
 * Amounts are in centavos.
 */
export const stream = (options?: Options): Stream.Stream<TransactionListItem, StreamTransactionsError, Payments> =>
  Stream.flattenArray(Stream.map(pages(options), ({ rows }) => rows))
