/**
 * Reads a list page by page while others add rows to it and remove rows from it.
 *
 * Details: each request shows the last row that was read and the rows after it. So one answer proves that no row is between
 * the two. Rows of one instant may lie in another order in each answer, so a request begins before the instant of the last
 * row. If no answer can show all rows of an instant, the last row alone is the proof, and the rows are counted at the end. If
 * an answer does not show the last row, rows have moved, and it is searched.
 *
 * Gotcha: the pages of a service that ignores the page size do not overlap. There the page before is read again, after the new
 * one, and must not have changed.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { largestPage } from "../../contract/Endpoints.ts"
import type { ListOptions, TransactionListItem, TransactionPage } from "../../contract/Transaction.ts"
import {
  advance,
  begin,
  type Entry,
  findMissing,
  hasMovedTies,
  isBehind,
  isDoubtful,
  isEarlier,
  isStart,
  type Missing,
  type Place,
  tiesOf,
  timeOf,
  toCheckpoint,
  unread
} from "./pagePlace.ts"
import { findPage, type PageNumber, PageSearch } from "./pageSearch.ts"
import { PaginationError, type Reason } from "./PaginationError.ts"

/** New rows, in the order of the list, and the place before them. */
interface Batch {
  readonly before: Place
  readonly entries: ReadonlyArray<Entry>
}

interface Options<E> {
  readonly list: (options: ListOptions) => Effect.Effect<TransactionPage, E>
  readonly start: Place
  /** How many new rows a request should show. */
  readonly pageSize: number
  /** Whether fewer rows than counted are a problem at the end. */
  readonly isCounted: boolean
}

interface Answer extends PageNumber {
  /** Without repetitions. */
  readonly items: ReadonlyArray<TransactionListItem>
  /** The position of the first row in the list, and the position after the last row. */
  readonly offset: number
  readonly end: number
  /** Whether no rows are after these: there are fewer than requested, of a size that the service has filled before. */
  readonly isLast: boolean
  readonly total: number
}

/** How many answers in a row may have no new row. */
const maxMisses = 30

/** How many rows may be delivered beyond twice the first count of the service. */
const slack = 10_000

class PageReader<E> {
  readonly #options: Options<E>
  readonly #search: PageSearch
  #place: Place
  /** The number of the page that was requested last. */
  #page = 1
  /** The most rows that the service is asked for, and the most that it has shown. */
  #limit = largestPage
  #shown = 0
  /** Whether the service ignores the requested page size. */
  #isFixed = false
  /** How many rows the service counted when it last showed a row that was read. */
  #counted = 0
  #misses = 0
  /** How many rows the list may still bring. */
  #allowance: number | undefined
  /** Whether rows are missing at the end, which was requested again. */
  #isRequestedAgain = false
  #isOver = false

  constructor(options: Options<E>) {
    this.#options = options
    this.#place = options.start
    this.#search = new PageSearch(options.start.index + 1)
  }

  #fail(reason: Reason, counts?: Omit<Missing, "reason">) {
    return Effect.fail(
      new PaginationError({
        operation: "listTransactions",
        outcome: "NoEffect",
        attempts: this.#misses,
        page: this.#page,
        reason,
        ...counts,
        checkpoint: toCheckpoint(this.#place)
      })
    )
  }

