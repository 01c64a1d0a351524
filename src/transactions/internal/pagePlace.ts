/**
 * How far a list was read, in constant memory: the ids of the last thousand rows, and a time up to which all rows count
 * as read.
 */
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import { type TransactionListItem, TransactionSort } from "../../contract/Transaction.ts"
import { IntegerId } from "../../internal/wire.ts"

/** How many ids are remembered. */
const remembered = 1000

/** Before any time. */
export const never = Number.MIN_SAFE_INTEGER

/**
 * A place in the list: all up to it was delivered. Its encoded form is plain JSON (at most a thousand row ids, no
 * personal data), so it can be stored and read back by another process. Only `count` is for you to remove: see there.
 */
export const Checkpoint = Schema.Struct({
  sort: TransactionSort,
  /** The furthest `createdAt` that was read: milliseconds, negative newest first, so that it grows along the list. */
  edge: Schema.Int,
  /** Rows of this time and before it count as read, whatever their ids, but for those of `edge`. */
  floor: Schema.Int,
  /** The ids of the rows read last, in the order of reading. */
  ids: Schema.Array(IntegerId).check(Schema.isMaxLength(remembered)),
  /** The position of the last of them in the list, from 0, when it was read; -1 when none was read. A hint only. */
  index: Schema.Int.check(Schema.isGreaterThanOrEqualTo(-1)),
  /**
   * How many rows of the list lie up to here: those delivered, over all runs, and those that `since` (newest first:
   * `until`) left out. At the end it is compared with what the service counts. Without it nothing is compared.
   */
  count: Schema.optional(Schema.Natural),
  /** The fewest rows that the service has counted. */
  least: Schema.optional(Schema.Natural),
  /** Somewhere rows share one `createdAt`, and no answer has shown all of them together. */
  isTied: Schema.Boolean
})
/** See the schema of the same name. */
export type Checkpoint = typeof Checkpoint.Type

/** A checkpoint while it is read on from. */
export interface Place extends Omit<Checkpoint, "ids"> {
  /** The ids in the order of reading, each with its row's time or a later one. */
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

/** Grows along the list, in both orders. NaN for a row that shows no time: it is neither before nor after another. */
export const timeOf = ({ createdAt }: TransactionListItem, sort: TransactionSort): number => {
  const millis = createdAt === undefined ? Number.NaN : DateTime.toEpochMillis(createdAt)
  return sort === "createdAt_asc" ? millis : -millis
}

const isRead = ({ edge, floor, known, sort }: Place, row: TransactionListItem): boolean => {
  const time = timeOf(row, sort)
  return known.has(row.id) || time < floor || (time === floor && floor !== edge)
}

/** A row before which all were read, and which is before those of `edge` in whatever order rows of one time are. */
export const isEarlier = ({ edge, sort }: Place, row: TransactionListItem): boolean => timeOf(row, sort) < edge

/** A row before which all were read, if the service keeps the order of rows of one time. */
export const isBehind = (place: Place, row: TransactionListItem): boolean => isRead(place, row) || isEarlier(place, row)

/** A row that may have been read and forgotten: neither its id nor its time shows it. */
export const isDoubtful = (place: Place, row: TransactionListItem): boolean => {
  const time = timeOf(row, place.sort)
  return place.known.size >= remembered && !isRead(place, row) && (Number.isNaN(time) || time === place.floor)
}

/** A row that may be the first of the list after those that were read: newest first, it may also have arrived since. */
export const isStart = (place: Place, row: TransactionListItem): boolean =>
  !isDoubtful(place, row) &&
  (place.sort === "createdAt_asc" ||
    place.known.size === 0 ||
    isBehind(place, row) ||
    timeOf(row, place.sort) > place.edge)

/** The rows of an answer that were not read. `offset` is the position of its first row. */
export const unread = (
  place: Place,
  { items, offset }: { readonly items: ReadonlyArray<TransactionListItem>; readonly offset: number }
): ReadonlyArray<Entry> => {
  // Rows that were read and forgotten come before those that are remembered.
  const last = items.findLastIndex((row) => isRead(place, row))
  const isNew = (row: TransactionListItem, at: number) => !isRead(place, row) && (at > last || !isDoubtful(place, row))
  return items.flatMap((row, at) => (isNew(row, at) ? [{ row, index: offset + at }] : []))
}

/** The place before the first row. Newest first, rows that arrive after the start are not read. */
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
  for (const [id, time] of [...known].slice(0, Math.max(0, known.size - remembered))) {
    known.delete(id)
    if (time > floor) floor = time
  }
  const count = place.count === undefined ? undefined : place.count + entries.length
  return { ...place, known, edge, floor, count, index: entries.at(-1)?.index ?? place.index }
}
