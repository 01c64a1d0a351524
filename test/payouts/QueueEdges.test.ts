import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Option, References, Schedule, Stream } from "effect"
import { Money, PaymentsPolicy } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutInsert, PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { gateway, layerMemory, payout, payouts, submitRateLimited } from "../support/payoutQueue.ts"
import { effect, live } from "../support/effect.ts"

const fast: PayoutQueueOptions = { poll: "20 millis", lease: "2 seconds" }
const layer = (options: PayoutQueueOptions = {}) =>
  PayoutQueue.layer({ ...fast, ...options }).pipe(
    Layer.provideMerge(
      Layer.mergeAll(NodeSqlite.layer({ filename: ":memory:" }), gateway, PaymentsPolicy.layer(PaymentsPolicy.once))
    )
  )
const insert = (text: (text: string) => string, reference = "invoice-1") =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const seal = { seal: (request: string) => Effect.succeed(text(request)), open: Effect.succeed }
    const found = yield* PayoutInsert.makeSealed(payout(reference), { dialect: "sqlite", seal })
    yield* sql.unsafe(found.text, found.parameters)
  })

describe("a payout that cannot be sent", () => {
  for (const [title, broken] of [
    ["is no JSON", () => "{"],
    ["is not a request", () => "{}"],
    ["is for another amount", (text: string) => text.replace("1000", "9000")]
  ] as const)
    live(`a stored request that ${title} is parked and not sent`, layer(), function* () {
      const queue = yield* PayoutQueue
      const sandbox = yield* Sandbox
      yield* insert(broken)
      const parked = yield* queue.await("invoice-1")
      assert.isTrue(parked._tag === "Parked" && parked.because === "Unreadable")
      assert.strictEqual((yield* sandbox.requests).length, 0)
    })

  live(
    "a row whose key is not that of its reference is parked, and so is one whose request was dropped",
    layer(),
    function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* PayoutQueue
      // No worker sees them before they are broken.
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* insert((text) => text, "invoice-1")
          yield* insert((text) => text, "invoice-2")
          yield* sql`UPDATE effect_pix_payouts SET reference = 'invoice-9' WHERE reference = 'invoice-1'`
          yield* sql`UPDATE effect_pix_payouts SET request = NULL WHERE reference = 'invoice-2'`
        })
      )
      const parked = Stream.runCollect(queue.list({ state: "parked" }))
      yield* Effect.repeat(parked, { until: (rows) => rows.length === 2, schedule: Schedule.spaced("50 millis") })
    }
  )

  effect(
    "a payout above dailyCap is parked, since it would wait for ever",
    layerMemory({ dailyCap: 4000 }),
    function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(payout("invoice-1", 5000))
      const parked = yield* queue.await("invoice-1")
      assert.isTrue(parked._tag === "Parked" && parked.because === "OverDailyCap")
    }
  )
})

describe("a payout whose request is answered with Retry-After", () => {
  effect(
    "is sent again at that time, and not before",
    Layer.provideMerge(layerMemory(), PaymentsPolicy.layer(PaymentsPolicy.once)),
    function* () {
      const { queue, sandbox } = yield* submitRateLimited("10 minutes")
      yield* TestClock.adjust("9 minutes")
      assert.strictEqual((yield* sandbox.requests).length, 1)
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
    }
  )

  effect(
    "of 0 seconds is sent again less and less often",
    Layer.provideMerge(layerMemory(), PaymentsPolicy.layer(PaymentsPolicy.once)),
    function* () {
      const { sandbox } = yield* submitRateLimited("0 seconds", 50)
      yield* TestClock.adjust("1 minute")
      // After 1, 2, 4, 8, 16 and 32 seconds.
      assert.isAtMost((yield* sandbox.requests).length, 7)
    }
  )

  effect(
    "is sent again after an hour, however long the service says",
    Layer.provideMerge(layerMemory(), PaymentsPolicy.layer(PaymentsPolicy.once)),
    function* () {
      const { queue, sandbox } = yield* submitRateLimited("30 days")
      yield* TestClock.adjust("59 minutes")
      assert.strictEqual((yield* sandbox.requests).length, 1)
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
    }
  )
})

describe("the cap of a day on SQL", () => {
  live("does not count refused payouts, and counts the others", layer({ dailyCap: 10_000 }), function* () {
    const queue = yield* PayoutQueue
    const sandbox = yield* Sandbox
    const sql = yield* SqlClient.SqlClient
    yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, "Chave recusada."), { times: 2 })
    yield* queue.submitMany(payouts(6))
    yield* Effect.forEach(payouts(6), ({ reference }) => queue.await(reference))
    const [row] = yield* sql<{ readonly spent: number }>`SELECT spent FROM effect_pix_payout_days`
    assert.strictEqual(row?.spent, 4000)
  })
})

describe("a failure that a newer version stored", () => {
  live(
    "is shown without its details",
    Layer.provideMerge(PayoutQueue.layerClient(), NodeSqlite.layer({ filename: ":memory:" })),
    function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* PayoutQueue
      yield* insert((text) => text, "invoice-1")
      yield* insert((text) => text, "invoice-2")
      yield* sql`UPDATE effect_pix_payouts SET state = 'refused', error = '{"_tag":"New"}' WHERE reference = 'invoice-1'`
      yield* sql`UPDATE effect_pix_payouts SET state = 'unknown', error = '{"_tag":"New"}' WHERE reference = 'invoice-2'`
      const refused = Option.getOrThrow(yield* queue.status("invoice-1"))
      assert.isTrue(refused._tag === "Parked" && refused.because === "Unreadable")
      const unknown = Option.getOrThrow(yield* queue.status("invoice-2"))
      assert.isTrue(unknown._tag === "Unknown" && unknown.error._tag === "OutcomeUnknown")
    }
  )
})