  #countMiss(reason: Reason) {
    this.#misses += 1
    return this.#misses >= maxMisses ? this.#fail(reason) : Effect.void
  }

  /** The answer to a request, and not to another one. */
  readonly #request = Effect.fnUntraced({ self: this }, function* ({ page, size }: PageNumber) {
    const { list, start } = this.#options
    this.#page = page
    while (true) {
      const answer = yield* list({ page, pageSize: size, sort: start.sort })
      const { currentPage, items, totalItems, totalPages } = answer
      const [first, last] = [items[0], items.at(-1)]
      if (first && last && timeOf(first, start.sort) > timeOf(last, start.sort)) return yield* this.#fail("OutOfOrder")
      this.#place = { ...this.#place, least: Math.min(this.#place.least ?? totalItems, totalItems) }
      this.#allowance ??= totalItems * 2 + slack
      if (currentPage === page) return answer
      // For a page beyond the end, some services answer with the last page.
      const isBeyond = currentPage === totalPages && currentPage < page && (page - 1) * size >= totalItems
      if (isBeyond) return { ...answer, items: [] }
      yield* this.#countMiss("EchoedPage")
    }
  })

  readonly #read = Effect.fnUntraced({ self: this }, function* (number: PageNumber) {
    const { items: given, totalItems: total } = yield* this.#request(number)
    const { page, size } = number
    const items = [...new Map(given.map((row) => [row.id, row])).values()]
    const isShort = given.length < size
    const isLast = isShort && (given.length === 0 || size <= this.#shown)
    this.#shown = Math.max(this.#shown, items.length)
    this.#isFixed ||= items.length > size
    // The service may have cut the page, and count the positions of the next ones in smaller pages.
    if (items.length > size || (isShort && !isLast)) this.#limit = this.#shown
    const offset = (page - 1) * size
    return { page, size, items, offset, end: offset + items.length, isLast, total } satisfies Answer
  })

  /** The page that shows the last row that was read, with all rows of its time, and the rows after it. */
  #nextPage(): PageNumber {
    const { at, isContradictory } = this.#search
    const limit = this.#limit
    const sizes = this.#isFixed || isContradictory ? [limit] : Array.from({ length: limit }, (_, n) => n + 1)
    const ties = tiesOf(this.#place)
    const known = this.#canShow(ties) ? ties : Math.floor(limit / 2)
    const rows = this.#options.pageSize
    return (
      findPage(sizes, { from: at - 1 - known, at, rows }) ??
      findPage(sizes, { from: at - 1, at, rows }) ?? { page: Math.floor(at / limit) + 1, size: limit }
    )
  }

  /** Whether one answer can show this number of rows of one time, a row before them and one after them. */
  #canShow(ties: number): boolean {
    return ties + 2 <= this.#limit
  }

  /** Whether no row can be missing before the rows of an answer. */
  #isJoined({ items, offset }: Answer): boolean {
    const [first] = items
    const isFirst = offset === 0 && (first === undefined || isStart(this.#place, first))
    return isFirst || items.some((row) => isBehind(this.#place, row))
  }

  /** A page with the rows of the page before it, or only the page before it if that has changed. */
  readonly #withPageBefore = Effect.fnUntraced({ self: this }, function* (answer: Answer) {
    const before: Answer = yield* this.#read({ page: answer.page - 1, size: answer.size })
    const last = before.items.at(-1)
    const endsAtPlace = last !== undefined && (this.#place.known.size === 0 || !isEarlier(this.#place, last))
    const isSameCount = this.#counted <= answer.total && answer.total === before.total
    // A count of fewer rows than were shown says nothing.
    const isUnchanged = (isSameCount || answer.total < answer.end) && unread(this.#place, before).length === 0
    if (!endsAtPlace || !isUnchanged) return before
    return { ...answer, items: [...before.items, ...answer.items], offset: before.offset }
  })

  /** The answer that should show the last row that was read. None if it shows that the service ignores the page size. */
  readonly #readNext = Effect.fnUntraced({ self: this }, function* () {
    const next = this.#nextPage()
    const wasFixed = this.#isFixed
    const answer: Answer = yield* this.#read(next)
    if (this.#isFixed && !wasFixed) return yield* Effect.as(this.#countMiss("StillMoving"), undefined)
    const isAfterPlace = next.page > 1 && answer.offset >= this.#search.at
    return isAfterPlace && !this.#isJoined(answer) ? yield* this.#withPageBefore(answer) : answer
  })

  /** Searches before an answer with later rows only. */
  readonly #stepBack = Effect.fnUntraced({ self: this }, function* ({ items: [first], offset, size }: Answer) {
    // The pages further back hold rows that were read and whose ids are no longer held: they would count as new.
    if (offset === 0 || (first !== undefined && isDoubtful(this.#place, first))) return yield* this.#fail("LostPlace")
    yield* this.#countMiss("StillMoving")
    this.#search.before(offset, size)
  })

  /** Searches after an answer with rows that were read only. */
  readonly #stepOn = Effect.fnUntraced({ self: this }, function* ({ end, size, total }: Answer) {
    yield* this.#countMiss(this.#search.isBounded ? "StillMoving" : "RepeatedPage")
    // Nothing was read yet: all rows are before `since` (newest first: after `until`).
    const isBeforeAll = this.#place.known.size === 0 && !this.#search.isBounded && total > end
    this.#search.after(end, size, ...(isBeforeAll ? [total] : []))
  })

  /** Whether the rows are counted again, since fewer were delivered than there are. */
  readonly #isIncomplete = Effect.fnUntraced({ self: this }, function* (answer: Answer, isWhole: boolean) {
    const missing = this.#options.isCounted ? findMissing(this.#place, answer, isWhole) : undefined
    if (missing !== undefined && this.#isRequestedAgain) return yield* this.#fail(missing.reason, missing)
    this.#isRequestedAgain = missing !== undefined
    return this.#isRequestedAgain
  })

  /** Takes the new rows of an answer. */
  readonly #take = Effect.fnUntraced({ self: this }, function* (answer: Answer, isWhole: boolean) {
    if (hasMovedTies(this.#place, answer.items)) this.#place = { ...this.#place, isMoved: true }
    const entries = unread(this.#place, answer)
    const [first] = entries
    if (first === undefined) return undefined
    this.#allowance = (this.#allowance ?? 0) - entries.length
    if (this.#allowance < 0) return yield* this.#fail("Endless")
    const before = this.#place.known.size === 0 ? begin(this.#place, first) : this.#place
    const batch: Batch = { before: { ...before, isTied: before.isTied || !isWhole }, entries }
    this.#place = advance(batch.before, entries)
    this.#search.moveTo(this.#place.index + 1)
    this.#misses = 0
    this.#isRequestedAgain = false
    return batch
  })

  /** The next new rows on each run, and none at the end of the list. */
  readonly next = Effect.gen({ self: this }, function* () {
    let isRepeated = false
    while (!this.#isOver) {
      const answer = yield* this.#readNext()
      if (answer === undefined) continue
      if (!this.#isJoined(answer)) {
        yield* this.#stepBack(answer)
        continue
      }
      this.#counted = answer.total
      const isWhole = answer.offset === 0 || answer.items.some((row) => isEarlier(this.#place, row))
      if (!isWhole && !isRepeated && !this.#isFixed && this.#canShow(tiesOf(this.#place))) {
        // Rows have moved towards the start: all rows of the last time are in a page that begins further back.
        isRepeated = true
        this.#search.at = answer.offset + 1
        continue
      }
      const batch = yield* this.#take(answer, isWhole)
      if (answer.isLast) this.#isOver = !(yield* this.#isIncomplete(answer, isWhole))
      else if (batch === undefined) yield* this.#stepOn(answer)
      if (batch !== undefined) return Option.some(batch)
    }
    return Option.none<Batch>()
  })
}

/** Makes an effect that returns the next new rows on each run, and none at the end of the list. */
export const make = <E>(options: Options<E>) => new PageReader(options).next
