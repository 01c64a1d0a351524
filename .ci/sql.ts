/**
 * Writes docs/sql/: the tables of the durable payouts and webhooks, for users who create the tables by hand. The
 * statements are recorded while the layers create the tables of an empty database, so the two cannot differ. Run `npm
 * run sql` after a new migration.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, Statement } from "effect/sql"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { migrate } from "../src/durable/Tables.ts"
import { tables as payouts } from "../src/payouts/internal/store/tables.ts"
import { webhookTables } from "../src/webhook/internal/table.ts"

export const dialects = ["postgresql", "sqlite"] as const

const literal = (value: unknown) =>
  typeof value === "number" ? String(value) : `'${String(value).replaceAll("'", "''")}'`

/** Statements that read, lock, begin or end a transaction do not create tables. */
const isLasting = (text: string) => !/^\s*(SELECT|LOCK|BEGIN|COMMIT|SAVEPOINT|RELEASE)\b/i.test(text)

/** The statements that the layers execute on an empty database. */
export const record = (dialect: (typeof dialects)[number]) =>
  Effect.gen(function* () {
    const texts: Array<string> = []
    const execute = (text: string, parameters: ReadonlyArray<unknown>) =>
      Effect.sync(() => {
        let index = 0
        const inlined = text
          .replaceAll(/\$(\d+)/g, (_, at: string) => literal(parameters[Number(at) - 1]))
          .replaceAll("?", () => literal(parameters[index++]))
        const lines = inlined.split("\n").filter((line) => line.trim() !== "")
        const indent = Math.min(...lines.slice(1).map((line) => line.search(/\S/)), 12)
        if (isLasting(text))
          texts.push(lines.map((line, at) => (at === 0 ? line.trim() : line.slice(Math.max(indent - 2, 0)))).join("\n"))
        return []
      })
    const client = Layer.effect(
      SqlClient.SqlClient,
      SqlClient.make({
        acquirer: Effect.succeed({
          execute,
          executeUnprepared: execute,
          executeRaw: execute,
          executeValues: execute,
          executeValuesUnprepared: execute,
          executeStream: () => {
            throw new Error("nothing is read as a stream here")
          }
        }),
        compiler: dialect === "sqlite" ? Statement.makeCompilerSqlite() : PgClient.makeCompiler(),
        driver: "record",
        spanAttributes: []
      })
    ).pipe(Layer.provide(Reactivity.layer))
    yield* Effect.provide(Effect.all([migrate(payouts), migrate(webhookTables)], { discard: true }), client)
    return `-- Made by \`npm run sql\`. What the layers of effect-pix do on an empty database, for ${dialect}.\n\n${texts.map((text) => `${text};`).join("\n\n")}\n`
  })

export const folder = join(import.meta.dirname, "../docs/sql")

if (import.meta.main) {
  mkdirSync(folder, { recursive: true })
  for (const dialect of dialects) {
    writeFileSync(join(folder, `${dialect}.sql`), await Effect.runPromise(record(dialect)))
  }
}
