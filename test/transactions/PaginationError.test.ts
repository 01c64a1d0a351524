import { assert } from "@effect/vitest"
import { Effect, Result, Schema, Stream } from "effect"
import { TransactionStream } from "effect-pix"
import { collect, idsOf, item, type MovingList, pagesBy, pagesOf, still, upTo } from "../support/movingList.ts"
import { effect } from "../support/effect.ts"
import { drawn } from "../support/seed.ts"

/** The rows that were delivered before the stream failed, and its failure. */
const untilFailure = Effect.fnUntraced(function* (list: MovingList, options?: TransactionStream.Options) {
  const rows: Array<number> = []
  const result = yield* pagesBy(list.list, options).pipe(
    Stream.runForEach((page) => Effect.sync(() => rows.push(...idsOf(page.rows)))),
    Effect.result
  )
  assert(Result.isFailure(result), `did not fail, after ${rows.length} rows`)
  assert.instanceOf(result.failure, TransactionStream.PaginationError)
  return { rows, error: result.failure }
})

const showing300: MovingList["answer"] = (honest, { page, pageSize }) => ({
  ...honest,
  items: honest.items.slice(0, Math.max(0, 300 - (page - 1) * pageSize))
})

const firstRows = (list: MovingList) => list.rows.slice(0, 100).map(item)

/** How a service answers, how the stream fails then, and which rows it delivered before, if that is known. */
interface Failing {
  readonly title: string
  readonly reason: TransactionStream.PaginationError["reason"]
  readonly rows?: number
  readonly list?: MovingList
  readonly sort?: "createdAt_desc"
  readonly make: (list: MovingList) => void
}
const failing: ReadonlyArray<Failing> = [
  {
    title: "always answers with its first rows and their number",
    reason: "EchoedPage",
    rows: 100,
    make: (list) => (list.answer = (honest) => ({ ...honest, items: firstRows(list), currentPage: 1 }))
  },
  {
    title: "always answers with its first rows, whatever number it says",
    reason: "RepeatedPage",
    rows: 100,
    make: (list) => (list.answer = (honest) => ({ ...honest, items: firstRows(list) }))
  },
  {
    title: "always answers with its first rows, which are one of two pages",
    reason: "RepeatedPage",
    rows: 100,
    list: still(200),
    make: (list) => (list.answer = (honest) => ({ ...honest, items: firstRows(list) }))
  },
  {
    title: "answers the first request with another page",
    reason: "EchoedPage",
    rows: 0,
    make: (list) => (list.answer = (honest) => ({ ...honest, currentPage: 2 }))
  },
  {
    title: "repeats the last page and always counts more pages",
    reason: "MissingRows",
    rows: 450,
    make: (list) =>
      (list.answer = (honest, { page, pageSize }) => ({
        ...honest,
        items: honest.items.length > 0 ? honest.items : list.rows.slice(-pageSize).map(item),
        totalItems: 450 + page * 100,
        totalPages: page + 1
      }))
  },
  {
    title: "counts rows that it does not show",
    reason: "MissingRows",
    rows: 300,
    make: (list) => (list.answer = showing300)
  },
  {
    title: "counts fewer rows than it shows, and changes the order of rows of one time",
    reason: "WrongCount",
    sort: "createdAt_desc",
    list: still(300, () => 7),
    make: (list) => {
      list.tieOf = ({ id }, { page, pageSize }) => (id * 7919 * page * (pageSize + 3)) % 1009
      list.answer = (honest) => ({ ...honest, totalItems: 0 })
    }
  },
  {
    title: "counts rows and shows none",
    reason: "MissingRows",
    rows: 0,
    make: (list) => (list.answer = (honest) => ({ ...honest, items: [] }))
  },
  {
    title: "sorts the other way",
    reason: "OutOfOrder",
    rows: 0,
    make: (list) => (list.answer = (honest) => ({ ...honest, items: honest.items.toReversed() }))
  },
  {
    title: "always has another page",
    reason: "Endless",
    rows: 10_900,
    make: (list) =>
      (list.answer = (honest, { page }) => ({
        ...honest,
        items: upTo(100).map((at) => item({ id: page * 100 - 100 + at, time: page * 100 + at, tie: 0 }))
      }))
  },
  {
    title: "adds and removes hundreds of rows before each answer",
    reason: "StillMoving",
    sort: "createdAt_desc",
    make: (list) =>
      (list.change = () => {
        const { length } = list.requests
        if (length < 2) return
        const added = length % 2 === 0 ? 900 : 0
        list.rows = [...still(450).rows, ...upTo(added).map((n) => ({ id: 450 + n, time: 1000 + n, tie: n }))]
      })
  },
  {
    title: "replaces all rows of a list without times",
    reason: "LostPlace",
    list: still(3000, () => undefined),
    make: (list) =>
      (list.change = () => {
        if (list.requests.length === 26) list.rows = list.rows.map((row) => ({ ...row, id: row.id + 3000 }))
      })
  }
]
effect.each(failing)("the stream fails after few requests with its reason if the service $title", function* (row) {
  const { list = still(450), make, reason, rows: expected, sort = "createdAt_asc" } = row
  make(list)
  const { error, rows } = yield* untilFailure(list, { sort })
  assert.strictEqual(error.reason, reason)
  assert.isAtMost(list.requests.length, reason === "Endless" ? 250 : 100)
  if (expected !== undefined) assert.deepStrictEqual(rows, upTo(expected))
})

