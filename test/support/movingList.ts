/** The list of a service: numbered pages over rows that others add and remove between any two answers. */
import { DateTime, Effect, Stream } from "effect"
import { Money, type Payments, TransactionStream } from "effect-pix"
import type {
  ListOptions,
  TransactionListItem,
  TransactionPage,
  TransactionSort
} from "../../src/contract/Transaction.ts"
import { mockPayments } from "./payments.ts"

export interface Row {
  readonly id: number
  /** Seconds since the epoch; absent for a row without a time. */
  readonly time: number | undefined
  /** The order among rows of the same time. Not shown. */
  readonly tie: number
}

export const item = ({ id, time }: Row): TransactionListItem => ({
  id,
  amount: Money.centavos(100 + id),
  status: "PENDING",
  ...(time !== undefined && { createdAt: DateTime.makeUnsafe(time * 1000) })
})

/** What a request asks for. */
interface Asked {
  readonly page: number
  readonly pageSize: number
  readonly sort: TransactionSort
}

/** A list whose rows and whose faults a test chooses. */
export class MovingList {
  rows: ReadonlyArray<Row>
  readonly requests: Array<Asked> = []
  nextId: number
  /** The rows as they were sorted last: most lists are read many times before they change. */
  #sorted:
    | { readonly rows: ReadonlyArray<Row>; readonly sort: TransactionSort; readonly ordered: ReadonlyArray<Row> }
    | undefined
  /** Runs before each answer. */
  change: (asked: Asked) => void = () => {}
  /** How many rows a page has. */
  sizeOf: (asked: number) => number = (asked) => asked
  /** The order among rows of the same time, if it is not that of their ties. */
  tieOf: ((row: Row, asked: Asked) => number) | undefined
  answer: (honest: TransactionPage, asked: Asked) => TransactionPage = (honest) => honest

  constructor(rows: ReadonlyArray<Row>) {
    this.rows = rows
    this.nextId = 1 + Math.max(0, ...rows.map((row) => row.id))
  }

  ordered(asked: Asked): ReadonlyArray<Row> {
    const last = this.#sorted
    if (this.tieOf === undefined && last?.rows === this.rows && last.sort === asked.sort) return last.ordered
    const none = Number.MAX_SAFE_INTEGER
    const ascending = this.rows
      .map((row) => ({ row, time: row.time ?? none, tie: this.tieOf?.(row, asked) ?? row.tie }))
      .toSorted((a, b) => a.time - b.time || a.tie - b.tie || a.row.id - b.row.id)
      .map(({ row }) => row)
    const ordered = asked.sort === "createdAt_asc" ? ascending : ascending.toReversed()
    this.#sorted = { rows: this.rows, sort: asked.sort, ordered }
    return ordered
  }

  add(time: number | undefined, tie = this.nextId): void {
    this.rows = [...this.rows, { id: this.nextId, time, tie }]
    this.nextId += 1
  }

  /** Removes rows that lie one after another in the order of the list. */
  remove(from: number, count: number, sort: TransactionSort): void {
    const gone = new Set(this.ordered({ page: 1, pageSize: 1, sort }).slice(from, from + count))
    this.rows = this.rows.filter((row) => !gone.has(row))
  }

  readonly list = ({ page = 1, pageSize = 50, sort = "createdAt_desc" }: ListOptions = {}) =>
    Effect.sync((): TransactionPage => {
      const asked = { page, pageSize, sort }
      this.change(asked)
      this.requests.push(asked)
      const size = this.sizeOf(pageSize)
      const items = this.ordered(asked)
        .slice((page - 1) * size, page * size)
        .map(item)
      const totalItems = this.rows.length
      const honest = { items, totalItems, totalPages: Math.ceil(totalItems / size), currentPage: page, pageSize: size }
      return this.answer(honest, asked)
    })
}

/** A list that does not change. */
export const still = (count: number, timeOf: (id: number) => number | undefined = (id) => id) =>
  new MovingList(Array.from({ length: count }, (_, index) => ({ id: index + 1, time: timeOf(index + 1), tie: index })))

type List = Payments["Service"]["listTransactions"]

export const pagesBy = (listTransactions: List, options?: TransactionStream.Options) =>
  Stream.provide(TransactionStream.pages(options), mockPayments({ listTransactions }))

export const pagesOf = ({ list }: MovingList, options?: TransactionStream.Options) =>
  Stream.runCollect(pagesBy(list, options))

/** The rows that the stream delivers. */
export const collect = ({ list }: MovingList, options?: TransactionStream.Options) =>
  Stream.runCollect(Stream.provide(TransactionStream.stream(options), mockPayments({ listTransactions: list })))

export const idsOf = (rows: ReadonlyArray<{ readonly id: number }>) => rows.map((row) => row.id)
export const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
