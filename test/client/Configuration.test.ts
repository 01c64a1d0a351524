import { assert, describe } from "@effect/vitest"
import { type ConfigurationError, Credentials, IdempotencyKeyGen, Payments } from "effect-pix"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"

const canary = "canary-7f3e"

const from = (values: Record<string, unknown>) => ConfigProvider.layer(ConfigProvider.fromUnknown(values))

/** A store of settings that returns some and fails for the others. */
const failing = (values: Record<string, string>) =>
  ConfigProvider.layer(
    ConfigProvider.make(([name = ""]) =>
      Object.hasOwn(values, name)
        ? Effect.succeed(ConfigProvider.makeValue(values[name] ?? ""))
        : Effect.fail(new ConfigProvider.SourceError({ message: `the store says ${canary}` }))
    )
  )

const refusal = <R>(layer: Layer.Layer<R, ConfigurationError>) =>
  Effect.map(Effect.flip(Layer.build(layer)), (error) => {
    assert.notInclude(error.message, canary)
    assert.notInclude(JSON.stringify(error), canary)
    return error.settings.map(({ problem, reason, setting }) => `${reason}: ${setting} ${problem}`)
  }).pipe(Effect.scoped)

const notSet = (name: string) => `Missing: ${name} is not set`
const notRead = (name: string) => `Unreadable: ${name} could not be read: the ConfigProvider failed`

describe("Payments.layerConfig", () => {
  effect("a client from the environment names all settings that are missing in one error", function* () {
    assert.deepStrictEqual(yield* refusal(Layer.provide(Payments.layerFetch, from({}))), [
      notSet("PAYMENTS_BASE_URL"),
      notSet("PAYMENTS_CLIENT_ID"),
      notSet("PAYMENTS_API_KEY")
    ])
  })

  effect(
    "a client from the environment reports a setting that could not be read as Unreadable, and an absent one as Missing",
    function* () {
      assert.deepStrictEqual(yield* refusal(Layer.provide(Payments.layerFetch, failing({}))), [
        notRead("PAYMENTS_BASE_URL"),
        notRead("PAYMENTS_COMPANY_ID"),
        notRead("PAYMENTS_CLIENT_ID"),
        notRead("PAYMENTS_API_KEY")
      ])
    }
  )

  effect(
    "a client from the environment reports a setting with a wrong value as Wrong, and never shows a value",
    function* () {
      const values = {
        PAYMENTS_BASE_URL: `http://${canary}.example`,
        PAYMENTS_COMPANY_ID: canary,
        PAYMENTS_CLIENT_ID: `${canary} `
      }
      const problems = yield* refusal(Layer.provide(Payments.layerFetch, failing(values)))
      assert.deepStrictEqual(
        problems.map((problem) => problem.split(" ").slice(0, 2).join(" ")),
        [
          "Wrong: PAYMENTS_BASE_URL",
          "Wrong: PAYMENTS_COMPANY_ID",
          "Wrong: PAYMENTS_CLIENT_ID",
          "Unreadable: PAYMENTS_API_KEY"
        ]
      )
    }
  )

  effect("a client from the environment reports an empty setting as missing", function* () {
    const values = { PAYMENTS_BASE_URL: "", PAYMENTS_CLIENT_ID: "", PAYMENTS_API_KEY: "" }
    const problems = yield* refusal(Layer.provide(Payments.layerFetch, from(values)))
    assert.deepStrictEqual(
      problems.map((problem) => problem.split(":")[0]),
      ["Missing", "Missing", "Missing"]
    )
  })
})

describe("Payments.layer", () => {
  effect("a client from options names all options that are wrong in one error", function* () {
    const { layer } = scripted(respond(500))
    assert.deepStrictEqual(yield* refusal(paymentsOn(layer, { baseUrl: canary, companyId: 7.5 })), [
      "Wrong: baseUrl is not a URL",
      "Wrong: companyId must be a whole number from 0"
    ])
  })

  effect("a client without options fails with a ConfigurationError", function* () {
    const { layer } = scripted(respond(500))
    assert.deepStrictEqual(yield* refusal(paymentsOn(layer, null as never)), [
      "Wrong: options must be { baseUrl, companyId? }"
    ])
    assert.deepStrictEqual(yield* refusal(paymentsOn(layer, {} as never)), [notSet("baseUrl")])
    assert.deepStrictEqual(yield* refusal(paymentsOn(layer, { baseUrl: Object.create(null) as string })), [
      "Wrong: baseUrl is not a URL"
    ])
  })

  effect(
    "a client reads its settings from the environment, and its credentials from the layer that is provided",
    function* () {
      const { layer } = scripted(respond(500))
      const pair = { clientId: "client", apiKey: Redacted.make("key") }
      const payments = Payments.layerConfig.pipe(
        Layer.provide([layer, Credentials.layer(pair), IdempotencyKeyGen.layer]),
        Layer.provide(failing({ PAYMENTS_BASE_URL: "https://gateway.example" }))
      )
      assert.deepStrictEqual(yield* refusal(payments), [notRead("PAYMENTS_COMPANY_ID")])
    }
  )
})
