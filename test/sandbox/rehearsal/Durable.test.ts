/** What survives a death in a database, under every fault and death: the queue of payouts, and webhooks. */
import { assert, describe, test } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { IdempotencyKey, Money, Payments, PixKey, Rehearsed } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { Webhook } from "effect-pix/webhook"
import { budget, requireClean } from "../../support/rehearsals.ts"
import { runs } from "../../support/seed.ts"
import { Rehearsal, type RehearsalWorld } from "effect-pix/sandbox"

const stores = NodeSqlite.layer({ filename: ":memory:" })

describe("under every fault and death", () => {
  /** How long the queue may repeat a payout in doubt, in hours: an outage lasts longer. */
  const horizon = runs(1, 12)

  /** Submits the invoices, waits for each, and writes down what became of it. A payout that is parked makes it fail. */
  const payAll = (references: ReadonlyArray<string>) => {
    const items = references.map((reference) => ({
      reference,
      amount: Money.centavos(1000),
      pixKey: PixKey.email("maria@example.com")
    }))
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      for (const item of items) yield* Rehearsed.owes(item)
      yield* queue.submitMany(items)
      for (const { reference } of items) {
        const { state } = yield* queue.await(reference)
        if (state !== "posted" && state !== "refused") return yield* Effect.fail(state)
        yield* Rehearsed.fact(state === "posted" ? "paid" : "failed", { reference })
      }
    }).pipe(Effect.provide(PayoutQueue.layer({ concurrency: 2, poll: "30 seconds", horizon: `${horizon} hours` })))
  }

  /** Nothing is sent under a key that was in doubt for longer than the queue's horizon. */
  const isWithinHorizon = ({ calls }: RehearsalWorld) => {
    const doubt = calls.find(({ outcome, result }) => outcome === "Unknown" || result === undefined)
    const last = calls.findLast(({ requests }) => requests > 0)
    const hours = ((last?.startedAt ?? 0) - (doubt?.startedAt ?? 0)) / 3_600_000
    return doubt !== undefined && hours > horizon + 0.5
      ? Effect.fail(`A request left ${hours} hours after a doubt.`)
      : Effect.void
  }

  /** A service that asks for a pause, or does not answer, has not refused a payout. */
  const isPatient = ({ calls, facts }: RehearsalWorld) => {
    const isGivenUp = ["RateLimited", "ServiceUnavailable"].includes(calls.at(-1)?.result ?? "")
    return isGivenUp && facts.some(({ name }) => name === "failed")
      ? Effect.fail("A payout was given up.")
      : Effect.void
  }

  const options = { stores, rules: { isWithinHorizon, isPatient }, ...budget }

  test("PayoutQueue on SQLite pays each reference once, and its states are what the gateway did", async () => {
    const invoices = ["invoice-1", "invoice-2"].slice(0, runs(1, 2))
    const report = await Effect.runPromise(Rehearsal.run(payAll(invoices), options))
    requireClean(report, 40)
    assert.isAtLeast(report.steps, 10)
  })

  test("PayoutQueue in two processes pays each reference once, while one of them stands still or dies", async () => {
    const report = await Effect.runPromise(Rehearsal.run(payAll(["invoice-1"]), { ...options, processes: 2 }))
    requireClean(report, 40)
    assert.isAtLeast(report.steps, 10)
  })

  const key = IdempotencyKey.fromReference("order", "42")
  const later = Schedule.upTo(Schedule.spaced("1 minute"), { times: 3 })
  const table = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE closed (id TEXT)`)
  const database = Layer.provideMerge(Layer.effectDiscard(table), stores)
  const customer = { name: "Maria Silva", email: "maria@example.com" }

  /** Charges, and asks once for itself, since a webhook may never come. The rest is done by its handler. */
  const shop = Effect.gen(function* () {
    const payments = yield* Payments
    const webhook = yield* Webhook
    const { id } = yield* IdempotencyKey.retry(key, later, (options) =>
      payments.createTransaction({ amount: Money.centavos(2500), paymentMethod: "PIX", customer }, options)
    )
    yield* Effect.delay(webhook.check(id), "1 hour")
    return yield* Effect.never
  }).pipe(
    Effect.provide(
      Webhook.layerSql({
        poll: "1 minute",
        onPaid: Effect.fnUntraced(function* ({ transaction: { transactionId } }) {
          const sql = yield* SqlClient.SqlClient
          yield* sql`INSERT INTO closed (id) VALUES (${transactionId})`
          // Outside of the database: the carrier knows the key, and ships once for it.
          yield* Rehearsed.fact("shipped", { transactionId, key: transactionId })
        })
      })
    )
  )

  /** Rehearses the shop, and returns the most shipments that one run declared. */
  const rehearseShop = async (more: { readonly processes?: number; readonly only?: string | undefined }) => {
    let shipments = 0
    const isOnce = ({ facts }: RehearsalWorld) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        shipments = Math.max(shipments, facts.filter(({ name }) => name === "shipped").length)
        const { length } = yield* Effect.orDie(sql`SELECT id FROM closed`)
        if (length > 1) return yield* Effect.fail(`The event was handed out ${length} times.`)
      })
    const world = { stores: database, payAfter: "1 minute", stopAfter: `${runs(4, 24)} hours` } as const
    const report = await Effect.runPromise(Rehearsal.run(shop, { ...world, rules: { isOnce }, ...budget, ...more }))
    requireClean(report, 1)
    return { report, shipments }
  }

  test("Webhook.layerSql hands a paid charge out once in the database, and at least once outside of it", async () => {
    const { report, shipments } = await rehearseShop({})
    // The handler acts, and the process dies before its transaction commits.
    assert.strictEqual(shipments, 2)
    assert.isAtLeast(report.steps, 10)
  })

  test("Webhook.layerSql in two processes hands a paid charge out once in the database", async () => {
    const stalls = ["before it is sent", "before it is answered"].map(
      (when) => `call 3 getTransaction: its process stands still ${when}`
    )
    for (const only of runs(0, 1) === 0 ? stalls : [undefined]) await rehearseShop({ processes: 2, only })
  })
})