describe("forgetting", () => {
  const references = ["posted", "refused", "unknown", "parked", "accepted"] as const
  const states = Effect.gen(function* () {
    const queue = yield* PayoutQueue
    return yield* Effect.forEach(references, (reference) =>
      Effect.map(queue.status(reference), (status) => Option.getOrUndefined(status)?.state)
    )
  })

  /** A worker reads the pause at most once a second. */
  const setPaused = (paused: boolean) =>
    Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.setPaused(paused)
      yield* TestClock.adjust("2 seconds")
    })

  /** Brings a payout into each state, and pauses the workers. */
  const bringIntoStates = Effect.gen(function* () {
    const queue = yield* PayoutQueue
    const sandbox = yield* Sandbox
    yield* queue.submit(payout("posted"))
    yield* queue.await("posted")
    yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, "Chave recusada."))
    yield* queue.submit(payout("refused"))
    yield* queue.await("refused")
    yield* sandbox.fault("requestWithdrawal", Fault.resetAfter, { times: 1000 })
    yield* queue.submit(payout("unknown"))
    yield* Effect.repeat(Effect.andThen(Effect.yieldNow, states), { until: ([, , state]) => state === "unknown" })
    yield* setPaused(true)
    yield* sandbox.clearFaults
    yield* queue.submit(payout("parked"))
    yield* queue.park("parked")
    yield* queue.submit(payout("accepted"))
    assert.deepStrictEqual(yield* states, [...references])
  })

  /** The references whose requests are stored. */
  const requestsLeft = Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{
        readonly reference: string
      }>`SELECT reference FROM effect_pix_payouts WHERE request IS NOT NULL ORDER BY 1`,
      (rows) => rows.map(({ reference }) => reference)
    )
  )

  /** Ends the pause, and checks that what was not forgotten is sent, with its request and once. */
  const sendTheRest = Effect.gen(function* () {
    const queue = yield* PayoutQueue
    const sandbox = yield* Sandbox
    yield* queue.retry("unknown")
    yield* queue.resume("parked")
    yield* setPaused(false)
    for (const reference of ["unknown", "parked", "accepted"])
      assert.strictEqual((yield* queue.await(reference)).state, "posted")
    assert.strictEqual((yield* sandbox.withdrawals).length, 4)
  })

  effect(
    "the request of a payout that has ended is forgotten, and that of one that may still be sent is not",
    Layer.provideMerge(layerMemory({ forget: { data: "30 minutes" } }), PaymentsPolicy.layer(PaymentsPolicy.once)),
    function* () {
      const queue = yield* PayoutQueue
      yield* bringIntoStates
      yield* TestClock.adjust("1 hour")
      // The request was deleted, so the contents are compared by the short check.
      assert.strictEqual((yield* queue.submit(payout("posted"))).state, "posted")
      assert.deepStrictEqual(yield* requestsLeft, ["accepted", "parked", "unknown"])
      yield* sendTheRest
    }
  )
})

describe("a database that fails", () => {
  const failures: Array<string> = []
  const logger = Logger.make(({ message }) => {
    if (String(message).includes("the queue did not answer")) failures.push(String(message))
  })
  it.live("a submit fails with the kind of the failure, and a worker goes on when the database answers again", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* PayoutQueue
      yield* sql`ALTER TABLE effect_pix_payouts RENAME TO away`
      const error = yield* Effect.flip(queue.submit(payout("invoice-1")))
      assert.strictEqual(error._tag, "DatabaseError")
      assert.include(error.message, "submit failed on the database")
      yield* sql`ALTER TABLE away RENAME TO effect_pix_payouts`
      // In one transaction, so that no worker sees the payout before.
      yield* Effect.andThen(queue.submit(payout("invoice-1")), sql`ALTER TABLE effect_pix_payouts RENAME TO away`).pipe(
        sql.withTransaction
      )
      const before = failures.length
      yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => failures.length > before })
      yield* sql`ALTER TABLE away RENAME TO effect_pix_payouts`
      assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
    }).pipe(
      Effect.provide(Layer.provideMerge(layer(), Logger.layer([logger]))),
      Effect.provideService(References.MinimumLogLevel, "All")
    )
  )
})

describe("errors", () => {
  effect("say in a sentence what to do", layerMemory(), function* () {
    const queue = yield* PayoutQueue
    const missing = yield* Effect.flip(queue.await("invoice-1"))
    assert.include(missing.message, "No payout of the reference invoice-1 was submitted")
    const odd = yield* Effect.flip(queue.park(" blank "))
    assert.strictEqual(odd._tag, "PayoutNotFound")
    const halves = yield* Effect.flip(
      // A caller without types may give one of the pair.
      queue.submit({ reference: "invoice-1", amount: Money.centavos(1000), pixKeyType: "CPF" } as never)
    )
    assert.include(halves.message, "pixKeyType")
    const doubled = yield* Effect.flip(queue.submit({ ...payout("invoice-1"), pixKeyType: "EMAIL" } as never))
    assert.include(doubled.message, "which has its own kind")
    const wrong = yield* Effect.flip(
      queue.submit({ reference: "invoice-1", amount: Money.centavos(1000), pixKey: "123", pixKeyType: "CPF" })
    )
    assert.include(wrong.message, "pixKey")
    yield* queue.submit({ ...payout("invoice-2"), metadata: { a: 1, b: { c: 2 } } })
    assert.strictEqual(
      (yield* queue.submit({ ...payout("invoice-2"), metadata: { b: { c: 2 }, a: 1 } }))._tag,
      "Accepted"
    )
  })
})
