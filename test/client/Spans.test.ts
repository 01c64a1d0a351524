/** The spans and the metrics of single calls, and the trace that a request names to the gateway. */
import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe } from "@effect/vitest"
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http"
import { SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Cause, Effect, Exit, Fiber, Layer, Logger, Metric, Queue, type Tracer } from "effect"
import { IdempotencyKey, Payments, PaymentsPolicy } from "effect-pix"
import { HttpClient, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { createServer } from "node:http"
import { effect, live } from "../support/effect.ts"
import {
  balance,
  created,
  createTransaction,
  getBalance,
  lookUp,
  lookupPath,
  record,
  requestWithdrawal,
  withdrawal
} from "../support/operations.ts"
import { recordingTracer } from "../support/spans.ts"
import { paymentsOn, respond, type Script, scripted } from "../support/Wire.ts"
import { oneAttempt } from "../support/policies.ts"

const post = `POST ${requestWithdrawal.path}`
const get = `GET ${lookupPath(":transactionId")}`
const key = IdempotencyKey.fromReference("payout", "invoice-42")
const payout = Effect.flatMap(Payments, (payments) =>
  payments.requestWithdrawal(withdrawal, { idempotencyKey: key, earlier: "None" })
)

/** How a span ended: its error in one line, or whether it was interrupted or holds a value. */
const endOf = ({ events, name, status }: Tracer.NativeSpan) => {
  assert(status._tag === "Ended")
  assert.lengthOf(events, 0)
  if (Exit.isSuccess(status.exit)) return [name, status.exit.value === undefined ? "success" : "a value"]
  return [name, Exit.hasInterrupts(status.exit) ? "interrupted" : Cause.pretty(status.exit.cause).split("\n")[0]]
}

/** Runs a call for 20 seconds, and returns its spans and the points of its histograms: the attributes, and the sum of seconds. */
const traced = Effect.fnUntraced(function* (call: Effect.Effect<unknown, unknown, Payments>, ...script: Script) {
  const { layer, spans } = recordingTracer()
  const points = yield* Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(call)
    yield* TestClock.adjust("20 seconds")
    yield* Fiber.interrupt(fiber)
    return (yield* Metric.snapshot).flatMap(({ attributes: of = {}, id, state, type }) =>
      type === "Histogram" ? [{ id, of, count: state.count, sum: state.sum }] : []
    )
  }).pipe(
    Effect.provide([layer, paymentsOn(scripted(...script).layer), Logger.layer([])]),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )
  const pointsOf = (name: string, ...attributes: ReadonlyArray<string>) =>
    points
      .filter(({ id }) => id === name)
      .map(({ count, of, sum }) => [...attributes.map((attribute) => of[attribute]), count, sum])
  return {
    spans,
    ends: spans.map(endOf),
    attributes: spans.map(({ attributes }) => Object.fromEntries(attributes)),
    ofAttempts: pointsOf("http.client.request.duration", "http.request.method", "url.template", "error.type"),
    ofCalls: pointsOf("effect_pix_call_duration_seconds", "operation", "result", "outcome", "error.type")
  }
})

