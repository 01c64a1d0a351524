/** Lists that change between any two answers of a service with one fault, by a seed. */
import type { ListOptions, TransactionPage, TransactionSort } from "../../src/contract/Transaction.ts"
import { Gateway, type Row } from "./movingList.ts"
import { seeded } from "./seed.ts"

type Random = ReturnType<typeof seeded>

/** The changes before each answer, and the fault of the service. */
export interface Schedule {
  readonly name: string
  /** How many rows are removed. */
  readonly deletes?: (random: Random) => number
  /** Whether rows near the last requested page are removed, and not any. */
  readonly isNear?: boolean
  /** How many rows are added with a new time. */
  readonly appends?: (random: Random) => number
  /** How many rows are added with an older time than existing rows. */
  readonly late?: (random: Random) => number
  /** The probability that a replica answers whose rows are some steps old. */
  readonly stale?: number
  /** How many rows share one time. Their order differs for each page and size. */
  readonly ties?: number
  /** Whether the order of rows of the same time differs for each request, and not only for each page and size. */
  readonly isShuffled?: boolean
  readonly sizeOf?: (asked: number) => number
  /** The probability that the answer is that of another request, with the other page's number. */
  readonly echoes?: number
  /** How many rows the service counts in addition to the existing ones. */
  readonly overcounts?: number
}

export const upToMost =
  (most: number) =>
  ({ below }: Random) =>
    below(most + 1)
export const oneIn =
  (times: number) =>
  ({ below }: Random) =>
    below(times) === 0 ? 1 : 0

const none = () => 0
const staleSteps = 3

/** A hash of whole numbers, for an order that does not depend on their size. */
const mix = (...values: ReadonlyArray<number>) =>
  values.reduce((hash, value) => Math.imul(hash ^ (value + 0x9e3779b9), 0x85ebca6b) ^ (hash >>> 13), 1)

/** A service with `count` rows, ten seconds apart, for one run. */
export const serve = (schedule: Schedule, count: number, sort: TransactionSort, seed: number) => {
  const { appends = none, deletes = none, echoes = 0, late = none, overcounts = 0, stale = 0, ties = 1 } = schedule
  const random = seeded(seed)
  const timeOf = (n: number) => Math.floor(n / ties) * 10
  const rowOf = (n: number): Row => ({ id: n + 1, time: timeOf(n), tie: n })
  const gateway = new Gateway(Array.from({ length: count }, (_, n) => rowOf(n)))
  let rows: ReadonlyArray<Row> = gateway.rows
  let newest = count
  let last = { page: 1, pageSize: 100 }
  const states = [rows]
  const answers: Array<TransactionPage> = []
  if (schedule.sizeOf !== undefined) gateway.sizeOf = schedule.sizeOf

  const change = () => {
    if (gateway.requests.length > 0) {
      const gone = new Set<number>()
      const at = (last.page - 1) * last.pageSize
      for (let n = deletes(random); n > 0 && rows.length > 0; n--) {
        const place = schedule.isNear === true ? at - 150 + random.below(300) : random.below(rows.length)
        const index = sort === "createdAt_asc" ? place : rows.length - 1 - place
        const row = rows[index]
        if (row !== undefined) gone.add(row.id)
      }
      const added: Array<Row> = []
      for (let n = appends(random); n > 0; n--) added.push({ ...rowOf(newest++), id: gateway.nextId++ })
      for (let n = late(random); n > 0; n--) {
        const time = timeOf(random.below(newest)) + 1 + random.below(8)
        added.push({ id: gateway.nextId++, time, tie: gateway.nextId })
      }
      if (gone.size > 0) rows = rows.filter(({ id }) => !gone.has(id))
      if (added.length > 0) rows = [...rows, ...added].toSorted((a, b) => (a.time ?? 0) - (b.time ?? 0))
    }
    states.push(rows)
    if (states.length > staleSteps) states.shift()
  }

  gateway.beforeEach = () => {
    change()
    const isStale = random.next() < stale
    gateway.rows = [...((isStale ? states[0] : undefined) ?? rows)]
  }
  gateway.answer = (honest) => {
    const earlier = answers[random.below(answers.length)]
    const answer = { ...honest, totalItems: honest.totalItems + overcounts }
    answers.push(answer)
    if (answers.length > 10) answers.shift()
    return earlier !== undefined && random.next() < echoes ? earlier : answer
  }
  // A database that sorts by time only may order rows of the same time differently for each LIMIT and OFFSET.
  const order = gateway.ordered.bind(gateway)
  gateway.ordered = (by) => {
    if (ties > 1) {
      const ordered = [last.page, last.pageSize, ...(schedule.isShuffled === true ? [gateway.requests.length] : [])]
      gateway.rows = gateway.rows.map((row) => ({ ...row, tie: mix(row.id, ...ordered) }))
    }
    return order(by)
  }
  const list = (options: ListOptions = {}) => {
    last = { page: options.page ?? 1, pageSize: options.pageSize ?? 50 }
    return gateway.list(options)
  }
  return { gateway, list, left: () => rows.map(({ id }) => id) }
}
