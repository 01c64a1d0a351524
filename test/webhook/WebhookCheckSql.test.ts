/**
 * Checks on a database: beside deliveries of other processes, and in the caller's transaction.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Sandbox } from "effect-pix/sandbox"
import type { WebhookOptions } from "effect-pix/webhook"
import { lookups, paidCharge } from "../support/charges.ts"
import { databases } from "../support/database.ts"
import { starting } from "../support/databaseWebhooks.ts"
import { world } from "../support/webhooks.ts"

const all = { concurrency: "unbounded", discard: true } as const

for (const { client, name, skip } of databases) {
  describe.skipIf(skip)(`Webhook.check on ${name}`, () => {
    it.live("a sweep and simultaneous deliveries in two processes hand each charge out once", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE shipped (charge VARCHAR(60))`
        const ship: WebhookOptions["onPaid"] = ({ transaction }) =>
          sql`INSERT INTO shipped VALUES (${transaction.transactionId})`
        const one = yield* starting({ onPaid: ship })
        const two = yield* starting({ onPaid: ship })
        const ids = yield* Effect.replicateEffect(paidCharge, 6)
        yield* Effect.forEach(
          ids,
          (id) => Effect.all([one.check(id), two.post({ transactionId: id, status: "Paid" }), two.check(id)], all),
          all
        )
        yield* one.idle
        yield* Effect.forEach(ids, two.check, all)
        yield* two.idle
        const shipped = yield* sql<{ readonly charge: string }>`SELECT charge FROM shipped ORDER BY charge`
        assert.deepStrictEqual(
          shipped.map((row) => row.charge),
          ids.toSorted()
        )
        assert.deepStrictEqual([...one.reports, ...two.reports], [])
      }).pipe(Effect.scoped, Effect.provide([Layer.fresh(client()), Layer.fresh(world)]))
    )

    it.live("a check in the caller's transaction is rolled back with it", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { check, idle, statuses } = yield* starting()
        const id = yield* paidCharge
        yield* Effect.flip(sql.withTransaction(Effect.andThen(check(id), Effect.fail("undone"))))
        yield* idle
        assert.deepStrictEqual([statuses(), yield* lookups], [[], 0])
        yield* sql.withTransaction(check(id))
        yield* idle
        assert.deepStrictEqual(statuses(), ["Paid"])
      }).pipe(Effect.scoped, Effect.provide([Layer.fresh(client()), Layer.fresh(world)]))
    )

    it.live("a delivery about a charge that an open transaction checks waits for its end, and is recorded then", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { check, idle, post, statuses } = yield* starting()
        const id = yield* paidCharge
        yield* post({ transactionId: id, status: "Paid" })
        yield* idle
        const checked = yield* Deferred.make<void>()
        const mayEnd = yield* Deferred.make<void>()
        const open = check(id).pipe(
          Effect.andThen(Deferred.succeed(checked, undefined)),
          Effect.andThen(Deferred.await(mayEnd)),
          sql.withTransaction
        )
        const transaction = yield* Effect.forkChild(open)
        yield* Deferred.await(checked)
        yield* (yield* Sandbox).refund(id)
        const delivery = yield* Effect.forkChild(post({ transactionId: id, status: "Refunded" }))
        yield* Effect.sleep("200 millis")
        assert.isUndefined(delivery.pollUnsafe())
        yield* Deferred.succeed(mayEnd, undefined)
        yield* Fiber.join(transaction)
        assert.strictEqual(yield* Fiber.join(delivery), 200)
        yield* idle
        assert.deepStrictEqual(statuses(), ["Paid", "Refunded"])
      }).pipe(Effect.scoped, Effect.provide([Layer.fresh(client()), Layer.fresh(world)]))
    )
  })
}
