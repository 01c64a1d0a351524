/**
 * docs/examples/service: its processes as they are started, under their own roles, on a PostgreSQL and a sandbox; and what its
 * Dockerfile says, where there is no Docker.
 */
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, test } from "@effect/vitest"
import { Effect, Layer, Queue, Redacted, Schedule, Schema } from "effect"
import {
  FetchHttpClient,
  HttpClient,
  HttpClientRequest,
  HttpServer,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { SqlClient } from "effect/sql"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join, resolve } from "node:path"
import { rolldown } from "rolldown"
import { startProgram } from "./support/commandProcess.ts"
import { clientOf, onPostgres, postgres } from "./support/database.ts"
import { shopOrder } from "./support/shopOrder.ts"

const folder = resolve(import.meta.dirname, "../docs/examples/service")
const read = (file: string) => readFileSync(join(folder, file), "utf8")
const Package = Schema.fromJsonString(
  Schema.Struct({
    scripts: Schema.Record(Schema.String, Schema.String),
    dependencies: Schema.Record(Schema.String, Schema.String),
    devDependencies: Schema.Record(Schema.String, Schema.String),
    engines: Schema.Struct({ node: Schema.String })
  })
)
const { dependencies, devDependencies, engines, scripts } = Schema.decodeSync(Package)(read("package.json"))

/** The programs of the scripts, on the sources of the library: in a copy of the folder they run on the package. */
const programs = Effect.promise(async () => {
  const names = ["migrate", "web", "worker"]
  const input = Object.fromEntries(names.map((name) => [name, join(folder, `src/${name}.ts`)]))
  const bundle = await rolldown({ input, platform: "node", tsconfig: resolve("tsconfig.json") })
  await bundle.write({ dir: resolve("test/.service"), format: "esm" })
  await bundle.close()
  return (name: string) => resolve("test/.service", `${name}.js`)
})

const gateway = Layer.provide(
  Sandbox.layerServer,
  Layer.succeed(SandboxOptions, { apiKey: Redacted.make("sandbox-key"), clientId: "sandbox-client" })
)

/** A port that nobody has: the address has to be known before the process starts. */
const freePort = Effect.scoped(
  Effect.flatMap(
    Layer.build(Layer.fresh(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))),
    (built) =>
      Effect.provide(
        HttpServer.addressFormattedWith((address) => Effect.succeed(new URL(address).port)),
        built
      )
  )
)

/** Receives what the processes export, by its path. */
const collector = Effect.gen(function* () {
  const paths = yield* Queue.unbounded<string>()
  const server = yield* HttpServer.HttpServer
  yield* server.serve(
    Effect.gen(function* () {
      yield* Queue.offer(paths, (yield* HttpServerRequest.HttpServerRequest).url)
      return HttpServerResponse.jsonUnsafe({})
    })
  )
  return { url: yield* HttpServer.addressFormattedWith(Effect.succeed), paths }
})

/** A database that was migrated twice, as before two releases, and the URL of each login. */
const migrated = Effect.fnUntraced(function* (program: (name: string) => string) {
  const { url } = yield* postgres
  for (const _ of [1, 2]) {
    const { ended } = yield* startProgram(program("migrate"), { DATABASE_URL: url })
    const { code, stderr } = yield* ended
    assert.deepStrictEqual([code, stderr], [0, ""])
  }
  const owner = yield* Layer.build(Layer.fresh(clientOf(url)))
  const database = new URL(url).pathname.slice(1)
  const as = (role: string) =>
    SqlClient.SqlClient.use((sql) => sql.unsafe(`CREATE ROLE ${role}_${database} LOGIN IN ROLE ${role}`)).pipe(
      Effect.as(url.replace("postgres@", `${role}_${database}@`)),
      Effect.provide(owner)
    )
  return { owner, web: yield* as("shop_web"), worker: yield* as("shop_worker") }
})

const services = Layer.mergeAll(
  gateway,
  FetchHttpClient.layer,
  NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })
)

