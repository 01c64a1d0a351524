/**
 * A list whose rows are added and removed between any two answers, by a seed, and the checks of a stream that reads it.
 */
import { assert } from "@effect/vitest"
import { Money, type Payments } from "effect-pix"
import type {
  ListOptions,
  TransactionListItem,
  TransactionPage,
  TransactionSort
} from "../../src/contract/Transaction.ts"
import * as TransactionStream from "../../src/transactions/TransactionStream.ts"
import { mockPayments } from "./payments.ts"
import { DateTime, Effect, Result, Schema, Stream } from "effect"
import { seeded } from "./seed.ts"

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

/** The list of the service: pages by number over rows that others add and remove. */
export class Gateway {
  rows: Array<Row>
  requests: Array<{ readonly page: number; readonly pageSize: number; readonly sort: TransactionSort }> = []
  nextId: number
  beforeEach: (gateway: Gateway) => void = () => {}
  sizeOf: (asked: number) => number = (asked) => asked
  answer: (honest: TransactionPage, asked: { readonly page: number; readonly pageSize: number }) => TransactionPage = (
    honest
  ) => honest

  constructor(rows: ReadonlyArray<Row>) {
    this.rows = [...rows]
    this.nextId = 1 + Math.max(0, ...rows.map((row) => row.id))
  }

  ordered(sort: TransactionSort): ReadonlyArray<Row> {
    const none = Number.MAX_SAFE_INTEGER
    const ascending = this.rows.toSorted((a, b) => (a.time ?? none) - (b.time ?? none) || a.tie - b.tie || a.id - b.id)
    return sort === "createdAt_asc" ? ascending : ascending.toReversed()
  }

  add(time: number | undefined, tie = this.nextId): void {
    this.rows.push({ id: this.nextId, time, tie })
    this.nextId += 1
  }

  readonly list = ({ page = 1, pageSize = 50, sort = "createdAt_desc" }: ListOptions = {}) =>
    Effect.sync((): TransactionPage => {
      this.beforeEach(this)
      this.requests.push({ page, pageSize, sort })
      const size = this.sizeOf(pageSize)
      const items = this.ordered(sort)
        .slice((page - 1) * size, page * size)
        .map(item)
      const totalItems = this.rows.length
      const honest = { items, totalItems, totalPages: Math.ceil(totalItems / size), currentPage: page, pageSize: size }
      return this.answer(honest, { page, pageSize })
    })
}

export const still = (count: number, timeOf: (id: number) => number | undefined = (id) => id) =>
  new Gateway(Array.from({ length: count }, (_, index) => ({ id: index + 1, time: timeOf(index + 1), tie: index })))

type ListTransactions = Payments["Service"]["listTransactions"]
export const streamBy = (listTransactions: ListTransactions, options?: TransactionStream.Options) =>
  Stream.provide(TransactionStream.stream(options), mockPayments({ listTransactions }))
export const pagesBy = (listTransactions: ListTransactions, options?: TransactionStream.Options) =>
  Stream.provide(TransactionStream.pages(options), mockPayments({ listTransactions }))

export const collect = (gateway: Gateway, options?: TransactionStream.Options) =>
  Stream.runCollect(streamBy(gateway.list, options))

export const idsOf = (rows: ReadonlyArray<{ readonly id: number }>) => rows.map((row) => row.id)
export const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** The rows that were delivered before the stream failed, and its failure. */
export const untilFailure = Effect.fnUntraced(function* (gateway: Gateway, options?: TransactionStream.Options) {
  const rows: Array<number> = []
  const result = yield* streamBy(gateway.list, options).pipe(
    Stream.runForEach((row) => Effect.sync(() => rows.push(row.id))),
    Effect.result
  )
  if (!Result.isFailure(result) || !(result.failure instanceof TransactionStream.PaginationError)) {
    return assert.fail(`did not fail with a PaginationError, after ${rows.length} rows`)
  }
  return { rows, error: result.failure }
})

