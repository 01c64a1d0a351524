/**
 * The position of a reader in the list, in constant memory: the ids of the last thousand rows, and a time up to which all
 * rows count as read.
 */
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import { type TransactionListItem, TransactionSort } from "../../contract/Transaction.ts"
import { IntegerId } from "../../internal/wire.ts"

/** How many ids a place holds. */
const maxIds = 1000

/** Earlier than any time. */
export const never = Number.MIN_SAFE_INTEGER

/**
 * A place in the list: all rows before it were delivered. Its encoded form is plain JSON (at most a thousand row ids, no
 * personal data), so it can be stored, and read by another process. Do not change it; you may only remove `count`.
 */
export const Checkpoint = Schema.Struct({
  sort: TransactionSort,
  /** The furthest `createdAt` that was read: milliseconds, negative newest first, so that it grows along the list. */
  edge: Schema.Int,
  /** Rows up to this time count as read, whatever their ids. If it equals `edge`, only earlier rows do. */
  floor: Schema.Int,
  /** The ids of the rows read last, in the order of reading. */
  ids: Schema.Array(IntegerId).check(Schema.isMaxLength(maxIds)),
  /** The position of the last of these rows in the list when it was read, from 0; -1 if none was read. Only a hint. */
  index: Schema.Int.check(Schema.isGreaterThanOrEqualTo(-1)),
  /**
   * How many rows of the list are before this place: the delivered ones of all runs, and those that `since` (newest first:
   * `until`) left out. At the end it is compared with the count of the service. If it is absent, nothing is compared.
   */
  count: Schema.optional(Schema.Natural),
  /** The lowest total that the service has reported. */
  least: Schema.optional(Schema.Natural),
  /** Whether some rows share one `createdAt` and no answer has shown all of them together. */
  isTied: Schema.Boolean,
  /** Whether rows of one `createdAt` were seen in another order than before. */
  isMoved: Schema.optionalKey(Schema.Boolean)
})
/** See the schema of the same name. */
export type Checkpoint = typeof Checkpoint.Type

/** The place of a running reader: a checkpoint in memory. */
export interface Place extends Omit<Checkpoint, "ids"> {
  /** The ids of the rows read last, in the order of reading, each with the time of its row or a later one. */
  readonly known: ReadonlyMap<number, number>
}

export const toPlace = ({ ids, ...rest }: Checkpoint): Place => ({
  ...rest,
  known: new Map(ids.map((id) => [id, rest.edge]))
})

export const toCheckpoint = ({ known, ...rest }: Place): Checkpoint => ({ ...rest, ids: [...known.keys()] })

/** A row that was not read yet, and its position in the list. */
export interface Entry {
  readonly row: TransactionListItem
  readonly index: number
}

/** The time of a row, which grows along the list in both orders. NaN if the row shows none: comparisons are then false. */
export const timeOf = ({ createdAt }: TransactionListItem, sort: TransactionSort): number => {
  const millis = createdAt === undefined ? Number.NaN : DateTime.toEpochMillis(createdAt)
  return sort === "createdAt_asc" ? millis : -millis
}

const isRead = ({ edge, floor, known, sort }: Place, row: TransactionListItem): boolean => {
  const time = timeOf(row, sort)
  return known.has(row.id) || time < floor || (time === floor && floor !== edge)
}

/** Whether a row's time is before `edge`: all rows before it were read, whatever the order of rows of the same time. */
export const isEarlier = ({ edge, sort }: Place, row: TransactionListItem): boolean => timeOf(row, sort) < edge

/** Whether all rows before this row were read, provided that the order of rows of the same time does not change. */
export const isBehind = (place: Place, row: TransactionListItem): boolean => isRead(place, row) || isEarlier(place, row)

/** How many of the rows that were read last have the time of the last one, or show no time. */
export const tiesOf = ({ edge, known }: Place): number =>
  [...known.values()].filter((time) => time === edge || Number.isNaN(time)).length

