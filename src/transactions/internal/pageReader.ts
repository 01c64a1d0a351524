/**
 * Reads a list page by page while others add rows to it and remove rows from it.
 *
 * Details: a page is accepted only if no row can be missing before it. One answer has to prove that: it holds a row that was
 * read and, after it, a row of the page, so all rows between the two are in that answer. So after page n + 1 the reader
 * looks at the border: it requests a page of another size, which covers the end of page n and the start of page n + 1. If
 * the service has a fixed page size, page n is read again instead. New rows of the look are delivered. If the look holds no
 * row that was read, rows have moved towards the start of the list, and the reader steps back. Page n + 1 needs no look if
 * it holds a row that was read.
 *
 * Gotcha: a service may order rows of the same time differently in each request, so a row that was read proves nothing about
 * the others of its time. If no answer shows all rows of a time, the rows are counted at the end.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ListOptions, TransactionListItem, TransactionPage } from "../../contract/Transaction.ts"
import {
  advance,
  begin,
  type Entry,
  isBehind,
  isDoubtful,
  isEarlier,
  isStart,
  never,
  type Place,
  timeOf,
  toCheckpoint,
  unread
} from "./pagePlace.ts"
import { PaginationError, type Reason } from "./PaginationError.ts"

/** New rows, in the order of the list, and the place before them. */
export interface Batch {
  readonly before: Place
  readonly entries: ReadonlyArray<Entry>
}

interface Options<E> {
  readonly list: (options: ListOptions) => Effect.Effect<TransactionPage, E>
  readonly start: Place
  readonly pageSize: number
  /** Whether fewer rows than counted are a problem at the end. */
  readonly isCounted: boolean
}

interface Answer {
  /** Without repetitions. */
  readonly items: ReadonlyArray<TransactionListItem>
  /** The position of the first row in the list. */
  readonly offset: number
  /** The position after the last one. */
  readonly end: number
  /** How many rows were asked for. */
  readonly wanted: number
  readonly isShort: boolean
  readonly total: number
}

/** How many answers in a row may have no new row. */
const maxMisses = 30

/** After this number of such answers, a page that starts with a row of the last time that was read is accepted. */
const maxMissesAtOneTime = 8

/** How many rows may be delivered beyond twice the first count of the service. */
const slack = 10_000

/** The most rows that a page may have (`docs/service.md`). */
export const largestPage = 100

/** The page sizes that show rows on both sides of a border. The size that shows the most is first. */
const lookSizes = (border: number, size: number, most: number): ReadonlyArray<number> => {
  const smaller = Array.from({ length: Math.floor((size - 1) / 2) }, (_, n) => size - 1 - n)
  const larger = Array.from({ length: Math.max(0, Math.min(10, most - size)) }, (_, n) => size + 1 + n)
  const margin = (other: number) => Math.min(border % other, other - (border % other))
  return [...smaller, ...larger].filter((other) => margin(other) > 0).toSorted((a, b) => margin(b) - margin(a))
}

