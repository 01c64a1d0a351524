import { assert, describe } from "@effect/vitest"
import { Effect, Option, Result, Stream } from "effect"
import { TransactionStream } from "effect-pix"
import type { TransactionSort } from "../../src/contract/Transaction.ts"
import { oneIn, type Schedule, serve, upToMost } from "../support/listSchedules.ts"
import { decode, encode, idsOf, pagesBy, streamBy } from "../support/movingList.ts"
import { runs, seed as firstSeed } from "../support/seed.ts"
import { effect } from "../support/effect.ts"

/** How many runs each schedule has. */
const times = runs(6, 100)
const sorts = ["createdAt_asc", "createdAt_desc"] as const
const count = 1000

const read = Effect.fnUntraced(function* (schedule: Schedule, rows: number, sort: TransactionSort, seed: number) {
  const { gateway, left, list } = serve(schedule, rows, sort, seed)
  const before = idsOf(gateway.rows)
  const delivered: Array<number> = []
  const result = yield* streamBy(list, { sort }).pipe(
    Stream.runForEach((row) => Effect.sync(() => delivered.push(row.id))),
    Effect.result
  )
  const got = new Set(delivered)
  const now = new Set(left())
  assert.strictEqual(got.size, delivered.length, `${schedule.name}, seed ${seed}: a row was delivered twice`)
  const lost = before.filter((id) => now.has(id) && !got.has(id)).length
  if (Result.isSuccess(result)) {
    assert.strictEqual(lost, 0, `${schedule.name}, ${sort}, seed ${seed}: rows were lost without an error`)
    return { error: undefined, list, requests: gateway.requests.length }
  }
  const error = result.failure
  if (!(error instanceof TransactionStream.PaginationError)) return assert.fail(`seed ${seed}: ${error.message}`)
  return { error, list, requests: gateway.requests.length }
})

/** How many runs may end with a typed error. All other runs end with all rows. */
const whole: ReadonlyArray<Schedule & { readonly failures?: number }> = [
  { name: "a list that stands still" },
  { name: "rows that arrive", appends: upToMost(20) },
  { name: "rows that vanish and arrive", deletes: upToMost(3), appends: upToMost(20) },
  { name: "rows that vanish as fast as others arrive", deletes: upToMost(3), appends: upToMost(3) },
  { name: "one row at most that vanishes and one that arrives", deletes: upToMost(1), appends: upToMost(1) },
  { name: "rows that vanish near the place", deletes: upToMost(1), appends: upToMost(1), isNear: true },
  { name: "a row now and then", deletes: oneIn(20), appends: oneIn(20) },
  { name: "a row in a hundred answers", deletes: oneIn(100), appends: oneIn(100) },
  { name: "many rows that vanish", deletes: upToMost(100) },
  { name: "rows that arrive late", late: upToMost(20) },
  { name: "late rows among all others", late: upToMost(3), deletes: upToMost(3), appends: upToMost(20) },
  { name: "stale replicas", deletes: upToMost(3), appends: upToMost(20), stale: 0.2, failures: 0.1 },
  { name: "stale replicas, half of all", deletes: upToMost(3), appends: upToMost(3), stale: 0.5, failures: 0.1 },
  { name: "pages cut at 50 rows", sizeOf: (asked) => Math.min(asked, 50) },
  {
    name: "pages cut at 33 rows of a list that moves",
    deletes: upToMost(3),
    appends: upToMost(5),
    sizeOf: (asked) => Math.min(asked, 33),
    failures: 0.3
  },
  { name: "pages of 50 rows whatever is asked", sizeOf: () => 50 },
  { name: "pages of 50 rows whatever is asked, and rows that arrive", sizeOf: () => 50, appends: upToMost(5) },
  { name: "answers of other requests", echoes: 0.2 },
  {
    name: "answers of other requests, 40 of 100",
    echoes: 0.4,
    appends: upToMost(5),
    deletes: oneIn(20),
    failures: 0.1
  },
  { name: "three rows of one time", ties: 3 },
  { name: "fifty rows of one time", ties: 50 },
  { name: "fifty rows of one time, and rows that arrive", ties: 50, appends: upToMost(5), failures: 0.3 },
  { name: "seven rows of one time, in another order for each request", ties: 7, isShuffled: true, failures: 1 }
]

