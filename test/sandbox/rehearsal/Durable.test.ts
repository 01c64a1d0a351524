/** What survives a death in a database, under every fault and death: the queue of payouts, and webhooks. */
import { assert, describe, test } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { IdempotencyKey, Money, Payments, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { Webhook } from "effect-pix/webhook"
import { Rehearsal, type RehearsalReport } from "effect-pix/sandbox"

const requireClean = (report: RehearsalReport, least: number) => {
  assert.strictEqual(report.findings.length, 0, Rehearsal.text(report))
  assert.deepStrictEqual(report.undecided, [])
  assert.isAtLeast(report.schedules, least)
}

const stores = NodeSqlite.layer({ filename: ":memory:" })

describe("under every fault and death", () => {
  test("PayoutQueue on SQLite pays each reference once, and its states are what the gateway did", async () => {
    const items = ["invoice-1", "invoice-2"].map((reference) => ({
      reference,
      amount: Money.centavos(1000),
      pixKey: PixKey.email("maria@example.com")
    }))
    const program = Effect.gen(function* () {
      const queue = yield* PayoutQueue
      for (const item of items) yield* Rehearsal.owes(item)
      yield* queue.submitMany(items)
      for (const { reference } of items) {
        const { state } = yield* queue.await(reference)
        const name = state === "posted" ? "paid" : state === "refused" ? "failed" : "parked"
        yield* Rehearsal.fact(name, { reference })
      }
    }).pipe(Effect.provide(PayoutQueue.layer({ concurrency: 2 })))
    requireClean(await Effect.runPromise(Rehearsal.run(program, { stores })), 35)
  })

  test("Webhook.layerSql hands a paid charge out once, with a sweep of what is open", async () => {
    const key = IdempotencyKey.fromReference("order", "42")
    const later = Schedule.upTo(Schedule.spaced("1 minute"), { times: 3 })
    const table = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE closed (id TEXT)`)
    const database = Layer.provideMerge(Layer.effectDiscard(table), stores)
    const program = Effect.gen(function* () {
      const payments = yield* Payments
      const sql = yield* SqlClient.SqlClient
      const webhook = yield* Webhook
      yield* Rehearsal.receive((request) => webhook.answer(request))
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
      yield* Effect.timeoutOption(Effect.repeat(isClosed, { until: (yes) => yes }), "2 hours")
    }).pipe(
      Effect.provide(
        Webhook.layerSql({
          poll: "20 seconds",
          onStatus: Effect.fnUntraced(function* ({ transaction: { enStatusTransaction, transactionId } }) {
            const sql = yield* SqlClient.SqlClient
            yield* sql`INSERT INTO closed (id) VALUES (${transactionId})`
            if (enStatusTransaction === "Paid") yield* Rehearsal.fact("shipped", { transactionId })
          })
        })
      )
    )
    const report = await Effect.runPromise(Rehearsal.run(program, { stores: database, payAfter: "1 minute" }))
    requireClean(report, 35)
  })
})
