import { assert, describe } from "@effect/vitest"
import { Payments } from "effect-pix"
import { Cause, ConfigProvider, Effect, Exit, Layer, Logger, References, Result } from "effect"
import { balance, getBalance } from "../support/operations.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"

const { path } = getBalance
const read = Effect.flatMap(Payments, (payments) => payments.getBalance())

describe("the base URL of Payments.layer", () => {
  const accepted: ReadonlyArray<readonly [baseUrl: string | URL, address: string]> = [
    ["https://gateway.example", "https://gateway.example"],
    ["https://gateway.example/", "https://gateway.example"],
    ["https://gateway.example:8443", "https://gateway.example:8443"],
    ["https://gateway.example/pix/v2", "https://gateway.example/pix/v2"],
    ["https://gateway.example/pix/v2/", "https://gateway.example/pix/v2"],
    ["HTTPS://GATEWAY.example/Pix", "https://gateway.example/Pix"],
    [new URL("https://gateway.example/pix"), "https://gateway.example/pix"],
    ["https://203.0.113.7/", "https://203.0.113.7"],
    ["http://localhost:3000", "http://localhost:3000"],
    ["http://pix.localhost:3000", "http://pix.localhost:3000"],
    ["http://127.0.0.1:3000/pix", "http://127.0.0.1:3000/pix"],
    ["http://127.8.9.10", "http://127.8.9.10"],
    ["http://[::1]:3000", "http://[::1]:3000"]
  ]

  effect.each(accepted)(
    "the base URL %s is accepted, and every request is sent below it",
    function* ([baseUrl, address]) {
      const { layer, sent } = scripted(respond(200, balance))
      yield* Effect.provide(read, paymentsOn(layer, { baseUrl, companyId: 7 }))
      assert.deepStrictEqual(
        sent.map(({ url }) => url),
        [`${address}${path}`]
      )
    }
  )

  const canary = "canary-7f3e"
  const refused: ReadonlyArray<readonly [baseUrl: string, problem: RegExp]> = [
    ["", /baseUrl is not set/],
    [" ", /baseUrl is not set/],
    [canary, /not a URL/],
    [`//${canary}`, /not a URL/],
    [`https://${canary} .example`, /not a URL/],
    [`http://${canary}.example`, /must be https/],
    [`http://localhost.${canary}.example`, /must be https/],
    ["http://128.0.0.1", /must be https/],
    ["http://0.0.0.0", /must be https/],
    ["http://10.0.0.1", /must be https/],
    ["http://[::2]", /must be https/],
    [`ftp://${canary}.example`, /must be https/],
    [`file:///${canary}`, /must be https/],
    [`data:text/plain,${canary}`, /must be https/],
    [`javascript:${canary}`, /must be https/],
    [`wss://${canary}.example`, /must be https/],
    [`https://user:${canary}@gateway.example`, /user name or password/],
    [`https://${canary}@gateway.example`, /user name or password/],
    [`https://:${canary}@gateway.example`, /user name or password/],
    [`https://gateway.example?key=${canary}`, /query or a fragment/],
    ["https://gateway.example?", /query or a fragment/],
    [`https://gateway.example/#${canary}`, /query or a fragment/],
    ["https://gateway.example#", /query or a fragment/]
  ]

  effect.each(refused)(
    "the base URL %j is refused when the layer is built, without being shown",
    function* ([baseUrl, problem]) {
      const { layer, sent } = scripted(respond(200, balance))
      const exit = yield* Effect.exit(Effect.provide(read, paymentsOn(layer, { baseUrl, companyId: 7 })))
      assert.isTrue(Exit.isFailure(exit))
      if (!Exit.isFailure(exit)) return
      const [reason] = exit.cause.reasons
      assert.isTrue(reason !== undefined && Cause.isFailReason(reason) && reason.error._tag === "ConfigurationError")
      assert.match(Cause.pretty(exit.cause), problem)
      assert.notInclude(Cause.pretty(exit.cause), canary)
      assert.strictEqual(sent.length, 0)
    }
  )

  effect("a base URL that is too long is refused if Node refuses it, and never causes a defect", function* () {
    const baseUrl = `https://${"R$".repeat(60_000)}`
    // Node 22 accepts it as a URL. Later versions refuse it, although their `URL.canParse` accepts it.
    const isUrl = Result.isSuccess(Result.try(() => new URL(baseUrl)))
    const { layer } = scripted(respond(200, balance))
    const answered = yield* Effect.result(Effect.provide(read, paymentsOn(layer, { baseUrl, companyId: 7 })))
    assert.strictEqual(Result.isSuccess(answered), isUrl)
    if (Result.isFailure(answered)) assert.strictEqual(answered.failure._tag, "ConfigurationError")
  })
})