describe("TransactionStream in a simulation", () => {
  for (const schedule of whole) {
    effect(
      `${schedule.name}: no row is lost without an error, none is delivered twice, and requests are bounded`,
      function* () {
        for (const sort of sorts) {
          let failures = 0
          for (let n = 0; n < times; n++) {
            const { error, requests } = yield* read(schedule, count, sort, firstSeed * 100_000 + n)
            if (error !== undefined) failures += 1
            assert.isAtMost(requests, 300)
          }
          assert.isAtMost(failures, (schedule.failures ?? 0) * times, `${sort}: runs that failed`)
        }
      }
    )
  }

  for (const schedule of [
    { name: "five hundred rows of one time", ties: 500 },
    { name: "a service that counts seven rows too many", overcounts: 7 },
    { name: "a service that counts too many of a list that moves", overcounts: 7, appends: oneIn(5) }
  ] satisfies ReadonlyArray<Schedule>) {
    effect(
      `${schedule.name}: missing rows are an error with both numbers, and a run without the count continues`,
      function* () {
        for (const sort of sorts) {
          const { error, list, requests } = yield* read(schedule, count, sort, firstSeed)
          assert.isAtMost(requests, 300)
          if (error?.reason !== "MissingRows") return assert.fail(`${error?.message}`)
          assert.isBelow(error.delivered ?? 0, error.counted ?? 0)
          assert.include(error.message, "start again")
          // A run from the checkpoint with its count misses the same rows. A run without the count delivers the other
          // rows: here there are none.
          const again = yield* Effect.flip(Stream.runDrain(streamBy(list, { from: error.checkpoint })))
          assert.strictEqual(again._tag === "PaginationError" && again.reason, "MissingRows")
          const { count: _, ...from } = error.checkpoint
          yield* Stream.runDrain(streamBy(list, { from }))
        }
      }
    )
  }

  effect(
    "ten thousand rows cost 190 to 225 requests, in a list that does not change and in one that does",
    function* () {
      for (const schedule of whole.filter(({ name }) =>
        ["a list that stands still", "a row now and then", "a row in a hundred answers"].includes(name)
      )) {
        for (const sort of sorts) {
          const { requests } = yield* read(schedule, 10_000, sort, firstSeed)
          assert.isAtLeast(requests, 190)
          assert.isAtMost(requests, 225)
        }
      }
    }
  )

  for (const ties of [20, 50, 99, 120]) {
    effect(
      `${ties} rows of one time: runs that each read one page, from the checkpoint before, lose no row without an error`,
      function* () {
        for (const sort of sorts) {
          for (let n = 0; n < times; n++) {
            const seed = firstSeed * 100_000 + n
            const { left, list } = serve({ name: "", ties }, 400, sort, seed)
            const rows: Array<number> = []
            let from: TransactionStream.Checkpoint | undefined
            let page = yield* Effect.result(Stream.runHead(pagesBy(list, { sort })))
            while (Result.isSuccess(page) && Option.isSome(page.success)) {
              rows.push(...idsOf(page.success.value.rows))
              from = decode(JSON.parse(JSON.stringify(encode(page.success.value.checkpoint))))
              page = yield* Effect.result(Stream.runHead(pagesBy(list, { sort, from })))
            }
            const got = new Set(rows)
            assert.strictEqual(got.size, rows.length, `${sort}, seed ${seed}: a row was delivered twice`)
            if (Result.isFailure(page)) assert.strictEqual(page.failure._tag, "PaginationError")
            else assert.sameMembers(rows, left(), `${sort}, seed ${seed}: rows were lost without an error`)
          }
        }
      }
    )
  }

  effect(
    "a run that continues from the checkpoint of any page delivers exactly the other rows, in bounded memory",
    function* () {
      const schedule: Schedule = { name: "", deletes: upToMost(3), appends: upToMost(20) }
      for (const sort of sorts) {
        // Each of these runs takes as long as several of the others.
        for (let n = 0; n < Math.ceil(times / 3); n++) {
          const seed = firstSeed * 100_000 + n
          const { gateway, left, list } = serve(schedule, 3000, sort, seed)
          const before = idsOf(gateway.rows)
          const rows: Array<number> = []
          let from: TransactionStream.Checkpoint | undefined
          for (let run = 0; run < 100; run++) {
            const limit = 1 + ((n * 37 + run * 61) % 400)
            const pages: ReadonlyArray<TransactionStream.Page> = yield* Stream.runCollect(
              pagesBy(list, { sort, from, limit })
            )
            rows.push(...pages.flatMap((page) => idsOf(page.rows)))
            const last = pages.at(-1)
            if (last === undefined) break
            assert.isAtMost(last.checkpoint.ids.length, 1000)
            from = decode(JSON.parse(JSON.stringify(encode(last.checkpoint))))
          }
          const now = new Set(left())
          const got = new Set(rows)
          assert.strictEqual(got.size, rows.length, `${sort}, seed ${seed}: a row was delivered twice`)
          assert.deepStrictEqual(
            before.filter((id) => now.has(id) && !got.has(id)),
            [],
            `${sort}, seed ${seed}: rows were lost`
          )
        }
      }
    }
  )
})
