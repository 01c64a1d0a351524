/** A sandbox on a socket, and the settings by which the command finds it. */
import { Effect, Layer, Redacted } from "effect"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"

/** The sandbox, with a balance of R$ 1.000,00. */
export const served = Layer.provide(Sandbox.layerServer, Layer.succeed(SandboxOptions, { balance: 100_000, port: 0 }))

/** The settings of a sandbox that runs. */
export const settings = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const { apiKey, clientId } = yield* sandbox.credentials
  return {
    PAYMENTS_BASE_URL: sandbox.baseUrl,
    PAYMENTS_CLIENT_ID: clientId,
    PAYMENTS_API_KEY: Redacted.value(apiKey),
    PAYMENTS_COMPANY_ID: `${sandbox.companyId}`
  }
})

/** The settings for the gateway of a test. */
export const settingsOf = (url: string) => ({
  PAYMENTS_BASE_URL: url,
  PAYMENTS_CLIENT_ID: "client",
  PAYMENTS_API_KEY: "key",
  PAYMENTS_COMPANY_ID: "1"
})
