// A process that receives webhooks and ships, told by its environment which database and which gateway. It prints its
// port. It writes a row for each time that it ships, with nothing of its own against a second time.
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Console, Effect, Layer, Logger, Redacted } from "effect"
import { FetchHttpClient, HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { createServer } from "node:http"
import { Credentials } from "../../src/client/Credentials.ts"
import { IdempotencyKeyGen } from "../../src/client/IdempotencyKeyGen.ts"
import { Payments } from "../../src/client/Payments.ts"
import { PaymentsPolicy } from "../../src/client/PaymentsPolicy.ts"
import { layer as layerSqlite } from "../../src/node/NodeSqlite.ts"
import { Webhook } from "../../src/webhook/Webhook.ts"

const env = (name: string) => process.env[name] ?? ""

const database =
  env("PG") === "" ? layerSqlite({ filename: env("SQLITE") }) : PgClient.layer({ url: Redacted.make(env("PG")) })
const payments = Payments.layer({ baseUrl: env("GATEWAY"), companyId: 1 }).pipe(
  Layer.provide([
    FetchHttpClient.layer,
    IdempotencyKeyGen.layer,
    Credentials.layer({ clientId: "client", apiKey: Redacted.make("key") })
  ])
)

const webhook = Webhook.layerSql({
  lease: "2 seconds",
  poll: "100 millis",
  onPaid: Effect.fn("onPaid")(function* ({ transaction }) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO shipped (charge) VALUES (${transaction.transactionId})`
    // The wait is long enough that some kills happen here, when the row is written and not committed.
    yield* Effect.sleep("5 millis")
  })
})

const tables = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE IF NOT EXISTS shipped (charge VARCHAR(60))`
  })
)

/**
 * The shipped orders, which the test requests from this process, since no other process can open its embedded database.
 */
const shipped = HttpRouter.use((router) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    router.add(
      "GET",
      "/shipped",
      Effect.flatMap(Effect.orDie(sql`SELECT charge FROM shipped`), HttpServerResponse.json)
    )
  )
)

const app = Layer.mergeAll(Webhook.route("/webhooks/pix"), shipped)
// The process is ready when the handler is built. A server that only listens would never answer a call.
const up = Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
  Console.log("port" in address ? address.port : "no port")
)
const server = Layer.effectDiscard(up).pipe(
  Layer.provide(HttpRouter.serve(app, { disableLogger: true, disableListenLog: true })),
  Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provide([webhook, tables]),
  Layer.provide([database, payments, PaymentsPolicy.layer({ ...PaymentsPolicy.once, attemptTimeout: "10 seconds" })])
)

const said = env("VERBOSE") === "" ? Logger.layer([]) : Logger.layer([Logger.consolePretty()])
NodeRuntime.runMain(Layer.launch(Layer.provide(server, said)))
