/**
 * A backup of yesterday is restored, and the gateway has forgotten yesterday's keys: what was paid is open in the backup,
 * without a mark. The steps are those of the runbook.
 */
import { PgClient } from "@effect/sql-pg"
import { spawnSync } from "node:child_process"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { startPostgres } from "../support/postgres.ts"
import { type Payout, startGateway, startWorker, type Worker } from "./processes.ts"

/** A program's database, its backup, and what a process needs to use either. */
interface Backed {
  /** The settings of a process on the database, or on its restored backup. */
  readonly env: (isRestored: boolean) => Readonly<Record<string, string>>
  /** Makes the backup, while no process uses the database. */
  readonly backUp: () => Promise<void>
  /** The payouts in the restored backup. */
  readonly payouts: () => Promise<ReadonlyArray<Payout & { readonly reference: string }>>
  readonly close: () => Promise<void>
}

const select = "SELECT idempotency_key AS key, state, reference FROM effect_pix_payouts"

const onSqlite = (): Backed => {
  const dir = mkdtempSync(join(tmpdir(), "effect-pix-restore-"))
  const [filename, restored] = [join(dir, "payouts.db"), join(dir, "restored.db")]
  const path = (isRestored: boolean) => (isRestored ? restored : filename)
  return {
    env: (isRestored) => ({ SQLITE: path(isRestored), DATABASE_URL: path(isRestored) }),
    backUp: () => Promise.resolve(copyFileSync(filename, restored)),
    payouts: () => {
      const db = new DatabaseSync(restored, { readOnly: true })
      // The columns of the query.
      const rows = db.prepare(select).all() as unknown as ReadonlyArray<Payout & { readonly reference: string }>
      db.close()
      return Promise.resolve(rows)
    },
    close: () => Promise.resolve(rmSync(dir, { recursive: true, force: true }))
  }
}

const onPostgres = async (): Promise<Backed> => {
  const db = await startPostgres()
  const url = (name: string) => db.url.replace(/[^/]*$/, name)
  const query = <A extends object>(name: string, text: string) =>
    Effect.runPromise(
      Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<A>(text)),
        PgClient.layer({ url: Redacted.make(url(name)) })
      )
    )
  await query("postgres", "CREATE DATABASE shop")
  return {
    env: (isRestored) => ({
      PG: url(isRestored ? "restored" : "shop"),
      DATABASE_URL: url(isRestored ? "restored" : "shop")
    }),
    backUp: async () => void (await query("postgres", "CREATE DATABASE restored TEMPLATE shop")),
    payouts: () => query("restored", select),
    close: () => db.stop()
  }
}

const main = resolve(import.meta.dirname, "../../src/cli/main.ts")

/** Runs the command as an operator does, and fails if it does. */
const operate = (env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) => {
  const flags = ["--by", "ana", "--note", "the backup of yesterday was restored", "--yes"]
  const ended = spawnSync(process.execPath, ["--no-warnings", main, "payouts", ...args, ...flags], {
    env: { ...process.env, ...env },
    encoding: "utf8"
  })
  if (ended.status !== 0) throw new Error(`payouts ${args[0]} ended with ${ended.status}: ${ended.stderr}`)
  return ended.stderr
}

/**
 * Pays what was in the backup, restores the backup, and starts a worker that submits it all again with `fresh` payouts more.
 * `isRunbookFollowed`: before the worker starts, an operator parks what is in the backup, and settles what the panel shows.
 */
export const restore = async (options: {
  readonly on: "SQLite" | "PostgreSQL"
  readonly payouts: number
  readonly fresh: number
  readonly isRunbookFollowed: boolean
}) => {
  const { fresh, isRunbookFollowed, on, payouts } = options
  const database = on === "SQLite" ? onSqlite() : await onPostgres()
  const gateway = await startGateway()
  const workers: Array<Worker> = []
  const run = async (isRestored: boolean, ...args: ReadonlyArray<string>) => {
    const worker = startWorker({ ...gateway.env, ...database.env(isRestored), LEASE: "1" }, ...args)
    workers.push(worker)
    await worker.said("done")
    await worker.ended
  }
  try {
    await run(false, "submit", String(payouts))
    await database.backUp()
    await run(false, "both", String(payouts))
    const panel = new Set((await gateway.sendCommand("ledger")).keys)
    await gateway.sendCommand("forget")
    const plans: Array<string> = []
    if (isRunbookFollowed) {
      const env = database.env(true)
      plans.push(operate(env, "park", "--submitted-before", new Date().toISOString()))
      const paid = (await database.payouts()).filter(({ key }) => panel.has(key)).map(({ reference }) => reference)
      plans.push(operate(env, "settle", ...paid, "--as", "settled"))
    }
    await run(true, "both", String(payouts + fresh))
    const { keys } = await gateway.sendCommand("ledger")
    return { paidTwice: keys.length - new Set(keys).size, keys, plans, payouts: await database.payouts() }
  } finally {
    for (const worker of workers) worker.kill("SIGKILL")
    gateway.stop()
    await database.close()
  }
}
