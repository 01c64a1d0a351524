// A process that pays: `node worker.ts work | submit <count> | both <count> | rollback`, told by its environment which
// database and which gateway. It prints a line when it is up, and `done` when nothing of what it submitted is open.
import { NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Console, Effect, Layer, Logger, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { SqlClient } from "effect/sql"
import { Credentials } from "../../src/client/Credentials.ts"
import { IdempotencyKeyGen } from "../../src/client/IdempotencyKeyGen.ts"
import { Payments } from "../../src/client/Payments.ts"
import { PaymentsPolicy } from "../../src/client/PaymentsPolicy.ts"
import { layer as layerSqlite } from "../../src/node/NodeSqlite.ts"
import { PayoutQueue } from "../../src/payouts/PayoutQueue.ts"
import { centavos } from "../../src/pix/Money.ts"

const env = (name: string) => process.env[name] ?? ""
const [act = "work", count = "0"] = process.argv.slice(2)

const database =
  env("PG") === "" ? layerSqlite({ filename: env("SQLITE") }) : PgClient.layer({ url: Redacted.make(env("PG")) })
const gateway = Payments.layer({ baseUrl: env("GATEWAY"), companyId: 1 }).pipe(
  Layer.provide([
    FetchHttpClient.layer,
    IdempotencyKeyGen.layer,
    Credentials.layer({ clientId: env("CLIENT_ID"), apiKey: Redacted.make(env("API_KEY")) })
  ])
)
const settings = { lease: `${Number(env("LEASE") || 2)} seconds` as const, poll: "100 millis" as const }
const queue = (act === "work" || act === "both" ? PayoutQueue.layer(settings) : PayoutQueue.layerClient(settings)).pipe(
  Layer.provideMerge(Layer.mergeAll(database, gateway))
)
const policy = PaymentsPolicy.layer({ ...PaymentsPolicy.once, attemptTimeout: "20 seconds" })

const references = Array.from({ length: Number(count) }, (_, index) => `invoice-${index + 1}`)

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const payouts = yield* PayoutQueue
  yield* Console.log("up")
  const submit = (reference: string) => payouts.submit({ reference, amount: centavos(1000) })
  if (act === "rollback") {
    const undone = Effect.gen(function* () {
      yield* submit("rolled-back")
      yield* Effect.sleep("1 second")
      return yield* Effect.fail("the caller's own failure")
    })
    yield* Effect.flip(sql.withTransaction(undone))
  }
  if (act === "submit") {
    yield* payouts.submitMany(references.map((reference) => ({ reference, amount: centavos(1000) })))
  }
  if (act === "both") {
    yield* Effect.forEach(references, submit, { concurrency: 10 })
    yield* Console.log("submitted")
    yield* Effect.forEach(references, payouts.await, { concurrency: "unbounded" })
  }
  yield* Console.log("done")
  return act === "work" ? yield* Effect.never : undefined
})

const said = env("VERBOSE") === "" ? Logger.layer([]) : Logger.layer([Logger.consolePretty()])

NodeRuntime.runMain(Effect.provide(program, Layer.provideMerge(queue, Layer.mergeAll(policy, said))))
