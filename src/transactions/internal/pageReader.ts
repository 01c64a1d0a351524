/**
 * Reads a list that moves, one answer at a time: what of an answer is new, what to ask for next, when it is over, and
 * when to give up. It does nothing itself; its size does not grow with the list.
 *
 * Seen from the cursor (the row read last), an answer is one of these:
 *
 * | the answer | what it is taken for | what is asked next |
 * |---|---|---|
 * | overlaps the cursor, with rows after it | progress: they follow without a gap | around the new cursor |
 * | page 1, all after the cursor; nothing was read yet | progress: the start of the list | around the new cursor |
 * | the same, and all that was read is gone | the start, if page 1 says so twice | page 1 |
 * | ends at the cursor, and is shorter than a page that the service has filled | the end, if the cursor is in it, or said twice | the same place |
 * | the same, and the service counts more rows | `MissingRows`, if said three times | the same place |
 * | ends at the cursor or before it | too early | further on |
 * | starts after the cursor | too late; or next to it, where no page can overlap | further back; or the page before, to confirm |
 * | neither its ids nor its times say | nowhere | places in turn, nearest first |
 * | empty, page 1 | the end, if nothing was read, or said twice | page 1 |
 * | empty, another page | too late | further back |
 *
 * An answer that was given before to another request is never the start, the end or the neighbour: it is asked for
 * again. Every answer that is no progress is a miss; too many of them, and the reader gives up with a reason.
 */
import type { TransactionListItem, TransactionPage, TransactionSort } from "../../contract/Transaction.ts"
import { type Ask, type Hunt, largestPage, nextAsk, type Sizes, small } from "./pageAsk.ts"
import { advance, type Cursor, timeOf, type Unread, view } from "./pageCursor.ts"

/** Why reading was given up. */
export const reasons = [
  "EchoedPage",
  "RepeatedPage",
  "Endless",
  "MissingRows",
  "OutOfOrder",
  "StillMoving",
  "LostPlace"
] as const
export type Reason = (typeof reasons)[number]

/** How many answers without progress are accepted before reading is given up, in all and of each kind. */
const patience = { all: 40, echoed: 5, repeated: 3, missing: 3, known: 3 }

/** How many rows may come beyond twice what the service first counted; and at most, where its count is wrong. */
const slack = 10_000
const mostUncounted = 1_000_000

interface Trouble {
  readonly echoed: number
  readonly missing: number
}

export interface Reader {
  readonly sort: TransactionSort
  readonly cursor: Cursor
  readonly ask: Ask
  readonly sizes: Sizes
  readonly hunt: Hunt
  readonly trouble: Trouble
  /** Where the last answer showed the row read last, and how many rows it counted. */
  readonly seen: { readonly index: number; readonly total: number } | undefined
  /** A page next to the cursor, if the page before it still ends with the cursor. */
  readonly adjoining: Slice | undefined
  readonly previous: { readonly firstId: number | undefined; readonly offset: number; readonly repeated: number }
  /** The total at the last progress. */
  readonly total: number | undefined
  /** The last answers, and what they were given to. */
  readonly answers: ReadonlyArray<Answer>
  /** How many of the last answers said that this is the start, or the end, where once is not enough. */
  readonly said: number
  readonly rowsRead: number
  /** More rows than this are a list without end. */
  readonly mostRows: number | undefined
}

interface Answer {
  readonly rows: string
  readonly ask: string
}

/** How many of them are remembered. */
const answersKept = 1000

