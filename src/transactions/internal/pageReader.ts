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
 * | starts after the cursor | too late | further back |
 * | the same, and was asked for since no page can overlap the cursor's end | the neighbour | whether the cursor still stands before it |
 * | shows the cursor before its neighbour, as often as `votes` wants | progress: they follow; or the end, where the neighbour is empty | around the new cursor |
 * | neither its ids nor its times say | nowhere | places in turn, nearest first |
 * | empty, page 1 | the end, if nothing was read, or said twice | page 1 |
 * | empty, another page | too late | further back |
 *
 * A service may give an earlier answer once more. Rows in an order that no answer had before are no such answer, so the
 * requests that decide are chosen to have new ones. What was given before to another request is never the start, and the
 * end or the neighbour only when it is said again and again. Every answer that is no progress is a miss; too many of them, and the reader gives up with a reason.
 */
import type { TransactionPage, TransactionSort } from "../../contract/Transaction.ts"
import { type Ask, confirming, type Hunt, nextAsk } from "./pageAsk.ts"
import { type Before, isReversed, readAnswer, type Slice } from "./pageAnswer.ts"
import { advance, type Cursor, type Unread } from "./pageCursor.ts"
import { settled, unproven } from "./pageSizes.ts"

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

export interface Reader extends Before {
  readonly hunt: Hunt
  readonly trouble: Trouble
  /** Where the last answer showed the row read last, and how many rows it counted. */
  readonly seen: { readonly index: number; readonly total: number } | undefined
  /** A page next to the cursor, if the page before it still ends with the cursor. */
  readonly adjoining: Slice | undefined
  /** The total at the last progress. */
  readonly total: number | undefined
  readonly rowsRead: number
  /** More rows than this are a list without end. */
  readonly mostRows: number | undefined
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
  const sizes = unproven(pageSize)
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

export const step = (before: Reader, answer: TransactionPage): Step => {
  const { ask, sort } = before
  const total = answer.totalItems
  if (isReversed(answer.items, sort)) return { _tag: "Failed", reason: "OutOfOrder", misses: 0 }

  const { answers, isStart, previous, saysStart, seenFrom, sizes, slice } = readAnswer(before, answer)
  const reader: Reader = {
    ...before,
    sizes,
    answers,
    said: 0,
    seen: undefined,
    adjoining: undefined,
    trouble: slice.isEcho ? { ...before.trouble, echoed: before.trouble.echoed + 1 } : before.trouble,
    previous,
    mostRows: before.mostRows ?? (slice.isSane ? total * 2 + slack : mostUncounted)
  }

  switch (seenFrom._tag) {
    case "Onward":
      return progress(reader, slice, ask)
    case "Ahead":
      if (isStart) return progress(reader, slice, ask)
      return saysStart ? sayAgain(reader, before) : ahead(reader, before, slice)
    case "Empty":
      if (ask.page > 1) return reader.hunt.blind > 0 ? blind(reader, slice) : ahead(reader, before, slice)
      if (total > 0 || answer.totalPages > 1) return missing(reader, {})
      return before.answers.length === 0 || isSaid(before, slice) ? { _tag: "End" } : sayAgain(reader, before)
    case "Behind":
      return behind(reader, before, slice, seenFrom.rank)
    case "Blind":
      // After a place that the cursor is known not to precede, unknown rows are taken for later ones.
      return ask.purpose === "Adjoin" || (reader.hunt.low !== undefined && reader.hunt.low < slice.offset)
        ? ahead(reader, before, slice)
        : blind(reader, slice)
  }
}

/** What was said before to another request has to be said so often that no confusion says it. */
const isSaid = ({ answers, said }: Reader, { given, isKnown }: Slice) =>
  answers.at(-1)?.rows === given && said >= (isKnown ? patience.known : 1)

/** Asks for the same once more, where one answer is not enough. */
const sayAgain = (reader: Reader, before: Reader, found: Partial<Hunt> = {}): Step => {
  const isSame = before.answers.at(-1)?.rows === reader.answers.at(-1)?.rows
  return miss({ ...reader, said: isSame ? before.said + 1 : 1 }, found, reader.ask)
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

const behind = (reader: Reader, before: Reader, slice: Slice, rank: number | undefined): Step => {
  const { adjoining, ask, sizes } = before
  const { hasMore, isFull, isLast, isSane, length, offset, total } = slice
  const low = offset + (isFull || !hasMore ? length : Math.max(length, ask.pageSize)) - 1
  // The cursor's row may be gone. Then the list ends with an older one, and only an answer of its own shows that.
  const isAtCursor = rank === 0 || (adjoining?.length === 0 && !slice.isKnown)
  if (adjoining !== undefined && isAtCursor && (isFull || adjoining.length === 0)) {
    const { neighbour } = reader.hunt
    const times = 1 + (neighbour?.given === adjoining.given ? neighbour.times : 0)
    if (times < votes(reader, adjoining, slice)) {
      const next = { ...reader, seen: { index: offset + length - 1, total } }
      return miss(next, { neighbour: { given: adjoining.given, times } }, adjoining.ask)
    }
    if (adjoining.rows.length > 0) return progress(reader, adjoining, adjoining.ask)
    if (adjoining.length === 0 && !adjoining.hasMore) return { _tag: "End" }
  }
  if (isLast && !hasMore) {
    return (rank === 0 && !slice.isKnown) || isSaid(before, slice) ? { _tag: "End" } : sayAgain(reader, before)
  }
  const isDoubtful = reader.sizes.doubts > sizes.doubts
  // A page of one row cannot overlap the next: whether that one is empty tells.
  if (isDoubtful && reader.sizes.proven < 3) {
    return miss(reader, {}, { ...ask, page: ask.page + 1, purpose: "Adjoin" })
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
  return !isFull && hasMore ? missing(next, found) : miss(next, found)
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

/** The upper bound, unless the list has outgrown it. */
const high = ({ hunt }: Reader, low: number) => (hunt.high !== undefined && hunt.high < low ? undefined : hunt.high)

const ahead = (reader: Reader, before: Reader, slice: Slice): Step => {
  const { ask, seen } = before
  const { offset, total } = slice
  const isNext = slice.length === 0 || (seen?.index === offset - 1 && total >= seen.total)
  const isAdjoining = ask.purpose === "Adjoin" && !slice.isEcho && isNext
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
    return miss({ ...reader, adjoining: slice }, { neighbour }, confirming(ask, reader.sizes))
  }
  const { low } = reader.hunt
  const last = Math.max(0, offset - 1)
  return miss(reader, {
    high: last,
    low: low !== undefined && low > last ? undefined : low,
    likely: undefined,
    shrunk: Math.max(0, (reader.total ?? total) - total)
  })
}

const blind = (reader: Reader, { total }: Slice): Step => {
  const { cursor, hunt, sizes, sort } = reader
  const grown = total - (reader.total ?? total)
  return miss(reader, {
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

const missing = (reader: Reader, found: Partial<Hunt>): Step => {
  const count = reader.trouble.missing + 1
  return count >= patience.missing
    ? { _tag: "Failed", reason: "MissingRows", misses: reader.hunt.misses + 1 }
    : miss({ ...reader, trouble: { ...reader.trouble, missing: count } }, found)
}

const miss = (reader: Reader, found: Partial<Hunt>, ask?: Ask): Step => {
  const misses = reader.hunt.misses + 1
  const failed = (reason: Reason): Step => ({ _tag: "Failed", reason, misses })
  if (reader.trouble.echoed >= patience.echoed) return failed("EchoedPage")
  if (reader.previous.repeated >= patience.repeated) return failed("RepeatedPage")
  if (misses >= patience.all) return failed(reader.hunt.blind > 0 ? "LostPlace" : "StillMoving")
  const next = {
    ...reader,
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