/** Makes an effect that returns the next new rows on each run, and none at the end of the list. */
export const make = <E>({ isCounted, list, pageSize, start }: Options<E>) => {
  const { sort } = start
  let place = start
  let { least } = start
  let size = pageSize
  /** Whether the service has filled a page of this size: a shorter page is then the last. */
  let isProven = false
  /** Whether the service ignores the requested page size. */
  let isFixed = false
  /** The largest number of rows that an answer has shown. */
  let shown = 0
  /** Whether the page before had fewer rows than requested. */
  let isAfterShort = false
  let page = Math.floor((place.index + 1) / size) + 1
  /** The number of a page whose rows were read. */
  let behind: number | undefined = page - 1
  /** The number of a page that is after the unread rows. */
  let ahead: number | undefined
  /** How many rows the service counted when the page before was read. */
  let counted = 0
  /** Whether a first look at this border has shown too few rows. */
  let isRepeated = false
  let misses = 0
  let allowance: number | undefined
  let isRequestedAgain = false
  let isOver = false

  /** The place for a checkpoint. A run from there takes no second look at a border, so a border that needs one counts as tied. */
  const current = (): Place => ({ ...place, least, isTied: place.isTied || isRepeated })

  const failed = (reason: Reason, counts?: { readonly counted: number; readonly delivered: number }) =>
    Effect.fail(
      new PaginationError({
        operation: "listTransactions",
        outcome: "NoEffect",
        attempts: misses,
        page,
        reason,
        ...counts,
        checkpoint: toCheckpoint(current())
      })
    )

  const countMiss = (reason: Reason) => {
    misses += 1
    return misses >= maxMisses ? failed(reason) : Effect.void
  }

  const requestPage = Effect.fnUntraced(function* (number: number, rows: number) {
    while (true) {
      const answer = yield* list({ page: number, pageSize: Math.min(rows, largestPage), sort })
      const { currentPage, totalItems: total, totalPages } = answer
      const [first, last] = [answer.items[0], answer.items.at(-1)]
      if (first && last && timeOf(first, sort) > timeOf(last, sort)) return yield* failed("OutOfOrder")
      least = Math.min(least ?? total, total)
      allowance ??= total * 2 + slack
      // For a page beyond the end, some services answer with the last page.
      const isBeyond = currentPage === totalPages && currentPage < number && (number - 1) * rows >= total
      if (currentPage === number || isBeyond) {
        const given = isBeyond ? [] : answer.items
        const items = [...new Map(given.map((row) => [row.id, row])).values()]
        const offset = (number - 1) * rows
        shown = Math.max(shown, items.length)
        return {
          items,
          offset,
          end: offset + items.length,
          isShort: given.length < rows,
          wanted: rows,
          total
        } satisfies Answer
      }
      yield* countMiss("EchoedPage")
    }
  })

  const look = Effect.fnUntraced(function* ({ items, offset }: Answer) {
    // The service may cut a page that is larger than the ones it has filled: such a page may be short before the end.
    const most = items.length === 0 || size < pageSize ? size : largestPage
    const sizes = isFixed || (items.length === 0 && isAfterShort) ? [] : lookSizes(offset, size, most)
    const other = sizes[(misses + (isRepeated ? 1 : 0)) % sizes.length]
    if (other !== undefined) {
      const answer = yield* requestPage(Math.floor(offset / other) + 1, other)
      isFixed = answer.items.length > other
      const ids = new Set(items.map(({ id }) => id))
      const from = answer.items.findIndex((row) => isBehind(place, row))
      // Rows of both sides prove what is between them, wherever the service has cut the answer.
      const isProof = from !== -1 && answer.items.slice(from).some(({ id }) => ids.has(id))
      if (!isFixed && (other < size || answer.items.length > size || isProof)) return { ...answer, isBefore: false }
    }
    return { ...(yield* requestPage(page - 1, size)), isBefore: true }
  })

  /** Computes the page number again if the service uses another page size than requested. Returns whether it does. */
  const resize = ({ end, items, total }: Answer) => {
    isProven ||= items.length >= size
    const isCapped = !isProven && items.length > 0 && (isAfterShort || end < total)
    if (items.length <= size && !isCapped) return false
    isFixed ||= items.length > size
    size = shown
    isProven = true
    isAfterShort = false
    page = Math.floor((place.index + 1) / size) + 1
    behind = page - 1
    ahead = undefined
    return true
  }

  const stepBack = Effect.fnUntraced(function* ([first]: Answer["items"]) {
    // The pages further back hold rows that were read and whose ids are no longer held: they would count as new.
    if (page === 1 || (first !== undefined && isDoubtful(place, first))) return yield* failed("LostPlace")
    yield* countMiss("StillMoving")
    ahead = page
    if (behind === page - 1) behind = undefined
    page = behind === undefined ? Math.max(1, page - 2 ** misses) : Math.floor((behind + page) / 2)
  })

  /** `isReached`: no row is missing before the page. `near`: the answer of the look at the border, if one was made. */
  const check = Effect.fnUntraced(function* (answer: Answer) {
    const { items, total } = answer
    const [first] = items
    if (page === 1 && (first === undefined || isStart(place, first))) return { isReached: true, near: undefined }
    const isJoined = items.some((row) => isBehind(place, row))
    const isNext = page > 1 && (isJoined || behind === page - 1)
    if (!isNext || items.some((row) => isEarlier(place, row))) {
      // The second look at this border is no longer possible, so the rows are counted at the end.
      if (isNext && isRepeated) place = { ...place, isTied: true }
      return { isReached: isJoined, near: undefined }
    }

    const near = yield* look(answer)
    const isLater = (row: TransactionListItem) => first !== undefined && timeOf(row, sort) > timeOf(first, sort)
    // The service may cut an answer that is larger than `size`, so a short one does not prove the end of the list.
    const showsEnd = near.isShort && near.wanted <= size
    const isWhole = near.items.some((row) => isEarlier(place, row)) && (showsEnd || near.items.some(isLater))
    const from = near.items.findIndex((row) => isBehind(place, row))
    // Only rows whose time is `edge` may be missing before the page, so the rows are counted at the end.
    const hasOneTime = first !== undefined && timeOf(first, sort) === place.edge
    const isOneTime = misses >= maxMissesAtOneTime && hasOneTime && !near.isBefore && near.total === total
    if (from === -1) {
      if (isJoined || isOneTime) place = { ...place, isTied: true }
      return { isReached: isJoined || isOneTime, near: undefined }
    }
    const ids = new Set(items.map(({ id }) => id))
    const isOverlapping = near.items.slice(from).some(({ id }) => ids.has(id))
    const [lastRow] = near.items.slice(-1)
    const endsAtPlace = lastRow !== undefined && (place.known.size === 0 || !isEarlier(place, lastRow))
    const isEnd = items.length === 0 && near.isShort && (isProven || endsAtPlace)
    // Oldest first, new rows are added at the end: only a lower count shows that rows have moved.
    const isStill = sort === "createdAt_asc" ? counted <= total && total <= near.total : total === near.total
    const isUnmoved = near.isBefore && endsAtPlace && (isStill || items.length === 0)
    const isReached =
      isJoined || isOverlapping || isOneTime || ((isEnd || isUnmoved) && unread(place, near).length === 0)
    if (!isReached || items.length === 0 || isWhole) return { isReached, near }
    const isTied = isRepeated || near.isBefore || first?.createdAt === undefined
    // A second look, of another size, may show more rows.
    isRepeated = !isTied
    if (isTied) place = { ...place, isTied }
    return { isReached: isTied, near }
  })

  /** Whether all rows that are due were delivered. */
  const finish = Effect.fnUntraced(function* ({ end, total }: Answer) {
    const { count, isTied } = place
    // Newest first, rows that were added since the start are counted by the service, but not due.
    const due = isTied ? (sort === "createdAt_asc" ? total : (least ?? total)) : 0
    const isMissing = isCounted && count !== undefined && (end < total || count < due)
    if (isMissing && isRequestedAgain)
      return yield* failed("MissingRows", { counted: Math.max(total, due), delivered: count })
    isRequestedAgain = isMissing
    return !isMissing
  })

  const next = Effect.gen(function* () {
    while (!isOver) {
      const answer = yield* requestPage(page, size)
      if (resize(answer)) {
        yield* countMiss("StillMoving")
        continue
      }
      const { isReached, near } = yield* check(answer)
      if (!isReached && near === undefined) {
        yield* stepBack(answer.items)
        continue
      }
      const borderEntries = near === undefined ? [] : unread(place, near)
      const pageEntries = isReached ? unread(advance(place, borderEntries), answer) : []
      const entries = [...borderEntries, ...pageEntries]
      const [first] = entries
      if (first !== undefined) {
        allowance = (allowance ?? 0) - entries.length
        if (allowance < 0) return yield* failed("Endless")
        if (place.known.size === 0) place = begin(place, first)
        misses = 0
        isRequestedAgain = false
        ahead = undefined
      } else if (page === 1 && place.floor !== never && place.known.size === 0) {
        // All rows of the first page are before `since` (newest first: after `until`).
        ahead = Math.floor(answer.total / size) + 2
      }
      const before = current()
      place = { ...advance(before, entries), isTied: place.isTied }
      counted = Math.max(isReached ? answer.total : 0, near?.total ?? 0)
      if (isReached && (answer.items.length === 0 || (answer.isShort && isProven))) {
        isOver = yield* finish(answer.items.length === 0 ? (near ?? answer) : answer)
      } else if (isReached) {
        if (first === undefined) yield* countMiss(ahead === undefined ? "RepeatedPage" : "StillMoving")
        isAfterShort = answer.isShort
        behind = page
        isRepeated = false
        if (ahead === undefined) page += first === undefined ? 2 ** (misses - 1) : 1
        else page = Math.max(page + 1, Math.floor((page + ahead) / 2))
      } else if (first === undefined) {
        yield* countMiss("StillMoving")
      }
      if (first !== undefined) return Option.some<Batch>({ before, entries })
    }
    return Option.none<Batch>()
  })
  return next
}
