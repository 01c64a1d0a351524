/**
 * Reads a list that moves, one answer at a time: what of an answer is new, what to ask for next, when it is over, and
 * when to give up. It does nothing itself; its size does not grow with the list.
 */
import type { TransactionListItem, TransactionPage, TransactionSort } from "../../contract/Transaction.ts"
import { type Ask, type Hunt, largestPage, nextAsk, type Sizes } from "./pageAsk.ts"
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

/** How many answers without progress are borne, in all and of each kind. */
const patience = { all: 40, echoed: 5, repeated: 3, missing: 3 }

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
  /** The largest page was asked for where it cannot be short: at the start of the list. */
  readonly isProbed: boolean
  readonly hunt: Hunt
  readonly trouble: Trouble
  /** Where the last answer showed the row read last, and how many rows it counted. */
  readonly seen: { readonly index: number; readonly total: number } | undefined
  /** A page next to the cursor, if the page before it still ends with the cursor. */
  readonly adjoining: Slice | undefined
  readonly previous: { readonly firstId: number | undefined; readonly offset: number; readonly repeated: number }
  /** The total at the last progress. */
  readonly total: number | undefined
  /** The service has counted fewer rows than it showed. From then on its counts do not say where the list ends. */
  readonly undercounts: boolean
  readonly rowsRead: number
  /** More rows than this are a list without end. */
  readonly mostRows: number | undefined
}

interface Slice {
  readonly rows: ReadonlyArray<Unread>
  readonly offset: number
  readonly length: number
  readonly isFull: boolean
  /** The service counts no fewer rows than it showed, here and before. */
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
      /** None: that was the end. */
      readonly next: Reader | undefined
    }
  | { readonly _tag: "Again"; readonly next: Reader }
  | { readonly _tag: "End" }
  | { readonly _tag: "Failed"; readonly reason: Reason; readonly misses: number }

const noHunt: Hunt = { misses: 0, shrunk: 0, blind: 0 }
const noTrouble: Trouble = { echoed: 0, missing: 0 }

export const make = (cursor: Cursor, sort: TransactionSort, pageSize: number): Reader => {
  const sizes = { wanted: pageSize, most: largestPage, fixed: false }
  return {
    sort,
    cursor,
    sizes,
    isProbed: false,
    ask: nextAsk(sizes, cursor.index, noHunt),
    hunt: noHunt,
    trouble: noTrouble,
    seen: undefined,
    adjoining: undefined,
    previous: { firstId: undefined, offset: -1, repeated: 0 },
    total: undefined,
    undercounts: false,
    rowsRead: 0,
    mostRows: undefined
  }
}

/** What an answer tells of the service's own page sizes, and the size that this page has. */
const learn = (reader: Reader, answer: TransactionPage) => {
  const { ask, previous, sizes } = reader
  const length = answer.items.length
  const said = answer.pageSize > 0 ? answer.pageSize : ask.pageSize
  const isFixed = sizes.fixed || length > ask.pageSize || said > ask.pageSize
  const isProbe = ask.purpose === "Probe" || (previous.offset === -1 && ask.page === 1)
  // A first page that is short, and not because the service counts no more rows: it is capped without a word.
  const isCapped = isProbe && length > 0 && length < said && answer.totalItems !== length
  const size = isCapped ? length : Math.max(length, said)
  const most = isFixed ? size : size < ask.pageSize ? Math.min(sizes.most, size) : sizes.most
  const isProbed = reader.isProbed || (isProbe && ask.pageSize >= sizes.most)
  return { size, sizes: { ...sizes, most, fixed: isFixed }, isProbed }
}

const isReversed = (items: ReadonlyArray<TransactionListItem>, sort: TransactionSort) => {
  const times = items.map((row) => timeOf(row, sort)).filter((time) => time !== undefined)
  const [first, last] = [times[0], times.at(-1)]
  return first !== undefined && last !== undefined && first > last
}

export const step = (before: Reader, answer: TransactionPage): Step => {
  const { ask, cursor, previous, sort } = before
  const { items, totalItems: total } = answer
  const { isProbed, size, sizes } = learn(before, answer)
  if (isReversed(items, sort)) return { _tag: "Failed", reason: "OutOfOrder", misses: 0 }

  const isEcho = answer.currentPage !== ask.page
  const seenFrom = view(cursor, items, sort)
  const askedOffset = (ask.page - 1) * size
  const firstId = items[0]?.id
  const isRepeated = firstId !== undefined && firstId === previous.firstId && askedOffset !== previous.offset
  // The last answer's rows, given once more, are not the start of the list only because the start was asked for.
  const isStart = seenFrom._tag === "Ahead" && ask.page === 1 && !isEcho && !isRepeated
  const hasNews = seenFrom._tag === "Onward" || isStart
  // The rows prove themselves; where they prove nothing, the service's own word for the page is the better guess.
  const page = isEcho && !hasNews && answer.currentPage > 0 ? Math.min(ask.page, answer.currentPage) : ask.page
  const offset = (page - 1) * size
  const isFull = items.length >= size
  const undercounts = before.undercounts || (items.length > 0 && total < offset + items.length)
  const slice: Slice = {
    rows: "rows" in seenFrom ? seenFrom.rows : [],
    offset,
    length: items.length,
    isFull,
    isSane: !undercounts && total >= offset + items.length,
    hasMore: total > offset + items.length || answer.totalPages > page,
    total
  }

  const reader: Reader = {
    ...before,
    sizes,
    isProbed,
    undercounts,
    seen: undefined,
    adjoining: undefined,
    previous: { firstId, offset: askedOffset, repeated: isRepeated ? previous.repeated + 1 : 0 },
    mostRows: before.mostRows ?? (slice.isSane ? total * 2 + slack : mostUncounted)
  }

  if (hasNews) return progress(reader, slice)
  switch (seenFrom._tag) {
    case "Ahead":
      return ahead(reader, before, slice, isEcho)
    case "Empty":
      if (ask.page === 1) return total === 0 && answer.totalPages <= 1 ? { _tag: "End" } : missing(reader, isEcho, {})
      return reader.hunt.blind > 0 ? blind(reader, slice, isEcho) : ahead(reader, before, slice, isEcho)
    case "Behind":
      return behind(reader, before, slice, seenFrom.rank, isEcho)
    case "Blind":
      // After a place that the cursor is known not to precede, unknown rows are taken for later ones.
      return ask.purpose === "Adjoin" || (reader.hunt.low !== undefined && reader.hunt.low < offset)
        ? ahead(reader, before, slice, isEcho)
        : blind(reader, slice, isEcho)
  }
}

