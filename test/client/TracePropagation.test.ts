import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { makeGateway, json } from "../support/Gateway.ts"
import { transports } from "../support/faultRows.ts"
import { balance, charge, created } from "../support/operations.ts"
import { recordingTracer } from "../support/spans.ts"
import { paymentsOn } from "../support/Wire.ts"
import { Payments } from "effect-pix"
import { live } from "../support/effect.ts"

describe.each(Object.entries(transports))("the trace of a call over %s", (_, transport) => {
  /** The headers of a read and of a write, and the spans of their attempts. */
  const send = Effect.fnUntraced(function* (ofLayer: Layer.Layer<never>, ofCall: Layer.Layer<never>) {
    const gateway = yield* makeGateway
    gateway.script(json(balance), json(created))
    const { layer, spans } = recordingTracer()
    const payments = Layer.provide(paymentsOn(transport, { baseUrl: gateway.url, companyId: 7 }), ofLayer)
    yield* Effect.gen(function* () {
      const { createTransaction, getBalance } = yield* Payments
      yield* Effect.all([getBalance(), createTransaction(charge)]).pipe(Effect.provide([layer, ofCall]))
    }).pipe(Effect.withSpan("the user's own"), Effect.provide([payments, layer]))
    return {
      sent: gateway.requests.map(({ headers }) => [headers["traceparent"], headers["b3"]]),
      attempts: spans.filter(({ kind }) => kind === "client")
    }
  })

  const on = Layer.succeed(HttpClient.TracerPropagationEnabled, true)
  const off = Layer.succeed(HttpClient.TracerPropagationEnabled, false)

  live("is not sent to the gateway by default", function* () {
    const { attempts, sent } = yield* send(Layer.empty, Layer.empty)
    assert.strictEqual(attempts.length, 2)
    assert.deepStrictEqual(sent, [
      [undefined, undefined],
      [undefined, undefined]
    ])
  })

  for (const [name, ofLayer, ofCall] of [
    ["the layer", on, Layer.empty],
    ["the call", off, on]
  ] as const) {
    live(`is sent where ${name} switches it on, with the ids of the attempt`, function* () {
      const { attempts, sent } = yield* send(ofLayer, ofCall)
      assert.deepStrictEqual(
        sent.map(([traceparent]) => traceparent),
        attempts.map(({ spanId, traceId }) => `00-${traceId}-${spanId}-01`)
      )
      for (const [, b3] of sent) assert.match(b3 ?? "", /^[0-9a-f]{32}-[0-9a-f]{16}-1/)
    })
  }

  live("is not sent where a call switches off what the layer switched on", function* () {
    const { sent } = yield* send(on, off)
    assert.deepStrictEqual(
      sent.flat().filter((header) => header !== undefined),
      []
    )
  })
})
