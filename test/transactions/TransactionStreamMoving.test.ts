import { assert, describe } from "@effect/vitest"
import type * as TransactionStream from "../../src/transactions/TransactionStream.ts"
import { Effect, Stream } from "effect"
import {
  still,
  pagesBy,
  collect,
  idsOf,
  upTo,
  moving,
  exactlyOnce,
  encode,
  decode,
  deliversOnce,
  deliversOnceOrFails
} from "../support/movingList.ts"
import { runs } from "../support/seed.ts"
import { effect } from "../support/effect.ts"

/** How many lists a test moves. */
const thousands = runs(500, 5000)
const hundreds = runs(150, 1000)

describe("TransactionStream on a list that changes", () => {
  effect(
    "the stream delivers every row that stayed exactly once or fails, whatever rows are added and removed between any two answers",
    function* () {
      let whole = 0
      for (let seed = 1; seed <= thousands; seed++) if (yield* deliversOnceOrFails(seed, moving(seed))) whole += 1
      // The other lists change by thousands of rows between any two answers, or have many rows of one time.
      assert.isAtLeast(whole, 0.96 * thousands)
      // Backdated rows right after remembered ones that came late themselves.
      for (const seed of [10_386, 17_022, 19_625, 52_620]) yield* deliversOnce(seed, moving(seed))
    }
  )

  effect(
    "the stream delivers every row that stayed exactly once if the service returns fewer rows than requested",
    function* () {
      let whole = 0
      for (let seed = 1; seed <= hundreds; seed++) {
        const most = 4 + (seed % 40)
        const schedule = moving(seed, { burst: Math.floor(most / 2) })
        schedule.gateway.sizeOf = (asked) => Math.min(asked, most)
        if (yield* deliversOnceOrFails(seed, schedule)) whole += 1
      }
      assert.isAtLeast(whole, runs(138, 950))
    }
  )

  effect(
    "the stream goes back in growing steps to its place, if most of the rows before it were removed",
    function* () {
      for (const sort of ["createdAt_asc", "createdAt_desc"] as const) {
        const gateway = still(4000)
        let removedAt: number | undefined
        gateway.beforeEach = ({ requests }) => {
          if (removedAt !== undefined || (requests.at(-1)?.page ?? 0) < 36) return
          removedAt = requests.length
          const gone = new Set(gateway.ordered(sort).slice(0, 3000))
          gateway.rows = gateway.rows.filter((row) => !gone.has(row))
        }
        assert.lengthOf(yield* collect(gateway, { sort }), 4000)
        const after = gateway.requests.slice(removedAt).map(({ page }) => page)
        // It goes back by 1, 2, 4, 8 and so on, and one page at a time it would take 30 requests.
        const back = after.findIndex((page) => page < 6)
        assert.isTrue(back > 0 && back < 10, `${sort}: ${after.join(" ")}`)
      }
    }
  )

  effect("the stream repeats no row if thousands share one time and late rows are added among them", function* () {
    // With these seeds the lists have more rows than the stream remembers, all of one time.
    for (const seed of [9952, 11_838, 12_983, 17_524, 19_968, 22_785]) yield* deliversOnceOrFails(seed, moving(seed))
  })

  effect(
    "the stream loses and repeats no row if rows show no time, and fails with LostPlace if it cannot continue",
    function* () {
      let whole = 0
      for (let seed = 1; seed <= hundreds; seed++) {
        if (yield* deliversOnceOrFails(seed, moving(seed, { dateless: true, burst: 40 }))) whole += 1
      }
      assert.isAbove(whole, 0.9 * hundreds)
    }
  )

  effect(
    "the stream loses and repeats no row if the service ignores the page size, and fails if rows move at each answer",
    function* () {
      const lists = { createdAt_asc: 0, createdAt_desc: 0 }
      const whole = { createdAt_asc: 0, createdAt_desc: 0 }
      for (let seed = 1; seed <= hundreds; seed++) {
        const schedule = moving(seed, { burst: 3 })
        schedule.gateway.sizeOf = () => 1 + (seed % 20)
        lists[schedule.sort] += 1
        if (yield* deliversOnceOrFails(seed, schedule)) whole[schedule.sort] += 1
      }
      // Without overlapping pages, a row that moves to the other page and back looks like a row that did not move.
      assert.isAbove(whole.createdAt_asc / lists.createdAt_asc, 0.9)
      assert.isAbove(whole.createdAt_desc / lists.createdAt_desc, 0.7)
    }
  )

  effect("the stream loses and repeats no row if the service counts no rows", function* () {
    for (let seed = 1; seed <= hundreds; seed++) {
      const schedule = moving(seed)
      schedule.gateway.answer = (page) => ({ ...page, totalItems: 0, totalPages: 0, pageSize: 0 })
      yield* deliversOnceOrFails(seed, schedule)
    }
  })

  effect("the stream loses and repeats no row if the service counts only the rows of the page", function* () {
    for (const isFixed of [false, true]) {
      let whole = 0
      for (let seed = 1; seed <= hundreds; seed++) {
        const schedule = moving(seed, isFixed ? { appendOnly: true, burst: 3 } : {})
        const most = isFixed ? 1 + (seed % 20) : 50
        schedule.gateway.sizeOf = (asked) => (isFixed ? most : Math.min(asked, most))
        schedule.gateway.answer = (page) => ({ ...page, totalItems: page.items.length, totalPages: 1 })
        // Newest first, only a correct count shows that a row has moved to the neighbouring page and back.
        const sort = isFixed ? "createdAt_asc" : schedule.sort
        if (yield* deliversOnceOrFails(seed, { ...schedule, sort })) whole += 1
      }
      assert.isAbove(whole, (isFixed ? 0.6 : 0.9) * hundreds)
    }
  })

  effect(
    "the stream does not end early if the first page is full again and the service counts only the rows of the page",
    function* () {
      const gateway = still(400)
      gateway.sizeOf = (asked) => Math.min(asked, 50)
      gateway.answer = (page) => ({ ...page, totalItems: page.items.length, totalPages: 1 })
      gateway.beforeEach = ({ requests, rows }) => {
        // All rows that were read are removed, except the last ones, which fill page 1.
        if (requests.length === 4) gateway.rows = rows.filter((row) => row.id > 100)
      }
      assert.deepStrictEqual(idsOf(yield* collect(gateway)), upTo(400))
      const [page] = yield* Stream.runCollect(pagesBy(gateway.list, { limit: 50 }))
      assert.deepStrictEqual(idsOf(yield* collect(gateway, { from: page?.checkpoint })), upTo(400).slice(150))
    }
  )

  effect("the stream continues from any checkpoint with exactly the remaining rows", function* () {
    let whole = 0
    for (let seed = 1; seed <= hundreds; seed++) {
      const { gateway, pageSize, sort } = moving(seed)
      const before = idsOf(gateway.rows)
      const rows: Array<number> = []
      let from: TransactionStream.Checkpoint | undefined
      // No run can continue from a lost place.
      let isLost = false
      for (let run = 0; run < 400; run++) {
        const limit = 1 + ((seed + run) % 90)
        let last: TransactionStream.Checkpoint | undefined
        yield* pagesBy(gateway.list, { pageSize, sort, from, limit }).pipe(
          Stream.runForEach((page) =>
            Effect.sync(() => {
              rows.push(...idsOf(page.rows))
              last = page.checkpoint
            })
          ),
          Effect.catchTag("PaginationError", ({ checkpoint, reason }) =>
            Effect.sync(() => {
              isLost ||= reason === "LostPlace"
              last = checkpoint
            })
          )
        )
        if (last === undefined || isLost) break
        const stored = JSON.stringify(encode(last))
        assert.isBelow(stored.length, 10_000)
        from = decode(JSON.parse(stored))
      }
      if (isLost) assert.strictEqual(new Set(rows).size, rows.length, `seed ${seed}: a row was delivered twice`)
      else exactlyOnce(seed, gateway, before, rows)
      whole += isLost ? 0 : 1
    }
    assert.isAtLeast(whole, 0.95 * hundreds)
  })
})