describe("the spans and metrics of a call", () => {
  effect("are one span for the operation and one for each attempt, by the conventions of HTTP", function* () {
    const found = yield* traced(payout, respond(503), respond(201, record(key)))
    assert.deepStrictEqual(
      found.spans.map(({ kind }) => kind),
      ["internal", "client", "client"]
    )
    assert.deepStrictEqual(found.ends, [
      ["Payments.requestWithdrawal", "success"],
      [post, "Error: 503"],
      [post, "success"]
    ])
    const http = {
      "http.request.method": "POST",
      "server.address": "gateway.example",
      "server.port": 443,
      "url.scheme": "https",
      "url.template": requestWithdrawal.path
    }
    assert.deepStrictEqual(found.attributes, [
      {
        "payments.operation": "requestWithdrawal",
        "payments.idempotency_key_hash": IdempotencyKey.fingerprint(key),
        "payments.attempts": 2,
        "payments.outcome": "Executed"
      },
      { ...http, "http.response.status_code": 503, "error.type": "503" },
      { ...http, "http.response.status_code": 201, "http.request.resend_count": 1 }
    ])
    assert.sameDeepMembers(found.ofAttempts, [
      ["POST", requestWithdrawal.path, "503", 1, 0],
      ["POST", requestWithdrawal.path, undefined, 1, 0]
    ])
    const [[operation, ...call] = []] = found.ofCalls
    assert.deepStrictEqual([operation, ...call.slice(0, 4)], ["requestWithdrawal", "Success", "Executed", undefined, 1])
  })

  effect.each([
    ["getTransaction", lookUp("8b3da2f3"), respond(404), "TransactionNotFound", "Rejected", "404"],
    [
      "requestWithdrawal",
      payout,
      respond(422, { message: "Saldo insuficiente" }),
      "InsufficientBalance",
      "Rejected",
      "422"
    ],
    ["requestWithdrawal", payout, "silence", "OutcomeUnknown", "Unknown", "Interrupted"],
    ["getTransaction", lookUp("8b3da2f3"), "silence", "Interrupted", "NoEffect", "Interrupted"]
  ] as const)(
    "of %s that fails or is interrupted have its tag, outcome and cause, and no id, no key and no log line",
    function* ([operation, call, reply, tag, outcome, type]) {
      const { attributes, ends, ofAttempts, ofCalls } = yield* traced(call, reply)
      const attempt = operation === "getTransaction" ? get : post
      const isInterrupted = type === "Interrupted"
      const seconds = isInterrupted ? 20 : 0
      assert.deepStrictEqual(ends, [
        [`Payments.${operation}`, isInterrupted ? "interrupted" : `Error: ${tag}: ${outcome}`],
        [attempt, isInterrupted ? "interrupted" : `Error: ${type}`]
      ])
      assert.deepInclude(attributes[0], {
        "payments.error": tag,
        "payments.outcome": outcome,
        "error.type": type
      })
      assert.notMatch(JSON.stringify([ends, attributes]), /8b3da2f3|payout_|invoice/)
      assert.deepStrictEqual(ofAttempts, [[...attempt.split(" "), type, 1, seconds]])
      assert.deepStrictEqual(ofCalls, [[operation, tag, outcome, type, 1, seconds]])
    }
  )

  const server = NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })
  live("are exported by @effect/opentelemetry too", server, function* () {
    const exports = yield* Queue.unbounded<string>()
    const collector = yield* HttpServer.HttpServer
    yield* collector.serve(
      Effect.gen(function* () {
        yield* Queue.offer(exports, yield* (yield* HttpServerRequest.HttpServerRequest).text)
        return HttpServerResponse.jsonUnsafe({})
      })
    )
    const url = yield* HttpServer.addressFormattedWith((address) => Effect.succeed(address))
    const sdk = NodeSdk.layer(() => ({
      resource: { serviceName: "shop" },
      spanProcessor: new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${url}/v1/traces` }))
    }))
    const client = paymentsOn(scripted(respond(422)).layer)
    yield* Effect.flip(payout).pipe(Effect.provide(Layer.mergeAll(client, sdk, PaymentsPolicy.layer(oneAttempt))))
    const exported = (yield* Queue.takeN(exports, 2)).join("\n")
    for (const name of ["Payments.requestWithdrawal", post]) assert.include(exported, `"name":"${name}"`)
  })
})

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
    const ids = attempts.map(({ spanId, traceId }) => (isSent ? `${traceId}-${spanId}` : undefined))
    assert.deepStrictEqual(
      sent.map(({ headers }) => [headers["traceparent"], headers["b3"]?.slice(0, 51)]),
      ids.map((id) => [id && `00-${id}-01`, id && `${id}-1`])
    )
    assert.strictEqual(sent.length, 2)
  })
})
