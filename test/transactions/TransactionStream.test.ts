import { assert, describe } from "@effect/vitest"
import { DateTime, Effect, Schema, Stream } from "effect"
import { ServiceUnavailable, TransactionStream } from "effect-pix"
import type { TransactionSort } from "../../src/contract/Transaction.ts"
import { collect, idsOf, pagesBy, pagesOf, still, upTo } from "../support/movingList.ts"
import { effect } from "../support/effect.ts"

const sorts = ["createdAt_asc", "createdAt_desc"] as const

const at = (seconds: number) => DateTime.makeUnsafe(seconds * 1000)

/** Ids from the first to the last, in the order of the list. */
const inOrder = (sort: TransactionSort, last: number, first = 1) => {
  const ids = upTo(last).slice(first - 1)
  return sort === "createdAt_asc" ? ids : ids.toReversed()
}

describe.each(sorts)("TransactionStream in the order %s", (sort) => {
  effect.each([
    { count: 0, pageSize: 100, most: 1 },
    { count: 1, pageSize: 100, most: 3 },
    { count: 100, pageSize: 100, most: 2 },
    { count: 3000, pageSize: 100, most: 36 },
    { count: 1000, pageSize: 10, most: 90 },
    { count: 60, pageSize: 1, most: 40 }
  ])("the stream reads $count rows, $pageSize a page, with at most $most requests", function* (row) {
    const { count, most, pageSize } = row
    const list = still(count)
    assert.deepStrictEqual(idsOf(yield* collect(list, { pageSize, sort })), inOrder(sort, count))
    assert.isAtMost(list.requests.length, most)
    assert.strictEqual(list.requests[0]?.page, 1)
    assert.isTrue(list.requests.every((request) => request.sort === sort && request.pageSize <= 100))
  })

  effect("the stream reads thousands of rows of one time, or without a time, with few requests", function* () {
    for (const timeOf of [() => 7, () => undefined, (id: number) => (id % 3 === 0 ? undefined : id)]) {
      const list = still(3000, timeOf)
      assert.strictEqual(new Set(idsOf(yield* collect(list, { sort }))).size, 3000)
      assert.isAtMost(list.requests.length, 130)
    }
  })

  effect("the stream asks a service that ignores the page size for no other size than its own", function* () {
    const list = still(450)
    list.sizeOf = () => 100
    assert.lengthOf(yield* collect(list, { pageSize: 20, sort }), 450)
    assert.deepStrictEqual(
      list.requests.map(({ pageSize }) => pageSize),
      [20, ...Array.from({ length: 9 }, () => 100)]
    )
  })

  effect("the stream returns in growing steps to its place, if most of the rows before it were removed", function* () {
    const list = still(4000)
    let removedAt: number | undefined
    list.change = ({ page }) => {
      if (removedAt !== undefined || page < 36) return
      removedAt = list.requests.length
      list.remove(0, 3000, sort)
    }
    assert.lengthOf(yield* collect(list, { sort }), 4000)
    const after = list.requests.slice(removedAt).map(({ page }) => page)
    // It returns by 1, 2, 4, 8 and so on pages, and one page at a time it would take 30 requests.
    const back = after.findIndex((page) => page < 6)
    assert.isTrue(back > 0 && back < 10, after.join(" "))
  })

  effect("since and until deliver the rows of that time, without reading the others", function* () {
    const list = still(20_000, (id) => Math.ceil(id / 2))
    const rows = idsOf(yield* collect(list, { sort, since: at(7000), until: new Date(7100 * 1000) }))
    assert.deepStrictEqual(rows, inOrder(sort, 14_198, 13_999))
    assert.isBelow(list.requests.length, 20)
    for (const options of [{ since: at(10_001) }, { until: at(1) }])
      assert.deepStrictEqual(yield* collect(list, { ...options, sort }), [])
  })
})

describe("TransactionStream", () => {
  effect("the stream reads oldest first, a hundred rows at a time, and no page that nobody needs", function* () {
    const list = still(3000)
    const [page] = yield* Stream.runCollect(Stream.take(pagesBy(list.list), 1))
    assert.strictEqual(page?.rows[0].id, 1)
    assert.deepStrictEqual(list.requests, [{ page: 1, pageSize: 100, sort: "createdAt_asc" }])
  })

  effect("the stream fails with the error of the page that cannot be read", function* () {
    const list = still(450)
    const refusal = { operation: "listTransactions", outcome: "NoEffect", attempts: 3, reason: "ServerError" } as const
    const unavailable = new ServiceUnavailable(refusal)
    const pages = pagesBy((asked) => (list.requests.length === 3 ? Effect.fail(unavailable) : list.list(asked)))
    assert.strictEqual(yield* Effect.flip(Stream.runDrain(pages)), unavailable)
  })

  effect("since and until leave out rows without a time, and until leaves later rows to the next run", function* () {
    const list = still(250, (id) => (id % 2 === 0 ? undefined : id))
    assert.deepStrictEqual(idsOf(yield* collect(list, { since: at(11), until: at(15) })), [11, 13])
    const timed = still(250)
    const from = (yield* pagesOf(timed, { until: at(120) })).at(-1)?.checkpoint
    assert.deepStrictEqual(idsOf(yield* collect(timed, { from, until: at(200) })), upTo(199).slice(119))
  })

  effect("the limit ends the stream at that row, and with zero no page is requested", function* () {
    const list = still(250)
    assert.deepStrictEqual(yield* collect(list, { limit: 0 }), [])
    assert.lengthOf(list.requests, 0)
    assert.deepStrictEqual(idsOf(yield* collect(list, { limit: 120 })), upTo(120))
    assert.isAtMost(list.requests.length, 3)
  })

  effect("a checkpoint of the end, oldest first, continues with the rows that were added since", function* () {
    const list = still(150)
    const from = (yield* pagesOf(list)).at(-1)?.checkpoint
    assert.deepStrictEqual(yield* collect(list, { from }), [])
    list.add(151)
    list.add(151)
    list.remove(0, 149, "createdAt_asc")
    assert.deepStrictEqual(idsOf(yield* collect(list, { from })), [151, 152])
  })

  effect("a checkpoint holds ids and a time only, at most a thousand ids, and its run has its order", function* () {
    const [page] = yield* pagesOf(still(150), { sort: "createdAt_desc", pageSize: 2, limit: 2 })
    assert(page !== undefined)
    assert.deepStrictEqual(yield* Schema.encodeEffect(TransactionStream.Checkpoint)(page.checkpoint), {
      sort: "createdAt_desc",
      edge: -149_000,
      floor: -150_001,
      ids: [150, 149],
      index: 1,
      count: 2,
      least: 150,
      isTied: false
    })
    assert.deepStrictEqual(idsOf(yield* collect(still(150), { from: page.checkpoint })), upTo(148).toReversed())
    const last = (yield* pagesOf(still(1500))).at(-1)
    assert.deepStrictEqual(last?.checkpoint.ids, upTo(1500).slice(500))
  })

  effect("a checkpoint among rows without a time continues, though rows before it were removed, or all", function* () {
    for (const isLeft of [(id: number) => id < 80 || id > 125, (id: number) => id > 130]) {
      const list = still(450, () => undefined)
      const from = (yield* pagesOf(list, { limit: 130 })).at(-1)?.checkpoint
      list.rows = list.rows.filter(({ id }) => isLeft(id))
      assert.deepStrictEqual(idsOf(yield* collect(list, { from })), upTo(450).slice(130))
    }
  })
})
