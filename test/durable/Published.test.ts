/**
 * The tables that docs/sql/ publishes for a database which the layers may not change.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import { Money } from "effect-pix"
import { PayoutQueue } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Tables } from "../../src/durable/Tables.ts"
import { tables } from "../../src/payouts/internal/store/tables.ts"
import { requireTables } from "../../src/payouts/PayoutQueue.ts"
import { webhookTables } from "../../src/webhook/internal/table.ts"
import { dialects, folder, record } from "../../.ci/sql.ts"
import { clientOf, databases, onPostgres, postgres } from "../support/database.ts"
import { effect, live } from "../support/effect.ts"
import { gateway, gatewayOnce, memory, payout, startWorker } from "../support/payoutQueue.ts"
import { paid } from "../support/payoutSeen.ts"
import { insertPayout } from "../support/submitSql.ts"

const published = (dialect: (typeof dialects)[number]) => readFileSync(join(folder, `${dialect}.sql`), "utf8")

const apply = (text: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(
      text.split(/;\n/).filter((part) => part.trim() !== ""),
      (statement) => sql.unsafe(statement)
    )
  )

const paying = PayoutQueue.use((queue) =>
  Effect.andThen(
    queue.submit(payout("invoice-1")),
    Effect.map(queue.await("invoice-1"), ({ state }) => state)
  )
)

describe("docs/sql", () => {
  effect.each(dialects)("%s.sql has the statements of the layers (npm run sql writes it)", function* (dialect) {
    assert.strictEqual(published(dialect), yield* record(dialect))
  })

  it("the first migration is as it was published: a change of a table is a migration of its own", () => {
    const digestOf = ({ migrations }: Tables) =>
      createHash("sha256").update(JSON.stringify(migrations["0001_create"])).digest("hex").slice(0, 16)
    assert.deepStrictEqual([tables, webhookTables].map(digestOf), ["f80eb72bb9736504", "479812ae847d7051"])
  })

  effect(
    "makes a SQLite database on which a queue pays, and which refuses a time that is not in milliseconds",
    memory,
    function* () {
      const sql = yield* SqlClient.SqlClient
      yield* apply(published("sqlite"))
      for (const column of ["submitted_at", "updated_at"]) {
        for (const time of ["1790000000000000000", "8640000000000001", "-1", "'2026-11-22'"]) {
          const columns = `idempotency_key, reference, amount, ${column}`
          const insert = `INSERT INTO effect_pix_payouts (${columns}) VALUES ('k', 'r', 1000, ${time})`
          assert.strictEqual((yield* Effect.flip(sql.unsafe(insert))).reason._tag, "ConstraintError", insert)
        }
      }
      assert.deepStrictEqual(yield* sql`SELECT reference FROM effect_pix_payouts`, [])
      assert.strictEqual(yield* Effect.provide(paying, Layer.provide(PayoutQueue.layer(), gateway)), "posted")
    }
  )

  onPostgres(
    "makes a PostgreSQL on which the queue of a role that may not change tables pays, and that of one without a right fails",
    function* () {
      const { url } = yield* postgres
      const asRole = (role: string) => clientOf(url.replace("postgres@", `${role}@`))
      const roles = [
        "CREATE ROLE payer LOGIN",
        "CREATE ROLE auditor LOGIN",
        "CREATE ROLE guest LOGIN",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO payer",
        "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO payer",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO auditor"
      ]
      yield* Effect.provide(apply([published("postgresql"), ...roles].join(";\n")), asRole("postgres"))
      const queue = Layer.provide(PayoutQueue.layer({ poll: "50 millis" }), [gateway, asRole("payer")])
      assert.strictEqual(yield* Effect.provide(paying, queue), "posted")
      const refused = { _tag: "DatabaseError", reason: "AuthorizationError" } as const
      const clientLayer = (role: string) => Layer.provide(Layer.fresh(PayoutQueue.layerClient()), asRole(role))
      assert.deepInclude(yield* Effect.flip(Layer.build(clientLayer("guest"))), refused)
      const unwritten = PayoutQueue.use(({ submit }) => submit(payout("invoice-2")))
      assert.deepInclude(yield* Effect.flip(Effect.provide(unwritten, clientLayer("auditor"))), refused)
      // The tables are there: only a database without them may be called so.
      assert.deepInclude(yield* Effect.flip(Effect.provide(requireTables, asRole("guest"))), refused)
    }
  )

  for (const { client, name, skip } of databases)
    live.skipIf(skip)(
      `submit.sql submits a payout in the caller's transaction, once, and what is not as it says is never sent: ${name}`,
      gatewayOnce,
      function* () {
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const queue = yield* startWorker({ poll: "20 millis" })
          const item = payout("invoice-1", 2500)
          yield* Effect.flip(sql.withTransaction(Effect.andThen(insertPayout(item), Effect.fail("rolled back"))))
          assert.isTrue(Option.isNone(yield* queue.status("invoice-1")))
          assert.strictEqual(yield* insertPayout({ ...item, account: "shops" }), 1)
          assert.deepStrictEqual([yield* insertPayout(item), yield* insertPayout(payout("invoice-1", 9900))], [1, 0])
          assert.deepInclude(yield* queue.await("invoice-1"), { state: "posted", amount: item.amount })
          assert.strictEqual((yield* queue.submit(item)).state, "posted")
          assert.strictEqual((yield* Effect.flip(queue.submit(payout("invoice-1", 9900))))._tag, "ReferenceConflict")
          const pix = `"pixKey":"maria"`
          const wrong = [
            "none",
            "{}",
            `{"amount":2600}`,
            `{"amount":25.00}`,
            `{"amount":2500,${pix},"pixKeyType":"EMAIL"}`
          ]
          for (const [index, request] of wrong.entries())
            yield* insertPayout(payout(`wrong-${index}`, 2500), () => Effect.succeed(request))
          yield* insertPayout({ ...payout("below the minimum"), amount: Money.centavos(999) })
          yield* insertPayout(payout("another's", 2500), undefined, "invoice-1\n")
          yield* Effect.repeat(Stream.runCollect(queue.list()), {
            until: (rows) => rows.filter(({ state }) => state === "parked" || state === "refused").length === 7
          })
          assert.strictEqual(yield* paid, 1)
        }).pipe(Effect.provide(Layer.fresh(client())))
      }
    )
})
