import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Tables } from "../../src/durable/Tables.ts"
import { tables } from "../../src/payouts/internal/queue/tables.ts"
import { requireTables } from "../../src/payouts/PayoutQueue.ts"
import { webhookTables } from "../../src/webhook/internal/table.ts"
import { dialects, folder, record } from "../../.ci/sql.ts"
import { gateway, payout } from "../support/payoutQueue.ts"
import { postgres } from "../support/database.ts"
import { noPostgres } from "../support/postgres.ts"
import { effect, live } from "../support/effect.ts"

const published = (dialect: (typeof dialects)[number]) => readFileSync(join(folder, `${dialect}.sql`), "utf8")

const apply = (text: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(
      text.split(/;\n/).filter((part) => part.trim() !== ""),
      (statement) => sql.unsafe(statement),
      {
        discard: true
      }
    )
  )

const paying = Effect.gen(function* () {
  const queue = yield* PayoutQueue
  yield* queue.submit(payout("invoice-1"))
  return (yield* queue.await("invoice-1")).state
})

describe("docs/sql", () => {
  for (const dialect of dialects)
    effect(`${dialect}.sql has the statements of the layers (npm run sql writes it)`, function* () {
      assert.strictEqual(published(dialect), yield* record(dialect))
    })

  it("the first migration is as it was published: a change of a table is a migration of its own", () => {
    const digestOf = ({ migrations }: Tables) =>
      createHash("sha256").update(JSON.stringify(migrations["0001_create"])).digest("hex").slice(0, 16)
    assert.deepStrictEqual([tables, webhookTables].map(digestOf), ["d675fc2dc45e79cf", "479812ae847d7051"])
  })

  live(
    "a time that is not in milliseconds is refused, and not stored in a row that nobody can read",
    NodeSqlite.layer({ filename: ":memory:" }),
    function* () {
      const sql = yield* SqlClient.SqlClient
      yield* apply(published("sqlite"))
      for (const column of ["submitted_at", "updated_at"]) {
        for (const time of ["1790000000000000000", "8640000000000001", "-1", "'2026-11-22'"]) {
          const inserted = sql.unsafe(
            `INSERT INTO effect_pix_payouts (idempotency_key, reference, amount, request_check, ${column}) VALUES ('k', 'r', 1000, 'abc', ${time})`
          )
          const error = yield* Effect.flip(inserted)
          assert.strictEqual(error.reason._tag, "ConstraintError", `${column} ${time}`)
        }
      }
      assert.deepStrictEqual(yield* sql`SELECT reference FROM effect_pix_payouts`, [])
    }
  )

  live(
    "a queue pays on a SQLite database that was made from the published file",
    NodeSqlite.layer({ filename: ":memory:" }),
    function* () {
      yield* apply(published("sqlite"))
      const layer = Layer.provide(PayoutQueue.layer({ poll: "50 millis" }), gateway)
      assert.strictEqual(yield* Effect.provide(paying, layer), "posted")
    }
  )

  const absent = noPostgres()
  const why = absent === undefined ? "" : ` (${absent})`
  live.skipIf(absent !== undefined)(
    `a queue whose role may not change tables pays on a PostgreSQL that was made from the published file${why}`,
    function* () {
      const { url } = yield* postgres
      yield* Effect.provide(
        Effect.andThen(
          apply(published("postgresql")),
          apply(
            [
              "CREATE ROLE payer LOGIN",
              "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
              "GRANT ALL ON ALL TABLES IN SCHEMA public TO payer",
              "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO payer"
            ].join(";\n")
          )
        ),
        PgClient.layer({ url: Redacted.make(url) })
      )
      const payer = PgClient.layer({ url: Redacted.make(url.replace("postgres@", "payer@")) })
      const layer = PayoutQueue.layer({ poll: "50 millis" }).pipe(Layer.provide([gateway, payer]))
      assert.strictEqual(yield* Effect.provide(paying, layer), "posted")
    }
  )

  live.skipIf(absent !== undefined)(
    `a role that may not use the tables gets a DatabaseError, and no defect${why}`,
    function* () {
      const { url } = yield* postgres
      yield* Effect.provide(
        Effect.andThen(
          apply(published("postgresql")),
          apply(
            "CREATE ROLE auditor LOGIN;\nGRANT SELECT ON ALL TABLES IN SCHEMA public TO auditor;\nCREATE ROLE guest LOGIN"
          )
        ),
        PgClient.layer({ url: Redacted.make(url) })
      )
      const clientOf = (role: string) => PgClient.layer({ url: Redacted.make(url.replace("postgres@", `${role}@`)) })
      const refused = { _tag: "DatabaseError", reason: "AuthorizationError" } as const
      const guest = clientOf("guest")
      const unbuilt = Layer.build(Layer.provide(Layer.fresh(PayoutQueue.layerClient()), guest))
      assert.deepInclude(yield* Effect.flip(Effect.scoped(unbuilt)), refused)
      const unwritten = PayoutQueue.use((queue) => queue.submit(payout("invoice-1"))).pipe(
        Effect.provide(Layer.provide(Layer.fresh(PayoutQueue.layerClient()), clientOf("auditor")))
      )
      assert.deepInclude(yield* Effect.flip(unwritten), refused)
      // They are there: only a database without them may be called so.
      const looked = yield* Effect.flip(Effect.provide(requireTables, guest))
      assert.deepInclude(looked, refused)
    }
  )
})