/** A page which is not the one before, shown again, or which comes when all that the service counts was read. */
const canEnd = ({ cursor, previous }: Reader, { rows, total }: Slice) =>
  previous.repeated === 0 || (total > 0 && cursor.count + rows.length >= total)

const progress = (reader: Reader, slice: Slice): Step => {
  const { rows, offset, total } = slice
  const rowsRead = reader.rowsRead + rows.length
  if (reader.mostRows !== undefined && rowsRead > reader.mostRows) {
    return { _tag: "Failed", reason: "Endless", misses: 0 }
  }
  const isOver = !slice.isFull && slice.isSane && !slice.hasMore && canEnd(reader, slice)
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
  return { _tag: "Rows", rows, offset, next: isOver ? undefined : { ...next, ask: askNext(next) } }
}

const behind = (
  reader: Reader,
  { adjoining, ask }: Reader,
  slice: Slice,
  rank: number | undefined,
  isEcho: boolean
): Step => {
  const { hasMore, isFull, isSane, length, offset, total } = slice
  const low = offset + (isFull || !hasMore ? length : Math.max(length, ask.pageSize)) - 1
  if (adjoining !== undefined && rank === 0 && isFull) {
    if (adjoining.rows.length > 0) return progress(reader, adjoining)
    if (!adjoining.hasMore && canEnd(reader, slice)) return { _tag: "End" }
  }
  // A full page may end with the count by chance, as where only the page is counted. The next, shorter one ends the list,
  // but where all have one size it cannot be asked for with an overlap.
  if (isSane && !hasMore && (!isFull || reader.sizes.fixed) && canEnd(reader, slice)) return { _tag: "End" }
  if (!isSane && !isFull && !hasMore && reader.hunt.misses > 0 && reader.previous.repeated === 0) {
    return reader.isProbed ? { _tag: "End" } : probe(reader, isEcho)
  }
  const found: Partial<Hunt> = {
    low,
    high: high(reader, low) ?? (rank === undefined && isSane ? total - 1 : undefined),
    likely: rank === undefined ? undefined : low + rank
  }
  const next = rank === 0 ? { ...reader, seen: { index: low, total } } : reader
  return !isFull && hasMore ? missing(next, isEcho, found) : miss(next, isEcho, found)
}

/** The upper bound, unless the list has outgrown it. */
const high = ({ hunt }: Reader, low: number) => (hunt.high !== undefined && hunt.high < low ? undefined : hunt.high)

const ahead = (reader: Reader, { ask, seen }: Reader, slice: Slice, isEcho: boolean): Step => {
  const { offset, total } = slice
  const isAdjoining = ask.purpose === "Adjoin" && !isEcho && seen?.index === offset - 1 && total >= seen.total
  if (isAdjoining) {
    return miss({ ...reader, adjoining: slice }, isEcho, {}, { ...ask, page: ask.page - 1, purpose: "Confirm" })
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

/** Short pages may be due to a cap that the service does not tell: where they began was reckoned wrongly then. */
const probe = (reader: Reader, isEcho: boolean): Step => {
  const ask: Ask = { page: 1, pageSize: reader.sizes.most, purpose: "Probe" }
  return miss({ ...reader, isProbed: true }, isEcho, { low: undefined, high: undefined, likely: undefined }, ask)
}

const missing = (reader: Reader, isEcho: boolean, found: Partial<Hunt>): Step => {
  if (!reader.isProbed) return probe(reader, isEcho)
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
    hunt: { ...reader.hunt, blind: 0, search: undefined, ...found, misses }
  }
  return { _tag: "Again", next: { ...next, ask: ask ?? askNext(next) } }
}

/** A page that adjoins proves nothing unless the answer before it showed where the cursor stands. */
const askNext = ({ cursor, hunt, seen, sizes }: Reader): Ask => {
  const ask = nextAsk(sizes, cursor.index, hunt)
  const isReady = ask.purpose !== "Adjoin" || seen?.index === (ask.page - 1) * ask.pageSize - 1
  return isReady ? ask : { ...ask, page: ask.page - 1, purpose: "Overlap" }
}
