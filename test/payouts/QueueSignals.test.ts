/** What the queue of payouts measures and logs. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Layer, Metric, References } from "effect"
import { Money } from "effect-pix"
import { Payouts, PayoutQueue } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import {
  makeWarnings,
  meetAll,
  memory,
  payout,
  payouts,
  poor,
  queued,
  queueOver,
  refused,
  settle
} from "../support/payoutQueue.ts"
import { recordingTracer } from "../support/spans.ts"

/** Runs a program on a queue, and returns its warnings and errors, with their attributes. */
const linesOf = <A, E>(program: Effect.Effect<A, E, PayoutQueue | Sandbox>) => {
  const { layer, lines } = makeWarnings((text, { fiber }) => ({
    text,
    attributes: { ...fiber.getRef(References.CurrentLogAnnotations) }
  }))
  return Effect.as(Effect.provide(program, queueOver({ under: layer })), lines)
}

describe("a queue of payouts", () => {
  effect(
    "measures in a process without a worker how many payouts wait, their sum and age, and whether it is paused",
    memory,
    function* () {
      const gauges = yield* Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.submitMany(payouts(3, 2500))
        yield* queue.setPaused(true)
        yield* TestClock.adjust("61 seconds")
        return yield* Metric.snapshot
      }).pipe(Effect.provide(PayoutQueue.layerClient()), Effect.provideService(Metric.MetricRegistry, new Map()))
      const values = gauges.flatMap(({ attributes, id, state }) =>
        "value" in state && (attributes?.["state"] ?? "accepted") === "accepted"
          ? [[id, attributes?.["unit"], Number(state.value)]]
          : []
      )
      assert.includeDeepMembers(values, [
        ["effect_pix_payout_queue_waiting", "{payout}", 3],
        ["effect_pix_payout_queue_centavos", "{centavo}", 7500],
        ["effect_pix_payout_queue_oldest", "s", 60],
        ["effect_pix_payout_queue_paused", "1", 1]
      ])
    }
  )

  effect("warns once of each payout in doubt, with its reference, however often it is sent again", function* () {
    const lines = yield* linesOf(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        yield* sandbox.fault("requestWithdrawal", Fault.answer(502), { times: 48 })
        yield* (yield* PayoutQueue).submitMany(payouts(12))
        yield* TestClock.adjust("6 seconds")
        assert.isAbove((yield* sandbox.requests).length, 24)
      })
    )
    const seen = lines.map(({ attributes }) => [attributes["payments.reference"], attributes["error.type"]])
    assert.sameDeepMembers(
      seen,
      payouts(12).map(({ reference }) => [reference, "502"])
    )
  })

  effect("logs how long a payout waits after a rate limit", function* () {
    const lines = yield* linesOf(
      Effect.gen(function* () {
        yield* (yield* Sandbox).fault("requestWithdrawal", Fault.retryAfter("60 seconds"))
        yield* (yield* PayoutQueue).submit(payout("invoice-1"))
        yield* TestClock.adjust("1 second")
      })
    )
    const line = lines.find(({ text }) => text.includes("is tried again in 60 seconds, as the service asked"))
    assert.deepInclude(line?.attributes, {
      "payments.retry_after": 60,
      "payments.outcome": "Rejected",
      "error.type": "429"
    })
  })

  const { layer, spans } = recordingTracer()
  effect(
    "has in the span of Payouts.run the number of results of each kind",
    queueOver({ under: layer, script: { second: [refused] } }),
    function* () {
      const run = yield* Effect.forkChild(Payouts.run([payout("first"), payout("second", 2000), payout("third", 3000)]))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(run)
      const span = spans.find(({ name }) => name === "Payouts.run")
      const counts = {
        "payouts.done": 2,
        "payouts.failed": 0,
        "payouts.refused": 1,
        "payouts.parked": 0,
        "payouts.open": 0
      }
      assert.deepInclude(Object.fromEntries(span?.attributes ?? []), counts)
    }
  )
})

describe("the measures and the log of payouts that wait", () => {
  /** How many payouts are delayed and how much, by their cause; and how many wait for a person. */
  const measured = Effect.map(Metric.snapshot, (metrics) => {
    const gauges = metrics.flatMap(({ attributes, id, state, type }) =>
      type === "Gauge" && Number(state.value) !== 0
        ? [{ attributes: attributes ?? {}, id, value: Number(state.value) }]
        : []
    )
    const found = gauges.filter(({ id }) => id.startsWith("effect_pix_payout_queue_delayed"))
    return {
      delayed: Object.fromEntries(
        found.map(({ attributes, id, value }) => [
          `${attributes["cause"]}${id.endsWith("centavos") ? " R$" : ""}`,
          value
        ])
      ),
      parked: gauges.find(({ attributes, id }) => id.endsWith("queue_waiting") && attributes["state"] === "parked")
        ?.value
    }
  })
  const { layer, lines } = makeWarnings((line) => line.replace(/ \(reference.*$/, ""))

  const under = Layer.merge(layer, Layer.succeed(Metric.MetricRegistry, new Map()))
  queued(
    "name each cause with its sum; one that waits for a run or an approval is no alarm, and each cause has one line",
    { poll: "5 minutes", lease: "10 minutes", concurrency: 3, under },
    function* ({ queue }) {
      yield* queue.setFourEyes(Money.centavos(2500), { by: "carla" })
      yield* meetAll(poor)
      yield* queue.submitMany(payouts(2))
      yield* TestClock.adjust("30 minutes")
      yield* queue.submit({ ...payout("above", 3000), by: "ana" })
      yield* queue.park("invoice-2")
      const run = yield* Effect.forkChild(Payouts.run([payout("line-1", 2000)], { allowAlike: true }))
      yield* settle
      yield* Fiber.interrupt(run)
      yield* TestClock.adjust("31 minutes")
      assert.deepStrictEqual(yield* measured, {
        delayed: {
          InsufficientBalance: 1,
          "InsufficientBalance R$": 1000,
          NeedsApproval: 1,
          "NeedsApproval R$": 3000,
          RunEnded: 1,
          "RunEnded R$": 2000
        },
        parked: 1
      })
      yield* meetAll(refused)
      yield* TestClock.adjust("16 minutes")
      assert.deepStrictEqual(
        [...new Set(lines)],
        [
          "The balance of the account default does not cover a payout",
          "A payout waits for a person: NeedsApproval",
          '1 payout(s) wait for a person: list({ state: "parked" }) names them.',
          "A payout is not sent: the run of its sheet is over",
          "A payout was refused, and is not sent again: RequestRejected"
        ]
      )
      assert.strictEqual(lines.filter((line) => line.startsWith("The balance")).length, 1)
    }
  )
})