/** A gateway whose rows change before each answer, by a seed. */
export const moving = (
  seed: number,
  options?: { readonly appendOnly?: boolean; readonly dateless?: boolean; readonly burst?: number }
) => {
  const { below: under, next } = seeded(seed)
  const below = (most: number) => under(most + 1)
  const timeStep = [0, 0.2, 1, 5][below(3)] ?? 1
  const dateless = options?.dateless ?? false
  let now = 1000
  const tick = () => {
    if (next() < timeStep) now += 1 + below(3)
    return dateless ? undefined : now
  }
  const pageSize = [1, 2, 3, 5, 10, 30, 99, 100][below(7)] ?? 100
  const count = below([0, 1, pageSize, pageSize * 2, pageSize * 6, 250][below(5)] ?? 9)
  const randomTies = !dateless && timeStep > 0 && next() < 0.3 && options?.appendOnly !== true
  const tie = (id: number) => (randomTies ? next() : id)
  const gateway = new Gateway(
    Array.from({ length: count }, (_, index) => ({ id: index + 1, time: tick(), tie: tie(index) }))
  )
  const sort: TransactionSort = next() < 0.5 ? "createdAt_asc" : "createdAt_desc"
  const lively = next()
  const burst = Math.min(options?.burst ?? 300, [1, 3, pageSize, pageSize * 3][below(3)] ?? 1)
  const backdates = next() < 0.3 && !dateless && options?.appendOnly !== true
  let left = 60
  gateway.beforeEach = ({ requests }) => {
    if (requests.length === 0 || left === 0 || next() > lively) return
    left -= 1
    if (next() < 0.6) {
      for (let n = below(burst); n > 0; n--) {
        const time = backdates && next() < 0.5 ? 1000 + below(Math.max(1, now - 1000)) : tick()
        gateway.add(time, tie(gateway.nextId))
      }
    }
    if (next() < 0.6) {
      const ordered = gateway.ordered(sort)
      const { page = 1, pageSize: size = 1 } = requests.at(-1) ?? {}
      // Removes rows near the last page or anywhere, adjacent or scattered.
      const near = next() < 0.5 ? page * size - below(size + 2) : below(ordered.length)
      const gone = new Set<number>()
      for (let n = below(burst), at = Math.max(0, near); n > 0; n--) {
        const row = ordered[next() < 0.7 ? at++ : below(ordered.length)]
        if (row !== undefined) gone.add(row.id)
      }
      gateway.rows = gateway.rows.filter((row) => !gone.has(row.id))
    }
  }
  // One more number, so that the seeds that tests name stay the same schedules.
  below(3)
  return { gateway, sort, pageSize }
}

export const exactlyOnce = (
  seed: number,
  gateway: Gateway,
  before: ReadonlyArray<number>,
  rows: ReadonlyArray<number>
) => {
  const distinct = new Set(rows)
  if (distinct.size !== rows.length) assert.fail(`seed ${seed}: a row was delivered twice`)
  const now = new Set(idsOf(gateway.rows))
  const lost = before.filter((id) => now.has(id) && !distinct.has(id))
  if (lost.length > 0) assert.fail(`seed ${seed}: lost ${lost.length} of ${before.length} rows`)
  if (rows.some((id) => id >= gateway.nextId)) assert.fail(`seed ${seed}: a row was delivered that never existed`)
}

export const encode = Schema.encodeSync(TransactionStream.Checkpoint)
export const decode = Schema.decodeUnknownSync(TransactionStream.Checkpoint)

export const deliversOnce = Effect.fnUntraced(function* (seed: number, schedule: ReturnType<typeof moving>) {
  const { gateway, pageSize, sort } = schedule
  const before = idsOf(gateway.rows)
  const rows = yield* Effect.result(collect(gateway, { pageSize, sort }))
  if (Result.isFailure(rows)) return assert.fail(`seed ${seed}: ${rows.failure.message}`)
  exactlyOnce(seed, gateway, before, idsOf(rows.success))
})

/**
 * Checks that each row is delivered exactly once, or that the stream fails with a `PaginationError`. After such a failure a
 * stream from its checkpoint, on a list that no longer changes, has to deliver the other rows or fail in the same way.
 * Returns whether the first stream ended.
 */
export const deliversOnceOrFails = Effect.fnUntraced(function* (seed: number, schedule: ReturnType<typeof moving>) {
  const { gateway, pageSize, sort } = schedule
  const before = idsOf(gateway.rows)
  const rows: Array<number> = []
  const result = yield* streamBy(gateway.list, { pageSize, sort }).pipe(
    Stream.runForEach((row) => Effect.sync(() => rows.push(row.id))),
    Effect.result
  )
  if (Result.isFailure(result)) {
    const { failure } = result
    if (!(failure instanceof TransactionStream.PaginationError)) return assert.fail(`seed ${seed}: ${failure.message}`)
    const honest = new Gateway(gateway.rows)
    const rest = yield* Effect.result(collect(honest, { from: decode(encode(failure.checkpoint)) }))
    if (Result.isFailure(rest)) {
      // No stream can find the place if the last rows that it read were removed and the others show no time.
      assert.strictEqual(rest.failure._tag, "PaginationError", `seed ${seed}`)
      assert.strictEqual(new Set(rows).size, rows.length, `seed ${seed}: a row was delivered twice`)
      return false
    }
    rows.push(...idsOf(rest.success))
  }
  exactlyOnce(seed, gateway, before, rows)
  return Result.isSuccess(result)
})
