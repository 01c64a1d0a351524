import { assert, describe, it } from "@effect/vitest"
import { InvalidRequest, Money, type Payments, ServiceUnavailable } from "effect-pix"
import type {
  ListOptions,
  TransactionListItem,
  TransactionPage,
  TransactionSort
} from "../../src/contract/Transaction.ts"
import * as TransactionStream from "../../src/transactions/TransactionStream.ts"
import { mockPayments } from "../support/payments.ts"
import { DateTime, Effect, Option, Result, Schema, Stream } from "effect"
import { seeded } from "../support/seed.ts"

interface Row {
  readonly id: number
  /** Seconds since the epoch; none for a row that shows no time. */
  readonly time: number | undefined
  /** Decides among rows of one time. Not shown. */
  readonly tie: number
}

const item = ({ id, time }: Row): TransactionListItem => ({
  id,
  amount: Money.centavos(100 + id),
  status: "PENDING",
  ...(time !== undefined && { createdAt: DateTime.makeUnsafe(time * 1000) })
})

/** The list of the service: pages by number over rows that others add and remove. */
class Gateway {
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

const still = (count: number, timeOf: (id: number) => number | undefined = (id) => id) =>
  new Gateway(Array.from({ length: count }, (_, index) => ({ id: index + 1, time: timeOf(index + 1), tie: index })))

type ListTransactions = Payments["Service"]["listTransactions"]
const streamBy = (listTransactions: ListTransactions, options?: TransactionStream.Options) =>
  Stream.provide(TransactionStream.stream(options), mockPayments({ listTransactions }))
const pagesBy = (listTransactions: ListTransactions, options?: TransactionStream.Options) =>
  Stream.provide(TransactionStream.pages(options), mockPayments({ listTransactions }))

const collect = (gateway: Gateway, options?: TransactionStream.Options) =>
  Stream.runCollect(streamBy(gateway.list, options))

const idsOf = (rows: ReadonlyArray<{ readonly id: number }>) => rows.map((row) => row.id)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** What came out before the stream failed, and how it failed. */
const untilFailure = Effect.fnUntraced(function* (gateway: Gateway, options?: TransactionStream.Options) {
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

/** A gateway whose rows move before every answer, in a way that the seed decides. */
const moving = (
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
      // Near what was read last, or anywhere: next to each other, or scattered.
      const near = next() < 0.5 ? page * size - below(size + 2) : below(ordered.length)
      const gone = new Set<number>()
      for (let n = below(burst), at = Math.max(0, near); n > 0; n--) {
        const row = ordered[next() < 0.7 ? at++ : below(ordered.length)]
        if (row !== undefined) gone.add(row.id)
      }
      gateway.rows = gateway.rows.filter((row) => !gone.has(row.id))
    }
  }
  return { gateway, sort, pageSize, readAhead: below(3) }
}

const exactlyOnce = (seed: number, gateway: Gateway, before: ReadonlyArray<number>, rows: ReadonlyArray<number>) => {
  const distinct = new Set(rows)
  if (distinct.size !== rows.length) assert.fail(`seed ${seed}: a row came twice`)
  const now = new Set(idsOf(gateway.rows))
  const lost = before.filter((id) => now.has(id) && !distinct.has(id))
  if (lost.length > 0) assert.fail(`seed ${seed}: lost ${lost.length} of ${before.length} rows`)
  if (rows.some((id) => id >= gateway.nextId)) assert.fail(`seed ${seed}: a row that never was`)
}

const encode = Schema.encodeSync(TransactionStream.Checkpoint)
const decode = Schema.decodeUnknownSync(TransactionStream.Checkpoint)

const survives = Effect.fnUntraced(function* (seed: number, schedule: ReturnType<typeof moving>) {
  const { gateway, pageSize, readAhead, sort } = schedule
  const before = idsOf(gateway.rows)
  const rows = yield* Effect.result(collect(gateway, { pageSize, readAhead, sort }))
  if (Result.isFailure(rows)) return assert.fail(`seed ${seed}: ${rows.failure.message}`)
  exactlyOnce(seed, gateway, before, idsOf(rows.success))
})

const survivesOrSaysSo = Effect.fnUntraced(function* (seed: number, schedule: ReturnType<typeof moving>) {
  const { gateway, pageSize, readAhead, sort } = schedule
  const before = idsOf(gateway.rows)
  const rows: Array<number> = []
  const result = yield* streamBy(gateway.list, { pageSize, readAhead, sort }).pipe(
    Stream.runForEach((row) => Effect.sync(() => rows.push(row.id))),
    Effect.result
  )
  if (Result.isSuccess(result)) exactlyOnce(seed, gateway, before, rows)
  else assert.strictEqual(result.failure._tag, "PaginationError")
  assert.strictEqual(new Set(rows).size, rows.length)
  return Result.isSuccess(result)
})

describe("a list that moves", () => {
  it.effect("gives every row that stayed exactly once, whatever is added and removed between any two answers", () =>
    Effect.gen(function* () {
      for (let seed = 1; seed <= 5000; seed++) yield* survives(seed, moving(seed))
      // Backdated rows right after remembered ones that came late themselves.
      for (const seed of [10_386, 17_022, 19_625, 52_620]) yield* survives(seed, moving(seed))
    })
  )

  it.effect("does so where the service gives fewer rows than it is asked for", () =>
    Effect.gen(function* () {
      for (let seed = 1; seed <= 1000; seed++) {
        const most = 4 + (seed % 40)
        const schedule = moving(seed, { burst: Math.floor(most / 2) })
        schedule.gateway.sizeOf = (asked) => Math.min(asked, most)
        yield* survives(seed, schedule)
      }
    })
  )

  it.effect("repeats nothing where thousands of rows share one time and late ones come among them", () =>
    Effect.gen(function* () {
      // Seeds whose lists grow past what is remembered, all of one time.
      for (const seed of [9952, 11_838, 12_983, 17_524, 19_968, 22_785]) yield* survivesOrSaysSo(seed, moving(seed))
    })
  )

  it.effect("loses and repeats nothing where rows show no time, and says so when the place is lost", () =>
    Effect.gen(function* () {
      let whole = 0
      for (let seed = 1; seed <= 1000; seed++) {
        if (yield* survivesOrSaysSo(seed, moving(seed, { dateless: true, burst: 40 }))) whole += 1
      }
      assert.isAbove(whole, 900)
    })
  )

  it.effect("loses and repeats nothing where the service ignores the page size, and says so when it cannot go on", () =>
    Effect.gen(function* () {
      let whole = 0
      for (let seed = 1; seed <= 1000; seed++) {
        const schedule = moving(seed, { appendOnly: true, burst: 3 })
        schedule.gateway.sizeOf = () => 1 + (seed % 20)
        if (yield* survivesOrSaysSo(seed, schedule)) whole += 1
      }
      assert.isAbove(whole, 900)
    })
  )

  it.effect("loses and repeats nothing where the service counts no rows", () =>
    Effect.gen(function* () {
      for (let seed = 1; seed <= 1000; seed++) {
        const schedule = moving(seed)
        schedule.gateway.answer = (page) => ({ ...page, totalItems: 0, totalPages: 0, pageSize: 0 })
        yield* survivesOrSaysSo(seed, schedule)
      }
    })
  )

  it.effect("loses and repeats nothing where the service counts only the rows of the page", () =>
    Effect.gen(function* () {
      for (const isFixed of [false, true]) {
        let whole = 0
        for (let seed = 1; seed <= 1000; seed++) {
          const schedule = moving(seed, isFixed ? { appendOnly: true, burst: 3 } : {})
          const most = isFixed ? 1 + (seed % 20) : 50
          schedule.gateway.sizeOf = (asked) => (isFixed ? most : Math.min(asked, most))
          schedule.gateway.answer = (page) => ({ ...page, totalItems: page.items.length, totalPages: 1 })
          // Newest first, only an honest count tells that a row has moved to the neighbouring page and back.
          const sort = isFixed ? "createdAt_asc" : schedule.sort
          if (yield* survivesOrSaysSo(seed, { ...schedule, sort })) whole += 1
        }
        assert.isAbove(whole, isFixed ? 600 : 900)
      }
    })
  )

  it.effect("does not end where the first page is full again and the service counts only the rows of the page", () =>
    Effect.gen(function* () {
      const gateway = still(400)
      gateway.sizeOf = (asked) => Math.min(asked, 50)
      gateway.answer = (page) => ({ ...page, totalItems: page.items.length, totalPages: 1 })
      gateway.beforeEach = ({ requests, rows }) => {
        // What was read goes, but for the last rows: these fill page 1.
        if (requests.length === 4) gateway.rows = rows.filter((row) => row.id > 100)
      }
      assert.deepStrictEqual(idsOf(yield* collect(gateway)), upTo(400))
      const [page] = yield* Stream.runCollect(pagesBy(gateway.list, { limit: 50 }))
      assert.deepStrictEqual(idsOf(yield* collect(gateway, { from: page?.checkpoint })), upTo(400).slice(150))
    })
  )

  it.effect("does not take the last answer's rows, given once more as page 1, for the start of the list", () =>
    Effect.gen(function* () {
      for (const sort of ["createdAt_asc", "createdAt_desc"] as const) {
        const gateway = still(400)
        let last: TransactionPage["items"] = []
        let again = 0
        gateway.beforeEach = ({ requests }) => {
          if (requests.length === 2) gateway.rows = gateway.ordered(sort).slice(30)
        }
        gateway.answer = (honest, { page }) => {
          const isAgain = page === 1 && gateway.requests.length > 1 && again === 0
          if (isAgain) again += 1
          last = isAgain ? last : honest.items
          return { ...honest, items: last }
        }
        const rows = idsOf(yield* collect(gateway, { sort, pageSize: 20 }))
        assert.strictEqual(again, 1)
        assert.deepStrictEqual(rows, sort === "createdAt_asc" ? upTo(400) : upTo(400).toReversed())
      }
    })
  )

  it.effect("goes on from any checkpoint with exactly the rest", () =>
    Effect.gen(function* () {
      for (let seed = 1; seed <= 1000; seed++) {
        const { gateway, pageSize, sort } = moving(seed)
        const before = idsOf(gateway.rows)
        const rows: Array<number> = []
        let from: TransactionStream.Checkpoint | undefined
        for (let run = 0; run < 400; run++) {
          const limit = 1 + ((seed + run) % 90)
          const pages = yield* Stream.runCollect(pagesBy(gateway.list, { pageSize, sort, from, limit }))
          rows.push(...pages.flatMap((page) => idsOf(page.rows)))
          const last = pages.at(-1)
          if (last === undefined) break
          const stored = JSON.stringify(encode(last.checkpoint))
          assert.isBelow(stored.length, 10_000)
          from = decode(JSON.parse(stored))
        }
        exactlyOnce(seed, gateway, before, rows)
      }
    })
  )
})

describe("a list that stands still", () => {
  it.effect("comes in the order asked for, with little overlap", () =>
    Effect.gen(function* () {
      for (const [count, pageSize, most] of [
        [0, 100, 1],
        [1, 100, 1],
        [99, 100, 1],
        [100, 100, 2],
        [10_000, 100, 125],
        [1000, 10, 125],
        [60, 1, 60]
      ] as const) {
        for (const sort of ["createdAt_asc", "createdAt_desc"] as const) {
          const gateway = still(count)
          const rows = yield* collect(gateway, { pageSize, sort })
          assert.deepStrictEqual(idsOf(rows), sort === "createdAt_asc" ? upTo(count) : upTo(count).toReversed())
          assert.isAtMost(gateway.requests.length, most)
          assert.isTrue(gateway.requests.every((request) => request.sort === sort && request.pageSize <= 100))
        }
      }
    })
  )

  it.effect("is read oldest first and a hundred rows at a time unless asked otherwise", () =>
    Effect.gen(function* () {
      const gateway = still(30)
      assert.deepStrictEqual(idsOf(yield* collect(gateway)), upTo(30))
      assert.deepStrictEqual(gateway.requests, [{ page: 1, pageSize: 100, sort: "createdAt_asc" }])
    })
  )

  it.effect("is read from a service that answers with fewer rows than asked for, said or not", () =>
    Effect.gen(function* () {
      for (const isSaid of [true, false]) {
        const gateway = still(235)
        gateway.sizeOf = (asked) => Math.min(asked, 50)
        gateway.answer = (page, { pageSize }) => (isSaid ? page : { ...page, pageSize })
        assert.deepStrictEqual(idsOf(yield* collect(gateway)), upTo(235))
        assert.isBelow(gateway.requests.length, 10)
      }
    })
  )

  it.effect("is read from a service that ignores the page size, in twice the requests", () =>
    Effect.gen(function* () {
      for (const timeOf of [(id: number) => id, () => undefined, () => 7]) {
        const gateway = still(95, timeOf)
        gateway.sizeOf = () => 10
        assert.deepStrictEqual(idsOf(yield* collect(gateway)), upTo(95))
        assert.isAtMost(gateway.requests.length, 22)
      }
    })
  )

  it.effect("is read whole where the service counts no rows or too few", () =>
    Effect.gen(function* () {
      for (const counted of [0, 1, 100]) {
        for (const most of [100, 50]) {
          const gateway = still(735)
          gateway.sizeOf = (asked) => Math.min(asked, most)
          gateway.answer = (page, { pageSize }) => ({
            ...page,
            pageSize,
            totalItems: counted,
            totalPages: Math.min(counted, 1)
          })
          assert.deepStrictEqual(idsOf(yield* collect(gateway)), upTo(735))
        }
      }
    })
  )

  it.effect("is read whole when thousands of rows share one time, or show none", () =>
    Effect.gen(function* () {
      for (const timeOf of [() => 7, () => undefined, (id: number) => (id % 3 === 0 ? undefined : id)]) {
        const gateway = still(3000, timeOf)
        const rows = yield* collect(gateway)
        assert.strictEqual(new Set(idsOf(rows)).size, 3000)
      }
    })
  )
})

describe("limits", () => {
  const at = (seconds: number) => DateTime.makeUnsafe(seconds * 1000)

  it.effect("by time give the rows from since to before until, without reading the rest", () =>
    Effect.gen(function* () {
      for (const sort of ["createdAt_asc", "createdAt_desc"] as const) {
        const gateway = still(20_000, (id) => Math.ceil(id / 2))
        const rows = yield* collect(gateway, { sort, since: at(7000), until: new Date(7100 * 1000) })
        const expected = Array.from({ length: 200 }, (_, index) => 13_999 + index)
        assert.deepStrictEqual(idsOf(rows), sort === "createdAt_asc" ? expected : expected.toReversed())
        assert.isBelow(gateway.requests.length, 20)
      }
    })
  )

  it.effect("by time leave rows without a time out, and may match nothing", () =>
    Effect.gen(function* () {
      const gateway = still(50, (id) => (id % 2 === 0 ? undefined : id))
      assert.deepStrictEqual(idsOf(yield* collect(gateway, { since: at(11), until: at(15) })), [11, 13])
      assert.deepStrictEqual(yield* collect(still(50), { since: at(51) }), [])
      assert.deepStrictEqual(yield* collect(still(50), { until: at(1) }), [])
      assert.deepStrictEqual(yield* collect(still(500), { since: at(501), sort: "createdAt_desc" }), [])
    })
  )

  it.effect("by time leave what lies beyond to the next run", () =>
    Effect.gen(function* () {
      const gateway = still(250)
      const first = yield* Stream.runCollect(pagesBy(gateway.list, { until: at(120) }))
      const from = first.at(-1)?.checkpoint
      assert.deepStrictEqual(idsOf(yield* collect(gateway, { from, until: at(200) })), upTo(199).slice(119))
    })
  )

  it.effect("by count stop at that row, and zero asks for nothing", () =>
    Effect.gen(function* () {
      const gateway = still(250)
      assert.deepStrictEqual(idsOf(yield* collect(gateway, { limit: 120 })), upTo(120))
      assert.strictEqual(gateway.requests.length, 2)
      assert.deepStrictEqual(yield* collect(gateway, { limit: 0 }), [])
      assert.strictEqual(gateway.requests.length, 2)
    })
  )
})

describe("a checkpoint", () => {
  it.effect("of the end, oldest first, brings what has arrived since", () =>
    Effect.gen(function* () {
      const gateway = still(150)
      const pages = yield* Stream.runCollect(pagesBy(gateway.list))
      const from = pages.at(-1)?.checkpoint
      assert.deepStrictEqual(yield* collect(gateway, { from }), [])
      gateway.add(151)
      gateway.add(151)
      gateway.rows = gateway.rows.filter((row) => row.id > 149)
      assert.deepStrictEqual(idsOf(yield* collect(gateway, { from })), [151, 152])
    })
  )

  it.effect("keeps its order, and holds ids and a time only", () =>
    Effect.gen(function* () {
      const [page] = yield* Stream.runCollect(
        pagesBy(still(150).list, { sort: "createdAt_desc", pageSize: 2, limit: 2 })
      )
      const checkpoint = page?.checkpoint
      assert.deepStrictEqual(checkpoint && encode(checkpoint), {
        sort: "createdAt_desc",
        createdAt: "1970-01-01T00:02:29.000Z",
        span: 1,
        ids: [150, 149],
        ordered: 2,
        index: 1,
        count: 2
      })
      const gateway = still(150)
      assert.deepStrictEqual(idsOf(yield* collect(gateway, { from: checkpoint })), upTo(148).toReversed())
      const other = yield* Effect.flip(collect(gateway, { from: checkpoint, sort: "createdAt_asc" }))
      assert.instanceOf(other, InvalidRequest)
    })
  )

  it.effect("is enough to go on where rows show no time", () =>
    Effect.gen(function* () {
      const gateway = still(450, () => undefined)
      const pages = yield* Stream.runCollect(pagesBy(gateway.list, { limit: 130 }))
      const from = pages.at(-1)?.checkpoint
      gateway.rows = gateway.rows.filter((row) => row.id < 80 || row.id > 125)
      assert.deepStrictEqual(idsOf(yield* collect(gateway, { from })), upTo(450).slice(130))
    })
  )

  it.effect("is enough to go on where the service gives fewer rows than it says", () =>
    Effect.gen(function* () {
      for (const most of [7, 33, 50]) {
        for (const [pageSize, limit] of [
          [100, 130],
          [100, 399],
          [30, 130]
        ] as const) {
          const gateway = still(400)
          gateway.sizeOf = (asked) => Math.min(asked, most)
          gateway.answer = (page, asked) => ({ ...page, pageSize: asked.pageSize })
          const pages = yield* Stream.runCollect(pagesBy(gateway.list, { limit, pageSize }))
          const before = gateway.requests.length
          const rest = yield* collect(gateway, { from: pages.at(-1)?.checkpoint, pageSize })
          assert.deepStrictEqual(idsOf(rest), upTo(400).slice(limit))
          assert.isAtMost(
            gateway.requests.slice(before).filter(({ page, pageSize: size }) => page === 1 && size === 100).length,
            1
          )
        }
      }
    })
  )

  it.effect("goes on after the service failed", () =>
    Effect.gen(function* () {
      const gateway = still(450)
      const unavailable = new ServiceUnavailable({
        operation: "listTransactions",
        outcome: "NoEffect",
        attempts: 3,
        reason: "ServerError"
      })
      const list = (options?: ListOptions) =>
        gateway.requests.length === 3 ? Effect.fail(unavailable) : gateway.list(options)
      const rows: Array<number> = []
      let from: TransactionStream.Checkpoint | undefined
      const keep = (page: TransactionStream.Page) =>
        Effect.sync(() => {
          rows.push(...idsOf(page.rows))
          from = page.checkpoint
        })
      const error = yield* Effect.flip(Stream.runForEach(pagesBy(list), keep))
      assert.strictEqual(error, unavailable)
      yield* Stream.runForEach(pagesBy(gateway.list, { from }), keep)
      assert.deepStrictEqual(rows, upTo(450))
    })
  )
})

describe("a list that cannot be trusted", () => {
  const few = 100

  it.effect("fails when the service answers with one page whatever is asked, and says so or not", () =>
    Effect.gen(function* () {
      for (const isSaid of [true, false]) {
        for (const [count, isFixed] of [
          [450, true],
          [300, true],
          [200, true],
          [450, false]
        ] as const) {
          const gateway = still(count)
          gateway.answer = (honest, { page, pageSize }) => ({
            ...honest,
            items: gateway.rows.slice(0, isFixed ? 100 : pageSize).map(item),
            currentPage: isSaid ? 1 : page
          })
          const { error, rows } = yield* untilFailure(gateway)
          assert.include(["EchoedPage", "RepeatedPage"], error.reason)
          assert.deepStrictEqual(rows, upTo(100))
          assert.isBelow(gateway.requests.length, few)
        }
      }
    })
  )

  it.effect("fails when the first page asked for is not the page that comes", () =>
    Effect.gen(function* () {
      const gateway = still(450)
      gateway.answer = (honest) => ({ ...honest, currentPage: 2 })
      const { error, rows } = yield* untilFailure(gateway)
      assert.strictEqual(error.reason, "EchoedPage")
      assert.deepStrictEqual(rows, [])
    })
  )

  it.effect("fails when every page brings rows for ever", () =>
    Effect.gen(function* () {
      const gateway = still(200)
      gateway.beforeEach = () => {
        for (let n = 0; n < 100; n++) gateway.add(gateway.nextId)
      }
      const { error, rows } = yield* untilFailure(gateway)
      assert.strictEqual(error.reason, "Endless")
      assert.isBelow(rows.length, 20_000)
      assert.strictEqual(new Set(rows).size, rows.length)
    })
  )

  it.effect("fails when the last page comes for ever, with ever more pages to come", () =>
    Effect.gen(function* () {
      const gateway = still(250)
      gateway.answer = (honest, { page, pageSize }) => ({
        ...honest,
        items: honest.items.length > 0 ? honest.items : gateway.rows.slice(-pageSize).map(item),
        totalItems: 250 + page * 100,
        totalPages: page + 1
      })
      const { rows } = yield* untilFailure(gateway)
      assert.deepStrictEqual(rows, upTo(250))
      assert.isBelow(gateway.requests.length, few)
    })
  )

  it.effect("fails when the service counts rows that it does not show", () =>
    Effect.gen(function* () {
      for (const sizeOf of [(asked: number) => asked, () => 100]) {
        const deep = still(450)
        deep.sizeOf = sizeOf
        deep.answer = (honest, { page, pageSize }) => ({
          ...honest,
          items: honest.items.slice(0, Math.max(0, 300 - (page - 1) * sizeOf(pageSize)))
        })
        const { error, rows } = yield* untilFailure(deep)
        assert.include(["MissingRows", "StillMoving"], error.reason)
        assert.deepStrictEqual(rows, upTo(300))
      }
      const none = still(5)
      none.answer = (honest) => ({ ...honest, items: [] })
      assert.strictEqual((yield* untilFailure(none)).error.reason, "MissingRows")
    })
  )

  it.effect("fails when the rows come in the other order", () =>
    Effect.gen(function* () {
      const gateway = still(450)
      const list = (options?: ListOptions) => gateway.list({ ...options, sort: "createdAt_desc" })
      const error = yield* Effect.flip(Stream.runDrain(streamBy(list)))
      assert.strictEqual(error._tag === "PaginationError" && error.reason, "OutOfOrder")
    })
  )

  it.effect("fails when rows move faster than they can be followed, and no request is made for ever", () =>
    Effect.gen(function* () {
      const gateway = still(450)
      gateway.beforeEach = ({ requests }) => {
        if (requests.length < 2) return
        const grown = requests.length % 2 === 0 ? 900 : 0
        gateway.rows = still(450).rows
        for (let n = 0; n < grown; n++) gateway.add(1000 + n)
      }
      const { error } = yield* untilFailure(gateway, { sort: "createdAt_desc" })
      assert.strictEqual(error.reason, "StillMoving")
      assert.isBelow(gateway.requests.length, few)
    })
  )

  it.effect("fails when the place is lost among rows that show no time", () =>
    Effect.gen(function* () {
      const gateway = still(450, () => undefined)
      gateway.beforeEach = ({ nextId, requests }) => {
        if (requests.length !== 2) return
        gateway.rows = Array.from({ length: 450 }, (_, index) => ({ id: nextId + index, time: undefined, tie: index }))
      }
      const { error } = yield* untilFailure(gateway)
      assert.strictEqual(error.reason, "LostPlace")
      assert.isBelow(gateway.requests.length, few)
    })
  )

  it.effect("fails with the checkpoint that all delivered rows reach to, and an error that can be stored", () =>
    Effect.gen(function* () {
      const gateway = still(450)
      gateway.answer = (honest, { page, pageSize }) => ((page - 1) * pageSize > 250 ? { ...honest, items: [] } : honest)
      const { error, rows } = yield* untilFailure(gateway)
      assert.strictEqual(error.operation, "listTransactions")
      assert.strictEqual(error.outcome, "NoEffect")
      assert.include(error.message, "checkpoint")
      const codec = Schema.toCodecJson(TransactionStream.PaginationError)
      const stored = JSON.stringify(yield* Schema.encodeEffect(codec)(error))
      const { checkpoint } = yield* Schema.decodeUnknownEffect(codec)(JSON.parse(stored))
      gateway.answer = (honest) => honest
      const rest = yield* collect(gateway, { from: checkpoint })
      assert.deepStrictEqual([...rows, ...idsOf(rest)], upTo(450))
    })
  )
})

describe("options", () => {
  it.effect("that break the contract are refused before anything is sent", () =>
    Effect.gen(function* () {
      const from = { sort: "createdAt_asc", span: 0, ids: [], ordered: 0, index: -2, count: 0 } as const
      for (const [path, options] of [
        ["pageSize", { pageSize: 0 }],
        ["pageSize", { pageSize: 101 }],
        ["pageSize", { pageSize: 2.5 }],
        ["limit", { limit: -1 }],
        ["limit", { limit: Number.NaN }],
        ["readAhead", { readAhead: -1 }],
        ["readAhead", { readAhead: 0.5 }],
        ["since", { since: new Date("x") }],
        ["until", { until: new Date("x") }],
        ["from", { from }]
      ] as const) {
        const gateway = still(5)
        const error = yield* Effect.flip(collect(gateway, options))
        assert.instanceOf(error, InvalidRequest)
        assert.deepStrictEqual(
          error.issues.map((issue) => issue.path),
          [path]
        )
        assert.strictEqual(gateway.requests.length, 0)
      }
    })
  )

  it.effect("bound how far is read ahead, and nothing is read before it is asked for", () =>
    Effect.gen(function* () {
      const made: Array<number> = []
      for (const readAhead of [0, 1, 4]) {
        const gateway = still(3000)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const pull = yield* Stream.toPull(pagesBy(gateway.list, { readAhead }))
            assert.strictEqual(gateway.requests.length, 0)
            yield* pull
            for (let turn = 0; turn < 200; turn++) yield* Effect.yieldNow
            made.push(gateway.requests.length)
          })
        )
        for (let turn = 0; turn < 200; turn++) yield* Effect.yieldNow
        assert.strictEqual(gateway.requests.length, made.at(-1))
      }
      assert.deepStrictEqual(made, [1, 3, 6])
    })
  )

  it.effect("make no request more than the consumer takes", () =>
    Effect.gen(function* () {
      const gateway = still(3000)
      const first = yield* Stream.runHead(streamBy(gateway.list))
      assert.strictEqual(Option.getOrThrow(first).id, 1)
      assert.strictEqual(gateway.requests.length, 1)
    })
  )
})
