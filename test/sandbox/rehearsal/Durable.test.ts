/** What survives a death in a database, under every fault and death: the queue of payouts, and webhooks. */
import { assert, describe, test } from "@effect/vitest"
import { Effect, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { IdempotencyKey, Money, Payments, PixKey, Rehearsed } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { Webhook } from "effect-pix/webhook"
import { budget } from "../../support/rehearsals.ts"
import { runs } from "../../support/seed.ts"
import { Rehearsal, type RehearsalReport, type RehearsalWorld } from "effect-pix/sandbox"

const requireClean = (report: RehearsalReport, least: number) => {
  assert.strictEqual(report.findings.length, 0, Rehearsal.text(report))
  assert.deepStrictEqual(report.undecided, [])
  assert.isAtLeast(report.schedules, least)
}

const stores = NodeSqlite.layer({ filename: ":memory:" })

describe("under every fault and death", () => {
  /** Submits the invoices, waits for each, and writes down what became of it. */
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
        const name = state === "posted" ? "paid" : state === "refused" ? "failed" : "parked"
        yield* Rehearsed.fact(name, { reference })
      }
    }).pipe(Effect.provide(PayoutQueue.layer({ concurrency: 2 })))
  }

  /** Nothing is sent under a key that was in doubt for longer than the queue's horizon of 12 hours. */
  const isWithinHorizon = ({ calls }: RehearsalWorld) => {
    const doubt = calls.find(({ outcome, result }) => outcome === "Unknown" || result === undefined)
    const last = calls.findLast(({ requests }) => requests > 0)
    const hours = ((last?.startedAt ?? 0) - (doubt?.startedAt ?? 0)) / 3_600_000
    return doubt !== undefined && hours > 12.5
      ? Effect.fail(`A request left ${hours} hours after a doubt.`)
      : Effect.void
  }

  test("PayoutQueue on SQLite pays each reference once, and its states are what the gateway did", async () => {
    const invoices = ["invoice-1", "invoice-2"].slice(0, runs(1, 2))
    const report = await Effect.runPromise(
      Rehearsal.run(payAll(invoices), { stores, rules: { isWithinHorizon }, ...budget })
    )
    requireClean(report, 40)
    assert.isAtLeast(report.steps, 10)
  })

  test.for([
    "call 1 requestWithdrawal: its process stands still before it is sent",
    "call 1 requestWithdrawal: its process stands still before it is answered"
  ])("PayoutQueue in two processes pays once, in %s", async (only) => {
    const two = { stores, processes: 2, ...(runs(0, 1) === 0 ? { only } : budget) }
    requireClean(await Effect.runPromise(Rehearsal.run(payAll(["invoice-1"]), two)), 1)
  })

  test("Webhook.layerSql hands a paid charge out once in the database, and at least once outside of it", async () => {
    const key = IdempotencyKey.fromReference("order", "42")
    const later = Schedule.upTo(Schedule.spaced("1 minute"), { times: 3 })
    const table = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE closed (id TEXT)`)
    const database = Layer.provideMerge(Layer.effectDiscard(table), stores)
    const program = Effect.gen(function* () {
      const payments = yield* Payments
      const sql = yield* SqlClient.SqlClient
      const webhook = yield* Webhook
      const { id } = yield* IdempotencyKey.retry(key, later, (options) =>
        payments.createTransaction(
          {
            amount: Money.centavos(2500),
            paymentMethod: "PIX",
            customer: { name: "Maria Silva", email: "maria@example.com" }
          },
          options
        )
      )
      const isClosed = Effect.gen(function* () {
        yield* webhook.check(id)
        yield* Effect.sleep("1 minute")
        return (yield* sql`SELECT id FROM closed`).length > 0
      })
      const closed = yield* Effect.timeoutOption(Effect.repeat(isClosed, { until: (yes) => yes }), "2 hours")
      if (Option.isNone(closed)) yield* Rehearsed.fact("told", { transactionId: id })
    }).pipe(
      Effect.provide(
        Webhook.layerSql({
          poll: "20 seconds",
          onStatus: Effect.fnUntraced(function* ({ transaction: { enStatusTransaction, transactionId } }) {
            const sql = yield* SqlClient.SqlClient
            yield* sql`INSERT INTO closed (id) VALUES (${transactionId})`
            // Outside of the database: the carrier knows the key, and ships once for it.
            if (enStatusTransaction === "Paid") yield* Rehearsed.fact("shipped", { transactionId, key: transactionId })
          })
        })
      )
    )
    let shipments = 0
    const isOnce = ({ facts }: RehearsalWorld) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        shipments = Math.max(shipments, facts.filter(({ name }) => name === "shipped").length)
        const { length } = yield* Effect.orDie(sql`SELECT id FROM closed`)
        if (length > 1) return yield* Effect.fail(`The event was handed out ${length} times.`)
      })
    const report = await Effect.runPromise(
      Rehearsal.run(program, { stores: database, payAfter: "1 minute", rules: { isOnce }, ...budget })
    )
    requireClean(report, 50)
    assert.isAtLeast(report.steps, 10)
    // The handler acts, and the process dies before its transaction commits.
    assert.strictEqual(shipments, 2)
  })
})
