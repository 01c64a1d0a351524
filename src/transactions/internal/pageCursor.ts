/**
 * How far a moving list was read, and what a slice of it holds that was not read yet.
 *
 * A slice is contiguous in the list as it stood when it was answered. So when it holds one row that does not come
 * after the cursor (an anchor), every later row of it that was not read yet follows without a gap.
 */
import * as DateTime from "effect/DateTime"
import type { TransactionListItem, TransactionSort } from "../../contract/Transaction.ts"

/** How many of the last ids are remembered. */
export const windowSize = 1000

/** How many of them a checkpoint keeps where the timestamps make the older ones needless. */
const storedIds = 100

export interface Cursor {
  /** The furthest `createdAt` read: milliseconds, negated where the list runs backwards. */
  readonly furthest: number | undefined
  /** How many rows were read since the first one at `furthest`, with it. */
  readonly span: number
  /** The last ids read, at most `windowSize`. The very last is that of the row read last. */
  readonly ids: ReadonlyArray<number>
  /** How many of the last ids are known to stand in the list as they stand here. */
  readonly ordered: number
  /** Where in the list the row read last stood, from 0. It may stand elsewhere by now. */
  readonly index: number
  readonly count: number
}

export const start = (furthest?: number): Cursor => ({ furthest, span: 0, ids: [], ordered: 0, index: -1, count: 0 })

/** A row not read yet. */
export interface Unread {
  readonly row: TransactionListItem
  /** Its place in the slice. */
  readonly at: number
  /** It is known to come after all that was read: a row that arrived late is not. */
  readonly inOrder: boolean
}

export const timeOf = (row: TransactionListItem, sort: TransactionSort): number | undefined =>
  row.createdAt === undefined ? undefined : signed(DateTime.toEpochMillis(row.createdAt), sort)

/** Growing along the list, whichever way it runs. */
export const signed = (millis: number, sort: TransactionSort): number => (sort === "createdAt_asc" ? millis : -millis)

/** The cursor after these rows of a slice that starts at `offset`. */
export const advance = (cursor: Cursor, rows: ReadonlyArray<Unread>, offset: number, sort: TransactionSort): Cursor => {
  const final = rows.at(-1)
  if (final === undefined) return cursor
  let { furthest, ordered, span } = cursor
  for (const { inOrder, row } of rows) {
    ordered = inOrder ? Math.min(windowSize, ordered + 1) : 0
    const time = timeOf(row, sort)
    if (time !== undefined && (furthest === undefined || time > furthest)) {
      furthest = time
      span = 1
    } else if (furthest !== undefined) {
      span += 1
    }
  }
  return {
    furthest,
    span,
    ids: [...cursor.ids, ...rows.map(({ row }) => row.id)].slice(-windowSize),
    ordered,
    index: offset + final.at,
    count: cursor.count + rows.length
  }
}

/** The ids that a checkpoint has to keep. */
export const toStore = ({ furthest, ids, span }: Cursor): ReadonlyArray<number> =>
  furthest === undefined ? ids : ids.slice(-Math.max(span, storedIds))

/** Where a slice stands, seen from the cursor. */
export type View =
  /** It holds an anchor, and these unread rows. */
  | { readonly _tag: "Onward"; readonly rows: ReadonlyArray<Unread> }
  /** It ends before the cursor or at it; `rank` rows further, where that is known. */
  | { readonly _tag: "Behind"; readonly rank: number | undefined }
  /** It starts after the cursor: whether next to it is not known. */
  | { readonly _tag: "Ahead"; readonly rows: ReadonlyArray<Unread> }
  /** Neither its ids nor its timestamps say where it stands. */
  | { readonly _tag: "Blind"; readonly rows: ReadonlyArray<Unread> }
  | { readonly _tag: "Empty" }

type Kind = "Read" | "Old" | "Fresh" | "Unsure"

export const view = (cursor: Cursor, slice: ReadonlyArray<TransactionListItem>, sort: TransactionSort): View => {
  if (slice.length === 0) return { _tag: "Empty" }
  const ranks = new Map(cursor.ids.map((id, index) => [id, cursor.ids.length - 1 - index]))
  const { furthest } = cursor
  const kindOf = (row: TransactionListItem): Kind => {
    if (ranks.has(row.id)) return "Read"
    const time = timeOf(row, sort)
    if (furthest !== undefined && time !== undefined && time !== furthest) return time < furthest ? "Old" : "Fresh"
    if (cursor.count === 0) return "Fresh"
    return time !== undefined && time === furthest && cursor.span <= windowSize ? "Fresh" : "Unsure"
  }
  const kinds = slice.map(kindOf)
  const lastRead = kinds.lastIndexOf("Read")
  const lastRank = ranks.get(slice[lastRead]?.id ?? -1)
  // A late row among the remembered ones proves nothing about what follows it. One that stands where it was read does,
  // as long as what came after it is remembered, too. Without such proof the timestamps decide.
  const isProven = lastRank !== undefined && lastRank < Math.min(cursor.ordered, Math.ceil(cursor.ids.length / 2))
  const anchor = isProven ? lastRead : Math.max(lastRead, kinds.lastIndexOf("Old"))
  const following = slice[anchor + 1]
  if (following === undefined) return { _tag: "Behind", rank: anchor === lastRead ? lastRank : undefined }
  const kind = kinds[anchor + 1]
  const time = timeOf(following, sort)
  const inOrder =
    isProven || cursor.count === 0 || (time !== undefined && (cursor.furthest === undefined || time > cursor.furthest))
  // What stands before the anchor and was not read came late.
  const unread = new Map<number, Unread>()
  for (const [at, row] of slice.entries()) {
    if (at > anchor && !unread.has(row.id)) unread.set(row.id, { row, at, inOrder })
  }
  const rows = [...unread.values()]
  if (kind === "Fresh") return { _tag: anchor === -1 ? "Ahead" : "Onward", rows }
  return isProven ? { _tag: "Onward", rows } : { _tag: "Blind", rows }
}
