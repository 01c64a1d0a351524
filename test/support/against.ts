/** Calls against a gateway on a loopback port which answers as scripted, and what it received. */
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

/** The calls over a transport. */
export const on = (transport: (typeof transports)[keyof typeof transports]) => {
  /** Runs calls against a gateway which answers as scripted, and gives what it received. */
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
