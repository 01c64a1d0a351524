/** The spans and the metrics of single calls. */
import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import { assert, describe } from "@effect/vitest"
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http"
import { SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Cause, Effect, Exit, Fiber, Layer, Logger, Metric, type Tracer } from "effect"
import { IdempotencyKey, Payments, PaymentsPolicy } from "effect-pix"
import { TestClock } from "effect/testing"
import { Collector } from "../support/Collector.ts"
import { effect, live } from "../support/effect.ts"
import { lookUp, lookupPath, record, requestWithdrawal, withdrawal } from "../support/operations.ts"
import { underTestClock } from "../support/played.ts"
import { recordingTracer } from "../support/spans.ts"
import { paymentsOn, type Reply, respond, scripted } from "../support/Wire.ts"

const post = `POST ${requestWithdrawal.path}`
const get = `GET ${lookupPath(":transactionId")}`
const key = IdempotencyKey.fromReference("payout", "invoice-42")
const payout = Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(withdrawal, { idempotencyKey: key }))
const retried = [respond(503), respond(201, record(key))] as const

/** Runs a call, and returns its spans and the points of its histograms: name, operation or method, result, outcome, cause, count and sum. */
const traced = Effect.fnUntraced(function* (
  call: Effect.Effect<unknown, unknown, Payments>,
  ...replies: readonly [Reply, ...Array<Reply>]
) {
  const { layer, spans } = recordingTracer()
  const metrics = yield* Effect.exit(call).pipe(
    Effect.andThen(Metric.snapshot),
    Effect.provide([layer, paymentsOn(scripted(...replies).layer), Logger.layer([])]),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )
  const points = metrics.flatMap(({ attributes: of = {}, id, state, type }) =>
    type === "Histogram"
      ? [
          [
            id,
            of["operation"] ?? of["http.request.method"],
            of["result"],
            of["outcome"],
            of["error.type"],
            state.count,
            state.sum
          ]
        ]
      : []
  )
  return { spans, points }
})

/** How a span ended: its error in one line, or whether it was interrupted or holds a value. */
const endOf = ({ events, name, status }: Tracer.NativeSpan) => {
  assert(status._tag === "Ended")
  assert.lengthOf(events, 0)
  if (Exit.isSuccess(status.exit)) return [name, status.exit.value === undefined ? "success" : "a value"]
  return [name, Exit.hasInterrupts(status.exit) ? "interrupted" : Cause.pretty(status.exit.cause).split("\n")[0]]
}

describe("the spans and metrics of a call", () => {
  effect("are one span for the operation and one for each attempt, by the conventions of HTTP", function* () {
    const { points, spans } = yield* traced(underTestClock(payout), ...retried)
    assert.deepStrictEqual(
      spans.map(({ kind, name }) => [name, kind]),
      [
        ["Payments.requestWithdrawal", "internal"],
        [post, "client"],
        [post, "client"]
      ]
    )
    const http = {
      "http.request.method": "POST",
      "server.address": "gateway.example",
      "server.port": 443,
      "url.scheme": "https",
      "url.template": requestWithdrawal.path
    }
    assert.deepStrictEqual(
      spans.map(({ attributes }) => Object.fromEntries(attributes)),
      [
        {
          "payments.operation": "requestWithdrawal",
          "payments.idempotency_key_hash": IdempotencyKey.fingerprint(key),
          "payments.attempts": 2,
          "payments.outcome": "Executed"
        },
        { ...http, "http.response.status_code": 503, "error.type": "503" },
        { ...http, "http.response.status_code": 201, "http.request.resend_count": 1 }
      ]
    )
    assert.deepStrictEqual(spans.map(endOf), [
      ["Payments.requestWithdrawal", "success"],
      [post, "Error: 503"],
      [post, "success"]
    ])
    assert.sameDeepMembers(
      points.map((point) => point.slice(0, 6)),
      [
        ["http.client.request.duration", "POST", undefined, undefined, "503", 1],
        ["http.client.request.duration", "POST", undefined, undefined, undefined, 1],
        ["effect_pix_call_duration", "requestWithdrawal", "Success", "Executed", undefined, 1]
      ]
    )
  })

  effect.each([
    [lookUp("8b3da2f3"), respond(404), "Payments.getTransaction", get, "TransactionNotFound: Rejected", "404"],
    [
      payout,
      respond(422, { message: "Saldo insuficiente" }),
      "Payments.requestWithdrawal",
      post,
      "InsufficientBalance: Rejected",
      "422"
    ],
    [payout, respond(401), "Payments.requestWithdrawal", post, "AuthError: Rejected", "401"]
  ] as const)(
    "that fails end with the error's tag and outcome, and hold no id, no key and no log line",
    function* ([call, reply, operation, attempt, error, type]) {
      const { points, spans } = yield* traced(call, reply)
      assert.deepStrictEqual(spans.map(endOf), [
        [operation, `Error: ${error}`],
        [attempt, `Error: ${type}`]
      ])
      const [tag, outcome] = error.split(": ")
      const { attributes } = spans[0] ?? assert.fail("no span")
      assert.deepInclude(Object.fromEntries(attributes), {
        "payments.error": tag,
        "payments.outcome": outcome,
        "error.type": type
      })
      assert.notMatch(
        JSON.stringify(spans.map(({ attributes, name }) => [name, [...attributes]])),
        /8b3da2f3|payout-|invoice/
      )
      assert.deepStrictEqual(
        points.map((point) => point.slice(2, 6)).find(([result]) => result !== undefined),
        [tag, outcome, type, 1]
      )
    }
  )

  effect.each([
    [payout, ["OutcomeUnknown", "Unknown"]],
    [lookUp("abc"), ["Interrupted", "NoEffect"]]
  ] as const)(
    "that is interrupted end as interrupted, and are measured once each",
    function* ([call, [result, outcome]]) {
      const interrupted = Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(call)
        yield* TestClock.adjust("20 seconds")
        yield* Fiber.interrupt(fiber)
      })
      const { points, spans } = yield* traced(interrupted, "silence")
      assert.deepStrictEqual(
        spans.map((span) => endOf(span)[1]),
        ["interrupted", "interrupted"]
      )
      assert.sameDeepMembers(
        points.map((point) => point.slice(2)),
        [
          [undefined, undefined, "Interrupted", 1, 20],
          [result, outcome, "Interrupted", 1, 20]
        ]
      )
    }
  )

  live("are exported by @effect/opentelemetry too", Collector.layer, function* () {
    const collector = yield* Collector
    const sdk = NodeSdk.layer(() => ({
      resource: { serviceName: "shop" },
      spanProcessor: new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${collector.url}/v1/traces` }))
    }))
    const client = paymentsOn(scripted(respond(422)).layer)
    yield* Effect.flip(payout).pipe(
      Effect.provide(Layer.mergeAll(client, sdk, PaymentsPolicy.layer(PaymentsPolicy.once)))
    )
    const exported = [yield* collector.next, yield* collector.next].join("\n")
    for (const name of ["Payments.requestWithdrawal", post]) assert.include(exported, `"name":"${name}"`)
  })
})