describe("the option insecure of Payments.layer", () => {
  /** Reads a balance. Returns the URL of the request and the logged warnings. */
  const readingOn = (baseUrl: string, insecure: boolean | undefined) =>
    Effect.gen(function* () {
      const { layer, sent } = scripted(respond(200, balance))
      const warnings: Array<readonly [message: string, host: unknown]> = []
      const logger = Logger.make<unknown, void>(({ fiber, logLevel, message }) => {
        if (logLevel !== "Warn") return
        warnings.push([String(message), fiber.getRef(References.CurrentLogAnnotations)["server.address"]])
      })
      const exit = yield* Effect.exit(
        Effect.provide(read, paymentsOn(layer, { baseUrl, companyId: 7, insecure }))
      ).pipe(Effect.provide(Logger.layer([logger])))
      return { exit, sent: sent.map(({ url }) => url), warnings }
    })

  effect(
    "plain http to another host is allowed with it, and a warning names the host when the client is built",
    function* () {
      const { sent, warnings } = yield* readingOn("http://sandbox:4010", true)
      assert.deepStrictEqual(sent, [`http://sandbox:4010${path}`])
      assert.strictEqual(warnings.length, 1)
      assert.match(warnings[0]?.[0] ?? "", /leave this machine over plain http/)
      assert.strictEqual(warnings[0]?.[1], "sandbox")
    }
  )

  effect.each(["https://gateway.example", "http://127.0.0.1:4010"])("no warning is logged for %s", function* (baseUrl) {
    const { sent, warnings } = yield* readingOn(baseUrl, true)
    assert.deepStrictEqual(sent, [`${baseUrl}${path}`])
    assert.deepStrictEqual(warnings, [])
  })

  effect.each(["ftp://sandbox", "http://user:secret@sandbox", "http://sandbox?a=b"])(
    "the base URL %s is refused also with it",
    function* (baseUrl) {
      const { exit, sent } = yield* readingOn(baseUrl, true)
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(sent, [])
    }
  )

  effect("plain http to another host is refused without it", function* () {
    for (const insecure of [false, undefined]) {
      const { exit, sent } = yield* readingOn("http://sandbox:4010", insecure)
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(sent, [])
    }
  })

  effect(
    "PAYMENTS_INSECURE has the same effect, and is read only for a URL of plain http to another host",
    function* () {
      const build = (PAYMENTS_BASE_URL: string, PAYMENTS_INSECURE: string) => {
        const { layer } = scripted(respond(200, balance))
        const values = { PAYMENTS_BASE_URL, PAYMENTS_INSECURE, PAYMENTS_CLIENT_ID: "id", PAYMENTS_API_KEY: "key" }
        const settings = ConfigProvider.layer(ConfigProvider.fromUnknown(values))
        const built = Layer.build(Layer.provide(Payments.layerOver(layer), settings)).pipe(Effect.scoped, Effect.exit)
        return Effect.map(Effect.provide(built, Logger.layer([])), (exit) =>
          Exit.isSuccess(exit) ? "built" : Cause.pretty(exit.cause)
        )
      }
      assert.strictEqual(yield* build("http://sandbox:4010", "true"), "built")
      assert.include(yield* build("http://sandbox:4010", "false"), "PAYMENTS_BASE_URL must be https")
      assert.include(yield* build("http://sandbox:4010", "perhaps"), "PAYMENTS_INSECURE=true")
      assert.strictEqual(yield* build("https://gateway.example", "perhaps"), "built")
    }
  )
})

describe("the company of Payments.layer", () => {
  effect("the company is a whole number from 0", function* () {
    const { layer } = scripted(respond(200, balance))
    for (const companyId of [-1, 7.5, Number.NaN, Infinity, 2 ** 53]) {
      const error = yield* Effect.flip(
        Effect.provide(read, paymentsOn(layer, { baseUrl: "https://gateway.example", companyId }))
      )
      assert.strictEqual(error._tag, "ConfigurationError")
    }
    yield* Effect.provide(read, paymentsOn(layer, { baseUrl: "https://gateway.example", companyId: 0 }))
  })
})
