import { assert } from "@effect/vitest"
import { Effect, Result, Schema, Stream } from "effect"
import { TransactionStream } from "effect-pix"
import { collect, idsOf, item, type MovingList, pagesBy, pagesOf, still, upTo } from "../support/movingList.ts"
import { effect } from "../support/effect.ts"

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

const sorts = ["createdAt_asc", "createdAt_desc"] as const

type Reason = TransactionStream.PaginationError["reason"]
interface Failing {
  readonly title: string
  readonly reason: Reason | ReadonlyArray<Reason>
  readonly words: string
  readonly count?: number
  readonly rows?: number
  readonly timeless?: boolean
  readonly sort?: "createdAt_desc"
  readonly make: (list: MovingList) => void
}
const failing: ReadonlyArray<Failing> = [
  ...[450, 300, 200].map((count): Failing => ({
    title: `always answers with the first of ${count} rows and with its number`,
    reason: "EchoedPage",
    words: "a page that was not requested",
    count,
    rows: 100,
    make: (list) => {
      list.answer = (honest) => ({ ...honest, items: list.rows.slice(0, 100).map(item), currentPage: 1 })
    }
  })),
  ...[450, 300, 200].map((count): Failing => ({
    title: `always answers with the first of ${count} rows, whatever number it says`,
    reason: "RepeatedPage",
    words: "the same rows for different pages",
    count,
    rows: 100,
    make: (list) => {
      list.answer = (honest) => ({ ...honest, items: list.rows.slice(0, 100).map(item) })
    }
  })),
  {
    title: "answers the first request with another page",
    reason: "EchoedPage",
    words: "a page that was not requested",
    rows: 0,
    make: (list) => {
      list.answer = (honest) => ({ ...honest, currentPage: 2 })
    }
  },
  {
    title: "repeats the last page and always counts more pages",
    reason: ["RepeatedPage", "MissingRows", "StillMoving"],
    words: "stopped at page",
    rows: 450,
    make: (list) => {
      list.answer = (honest, { page, pageSize }) => ({
        ...honest,
        items: honest.items.length > 0 ? honest.items : list.rows.slice(-pageSize).map(item),
        totalItems: 450 + page * 100,
        totalPages: page + 1
      })
    }
  },
  {
    title: "counts rows that it does not show",
    reason: "MissingRows",
    words: "(450 counted, 300 delivered)",
    rows: 300,
    make: (list) => {
      list.answer = (honest, { page, pageSize }) => ({
        ...honest,
        items: honest.items.slice(0, Math.max(0, 300 - (page - 1) * pageSize))
      })
    }
  },
  {
    title: "counts rows and shows none",
    reason: "MissingRows",
    words: "start again",
    rows: 0,
    make: (list) => {
      list.answer = (honest) => ({ ...honest, items: [] })
    }
  },
  {
    title: "sorts the other way",
    reason: "OutOfOrder",
    words: "not in the requested order",
    rows: 0,
    make: (list) => {
      list.tieOf = ({ id }) => -id
      list.rows = list.rows.map((row) => ({ ...row, time: 1000 - row.id }))
      list.answer = (honest) => ({ ...honest, items: honest.items.toReversed() })
    }
  },
  {
    title: "adds and removes hundreds of rows before each answer",
    reason: "StillMoving",
    words: "faster than the last row can be found again",
    sort: "createdAt_desc",
    make: (list) => {
      list.change = () => {
        const { length } = list.requests
        if (length < 2) return
        const added = length % 2 === 0 ? 900 : 0
        list.rows = [...still(450).rows, ...upTo(added).map((n) => ({ id: 450 + n, time: 1000 + n, tie: n }))]
      }
    }
  },
  {
    title: "replaces all rows of a list without times",
    reason: "LostPlace",
    words: "do not show whether they are before or after",
    count: 3000,
    timeless: true,
    make: (list) => {
      list.change = () => {
        if (list.requests.length === 26) list.rows = list.rows.map((row) => ({ ...row, id: row.id + 3000 }))
      }
    }
  }
]
effect.each(failing)("the stream fails after few requests with its reason if the service $title", function* (row) {
  const { count = 450, make, reason, rows: expected, sort = "createdAt_asc", timeless = false, words } = row
  const list = still(count, timeless ? () => undefined : undefined)
  make(list)
  const { error, rows } = yield* untilFailure(list, { sort })
  assert.include([reason].flat(), error.reason)
  assert.include(error.message, words)
  assert.isBelow(list.requests.length, 100)
  if (expected !== undefined) assert.deepStrictEqual(rows, upTo(expected))
})

effect(
  "the stream fails as Endless once it has brought twice the rows that were counted, and ten thousand",
  function* () {
    const list = still(200)
    const page = (n: number) =>
      upTo(100).map((at) => item({ id: (n - 1) * 100 + at, time: (n - 1) * 100 + at, tie: 0 }))
    list.sizeOf = () => 100
    list.answer = (honest, { page: n }) => ({ ...honest, items: page(n) })
    const { error, rows } = yield* untilFailure(list)
    assert.deepStrictEqual([error.reason, rows.length], ["Endless", 10_400])
    assert.include(error.message, "the list has no end")
  }
)

effect("an error of missing rows has both numbers, and a run without the count continues", function* () {
  for (const sort of sorts) {
    const list = still(1000, () => 7)
    list.tieOf = ({ id }, { page, pageSize }) => (id * 7919 * page * (pageSize + 3)) % 1009
    for (const limit of [Infinity, 400]) {
      let from: TransactionStream.Checkpoint | undefined
      let read = yield* Effect.result(pagesOf(list, { sort, limit }))
      while (Result.isSuccess(read)) {
        assert.isAbove(read.success.length, 0)
        from = read.success.at(-1)?.checkpoint ?? from
        read = yield* Effect.result(pagesOf(list, { sort, limit, from }))
      }
      assert(Result.isFailure(read) && read.failure instanceof TransactionStream.PaginationError)
      const { checkpoint, counted = 0, delivered = 0, reason } = read.failure
      assert.deepStrictEqual([reason, counted], ["MissingRows", 1000])
      assert.isBelow(delivered, counted)
      const again = yield* untilFailure(list, { from: checkpoint })
      assert.strictEqual(again.error.reason, "MissingRows")
      const { count: _, ...uncounted } = checkpoint
      yield* collect(list, { from: uncounted })
    }
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
