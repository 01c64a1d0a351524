/**
 * A program that starts, makes one call, and ends. It loads the built library, as a user's program does.
 */
import { charge, credentials, paths, rows } from "./payloads.ts"

const [kind, origin = ""] = process.argv.slice(2)

if (kind === "plain") {
  const [Effect, HttpClient, FetchHttpClient] = await Promise.all([
    import("effect/Effect"),
    import("effect/http/HttpClient"),
    import("effect/http/FetchHttpClient")
  ])
  const program = Effect.flatMap(HttpClient.get(`${origin}${paths.list}?pageSize=${rows}`), ({ json }) => json)
  await Effect.runPromise(Effect.provide(program, FetchHttpClient.layer))
} else {
  process.env["PAYMENTS_BASE_URL"] = origin
  process.env["PAYMENTS_CLIENT_ID"] = credentials.clientId
  process.env["PAYMENTS_API_KEY"] = credentials.apiKey
  const [Effect, { Payments }] = await Promise.all([import("effect/Effect"), import("effect-pix")])
  const program = Effect.flatMap(Payments, (payments) => payments.createTransaction(charge))
  if (kind === "node") {
    const { NodePayments } = await import("effect-pix/node")
    await Effect.runPromise(Effect.provide(program, NodePayments.layer))
  } else {
    await Effect.runPromise(Effect.provide(program, Payments.layerFetch))
  }
}