effect("an error of missing rows has both numbers, and a run without the count continues", function* () {
  const list = still(1000, () => 7)
  list.tieOf = ({ id }, { page, pageSize }) => (id * 7919 * page * (pageSize + 3)) % 1009
  for (const limit of [Infinity, 400]) {
    let from: TransactionStream.Checkpoint | undefined
    let read = yield* Effect.result(pagesOf(list, { limit }))
    while (Result.isSuccess(read)) {
      assert.isAbove(read.success.length, 0)
      from = read.success.at(-1)?.checkpoint ?? from
      read = yield* Effect.result(pagesOf(list, { limit, from }))
    }
    assert(Result.isFailure(read) && read.failure instanceof TransactionStream.PaginationError)
    const { checkpoint, counted = 0, delivered = 0, message, reason } = read.failure
    assert.deepStrictEqual([reason, counted], ["MissingRows", 1000])
    assert.isBelow(delivered, counted)
    assert.include(message, `(1000 counted, ${delivered} delivered)`)
    assert.strictEqual((yield* untilFailure(list, { from: checkpoint })).error.reason, "MissingRows")
    const { count: _, ...uncounted } = checkpoint
    yield* collect(list, { from: uncounted })
  }
})

effect("a failure can be stored as JSON, and its checkpoint continues after the delivered rows", function* () {
  const list = still(450)
  list.answer = (honest, { page, pageSize }) => ((page - 1) * pageSize > 250 ? { ...honest, items: [] } : honest)
  const { error, rows } = yield* untilFailure(list)
  assert.deepStrictEqual([error.operation, error.outcome], ["listTransactions", "NoEffect"])
  assert.isAbove(error.attempts, 0)
  const codec = Schema.fromJsonString(Schema.toCodecJson(TransactionStream.PaginationError))
  const { checkpoint, message } = yield* Schema.decodeEffect(codec)(yield* Schema.encodeEffect(codec)(error))
  assert.strictEqual(message, error.message)
  list.answer = (honest) => honest
  assert.deepStrictEqual([...rows, ...idsOf(yield* collect(list, { from: checkpoint }))], upTo(450))
})

effect("a list that counts no rows and shows an instant of 60 in any order loses no row in silence", function* () {
  let ended = 0
  for (const seed of drawn(upTo(200))) {
    const list = still(164, (id) => Math.floor((id - 1) / 60))
    // Another order for each answer.
    list.tieOf = ({ id }) => (Math.sin(id * 12.9898 + list.requests.length * 78.233 + seed) * 43_758.5453) % 1
    list.answer = (honest) => ({ ...honest, totalItems: 0, totalPages: 0 })
    const result = yield* Effect.result(collect(list, { pageSize: 100, sort: "createdAt_desc" }))
    if (Result.isFailure(result)) assert.strictEqual(result.failure._tag, "PaginationError")
    else {
      assert.strictEqual(new Set(idsOf(result.success)).size, 164, `seed ${seed}`)
      ended++
    }
  }
  assert.isBelow(ended, 200)
})
