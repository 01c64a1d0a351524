/**
 * Kills processes that receive webhooks. They get deliveries about paid charges and ship orders. They are killed at
 * random with kill -9 and started again, while the gateway fails, shows payments late and closes connections. Each
 * delivery is sent until it is answered with 200, and a third of them twice. `node test/chaos/webhooks.ts` runs the
 * full size; EFFECT_PIX_SEED chooses the faults and the times.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { noPostgres, startPostgres } from "../support/postgres.ts"
import { seed, seeded } from "../support/seed.ts"
import { pause, until } from "./processes.ts"

// A TCP server always has an address with a port.
const portOf = (server: { address: () => AddressInfo | string | null }) => (server.address() as AddressInfo).port

/** Starts a gateway that answers each lookup with a paid charge, or fails. */
const startGateway = (next: () => number) =>
  new Promise<{ readonly url: string; readonly stop: () => void }>((done) => {
    const server = createServer((request, response) => {
      const chance = next()
      if (chance < 0.1) return request.socket.destroy()
      const status = chance < 0.2 ? 500 : chance < 0.3 ? 404 : 200
      const now = new Date().toISOString()
      const detail = {
        id: 1,
        leadId: 1,
        lead: { id: 1, name: "Maria Silva", email: "maria@example.com", phone: "", document: "" },
        companyId: 1,
        value: 2500,
        transactionId: request.url?.split("/").at(-1),
        enStatusTransaction: "Paid",
        enPaymentSystem: "Pix",
        updateDate: now,
        createdAt: now
      }
      response
        .writeHead(status, { "Content-Type": "application/json" })
        .end(status === 200 ? JSON.stringify(detail) : "")
      return undefined
    })
    server.listen(0, "127.0.0.1", () =>
      done({
        url: `http://127.0.0.1:${portOf(server)}`,
        stop: () => {
          server.close()
          server.closeAllConnections()
        }
      })
    )
  })

interface Worker {
  readonly child: ChildProcess
  readonly address: string
}

/** Starts a process that receives webhooks, and waits until it is ready. */
const startWorker = (env: Readonly<Record<string, string>>) =>
  new Promise<Worker>((done, failed) => {
    const child = spawn(process.execPath, ["--no-warnings", join(import.meta.dirname, "webhookWorker.ts")], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"]
    })
    createInterface({ input: child.stdout }).on("line", (port) => done({ child, address: `http://127.0.0.1:${port}` }))
    child.once("exit", () => failed(new Error("a worker ended before it was up")))
  })

export interface WebhookChaos {
  readonly database: "SQLite" | "PostgreSQL"
  readonly orders: number
  readonly processes: number
  readonly kills: number
  readonly seed: number
}

/** Sends one request with a time limit of half a minute. Returns `undefined` if there was no answer. */
const fetchOrNone = (url: string, init: RequestInit) =>
  fetch(url, { ...init, signal: AbortSignal.timeout(30_000) }).catch(() => undefined)

/** Counts how often each order was shipped, and measures the time from the last kill to the last shipment. */
export const webhookChaos = async ({ database, kills, orders, processes, seed }: WebhookChaos) => {
  const { next } = seeded(seed)
  const folder = mkdtempSync(join(tmpdir(), "effect-pix-chaos-"))
  const postgres = database === "PostgreSQL" ? await startPostgres() : undefined
  const gateway = await startGateway(next)
  const env = {
    GATEWAY: gateway.url,
    ...(postgres === undefined ? { SQLITE: join(folder, "shop.sqlite") } : { PG: postgres.url })
  }
  const workers: Array<Worker> = []
  const anyAddress = () => workers[Math.floor(next() * workers.length)]?.address

  const ids = Array.from({ length: orders }, (_, n) => `9f1c8c52-6a3e-4b1f-9d57-${String(n).padStart(12, "0")}`)
  /** Sends a delivery until it is answered with 200, since a killed process answers none. */
  const send = (transactionId: string) => {
    const body = JSON.stringify({ transactionId, status: "Paid" })
    return until(
      () =>
        fetchOrNone(`${anyAddress()}/webhooks/pix`, { method: "POST", body }).then((answer) => answer?.status === 200),
      "a delivery answered with 200"
    )
  }
  const shipped = async () => {
    const answer = await fetchOrNone(`${anyAddress()}/shipped`, { method: "GET" })
    // The type of the answer of webhookWorker.ts.
    return ((await answer?.json()) ?? []) as ReadonlyArray<{ readonly charge: string }>
  }
  const distinct = (rows: ReadonlyArray<{ readonly charge: string }>) => new Set(rows.map(({ charge }) => charge)).size

  try {
    for (let n = 0; n < processes; n++) workers.push(await startWorker(env))
    const lanes = Array.from({ length: 8 }, (_, lane) => ids.filter((_, n) => n % 8 === lane))
    const sending = Promise.all(
      lanes.map(async (lane) => {
        for (const id of lane) {
          await send(id)
          if (next() < 0.33) await send(id)
          await pause(next() * 40)
        }
      })
    )
    for (let n = 0; n < kills; n++) {
      await pause(100 + next() * 400)
      const victim = Math.floor(next() * processes)
      const gone = new Promise((done) => workers[victim]?.child.once("exit", done))
      workers[victim]?.child.kill("SIGKILL")
      await gone
      workers[victim] = await startWorker(env)
    }
    await sending
    const took = await until(async () => distinct(await shipped()) === orders, "all orders shipped")
    // A second shipment would have happened by now: the wait is a lease and one more poll.
    await pause(3000)
    const all = await shipped()
    return { shipped: distinct(all), twice: all.length - distinct(all), took }
  } finally {
    for (const { child } of workers) child.kill("SIGKILL")
    gateway.stop()
    await postgres?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const runs: ReadonlyArray<Omit<WebhookChaos, "seed">> = [
  { database: "SQLite", orders: 500, processes: 1, kills: 15 },
  ...(noPostgres() === undefined ? [{ database: "PostgreSQL" as const, orders: 500, processes: 3, kills: 15 }] : [])
]

/** Runs the full size, and returns whether every check held. */
export const webhooksAtFullSize = async (): Promise<boolean> => {
  let isSound = true
  for (const run of runs) {
    const { shipped, took, twice } = await webhookChaos({ ...run, seed })
    const isOk = shipped === run.orders && twice === 0
    isSound &&= isOk
    console.log(
      `  ${isOk ? "ok  " : "FAIL"} ${run.database}: ${run.orders} orders paid, ${run.processes} process(es), ${run.kills} times kill -9: ` +
        `${shipped} shipped, ${twice} twice; the last ${(took / 1000).toFixed(1)} s after the last delivery`
    )
  }
  return isSound
}

if (import.meta.main) process.exitCode = (await webhooksAtFullSize()) ? 0 : 1
