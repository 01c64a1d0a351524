/**
 * Tests docs/examples/compose.yaml. The built command runs its sandbox, and the environment of its program
 * makes a client that reaches the sandbox by its name. The test changes only the port, the folder of the state and the
 * addresses of the names.
 */
import { assert, describe } from "@effect/vitest"
import { Payments } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { ConfigProvider, Effect, Layer, Logger, Schema } from "effect"
import * as Yaml from "effect/encoding/Yaml"
import { readFileSync } from "node:fs"
import type { LookupFunction } from "node:net"
import { join, resolve } from "node:path"
import { Agent } from "undici"
import { shellWord } from "../src/cli/internal/text.ts"
import { runLine, start } from "./support/commandProcess.ts"
import { live } from "./support/effect.ts"
import { folder } from "./support/operated.ts"

const Service = Schema.Struct({
  command: Schema.String,
  environment: Schema.optional(Schema.Record(Schema.String, Schema.String)),
  healthcheck: Schema.optional(Schema.Struct({ test: Schema.Array(Schema.String) }))
})
const Compose = Schema.Struct({ services: Schema.Struct({ sandbox: Service, shop: Service }) })

const read = (file: string) => readFileSync(resolve(import.meta.dirname, "../docs", file), "utf8")
const page = read("sandbox.md")
const compose = Effect.suspend(() => Schema.decodeUnknownEffect(Compose)(Yaml.parse(read("examples/compose.yaml"))))

const Banner = Schema.fromJsonString(
  Schema.Struct({ baseUrl: Schema.String, webhooks: Schema.Array(Schema.String), state: Schema.String })
)

/** Runs the command of the service `sandbox` from the page. */
const running = Effect.gen(function* () {
  const { sandbox } = (yield* compose).services
  const [bin, ...words] = sandbox.command.split(/\s+/)
  assert.strictEqual(bin, "node_modules/.bin/effect-pix")
  const state = yield* folder
  const args = words.map((word) => (word === "4010" ? "0" : word.replace(/^\/state\b/, state)))
  const process = yield* start([...args, "--json"])
  const banner = yield* Schema.decodeEffect(Banner)((yield* process.shown("\n")).trim())
  assert.strictEqual(banner.state, join(state, "sandbox.json"))
  return banner
})

/** Resolves every name to this machine, in place of the network of the containers. */
const lookup: LookupFunction = (_host, { all }, found) =>
  all === true ? found(null, [{ address: "127.0.0.1", family: 4 }]) : found(null, "127.0.0.1", 4)

const dispatcher = Effect.acquireRelease(
  Effect.sync(() => new Agent({ connect: { lookup } })),
  (agent) => Effect.promise(() => agent.close())
)

describe("docs/examples/compose.yaml", () => {
  live(
    "its program creates a charge at the sandbox by the sandbox's name, and logs a warning about plain http",
    function* () {
      const { baseUrl, webhooks } = yield* running
      assert.deepStrictEqual(webhooks, ["http://shop:3000/webhooks/pix"])

      const { environment = {} } = (yield* compose).services.shop
      const address = environment["PAYMENTS_BASE_URL"]?.replace(":4010", `:${new URL(baseUrl).port}`)
      const settings = { ...environment, PAYMENTS_BASE_URL: address }
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
        if (logLevel === "Warn") lines.push(String(message))
      })
      const agent = yield* dispatcher
      const clientWith = (more: Readonly<Record<string, unknown>>) =>
        Payments.layerEnv.pipe(
          Layer.provide(NodePayments.layerHttpClient({ dispatcher: agent })),
          Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ ...settings, ...more }))),
          Layer.provide(Logger.layer([logger]))
        )

      const balance = yield* Effect.provide(
        Payments.use((payments) => payments.getBalance()),
        clientWith({})
      )
      assert.strictEqual(String(balance.accBalance), "BigDecimal(1000)")
      assert.lengthOf(lines, 1)
      assert.include(page, `\n${lines[0]?.split(",")[0]}\n`)

      const refused = yield* Effect.flip(Layer.build(clientWith({ PAYMENTS_INSECURE: "false" })))
      assert.match(refused.message, /PAYMENTS_BASE_URL must be https/)
    }
  )

  live("its health check ends with 0 if the sandbox answers, and with another code if it does not", function* () {
    const { baseUrl } = yield* running
    const [kind, bin, flag = "", script = ""] = (yield* compose).services.sandbox.healthcheck?.test ?? []
    assert.deepStrictEqual([kind, bin], ["CMD", "node"])
    const check = (port: string) =>
      runLine([process.execPath, flag, script.replace("4010", port)].map(shellWord).join(" "))
    assert.deepInclude(yield* check(new URL(baseUrl).port), { code: 0 })
    // Nothing listens on port 1.
    assert.deepInclude(yield* check("1"), { code: 1 })
  })
})
