import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Money, Payments, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { Rehearsal } from "effect-pix/sandbox"
import { live } from "../support/effect.ts"

const stores = NodeSqlite.layer({ filename: ":memory:" })
const pixKey = PixKey.email("maria@example.com")

describe("a rehearsal on SQLite", () => {
  live("a death rolls an open transaction back, and the next process has the connection and the rows", function* () {
    const program = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE IF NOT EXISTS steps (name TEXT)`
      yield* sql`INSERT INTO steps VALUES ('started')`
      const pay = Payments.use((payments) => payments.requestWithdrawal({ amount: Money.centavos(1000), pixKey }))
      yield* sql.withTransaction(Effect.andThen(sql`INSERT INTO steps VALUES ('paid')`, pay))
    })
    const left = new Map<string, ReadonlyArray<string>>()
    const collect = ({ schedule }: { readonly schedule: string }) =>
      SqlClient.SqlClient.use((sql) => sql<{ readonly name: string }>`SELECT name FROM steps`).pipe(
        Effect.map((rows) =>
          left.set(
            schedule,
            rows.map(({ name }) => name)
          )
        ),
        Effect.orDie
      )
    const report = yield* Rehearsal.run(program, { stores, rules: { collect } })
    expect(left.get("undisturbed")).toEqual(["started", "paid"])
    expect(left.get("call 1 requestWithdrawal: death after it was executed")).toEqual(["started", "started", "paid"])
    // The payout is no part of the transaction: it was executed, and the next process asks under another key.
    expect(report.findings.map(({ rule, schedule }) => [rule, schedule])).toContainEqual([
      "paid-twice",
      "call 1 requestWithdrawal: death after it was executed"
    ])
  })
})
