import { assert, describe } from "@effect/vitest"
import type { ListOptions, TransactionPage } from "../../src/contract/Transaction.ts"
import * as TransactionStream from "../../src/transactions/TransactionStream.ts"
import { Effect, Schema, Stream } from "effect"
import type { Gateway } from "../support/movingList.ts"
import {
  collect,
  idsOf,
  item,
  moving,
  still,
  streamBy,
  deliversOnceOrFails,
  untilFailure,
  upTo
} from "../support/movingList.ts"
import { runs, seed, seeded } from "../support/seed.ts"
import { effect } from "../support/effect.ts"

describe("TransactionStream on a service that contradicts itself", () => {
  const few = 100

  effect(
    "the stream fails when the service always answers with the same page, whether it reports its number or not",
    function* () {
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
    }
  )

  effect("the stream fails when the service answers the first request with another page", function* () {
    const gateway = still(450)
    gateway.answer = (honest) => ({ ...honest, currentPage: 2 })
    const { error, rows } = yield* untilFailure(gateway)
    assert.strictEqual(error.reason, "EchoedPage")
    assert.deepStrictEqual(rows, [])
  })

  effect("the stream fails when every page has new rows without end", function* () {
    const gateway = still(200)
    gateway.beforeEach = () => {
      for (let n = 0; n < 100; n++) gateway.add(gateway.nextId)
    }
    const { error, rows } = yield* untilFailure(gateway)
    assert.strictEqual(error.reason, "Endless")
    assert.isBelow(rows.length, 20_000)
    assert.strictEqual(new Set(rows).size, rows.length)
  })

  effect("the stream fails when the service repeats the last page and always counts more pages", function* () {
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

  effect("the stream fails when the service counts rows that it does not show", function* () {
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

  effect("the stream fails when the rows are in the other order", function* () {
    const gateway = still(450)
    const list = (options?: ListOptions) => gateway.list({ ...options, sort: "createdAt_desc" })
    const error = yield* Effect.flip(Stream.runDrain(streamBy(list)))
    assert.strictEqual(error._tag === "PaginationError" && error.reason, "OutOfOrder")
  })

  effect("the stream fails after a bounded number of requests when rows move faster than it can follow", function* () {
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

  effect("the stream fails when the reader loses its place among rows without a time", function* () {
    const gateway = still(3000, () => undefined)
    gateway.beforeEach = ({ nextId, requests }) => {
      if (requests.length !== 26) return
      gateway.rows = Array.from({ length: 3000 }, (_, index) => ({ id: nextId + index, time: undefined, tie: index }))
    }
    const { error } = yield* untilFailure(gateway)
    assert.strictEqual(error.reason, "LostPlace")
    assert.isBelow(gateway.requests.length, few)
  })

  effect(
    "the stream fails with the checkpoint that all delivered rows reach to, and an error that can be stored",
    function* () {
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
    }
  )
})

/** The faults of a service. `echo` is the probability of an earlier answer, with its own page number. */
interface Vices {
  readonly cap: number
  readonly counts: "Honest" | "OwnPage" | "Nothing" | "TooFew" | "TooMany"
  readonly echo: number
  readonly repeats: number
}

/** Adds these faults to the service of a schedule. The seed decides when they occur. */
const corrupt = (gateway: Gateway, seed: number, { cap, counts, echo, repeats }: Vices) => {
  const { below, next } = seeded(seed)
  const given: Array<TransactionPage> = []
  gateway.sizeOf = (asked) => Math.min(asked, cap)
  gateway.answer = (honest, asked) => {
    const earlier = given[below(given.length)]
    if (earlier !== undefined && next() < echo) return earlier
    const at = below(honest.items.length)
    const again = honest.items[at]
    const items = again !== undefined && next() < repeats ? honest.items.toSpliced(at, 0, again) : honest.items
    const totals = {
      Honest: [honest.totalItems, honest.totalPages],
      OwnPage: [items.length, 1],
      Nothing: [0, 0],
      TooFew: [Math.floor(honest.totalItems / 2), Math.floor(honest.totalPages / 2)],
      TooMany: [honest.totalItems + 7, honest.totalPages + 1]
    }[counts] as [number, number]
    const answer = { ...honest, items, totalItems: totals[0], totalPages: totals[1], pageSize: asked.pageSize }
    given.push(answer)
    return answer
  }
}

describe("TransactionStream on a service with faults", () => {
  const caps = [1, 2, 3, 7, 20, 33, 50, 99, 1000] as const
  const vices = (seed: number, counts: Vices["counts"], isMoving: boolean): Vices => {
    const { below, next } = seeded(seed * 31)
    return {
      // Pages of a few rows have no border to look over: see the tests of a service that ignores the page size.
      cap: (isMoving ? caps.slice(3) : caps)[below(isMoving ? caps.length - 3 : caps.length)] ?? 50,
      counts,
      // If the counts are wrong too, the answer to another request looks like the end of the list.
      echo: next() < 0.4 || counts !== "Honest" ? 0 : next() * (isMoving ? 0.15 : 0.25),
      repeats: next() < 0.7 ? 0 : 0.3
    }
  }

  const schedules = runs(100, 600)
  for (const counts of ["Honest", "OwnPage", "Nothing", "TooFew", "TooMany"] as const) {
    for (const isMoving of [false, true]) {
      const rows = isMoving ? "move" : "stand still"
      effect(
        `the stream loses no row without an error if its rows ${rows} and its counts are of the kind ${counts}`,
        function* () {
          let whole = 0
          for (let n = 1; n <= schedules; n++) {
            const run = seed * 1_000_000 + n
            const schedule = moving(run, { burst: 20, appendOnly: n % 2 === 0 })
            if (!isMoving) schedule.gateway.beforeEach = () => {}
            corrupt(schedule.gateway, run, vices(run, counts, isMoving))
            // If the counts are wrong, only the look at a border shows lost rows.
            const pageSize = isMoving ? Math.max(10, schedule.pageSize) : schedule.pageSize
            if (yield* deliversOnceOrFails(run, { ...schedule, pageSize })) whole += 1
          }
          // If a service counts more rows than exist, the list has no end, and the stream fails with that reason.
          if (counts !== "TooMany") assert.isAbove(whole, 0.75 * schedules)
        }
      )
    }
  }
})
