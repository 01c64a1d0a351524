import { assert, describe } from "@effect/vitest"
import { InvalidRequest, ServiceUnavailable } from "effect-pix"
import type { ListOptions } from "../../src/contract/Transaction.ts"
import type * as TransactionStream from "../../src/transactions/TransactionStream.ts"
import { DateTime, Effect, Option, Stream } from "effect"
import { still, streamBy, pagesBy, collect, idsOf, upTo, encode } from "../support/movingList.ts"
import { effect } from "../support/effect.ts"

describe("TransactionStream on a list that does not change", () => {
  effect(
    "a list that does not change is delivered in the requested order, with at most two requests a page and a few for its end",
    function* () {
      for (const [count, pageSize, most] of [
        [0, 100, 1],
        [1, 100, 3],
        [99, 100, 3],
        [100, 100, 3],
        [10_000, 100, 225],
        [1000, 10, 225],
        [60, 1, 125]
      ] as const) {
        for (const sort of ["createdAt_asc", "createdAt_desc"] as const) {
          const gateway = still(count)
          const rows = yield* collect(gateway, { pageSize, sort })
          assert.deepStrictEqual(idsOf(rows), sort === "createdAt_asc" ? upTo(count) : upTo(count).toReversed())
          assert.isAtMost(gateway.requests.length, most)
          assert.isTrue(gateway.requests.every((request) => request.sort === sort && request.pageSize <= 100))
        }
      }
    }
  )

  effect("a list that does not change is by default read oldest first and a hundred rows at a time", function* () {
    const gateway = still(30)
    assert.deepStrictEqual(idsOf(yield* collect(gateway)), upTo(30))
    assert.deepStrictEqual(gateway.requests[0], { page: 1, pageSize: 100, sort: "createdAt_asc" })
  })

  effect(
    "a list that does not change is read whole from a service that returns fewer rows than requested, whether it reports its page size or not",
    function* () {
      for (const isSaid of [true, false]) {
        const gateway = still(235)
        gateway.sizeOf = (asked) => Math.min(asked, 50)
        gateway.answer = (page, { pageSize }) => (isSaid ? page : { ...page, pageSize })
        assert.deepStrictEqual(idsOf(yield* collect(gateway)), upTo(235))
        assert.isAtMost(gateway.requests.length, 12)
      }
    }
  )

  effect(
    "a list that does not change is read whole from a service that ignores the page size, with at most five requests a page",
    function* () {
      for (const timeOf of [(id: number) => id, () => undefined, () => 7]) {
        const gateway = still(95, timeOf)
        gateway.sizeOf = () => 10
        assert.deepStrictEqual(idsOf(yield* collect(gateway)), upTo(95))
        assert.isAtMost(gateway.requests.length, 50)
      }
    }
  )

  effect(
    "a service that ignores the page size is asked for no other size once it has answered with its own",
    function* () {
      for (const sort of ["createdAt_asc", "createdAt_desc"] as const) {
        const gateway = still(450)
        gateway.sizeOf = () => 100
        assert.lengthOf(yield* collect(gateway, { pageSize: 20, sort }), 450)
        const sizes = gateway.requests.map(({ pageSize }) => pageSize)
        assert.deepStrictEqual(sizes, [20, ...Array.from({ length: 9 }, () => 100)])
      }
    }
  )

  effect("a list that does not change is read whole from a service that counts no rows or too few", function* () {
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

  effect("a list that does not change is read whole when thousands of rows share one time, or show none", function* () {
    for (const timeOf of [() => 7, () => undefined, (id: number) => (id % 3 === 0 ? undefined : id)]) {
      const gateway = still(3000, timeOf)
      const rows = yield* collect(gateway)
      assert.strictEqual(new Set(idsOf(rows)).size, 3000)
    }
  })
})

describe("the limits of TransactionStream", () => {
  const at = (seconds: number) => DateTime.makeUnsafe(seconds * 1000)

  effect(
    "the limits by time deliver the rows from `since` to before `until`, without reading the others",
    function* () {
      for (const sort of ["createdAt_asc", "createdAt_desc"] as const) {
        const gateway = still(20_000, (id) => Math.ceil(id / 2))
        const rows = yield* collect(gateway, { sort, since: at(7000), until: new Date(7100 * 1000) })
        const expected = Array.from({ length: 200 }, (_, index) => 13_999 + index)
        assert.deepStrictEqual(idsOf(rows), sort === "createdAt_asc" ? expected : expected.toReversed())
        assert.isBelow(gateway.requests.length, 20)
      }
    }
  )

  effect("the limits by time leave out rows without a time, and may match no row", function* () {
    const gateway = still(50, (id) => (id % 2 === 0 ? undefined : id))
    assert.deepStrictEqual(idsOf(yield* collect(gateway, { since: at(11), until: at(15) })), [11, 13])
    assert.deepStrictEqual(yield* collect(still(50), { since: at(51) }), [])
    assert.deepStrictEqual(yield* collect(still(50), { until: at(1) }), [])
    assert.deepStrictEqual(yield* collect(still(500), { since: at(501), sort: "createdAt_desc" }), [])
  })

  effect("the limits by time leave later rows to the next run", function* () {
    const gateway = still(250)
    const first = yield* Stream.runCollect(pagesBy(gateway.list, { until: at(120) }))
    const from = first.at(-1)?.checkpoint
    assert.deepStrictEqual(idsOf(yield* collect(gateway, { from, until: at(200) })), upTo(199).slice(119))
  })

  effect("the limit by count stops at that row, and with zero no page is requested", function* () {
    const gateway = still(250)
    assert.deepStrictEqual(idsOf(yield* collect(gateway, { limit: 120 })), upTo(120))
    const asked = gateway.requests.length
    assert.isAtMost(asked, 3)
    assert.deepStrictEqual(yield* collect(gateway, { limit: 0 }), [])
    assert.strictEqual(gateway.requests.length, asked)
  })
})

describe("TransactionStream.Checkpoint", () => {
  effect("a checkpoint of the end, oldest first, continues with the rows that were added since", function* () {
    const gateway = still(150)
    const pages = yield* Stream.runCollect(pagesBy(gateway.list))
    const from = pages.at(-1)?.checkpoint
    assert.deepStrictEqual(yield* collect(gateway, { from }), [])
    gateway.add(151)
    gateway.add(151)
    gateway.rows = gateway.rows.filter((row) => row.id > 149)
    assert.deepStrictEqual(idsOf(yield* collect(gateway, { from })), [151, 152])
  })

  effect("a checkpoint keeps its order, and holds ids and a time only", function* () {
    const [page] = yield* Stream.runCollect(pagesBy(still(150).list, { sort: "createdAt_desc", pageSize: 2, limit: 2 }))
    const checkpoint = page?.checkpoint
    assert.deepStrictEqual(checkpoint && encode(checkpoint), {
      sort: "createdAt_desc",
      edge: -149_000,
      floor: -150_001,
      ids: [150, 149],
      index: 1,
      count: 2,
      least: 150,
      isTied: false
    })
    const gateway = still(150)
    assert.deepStrictEqual(idsOf(yield* collect(gateway, { from: checkpoint })), upTo(148).toReversed())
    const other = yield* Effect.flip(collect(gateway, { from: checkpoint, sort: "createdAt_asc" }))
    assert.instanceOf(other, InvalidRequest)
  })

  effect("a run continues from a checkpoint also if the rows show no time", function* () {
    const gateway = still(450, () => undefined)
    const pages = yield* Stream.runCollect(pagesBy(gateway.list, { limit: 130 }))
    const from = pages.at(-1)?.checkpoint
    gateway.rows = gateway.rows.filter((row) => row.id < 80 || row.id > 125)
    assert.deepStrictEqual(idsOf(yield* collect(gateway, { from })), upTo(450).slice(130))
  })

  effect("a run continues from a checkpoint also if the service returns fewer rows than it reports", function* () {
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
        // The second run does not start at the first page.
        assert.isAtMost(gateway.requests.length - before, Math.ceil((400 - limit) / most) * 4 + 10)
      }
    }
  })

  effect("a run continues from a checkpoint after the service failed", function* () {
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
})

describe("TransactionStream.Options", () => {
  effect("options that break the contract are refused before anything is sent", function* () {
    const sort = "createdAt_asc"
    const from = { sort, edge: 0, floor: 0, ids: [], index: -2, count: 0, isTied: false } as const
    for (const [path, options] of [
      ["pageSize", { pageSize: 0 }],
      ["pageSize", { pageSize: 101 }],
      ["pageSize", { pageSize: 2.5 }],
      ["limit", { limit: -1 }],
      ["limit", { limit: Number.NaN }],
      ["since", { since: new Date("x") }],
      ["until", { until: new Date("x") }],
      ["from.index", { from }],
      // A caller without types may give this.
      ...[null, 7, "all", []].map((given: unknown) => ["options", given as TransactionStream.Options] as const)
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

  effect("the stream makes no request that the consumer does not need", function* () {
    const gateway = still(3000)
    const first = yield* Stream.runHead(streamBy(gateway.list))
    assert.strictEqual(Option.getOrThrow(first).id, 1)
    assert.strictEqual(gateway.requests.length, 1)
  })
})
