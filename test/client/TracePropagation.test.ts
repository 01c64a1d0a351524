import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { balance, created, createTransaction, getBalance } from "../support/operations.ts"
import { effect } from "../support/effect.ts"
import { recordingTracer } from "../support/spans.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"

const propagation = (isOn: boolean) => Layer.succeed(HttpClient.TracerPropagationEnabled, isOn)

describe("the trace of a call", () => {
  effect.each<readonly [string, boolean, Layer.Layer<never>, Layer.Layer<never>]>([
    ["is not sent to the gateway by default", false, Layer.empty, Layer.empty],
    ["is sent where the layer switches it on", true, propagation(true), Layer.empty],
    ["is sent where the call switches it on", true, propagation(false), propagation(true)],
    ["is not sent where the call switches off what the layer switched on", false, propagation(true), propagation(false)]
  ])("%s", function* ([, isSent, ofLayer, ofCall]) {
    const { layer: transport, sent } = scripted(respond(200, balance), respond(200, created))
    const { layer, spans } = recordingTracer()
    yield* Effect.all([getBalance.run, createTransaction.run]).pipe(
      Effect.provide([layer, ofCall]),
      Effect.withSpan("the user's own"),
      Effect.provide([Layer.provide(paymentsOn(transport), ofLayer), layer])
    )
    const attempts = spans.filter(({ kind }) => kind === "client")
    assert.strictEqual(attempts.length, 2)
    const ids = attempts.map(({ spanId, traceId }) => `${traceId}-${spanId}`)
    assert.deepStrictEqual(
      sent.map(({ headers }) => [headers["traceparent"], headers["b3"]?.slice(0, 51)]),
      ids.map((id) => (isSent ? [`00-${id}-01`, `${id}-1`] : [undefined, undefined]))
    )
  })
})