interface Slice {
  readonly rows: ReadonlyArray<Unread>
  readonly offset: number
  readonly length: number
  readonly isFull: boolean
  /** Shorter than pages that the service has filled: nothing comes after it. */
  readonly isLast: boolean
  readonly ask: Ask
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

export type Step =
  | {
      readonly _tag: "Rows"
      readonly rows: ReadonlyArray<Unread>
      readonly offset: number
      readonly next: Reader
    }
  | { readonly _tag: "Again"; readonly next: Reader }
  | { readonly _tag: "End" }
  | { readonly _tag: "Failed"; readonly reason: Reason; readonly misses: number }

const noHunt: Hunt = { misses: 0, shrunk: 0, blind: 0 }
const noTrouble: Trouble = { echoed: 0, missing: 0 }

export const make = (cursor: Cursor, sort: TransactionSort, pageSize: number): Reader => {
  const sizes: Sizes = {
    wanted: pageSize,
    most: largestPage,
    limit: largestPage,
    proven: 0,
    doubt: "None",
    doubts: 0,
    fixed: false
  }
  return {
    sort,
    cursor,
    sizes,
    ask: nextAsk(sizes, cursor.index, noHunt),
    hunt: noHunt,
    trouble: noTrouble,
    seen: undefined,
    adjoining: undefined,
    previous: { firstId: undefined, offset: -1, repeated: 0 },
    total: undefined,
    answers: [],
    said: 0,
    rowsRead: 0,
    mostRows: undefined
  }
}

const distinct = (items: ReadonlyArray<TransactionListItem>) => new Set(items.map(({ id }) => id)).size

/** What an answer says of the service's own page sizes, and the size that this page has. */
const learn = ({ ask, sizes }: Reader, { items, pageSize, totalItems }: TransactionPage, isKnown: boolean) => {
  // A row that stands twice makes no page larger.
  const length = distinct(items)
  // What was given to another request before says nothing of this one's size.
  const said = pageSize > 0 && !isKnown ? pageSize : ask.pageSize
  const size = isKnown && !sizes.fixed ? said : Math.max(length, said)
  const proven = Math.max(sizes.proven, length)
  if (sizes.fixed || size > ask.pageSize) {
    return { size, sizes: { ...sizes, proven, most: size, fixed: true, doubt: "None" } satisfies Sizes }
  }
  const limit = size < ask.pageSize ? Math.min(sizes.limit, size) : sizes.limit
  const isFilled = length >= ask.pageSize && ask.pageSize >= sizes.most
  const most = Math.min(limit, isFilled ? sizes.most * 2 : sizes.most)
  const isDoubtful = length > 0 && length < size && size > proven
  const doubt = isDoubtful ? (totalItems === (ask.page - 1) * size + length ? "End" : "Cap") : sizes.doubt
  const doubts = sizes.doubts + (isDoubtful ? 1 : 0)
  return { size, sizes: { ...sizes, proven, limit, most, doubt, doubts } satisfies Sizes }
}

/** A page of a proven size had rows that a larger one did not: that one was capped, or rows have arrived since. */
const settled = (sizes: Sizes, { pageSize }: Ask): Sizes => {
  if (sizes.doubt === "None" || pageSize > sizes.proven) return sizes
  const isCap = sizes.doubt === "Cap" || sizes.doubts > (sizes.proven < small ? 20 : 2)
  return { ...sizes, doubt: "None", most: sizes.proven, limit: isCap ? sizes.proven : sizes.limit }
}

const answerOf = ({ page, pageSize }: Ask, items: ReadonlyArray<TransactionListItem>): Answer => ({
  rows: `${distinct(items)} ${items[0]?.id} ${items.at(-1)?.id}`,
  ask: `${page} ${pageSize}`
})

const isReversed = (items: ReadonlyArray<TransactionListItem>, sort: TransactionSort) => {
  const times = items.map((row) => timeOf(row, sort)).filter((time) => time !== undefined)
  const [first, last] = [times[0], times.at(-1)]
  return first !== undefined && last !== undefined && first > last
}

export const step = (before: Reader, answer: TransactionPage): Step => {
  const { ask, cursor, previous, sort } = before
  const { items, totalItems: total } = answer
  if (isReversed(items, sort)) return { _tag: "Failed", reason: "OutOfOrder", misses: 0 }

  const isEcho = answer.currentPage !== ask.page
  const seenFrom = view(cursor, items, sort)
  const given = answerOf(ask, items)
  const alike = before.answers.filter(({ rows }) => rows === given.rows)
  const isKnown = alike.some((other) => other.ask !== given.ask)
  const { size, sizes } = learn(before, answer, isKnown)
  const askedOffset = (ask.page - 1) * size
  const firstId = items[0]?.id
  const isRepeated = firstId !== undefined && firstId === previous.firstId && askedOffset !== previous.offset
  const saysStart = seenFrom._tag === "Ahead" && ask.page === 1 && !isEcho && !isRepeated && !isKnown
  const isStart = saysStart && (cursor.count === 0 || before.said > 0)
  const hasNews = seenFrom._tag === "Onward" || isStart
  // The rows prove themselves; where they prove nothing, the service's own word for the page is the better guess.
  const page = isEcho && !hasNews && answer.currentPage > 0 ? Math.min(ask.page, answer.currentPage) : ask.page
  const offset = (page - 1) * size
  const length = distinct(items)
  const isFull = length >= size
  const slice: Slice = {
    rows: "rows" in seenFrom ? seenFrom.rows : [],
    offset,
    length,
    isFull,
    isLast: items.length < Math.min(ask.pageSize, sizes.proven),
    ask,
    given: given.rows,
    isKnown,
    isNew: alike.length === 0,
    isSane: total >= offset + items.length,
    hasMore: total > offset + items.length || answer.totalPages > page,
    total
  }

  const reader: Reader = {
    ...before,
    sizes,
    answers: [...before.answers, given].slice(-answersKept),
    said: 0,
    seen: undefined,
    adjoining: undefined,
    previous: { firstId, offset: askedOffset, repeated: isRepeated ? previous.repeated + 1 : 0 },
    mostRows: before.mostRows ?? (slice.isSane ? total * 2 + slack : mostUncounted)
  }

  if (hasNews) return progress(reader, slice, ask)
  switch (seenFrom._tag) {
    case "Ahead":
      return saysStart ? sayAgain(reader, before, isEcho) : ahead(reader, before, slice, isEcho)
    case "Empty":
      if (ask.page > 1)
        return reader.hunt.blind > 0 ? blind(reader, slice, isEcho) : ahead(reader, before, slice, isEcho)
      if (total > 0 || answer.totalPages > 1) return missing(reader, isEcho, {})
      return before.answers.length === 0 || isSaid(before, slice) ? { _tag: "End" } : sayAgain(reader, before, isEcho)
    case "Behind":
      return behind(reader, before, slice, seenFrom.rank, isEcho)
    case "Blind":
      // After a place that the cursor is known not to precede, unknown rows are taken for later ones.
      return ask.purpose === "Adjoin" || (reader.hunt.low !== undefined && reader.hunt.low < offset)
        ? ahead(reader, before, slice, isEcho)
        : blind(reader, slice, isEcho)
  }
}

/** What was said before to another request has to be said so often that no confusion says it. */
const isSaid = ({ answers, said }: Reader, { given, isKnown }: Slice) =>
  answers.at(-1)?.rows === given && said >= (isKnown ? patience.known : 1)

/** Asks for the same once more, where one answer is not enough. */
const sayAgain = (reader: Reader, before: Reader, isEcho: boolean, found: Partial<Hunt> = {}): Step => {
  const isSame = before.answers.at(-1)?.rows === reader.answers.at(-1)?.rows
  return miss({ ...reader, said: isSame ? before.said + 1 : 1 }, isEcho, found, reader.ask)
}

const progress = (before: Reader, slice: Slice, ask: Ask): Step => {
  const reader = { ...before, sizes: settled(before.sizes, ask) }
  const { rows, offset, total } = slice
  const rowsRead = reader.rowsRead + rows.length
  if (reader.mostRows !== undefined && rowsRead > reader.mostRows) {
    return { _tag: "Failed", reason: "Endless", misses: 0 }
  }
  const cursor = advance(reader.cursor, rows, offset, reader.sort)
  const next = {
    ...reader,
    cursor,
    rowsRead,
    total,
    seen: { index: cursor.index, total },
    hunt: noHunt,
    trouble: noTrouble
  }
  return { _tag: "Rows", rows, offset, next: { ...next, ask: askNext(next) } }
}

const behind = (reader: Reader, before: Reader, slice: Slice, rank: number | undefined, isEcho: boolean): Step => {
  const { adjoining, ask, sizes } = before
  const { hasMore, isFull, isLast, isSane, length, offset, total } = slice
  const low = offset + (isFull || !hasMore ? length : Math.max(length, ask.pageSize)) - 1
  if (adjoining !== undefined && (rank === 0 || adjoining.length === 0) && (isFull || adjoining.length === 0)) {
    const { neighbour } = reader.hunt
    const times = 1 + (neighbour?.given === adjoining.given ? neighbour.times : 0)
    if (times < votes(reader, adjoining, slice)) {
      const next = { ...reader, seen: { index: offset + length - 1, total } }
      return miss(next, isEcho, { neighbour: { given: adjoining.given, times } }, adjoining.ask)
    }
    if (adjoining.rows.length > 0) return progress(reader, adjoining, adjoining.ask)
    if (adjoining.length === 0 && !adjoining.hasMore) return { _tag: "End" }
  }
  if (isLast && !hasMore) {
    return (rank === 0 && !slice.isKnown) || isSaid(before, slice) ? { _tag: "End" } : sayAgain(reader, before, isEcho)
  }
  const isDoubtful = reader.sizes.doubts > sizes.doubts
  // A page of one row cannot overlap the next: whether that one is empty tells.
  if (isDoubtful && reader.sizes.proven < 3) {
    return miss(reader, isEcho, {}, { ...ask, page: ask.page + 1, purpose: "Adjoin" })
  }
  const found: Partial<Hunt> =
    isDoubtful && ask.page > 1
      ? // Where the page stands was reckoned by a size that the service may not give.
        { low: undefined, high: undefined, likely: undefined }
      : {
          low,
          high: high(reader, low) ?? (rank === undefined && isSane && !isDoubtful ? total - 1 : undefined),
          likely:
            isDoubtful || rank !== undefined
              ? // What stood between may be gone.
                Math.min((isDoubtful ? offset + length - 1 : low) + (rank ?? 0), high(reader, low) ?? Infinity)
              : undefined
        }
  const next = rank === 0 ? { ...reader, seen: { index: low, total } } : reader
  return !isFull && hasMore ? missing(next, isEcho, found) : miss(next, isEcho, found)
}

/**
 * How often the page before has to be seen to end with the cursor, with the adjoining page between. Once is enough where
 * the count says that it is the end, too. Else the list may have moved away and back again between two answers, for
 * which newest first it needs no more than a new row; and one of the answers may be an old one.
 */
const votes = ({ sort }: Reader, adjoining: Slice, { isNew, offset, length, total }: Slice): number => {
  if (adjoining.isKnown) return 5
  const isCounted = adjoining.length === 0 && adjoining.total === total && total === offset + length
  return isNew && isCounted ? 1 : sort === "createdAt_asc" ? 2 : 3
}

/**
 * Asks whether the cursor still stands before the page that adjoins it: for the cursor's row alone, since an answer of
 * those rows was not given before.
 */
const confirming = ({ page, pageSize }: Ask, { fixed, proven }: Sizes): Ask =>
  fixed || proven < 2 || pageSize > proven
    ? { page: page - 1, pageSize, purpose: "Confirm" }
    : { page: (page - 1) * pageSize, pageSize: 1, purpose: "Confirm" }

/** The upper bound, unless the list has outgrown it. */
const high = ({ hunt }: Reader, low: number) => (hunt.high !== undefined && hunt.high < low ? undefined : hunt.high)

const ahead = (reader: Reader, before: Reader, slice: Slice, isEcho: boolean): Step => {
  const { ask, seen } = before
  const { offset, total } = slice
  const isNext = slice.length === 0 || (seen?.index === offset - 1 && total >= seen.total)
  const isAdjoining = ask.purpose === "Adjoin" && !isEcho && isNext
  // The list is one row.
  if (
    isAdjoining &&
    slice.length === 0 &&
    reader.cursor.count === 1 &&
    before.answers.length === 1 &&
    before.total === 1 &&
    total === 1
  )
    return { _tag: "End" }
  if (isAdjoining) {
    const { neighbour } = reader.hunt
    return miss({ ...reader, adjoining: slice }, isEcho, { neighbour }, confirming(ask, reader.sizes))
  }
  const { low } = reader.hunt
  const last = Math.max(0, offset - 1)
  return miss(reader, isEcho, {
    high: last,
    low: low !== undefined && low > last ? undefined : low,
    likely: undefined,
    shrunk: Math.max(0, (reader.total ?? total) - total)
  })
}

const blind = (reader: Reader, { total }: Slice, isEcho: boolean): Step => {
  const { cursor, hunt, sizes, sort } = reader
  const grown = total - (reader.total ?? total)
  return miss(reader, isEcho, {
    blind: hunt.blind + 1,
    low: undefined,
    high: undefined,
    likely: undefined,
    search: {
      // Newest first, what was added pushes the rows on; oldest first it does not.
      around: Math.max(0, cursor.index + (sort === "createdAt_desc" ? grown : Math.min(0, grown))),
      length: Math.max(total, cursor.index + cursor.ids.length),
      stride: Math.max(1, sizes.most - 1, cursor.ids.length - sizes.most)
    }
  })
}

const missing = (reader: Reader, isEcho: boolean, found: Partial<Hunt>): Step => {
  const count = reader.trouble.missing + 1
  return count >= patience.missing
    ? { _tag: "Failed", reason: "MissingRows", misses: reader.hunt.misses + 1 }
    : miss({ ...reader, trouble: { ...reader.trouble, missing: count } }, isEcho, found)
}

const miss = (reader: Reader, isEcho: boolean, found: Partial<Hunt>, ask?: Ask): Step => {
  const misses = reader.hunt.misses + 1
  const echoed = reader.trouble.echoed + (isEcho ? 1 : 0)
  const failed = (reason: Reason): Step => ({ _tag: "Failed", reason, misses })
  if (echoed >= patience.echoed) return failed("EchoedPage")
  if (reader.previous.repeated >= patience.repeated) return failed("RepeatedPage")
  if (misses >= patience.all) return failed(reader.hunt.blind > 0 ? "LostPlace" : "StillMoving")
  const next = {
    ...reader,
    trouble: { ...reader.trouble, echoed },
    hunt: { ...reader.hunt, blind: 0, search: undefined, neighbour: undefined, ...found, misses }
  }
  return { _tag: "Again", next: { ...next, ask: ask ?? askNext(next) } }
}

/** A page that adjoins proves nothing unless the answer before it showed where the cursor stands. */
const askNext = ({ cursor, hunt, seen, sizes }: Reader): Ask => {
  const ask = nextAsk(sizes, cursor.index, hunt)
  const isReady = ask.purpose !== "Adjoin" || seen?.index === (ask.page - 1) * ask.pageSize - 1
  return isReady ? ask : { ...ask, page: ask.page - 1, purpose: "Overlap" }
}
