/**
 * What one answer says: where its rows stand seen from the cursor, which of them are new, whether the same rows were
 * given before, and what the service counts.
 */
import type { TransactionListItem, TransactionPage, TransactionSort } from "../../contract/Transaction.ts"
import type { Ask } from "./pageAsk.ts"
import { type Cursor, timeOf, type Unread, view } from "./pageCursor.ts"
import { distinct, learn, type Sizes } from "./pageSizes.ts"

interface Answer {
  readonly rows: string
  readonly ask: string
}

/** How many of them are remembered. */
const answersKept = 1000

/** What was known before the answer. */
export interface Before {
  readonly sort: TransactionSort
  readonly cursor: Cursor
  readonly ask: Ask
  readonly sizes: Sizes
  readonly previous: { readonly firstId: number | undefined; readonly offset: number; readonly repeated: number }
  /** The last answers, and what they were given to. */
  readonly answers: ReadonlyArray<Answer>
  /** How many of the last answers said that this is the start, or the end, where once is not enough. */
  readonly said: number
}

/** An answer, seen from the cursor. */
export interface Slice {
  readonly rows: ReadonlyArray<Unread>
  readonly offset: number
  readonly length: number
  readonly isFull: boolean
  /** Shorter than pages that the service has filled: nothing comes after it. */
  readonly isLast: boolean
  readonly ask: Ask
  /** The service says that it is another page than the one asked for. */
  readonly isEcho: boolean
  /** The rows, in short. */
  readonly given: string
  /** The same rows were the answer to another request before. */
  readonly isKnown: boolean
  /** No answer had these rows before: it is not an earlier one, given again. */
  readonly isNew: boolean
  /** The service counts no fewer rows than it showed. */
  readonly isSane: boolean
  /** The service counts rows after this slice. */
  readonly hasMore: boolean
  readonly total: number
}

const answerOf = ({ page, pageSize }: Ask, items: ReadonlyArray<TransactionListItem>): Answer => ({
  rows: `${distinct(items)} ${items[0]?.id} ${items.at(-1)?.id}`,
  ask: `${page} ${pageSize}`
})

/** The rows come in the other order. */
export const isReversed = (items: ReadonlyArray<TransactionListItem>, sort: TransactionSort) => {
  const times = items.map((row) => timeOf(row, sort)).filter((time) => time !== undefined)
  const [first, last] = [times[0], times.at(-1)]
  return first !== undefined && last !== undefined && first > last
}

export const readAnswer = (before: Before, answer: TransactionPage) => {
  const { ask, cursor, previous, sort } = before
  const { items, totalItems: total } = answer
  const isEcho = answer.currentPage !== ask.page
  const seenFrom = view(cursor, items, sort)
  const given = answerOf(ask, items)
  const alike = before.answers.filter(({ rows }) => rows === given.rows)
  const isKnown = alike.some((other) => other.ask !== given.ask)
  const { size, sizes } = learn(before.sizes, ask, answer, isKnown)
  const askedOffset = (ask.page - 1) * size
  const firstId = items[0]?.id
  const isRepeated = firstId !== undefined && firstId === previous.firstId && askedOffset !== previous.offset
  const saysStart = seenFrom._tag === "Ahead" && ask.page === 1 && !isEcho && !isRepeated && !isKnown
  const isStart = saysStart && (cursor.count === 0 || before.said > 0)
  // The rows prove themselves; where they prove nothing, the service's own word for the page is the better guess.
  const hasNews = seenFrom._tag === "Onward" || isStart
  const page = isEcho && !hasNews && answer.currentPage > 0 ? Math.min(ask.page, answer.currentPage) : ask.page
  const offset = (page - 1) * size
  const length = distinct(items)
  const slice: Slice = {
    rows: "rows" in seenFrom ? seenFrom.rows : [],
    offset,
    length,
    isFull: length >= size,
    isLast: items.length < Math.min(ask.pageSize, sizes.proven),
    ask,
    isEcho,
    given: given.rows,
    isKnown,
    isNew: alike.length === 0,
    isSane: total >= offset + items.length,
    hasMore: total > offset + items.length || answer.totalPages > page,
    total
  }
  return {
    answers: [...before.answers, given].slice(-answersKept),
    previous: { firstId, offset: askedOffset, repeated: isRepeated ? previous.repeated + 1 : 0 },
    seenFrom,
    sizes,
    slice,
    /** It may be the start of the list. */
    saysStart,
    /** It was said before, or nothing was read yet: it is the start. */
    isStart
  }
}
