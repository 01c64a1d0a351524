import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import { assert, describe, it } from "@effect/vitest"
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http"
import { SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Cause, Effect, Exit, Fiber, Layer, Logger, Metric, References } from "effect"
import { IdempotencyKey, Payments, PaymentsPolicy } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { FetchHttpClient } from "effect/http"
import { OtlpSerialization, OtlpTracer } from "effect/observability"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import { Collector } from "../support/Collector.ts"
import { lookupPath, requestWithdrawal, withdrawal } from "../support/operations.ts"
import { paymentsOn, scripted } from "../support/Wire.ts"
import { recordingTracer } from "../support/spans.ts"
import { effect, live } from "../support/effect.ts"

const post = `POST ${requestWithdrawal.path}`
const get = `GET ${lookupPath(":transactionId")}`

const key = IdempotencyKey.fromReference("payout", "invoice-42")

const payout = Effect.gen(function* () {
  const payments = yield* Payments
  return yield* payments.requestWithdrawal(withdrawal, { idempotencyKey: key })
})

/** A payout that succeeds at its second attempt. */
const retriedPayout = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  yield* sandbox.credit(5000)
  yield* sandbox.fault("requestWithdrawal", Fault.answer(503))
  yield* payout
})

/** A policy without waits, so that a test with the real clock does not wait. */
const impatient = PaymentsPolicy.layer({ retryWrites: PaymentsPolicy.once.retryReads })

const underTestClock = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* TestClock.adjust("5 minutes")
    return yield* Fiber.join(fiber)
  })

