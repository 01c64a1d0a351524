/**
 * Repeatedly kills one process on a SQLite file, while the gateway loses replies, fails and refuses.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type Payout, pause, startGateway, startWorker, type Worker, violations } from "./processes.ts"
import { seeded } from "../support/seed.ts"

export const killOnSqlite = async (options: {
  readonly payouts: number
  readonly kills: number
  readonly faults: number
  readonly seed: number
  /** The longest that a process lives after its start, in milliseconds. */
  readonly life: number
}) => {
  const dir = mkdtempSync(join(tmpdir(), "effect-pix-chaos-"))
  const filename = join(dir, "payouts.db")
  const gateway = await startGateway()
  const { below } = seeded(options.seed)
  let worker: Worker | undefined
  try {
    const env = { ...gateway.env, SQLITE: filename, LEASE: "1" }
    await gateway.sendCommand(`faults ${options.faults} ${options.seed}`)
    const start = async () => {
      worker = startWorker(env, "both", String(options.payouts))
      await worker.said("up")
      return worker
    }
    for (let kill = 0; kill < options.kills; kill++) {
      const running = await start()
      // Some processes are killed while they submit, most of them with requests under way.
      if (kill % 3 > 0) await running.said("submitted")
      await pause(50 + below(options.life))
      running.kill("SIGKILL")
      await running.ended
    }
    await gateway.sendCommand("calm")
    const began = performance.now()
    await (await start()).said("done")
    const took = performance.now() - began
    await worker?.ended
    const db = new DatabaseSync(filename)
    // The columns of the query.
    const payouts = db
      .prepare("SELECT idempotency_key AS key, state FROM effect_pix_payouts")
      .all() as unknown as Array<Payout>
    db.close()
    const ledger = await gateway.sendCommand("ledger")
    return { violations: violations(options.payouts, payouts, ledger), ledger, payouts, took }
  } finally {
    worker?.kill("SIGKILL")
    gateway.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
