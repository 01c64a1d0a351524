/** Runs calls against a scripted gateway on a loopback port, and returns the requests that it received. */
import { Payments, type PaymentsError } from "effect-pix"
import { Effect, Layer } from "effect"
import { type Answer, makeGateway } from "./Gateway.ts"
import { impatient } from "./policies.ts"

import { paymentsOn, type transports } from "./Wire.ts"

export const only = <A>(values: ReadonlyArray<A>): A => {
  const [value] = values
  if (value === undefined || values.length !== 1) throw new Error(`expected one, got ${values.length}`)
  return value
}

/** The helpers for a transport. */
export const on = (transport: (typeof transports)[keyof typeof transports]) => {
  /** Runs calls against a scripted gateway, and returns the result and the requests. */
  const against = <A>(
    given: Answer,
    use: (payments: Payments["Service"]) => Effect.Effect<A, PaymentsError>,
    options: { readonly prefix?: string; readonly companyId?: number } = {}
  ) =>
    Effect.gen(function* () {
      const { requests, script, url } = yield* makeGateway
      script(given)
      const baseUrl = `${url}${options.prefix ?? ""}`
      const result = yield* Effect.result(Effect.flatMap(Payments, use)).pipe(
        Effect.provide(Layer.provide(paymentsOn(transport, { baseUrl, companyId: options.companyId }), impatient))
      )
      return { result, requests }
    })

  const succeeds = <A>(
    given: Answer,
    use: (payments: Payments["Service"]) => Effect.Effect<A, PaymentsError>,
    options: { readonly prefix?: string; readonly companyId?: number } = {}
  ) =>
    Effect.flatMap(against(given, use, options), ({ requests, result }) =>
      Effect.map(Effect.fromResult(result), (value) => ({ value, request: only(requests) }))
    )

  return { against, succeeds }
}
