import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Random, Stream } from "effect"
import { Payments, TransactionStream } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { mockPayments } from "../support/payments.ts"
import { charge } from "../support/charges.ts"
import { runs } from "../support/seed.ts"

const charges = (count: number) => Effect.replicateEffect(charge, count)

/** Runs between any two pages: creates charges, some at the same instant, and cancels some of the old charges. */
const disturb = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const created = yield* charges(yield* Random.nextIntBetween(0, 12))
  const transactions = yield* sandbox.transactions
  const picked = transactions[yield* Random.nextIntBetween(0, transactions.length - 1)]
  if (picked?.status === "Awaiting") yield* sandbox.cancel(picked.transactionId)
  yield* TestClock.adjust(Duration.millis(yield* Random.nextIntBetween(0, 3)))
  return created
})

const readAll = (options: TransactionStream.Options) =>
  Effect.gen(function* () {
    const payments = yield* Payments
    const context = yield* Effect.context<Payments | Sandbox>()
    yield* charges(yield* Random.nextIntBetween(0, 60))
    const before = yield* Stream.runCollect(TransactionStream.stream())
    const list: Payments["Service"]["listTransactions"] = (asked) =>
      Effect.andThen(Effect.provideContext(Effect.orDie(disturb), context), payments.listTransactions(asked))
    const read = yield* Stream.runCollect(
      Stream.provide(TransactionStream.stream(options), mockPayments({ listTransactions: list }))
    )
    return { before: before.map(({ id }) => id), read: read.map(({ id }) => id) }
  }).pipe(Effect.provide(Sandbox.layerPayments))

describe("TransactionStream on a gateway that is in use", () => {
  for (const sort of ["createdAt_asc", "createdAt_desc"] as const) {
    it.effect(`${sort}: every charge that existed from start to end is delivered exactly once`, () =>
      Effect.forEach(
        Array.from({ length: runs(15, 150) }, (_, seed) => seed),
        (seed) =>
          Effect.gen(function* () {
            // Oldest first, the stream would never end while charges are created, so a limit ends it. With smaller
            // pages the stream could not keep up with twelve new rows a request.
            const pageSize = (seed % 15) + 30
            const { before, read } = yield* readAll({ sort, pageSize, limit: 120 }).pipe(
              Random.withSeed(`${sort} ${seed}`)
            )
            assert.strictEqual(new Set(read).size, read.length, `seed ${seed}: a row was delivered twice`)
            const missing = before.filter((id) => !read.includes(id))
            assert.deepStrictEqual(missing, [], `seed ${seed}: rows were lost`)
          })
      )
    )
  }
})
