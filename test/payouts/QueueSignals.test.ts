/**
 * What the queue of payouts exports and logs.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, References } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { Payouts, PayoutQueue } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { FetchHttpClient } from "effect/http"
import { OtlpMetrics, OtlpSerialization } from "effect/observability"
import { TestClock } from "effect/testing"
import { Collector } from "../support/Collector.ts"
import { isOfNoSeal, layerMemory, payout, payouts, submitRateLimited } from "../support/payoutQueue.ts"
import { recordingTracer } from "../support/spans.ts"
import { live } from "../support/effect.ts"

const once = PaymentsPolicy.layer(PaymentsPolicy.once)

describe("the metrics of a process without a worker", () => {
  live(
    "are the number, the age and the sum of the payouts of each state, and whether the queue is paused",
    Collector.layer,
    function* () {
      const { next, url } = yield* Collector
      const metrics = OtlpMetrics.layer({
        url: `${url}/v1/metrics`,
        resource: { serviceName: "shop" },
        exportInterval: "100 millis"
      }).pipe(Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer]))
      const database = NodeSqlite.layer({ filename: ":memory:" })
      yield* Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.submitMany(payouts(3, 2500))
        yield* queue.setPaused(true)
        // A process measures when it starts, and every minute.
        yield* Layer.build(Layer.fresh(PayoutQueue.layerClient()))
        const text = yield* Effect.repeat(next, {
          until: (exported) =>
            exported.includes('"asDouble":7500') && exported.includes("effect_pix_payout_queue_paused")
        })
        for (const [name, unit, value] of [
          ["waiting", "{payout}", 3],
          ["centavos", "{centavo}", 7500],
          ["paused", "1", 1]
        ] as const) {
          const at = text.indexOf(`"name":"effect_pix_payout_queue_${name}"`)
          assert.isAtLeast(at, 0, name)
          const metric = text.slice(at, text.indexOf('"name":', at + 10))
          assert.include(metric, `"unit":"${unit}"`)
          assert.include(metric, `"asDouble":${value}`)
        }
        const oldest = text.slice(text.indexOf('"name":"effect_pix_payout_queue_oldest"'))
        assert.match(oldest, /^"name":"effect_pix_payout_queue_oldest","description":"[^"]*","unit":"s"/)
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provideMerge(PayoutQueue.layerClient(), Layer.merge(database, metrics)))
      )
    }
  )
})

/** The lines of a level, with their attributes. */
const makeLines = () => {
  const lines: Array<{ readonly text: string; readonly attributes: Record<string, unknown> }> = []
  const logger = Logger.make(({ fiber, logLevel, message }) => {
    if ((logLevel !== "Warn" && logLevel !== "Error") || isOfNoSeal(String(message))) return
    lines.push({ text: String(message), attributes: { ...fiber.getRef(References.CurrentLogAnnotations) } })
  })
  return { lines, layer: Logger.layer([logger]) }
}

describe("the log of the queue", () => {
  it.effect("warns once of each payout in doubt, with its reference, however often it is sent again", () => {
    const { layer, lines } = makeLines()
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      const sandbox = yield* Sandbox
      yield* sandbox.fault("requestWithdrawal", Fault.answer(502), { times: 48 })
      yield* queue.submitMany(payouts(12))
      yield* TestClock.adjust("6 seconds")
      assert.isAbove((yield* sandbox.requests).length, 24)
      assert.lengthOf(lines, 12)
      assert.deepStrictEqual(
        new Set(lines.map(({ attributes }) => attributes["payments.reference"])),
        new Set(payouts(12).map(({ reference }) => reference))
      )
      assert.deepStrictEqual(new Set(lines.map(({ attributes }) => attributes["error.type"])), new Set(["502"]))
    }).pipe(Effect.provide(Layer.provideMerge(layerMemory(), Layer.merge(once, layer))))
  })

  it.effect("says how long a payout waits after a rate limit", () => {
    const { layer, lines } = makeLines()
    return Effect.gen(function* () {
      yield* submitRateLimited("60 seconds")
      yield* TestClock.adjust("1 second")
      const line = lines.find(({ text }) => text.includes("is tried again in 60 seconds, as the service asked"))
      assert.deepInclude(line?.attributes, {
        "payments.reference": "invoice-1",
        "payments.retry_after": 60,
        "payments.outcome": "Rejected",
        "error.type": "429"
      })
    }).pipe(Effect.provide(Layer.provideMerge(layerMemory(), Layer.merge(once, layer))))
  })
})

describe("the span of Payouts.run", () => {
  it.effect("has the number of results of each kind", () => {
    const { layer, spans } = recordingTracer()
    return Effect.gen(function* () {
      const sandbox = yield* Sandbox
      yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, "Conta bloqueada"), { times: 1 })
      const sheet = [payout("first"), payout("second", 2000), payout("third", 3000)]
      const run = yield* Effect.forkChild(Payouts.run(sheet))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(run)
      const span = spans.find(({ name }) => name === "Payouts.run")
      assert.deepInclude(Object.fromEntries(span?.attributes ?? []), {
        "payouts.done": 2,
        "payouts.failed": 0,
        "payouts.refused": 1,
        "payouts.parked": 0,
        "payouts.open": 0
      })
    }).pipe(Effect.provide(Layer.provideMerge(layerMemory(), layer)))
  })
})
