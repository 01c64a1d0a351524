/**
 * Three processes on a real PostgreSQL: one is killed, one is stopped for longer than its lease and continued, and the
 * database is unavailable for longer than a lease.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { seeded } from "../support/seed.ts"
import { type Postgres, startPostgres } from "../support/postgres.ts"
import {
  type Ledger,
  type Payout,
  pause,
  startGateway,
  startWorker,
  until,
  violations,
  type Worker
} from "./processes.ts"

/** The lease of these workers, in seconds. */
export const lease = 2

interface Stage {
  readonly db: Postgres
  readonly query: <A extends object>(text: string) => Promise<ReadonlyArray<A>>
  readonly gateway: Awaited<ReturnType<typeof startGateway>>
  readonly start: (...args: ReadonlyArray<string>) => Promise<Worker>
  /** Runs a process to its end. */
  readonly run: (...args: ReadonlyArray<string>) => Promise<void>
  readonly openCount: () => Promise<number>
}

const onStage = async <A>(act: (stage: Stage) => Promise<A>): Promise<A> => {
  const db = await startPostgres()
  const gateway = await startGateway()
  const workers: Array<Worker> = []
  const env = { ...gateway.env, PG: db.url, LEASE: String(lease) }
  const query = <A extends object>(text: string) =>
    Effect.runPromise(
      Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<A>(text)),
        PgClient.layer({ url: Redacted.make(db.url) })
      )
    )
  const start = async (...args: ReadonlyArray<string>) => {
    const worker = startWorker(env, ...args)
    workers.push(worker)
    await worker.said("up")
    return worker
  }
  const openCount = async () => {
    const [row] = await query<{ readonly n: unknown }>(
      "SELECT COUNT(*) AS n FROM effect_pix_payouts WHERE state IN ('accepted', 'unknown')"
    )
    return Number(row?.n)
  }
  const run = async (...args: ReadonlyArray<string>) => {
    const worker = await start(...args)
    await worker.said("done")
    await worker.ended
  }
  try {
    return await act({ db, query, gateway, start, run, openCount })
  } finally {
    for (const worker of workers) worker.kill("SIGKILL")
    gateway.stop()
    await db.stop()
  }
}

const judged = async ({ gateway, query }: Stage, count: number) => {
  const payouts = await query<Payout>("SELECT idempotency_key AS key, state FROM effect_pix_payouts")
  const ledger: Ledger = await gateway.sendCommand("ledger")
  return { violations: violations(count, payouts, ledger), ledger, payouts }
}

/** The caller's transaction rolls back: nothing may be stored or sent. */
export const rollBack = () =>
  onStage(async (stage) => {
    await stage.start("work")
    await stage.run("rollback")
    await pause(500)
    const { ledger, payouts } = await judged(stage, 0)
    return { stored: payouts.length, requests: ledger.requests }
  })

/**
 * Kills one of three workers and stops another during its payouts. Measures the time until the third has finished all
 * payouts.
 */
export const takeOver = () =>
  onStage(async (stage) => {
    const count = 60
    await stage.gateway.sendCommand(`slow ${count} 1500`)
    await stage.run("submit", String(count))
    await stage.query("UPDATE effect_pix_payout_accounts SET paused = TRUE")
    const [killed, stopped] = await Promise.all([stage.start("work"), stage.start("work"), stage.start("work")])
    await pause(1500)
    await stage.query("UPDATE effect_pix_payout_accounts SET paused = FALSE")
    await until(async () => (await stage.gateway.sendCommand("ledger")).keys.length >= 45, "payouts under way")
    killed.kill("SIGKILL")
    stopped.kill("SIGSTOP")
    const took = await until(async () => (await stage.openCount()) === 0, "all answered by the third worker")
    stopped.kill("SIGCONT")
    await pause(2000)
    return { took, ...(await judged(stage, count)) }
  })

/** The database is unavailable for longer than a lease, with payouts under way. The same workers continue. */
export const outage = () =>
  onStage(async (stage) => {
    const count = 150
    await stage.gateway.sendCommand(`slow ${count} 400`)
    await Promise.all([stage.start("work"), stage.start("work"), stage.start("work")])
    await stage.run("submit", String(count))
    await until(async () => (await stage.gateway.sendCommand("ledger")).keys.length >= 20, "payouts under way")
    await stage.db.crash()
    await pause((lease + 3) * 1000)
    await stage.db.start()
    const took = await until(async () => (await stage.openCount()) === 0, "all answered after the outage")
    return { took, ...(await judged(stage, count)) }
  })

/** Kills and restarts three workers one after another, while the gateway loses answers, fails and refuses. */
export const killAtRandom = (options: { readonly payouts: number; readonly kills: number; readonly seed: number }) =>
  onStage(async (stage) => {
    const { below } = seeded(options.seed)
    await stage.gateway.sendCommand(`faults ${options.payouts} ${options.seed}`)
    await stage.run("submit", String(options.payouts))
    const workers = await Promise.all([stage.start("work"), stage.start("work"), stage.start("work")])
    for (let kill = 0; kill < options.kills; kill++) {
      const index = below(workers.length)
      workers[index]?.kill("SIGKILL")
      workers[index] = await stage.start("work")
      await pause(below(400))
    }
    await stage.gateway.sendCommand("calm")
    const took = await until(async () => (await stage.openCount()) === 0, "all answered")
    return { took, ...(await judged(stage, options.payouts)) }
  })

/** How many payouts a second one worker makes, with all its database writes. */
export const speed = (count: number) =>
  onStage(async (stage) => {
    await stage.run("submit", String(count))
    await stage.query("UPDATE effect_pix_payout_accounts SET paused = TRUE")
    await stage.start("work")
    await pause(2500)
    await stage.query("UPDATE effect_pix_payout_accounts SET paused = FALSE")
    await until(async () => (await stage.openCount()) === 0, "all answered")
    const [span] = await stage.query<{ readonly ms: unknown }>(
      "SELECT MAX(updated_at) - MIN(updated_at) AS ms FROM effect_pix_payouts WHERE state = 'posted'"
    )
    return { perSecond: Math.round(count / (Number(span?.ms) / 1000)), ...(await judged(stage, count)) }
  })