describe("spans", () => {
  effect("an operation has one span, and each attempt has one by the conventions of HTTP", function* () {
    const { layer, spans } = recordingTracer()
    yield* underTestClock(retriedPayout).pipe(Effect.provide(Layer.merge(layer, Sandbox.layerPayments)))

    const ours = spans.filter(({ name }) => name === post || name.startsWith("Payments."))
    assert.deepStrictEqual(
      ours.map(({ kind, name }) => [name, kind]),
      [
        ["Payments.requestWithdrawal", "internal"],
        [post, "client"],
        [post, "client"]
      ]
    )
    const [operation, first, second] = ours.map(({ attributes }) => Object.fromEntries(attributes))
    assert.deepStrictEqual(operation, {
      "payments.operation": "requestWithdrawal",
      "payments.idempotency_key_hash": IdempotencyKey.fingerprint(key),
      "payments.attempts": 2,
      "payments.outcome": "Executed"
    })
    const http = {
      "http.request.method": "POST",
      "server.address": "sandbox.example",
      "server.port": 443,
      "url.scheme": "https",
      "url.template": requestWithdrawal.path
    }
    assert.deepStrictEqual(first, { ...http, "http.response.status_code": 503, "error.type": "503" })
    assert.deepStrictEqual(second, { ...http, "http.response.status_code": 201, "http.request.resend_count": 1 })
  })

  effect("the span of a failed operation has the error's tag, its outcome and the status of the answer", function* () {
    const { layer, spans } = recordingTracer()
    yield* Effect.flip(payout).pipe(Effect.provide(Layer.merge(layer, Sandbox.layerPayments)))
    const operation = spans.find(({ name }) => name === "Payments.requestWithdrawal")
    assert.strictEqual(operation?.attributes.get("payments.error"), "InsufficientBalance")
    assert.strictEqual(operation?.attributes.get("error.type"), "422")
    assert.strictEqual(operation?.attributes.get("payments.outcome"), "Rejected")
  })

  effect("a span holds nothing of the answer", function* () {
    const { layer, spans } = recordingTracer()
    yield* underTestClock(retriedPayout).pipe(Effect.provide(Layer.merge(layer, Sandbox.layerPayments)))
    const ends = spans.map(({ status }) => (status._tag === "Ended" ? status.exit : undefined))
    const answered = ends.filter((exit) => exit !== undefined && Exit.isSuccess(exit) && exit.value !== undefined)
    assert.deepStrictEqual(answered, [])
    assert.strictEqual(ends.filter((exit) => exit !== undefined && Exit.isSuccess(exit)).length, 2)
  })

  effect("a failed span ends with tag and outcome, and holds no key, no id, no message and no log line", function* () {
    const { layer, spans } = recordingTracer()
    const id = "8b3da2f3-9a41-40d1-a91a-bd93113bd441"
    const lookUp = Effect.flatMap(Payments, (payments) => payments.getTransaction(id))
    const unknown = Effect.gen(function* () {
      const sandbox = yield* Sandbox
      yield* sandbox.credit(5000)
      yield* sandbox.fault("requestWithdrawal", Fault.answer(500), { times: Infinity })
      yield* Effect.flip(payout)
    })
    yield* underTestClock(Effect.all([Effect.flip(lookUp), Effect.flip(payout), unknown])).pipe(
      Effect.provide([layer, Sandbox.layerPayments])
    )
    const ours = spans.filter(({ name }) => name.startsWith("Payments.") || name === post || name === get)
    assert.deepStrictEqual(
      ours.map(({ events, name, status }) => [
        name,
        status._tag === "Ended" && Exit.isFailure(status.exit) ? Cause.pretty(status.exit.cause).split("\n")[0] : "",
        events.length
      ]),
      [
        ["Payments.getTransaction", "Error: TransactionNotFound: Rejected", 0],
        [get, "Error: 404", 0],
        ["Payments.requestWithdrawal", "Error: InsufficientBalance: Rejected", 0],
        [post, "Error: 422", 0],
        ["Payments.requestWithdrawal", "Error: OutcomeUnknown: Unknown", 0],
        ...[1, 2, 3].map(() => [post, "Error: 500", 0])
      ]
    )
    const all = inspect(ours, { depth: 20 })
    for (const value of [key, id]) assert.notInclude(all, value)
  })

  effect("an interrupted span ends as interrupted", function* () {
    const { layer, spans } = recordingTracer()
    const { layer: silent } = scripted("silence")
    const fiber = yield* Effect.forkChild(Effect.provide(payout, [layer, paymentsOn(silent), Logger.layer([])]))
    yield* TestClock.adjust("1 second")
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(
      spans.map(({ name, status }) => [name, status._tag === "Ended" && Exit.hasInterrupts(status.exit)]),
      [
        ["Payments.requestWithdrawal", true],
        [post, true]
      ]
    )
  })

  live(
    "Effect's own OTLP exporter sends the spans to a collector",
    Layer.merge(Collector.layer, impatient),
    function* () {
      const collector = yield* Collector
      const otlp = OtlpTracer.layer({ url: `${collector.url}/v1/traces`, resource: { serviceName: "shop" } }).pipe(
        Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer])
      )
      // The exporter sends its spans when its layer is released.
      yield* Effect.flip(payout).pipe(Effect.provide(Layer.merge(Sandbox.layerPayments, otlp)))
      const exported = yield* collector.next
      assert.include(exported, `"name":"Payments.requestWithdrawal"`)
      assert.include(exported, `"key":"http.response.status_code"`)
    }
  )

  live("@effect/opentelemetry sends the spans to a collector", Layer.merge(Collector.layer, impatient), function* () {
    const collector = yield* Collector
    const sdk = NodeSdk.layer(() => ({
      resource: { serviceName: "shop" },
      spanProcessor: new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${collector.url}/v1/traces` }))
    }))
    yield* Effect.flip(payout).pipe(Effect.provide(Layer.merge(Sandbox.layerPayments, sdk)))
    const exported = [yield* collector.next, yield* collector.next].join("\n")
    assert.include(exported, `"name":"Payments.requestWithdrawal"`)
    assert.include(exported, `"name":"${post}"`)
  })
})

describe("metrics", () => {
  it.effect("attempts and calls are counted by their cause, and measured in seconds", () =>
    Effect.gen(function* () {
      yield* underTestClock(retriedPayout)
      const payments = yield* Payments
      yield* Effect.flip(payments.getTransaction("unknown"))

      const found = (yield* Metric.snapshot).flatMap(({ attributes, id, state, type }) =>
        type === "Histogram"
          ? [
              [
                id,
                attributes?.["operation"] ?? attributes?.["http.request.method"],
                attributes?.["result"],
                attributes?.["outcome"],
                attributes?.["error.type"],
                state.count
              ]
            ]
          : []
      )
      assert.sameDeepMembers(found, [
        ["http.client.request.duration", "POST", undefined, undefined, "503", 1],
        ["http.client.request.duration", "POST", undefined, undefined, undefined, 1],
        ["http.client.request.duration", "GET", undefined, undefined, "404", 1],
        ["effect_pix_call_duration", "requestWithdrawal", "Success", "Executed", undefined, 1],
        ["effect_pix_call_duration", "getTransaction", "TransactionNotFound", "Rejected", "404", 1]
      ])
    }).pipe(Effect.provide(Sandbox.layerPayments), Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect("an attempt and a call that are interrupted are measured once each", () =>
    Effect.gen(function* () {
      const { layer: silent } = scripted("silence")
      const lookUp = Effect.flatMap(Payments, (payments) => payments.getTransaction("abc"))
      for (const call of [Effect.exit(payout), Effect.exit(lookUp)] as const) {
        const fiber = yield* Effect.forkChild(
          Effect.provide(Effect.asVoid<unknown, never, Payments>(call), [paymentsOn(silent), Logger.layer([])])
        )
        yield* TestClock.adjust("20 seconds")
        yield* Fiber.interrupt(fiber)
      }
      const found = (yield* Metric.snapshot).flatMap(({ attributes, id, state, type }) =>
        type === "Histogram"
          ? [[id, attributes?.["result"], attributes?.["outcome"], attributes?.["error.type"], state.count, state.sum]]
          : []
      )
      assert.sameDeepMembers(found, [
        ["http.client.request.duration", undefined, undefined, "Interrupted", 1, 20],
        ["http.client.request.duration", undefined, undefined, "Interrupted", 1, 20],
        ["effect_pix_call_duration", "OutcomeUnknown", "Unknown", "Interrupted", 1, 20],
        ["effect_pix_call_duration", "Interrupted", "NoEffect", "Interrupted", 1, 20]
      ])
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})

describe("logs", () => {
  effect("a retry is logged at the level Debug, and an unknown outcome as a warning with its key", function* () {
    const lines: Array<[string, string]> = []
    const logger = Logger.make(({ logLevel, message }) => lines.push([logLevel, String(message)]))
    yield* underTestClock(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        yield* sandbox.credit(5000)
        yield* sandbox.fault("requestWithdrawal", Fault.resetAfter, { times: 3 })
        return yield* Effect.flip(payout)
      })
    ).pipe(
      Effect.provide(Layer.merge(Sandbox.layerPayments, Logger.layer([logger]))),
      Effect.provideService(References.MinimumLogLevel, "Debug")
    )
    assert.deepStrictEqual(
      lines.map(([level]) => level),
      ["Debug", "Debug", "Warn"]
    )
    assert.include(lines[2]?.[1], key)
  })
})