/** Whether a row that was not read is before one of the same time that was, and not at the head, where rows are added. */
export const hasMovedTies = (place: Place, items: ReadonlyArray<TransactionListItem>): boolean => {
  const isSame = (row: TransactionListItem, other: TransactionListItem) =>
    Object.is(timeOf(row, place.sort), timeOf(other, place.sort))
  const first = items.findIndex((row) => isBehind(place, row))
  const lastKnown = items.findLastIndex(({ id }) => place.known.has(id))
  const between = items.slice(first + 1, lastKnown + 1)
  return between.some(
    (row, at) =>
      !isRead(place, row) && between.slice(at + 1).some((other) => place.known.has(other.id) && isSame(row, other))
  )
}

/** Whether a row may have been read although its id is no longer held: its time does not show it. */
export const isDoubtful = (place: Place, row: TransactionListItem): boolean => {
  const time = timeOf(row, place.sort)
  return place.known.size >= maxIds && !isRead(place, row) && (Number.isNaN(time) || time === place.floor)
}

/** Whether a row can be the first row of the list for this reader. Newest first, it may have been added since the start. */
export const isStart = (place: Place, row: TransactionListItem): boolean =>
  !isDoubtful(place, row) &&
  (place.sort === "createdAt_asc" ||
    place.known.size === 0 ||
    isBehind(place, row) ||
    timeOf(row, place.sort) > place.edge)

/** The rows of an answer that were not read before. `offset` is the position of its first row. */
export const unread = (
  place: Place,
  { items, offset }: { readonly items: ReadonlyArray<TransactionListItem>; readonly offset: number }
): ReadonlyArray<Entry> => {
  // Rows that were read and whose ids are no longer held are before the rows whose ids are held.
  const last = items.findLastIndex((row) => isRead(place, row))
  const isNew = (row: TransactionListItem, at: number) => !isRead(place, row) && (at > last || !isDoubtful(place, row))
  return items.flatMap((row, at) => (isNew(row, at) ? [{ row, index: offset + at }] : []))
}

/** The place before the first row. If the newest row is first, rows that are added after the start count as read. */
export const begin = (place: Place, { index, row }: Entry): Place => {
  const isNewest = place.sort === "createdAt_desc" && place.floor === never && row.createdAt !== undefined
  return {
    ...place,
    count: place.count === undefined ? undefined : index,
    floor: isNewest ? timeOf(row, place.sort) - 1 : place.floor
  }
}

/** The place after these rows. */
export const advance = (place: Place, entries: ReadonlyArray<Entry>): Place => {
  const known = new Map(place.known)
  let { edge, floor } = place
  for (const { row } of entries) {
    const time = timeOf(row, place.sort)
    known.set(row.id, time)
    if (time > edge) edge = time
  }
  for (const [id, time] of [...known].slice(0, Math.max(0, known.size - maxIds))) {
    known.delete(id)
    if (time > floor) floor = time
  }
  const count = place.count === undefined ? undefined : place.count + entries.length
  return { ...place, known, edge, floor, count, index: entries.at(-1)?.index ?? place.index }
}

/** Rows that were not delivered, or a count that would not show it. */
export interface Missing {
  readonly reason: "MissingRows" | "WrongCount"
  readonly counted: number
  readonly delivered: number
}

/**
 * What the end of the list says about the rows that were delivered. `end` is the position after the last row, `total` the
 * count of the service. `isWhole`: all rows of the last time are in the answer.
 */
export const findMissing = (
  { count, isMoved, isTied, least, sort }: Place,
  { end, total }: { readonly end: number; readonly total: number },
  isWhole: boolean
): Missing | undefined => {
  if (count === undefined) return undefined
  const isInDoubt = isTied || !isWhole
  // Newest first, rows that were added since the start are counted by the service, but not due.
  const due = sort === "createdAt_asc" ? Math.max(total, end) : (least ?? total)
  const counts = { counted: Math.max(total, due), delivered: count }
  if (end < total || (isInDoubt && count < due)) return { reason: "MissingRows", ...counts }
  const isTooLow = total < end || (least ?? total) < count
  // Where the count is too low, the position of the last row is the only one.
  const isShort = isMoved === true || (total < end && count < end)
  return isInDoubt && isTooLow && isShort ? { reason: "WrongCount", ...counts, counted: total } : undefined
}
