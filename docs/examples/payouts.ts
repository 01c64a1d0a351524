/**
 * What `npm run example:payouts` runs: 200 payouts that survive whatever you do to them. Press Ctrl-C, or kill the process
 * with `kill -9`, and start it again: it goes on where it was, and pays nobody twice.
 *
 * The gateway is a process of its own, as a real one is, and stays while this one is killed. It ends by itself after ten
 * minutes, and keeps its books in a file. `npm run example:payouts -- --reset` begins anew.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Redacted, Schedule, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientResponse } from "effect/http"
import { Credentials, Money, Payments } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const count = 200
const port = 47_811
const baseUrl = `http://127.0.0.1:${port}`
const folder = join(tmpdir(), "effect-pix-example-payouts")
const items = Array.from({ length: count }, (_, index) => ({
  reference: `invoice-${index + 1}`,
  amount: Money.centavos(1000 + index)
}))
const often = Schedule.spaced("100 millis")

/** The gateway: it takes its time, and loses an answer now and then. */
const gateway = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const slow = Fault.latency("300 millis", { executed: true })
  const plan = Array.from({ length: count * 2 }, (_, index) => (index % 10 === 9 ? Fault.resetAfter : slow))
  yield* sandbox.fault("requestWithdrawal", plan)
  const isThere = Effect.sync(() => existsSync(folder))
  yield* Effect.repeat(isThere, { while: (there) => there, schedule: often })
}).pipe(
  Effect.timeoutOption("10 minutes"),
  Effect.provide(
    Layer.provide(
      Sandbox.layerServer,
      Layer.succeed(SandboxOptions, { balance: 10_000_000, port, stateFile: join(folder, "gateway.json") })
    )
  )
)

const isUp = Effect.isSuccess(HttpClient.get(baseUrl))

/** Removes all files. The gateway of the last time ends when its folder is gone. */
const reset = Effect.andThen(
  Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
  Effect.repeat(isUp, { while: (up) => up, schedule: often })
)

const startGateway = Effect.gen(function* () {
  if (yield* isUp) return
  yield* Effect.sync(() =>
    spawn(process.execPath, ["--no-warnings", fileURLToPath(import.meta.url), "--gateway"], {
      detached: true,
      stdio: "ignore"
    }).unref()
  )
  yield* Effect.repeat(isUp, { until: (up) => up, schedule: often })
})

const bar = (done: number) => `${"#".repeat(Math.round((done / count) * 40)).padEnd(40, ".")} ${done} of ${count}`

const program = Effect.gen(function* () {
  const queue = yield* PayoutQueue
  // Submitted every time: what stands already is the same payout.
  yield* queue.submitMany(items)
  const progress = Effect.gen(function* () {
    const all = yield* Stream.runCollect(queue.list())
    const inState = (...states: ReadonlyArray<string>) => all.filter(({ state }) => states.includes(state)).length
    const posted = inState("posted")
    const line = `${bar(posted)} posted, ${inState("accepted")} waiting, ${inState("unknown")} unknown, ${inState("refused", "parked")} refused or parked`
    yield* Effect.sync(() => process.stdout.write(`\r${line.padEnd(110)}`))
    return inState("accepted", "unknown")
  })
  yield* Effect.repeat(progress, { until: (open) => open === 0, schedule: Schedule.spaced("200 millis") })
  const books = yield* HttpClient.get(`${baseUrl}/_sandbox/withdrawals?limit=1`)
  const { total } = yield* HttpClientResponse.schemaBodyJson(Schema.Struct({ total: Schema.Int }))(books)
  yield* Console.log(`\nAll answered. The gateway paid ${total} payouts: ${baseUrl}/ shows them for a while.`)
  yield* Console.log("To see it once more: npm run example:payouts -- --reset")
})

const payments = Payments.layer({ baseUrl, companyId: 1 }).pipe(
  Layer.provide([
    FetchHttpClient.layer,
    Credentials.layer({ clientId: "sandbox-client", apiKey: Redacted.make("sandbox-key") })
  ])
)
const queue = PayoutQueue.layer({ concurrency: 8, lease: "3 seconds", poll: "200 millis" }).pipe(
  Layer.provide([NodeSqlite.layer({ filename: join(folder, "payouts.db") }), payments])
)

const main = Effect.gen(function* () {
  if (process.argv.includes("--reset")) yield* reset
  mkdirSync(folder, { recursive: true })
  yield* startGateway
  yield* Console.log(`${count} payouts. Kill me (kill -9 ${process.pid}, or Ctrl-C), and start me again.\n`)
  yield* Effect.provide(program, queue)
}).pipe(Effect.provide(FetchHttpClient.layer))

if (process.argv.includes("--gateway")) NodeRuntime.runMain(gateway)
else NodeRuntime.runMain(main)