describe("docs/examples/service", () => {
  onPostgres(
    "the service charges, is paid and pays out, each process under its own role, and ends on SIGTERM",
    services,
    function* () {
      const sandbox = yield* Sandbox
      const signals = yield* collector
      const port = yield* freePort
      const url = `http://127.0.0.1:${port}`
      const program = yield* programs
      const { owner, web, worker } = yield* migrated(program)
      const env = {
        PAYMENTS_BASE_URL: sandbox.baseUrl,
        PAYMENTS_CLIENT_ID: "sandbox-client",
        PAYMENTS_API_KEY: "sandbox-key",
        PAYMENTS_COMPANY_ID: String(sandbox.companyId),
        WEBHOOK_SECRET: "open-sesame",
        PAYOUT_SEAL_KEY: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
        OTEL_EXPORTER_OTLP_ENDPOINT: signals.url,
        PORT: port
      }
      const processes = [
        yield* startProgram(program("web"), { ...env, DATABASE_URL: web }),
        yield* startProgram(program("worker"), { ...env, DATABASE_URL: worker })
      ]
      const listens = Effect.isSuccess(HttpClient.get(`${url}/health`))
      yield* Effect.repeat(listens, { until: (does) => does, schedule: Schedule.spaced("50 millis") })
      yield* sandbox.subscribe(`${url}/webhooks/pix/open-sesame`)

      const placed = HttpClientRequest.post(`${url}/orders`).pipe(HttpClientRequest.bodyJsonUnsafe(shopOrder))
      assert.strictEqual((yield* HttpClient.execute(placed)).status, 201)
      const pressed = HttpClient.post(`${url}/orders/42/charge`).pipe(Effect.flatMap(({ json }) => json))
      assert.deepInclude(yield* pressed, { state: "open" })
      yield* pressed
      const [charge, ...others] = yield* sandbox.transactions
      assert.isEmpty(others)
      yield* sandbox.markPaid(charge?.transactionId ?? "")

      const shown = HttpClient.get(`${url}/orders/42`).pipe(Effect.flatMap(({ json }) => json))
      const isDone = (body: unknown) => JSON.stringify(body) === `{"id":"42","state":"paid","payout":"posted"}`
      yield* Effect.repeat(shown, { until: isDone, schedule: Schedule.spaced("50 millis") })
      assert.deepStrictEqual(
        (yield* sandbox.withdrawals).map(({ amount }) => amount),
        [4000]
      )
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ledger = sql`SELECT state FROM ledger`
        yield* Effect.repeat(ledger, { until: ({ length }) => length > 0, schedule: Schedule.spaced("50 millis") })
        const [row] = yield* sql<{ readonly request: string }>`SELECT request FROM effect_pix_payouts`
        assert.match(row?.request ?? "", /^v1\./)
      }).pipe(Effect.provide(owner))

      for (const { ended, kill } of processes) {
        kill("SIGTERM")
        // 130 says that it was interrupted, and closed all that it had.
        assert.deepInclude(yield* ended, { code: 130, stderr: "" })
      }
      assert.includeMembers(yield* Queue.takeAll(signals.paths), ["/v1/traces", "/v1/metrics", "/v1/logs"])
    }
  )

  test("the Dockerfile copies files that are there, and starts what the scripts start, on a Node that is supported", () => {
    const lines = read("Dockerfile").split("\n")
    const after = (word: string) =>
      lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))
    const copied = after("COPY").flatMap((words) => words.split(" ").slice(0, -1))
    // The lock file is made by the `npm install` of the copy.
    assert.deepStrictEqual(
      copied.filter((file) => !existsSync(join(folder, file))),
      ["package-lock.json"]
    )
    const sent = read(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
    assert.deepStrictEqual(copied.toSorted(), sent.map((line) => line.slice(1)).toSorted())
    const [start] = after("CMD").map((words) =>
      Schema.decodeSync(Schema.fromJsonString(Schema.Array(Schema.String)))(words)
    )
    assert.strictEqual(start?.join(" "), scripts["start"])
    assert.include(read("Dockerfile"), "npm run worker")
    for (const script of ["migrate", "start", "worker"]) {
      const file = scripts[script]?.split(" ").at(-1) ?? ""
      assert.isTrue(copied.some((path) => file.startsWith(`${path}/`)) && existsSync(join(folder, file)), script)
    }
    const [, major] = /^node:(\d+)-slim$/.exec(after("FROM")[0] ?? "") ?? []
    assert.isAtLeast(Number(major), Number(/\d+/.exec(engines.node)?.[0]))
  })

  test("its package has the versions that the library is tested with, and a script for each program", () => {
    const Own = Schema.fromJsonString(
      Schema.Struct({
        devDependencies: Schema.Record(Schema.String, Schema.String),
        peerDependencies: Schema.Record(Schema.String, Schema.String),
        engines: Schema.Struct({ node: Schema.String })
      })
    )
    const own = Schema.decodeSync(Own)(readFileSync(resolve("package.json"), "utf8"))
    assert.deepStrictEqual(engines, own.engines)
    for (const [name, range] of Object.entries({ ...dependencies, ...devDependencies })) {
      const peer = own.peerDependencies[name]
      if (peer === undefined) assert.include(own.devDependencies[name], range.replace(/^[~^]/, "").split(".")[0])
      else assert.strictEqual(range, peer)
    }
  })
})
