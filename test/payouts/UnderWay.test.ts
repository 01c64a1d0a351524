/**
 * A payout whose request is under way: it is `unknown` for everybody from the commit of its mark, is handed out to nobody, is no alarm
 * before its deadline, and is settled by nobody before its answer.
 */
import { assert } from "@effect/vitest"
import { Clock, Effect, Layer, Metric, Option } from "effect"
import { Payments, PaymentsPolicy } from "effect-pix"
import type { PayoutQueueOptions, PayoutStatus } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import { lastValues, pointOf } from "../support/exported.ts"
import { makeHeld, poor } from "../support/payoutAnswers.ts"
import { payout, queued, settle, startClient, startWorker, world } from "../support/payoutQueue.ts"
import { linesOf, requests } from "../support/payoutSeen.ts"
import { oneAttempt } from "../support/policies.ts"

const ownMetrics = Layer.sync(Metric.MetricRegistry, () => new Map())
const gauge = (name: string) =>
  Effect.map(
    Metric.snapshot,
    (metrics) =>
      Object.entries(lastValues(metrics.map(pointOf), new RegExp(`^effect_pix_payout_queue_${name}`))).find(([label]) =>
        label.includes("unknown")
      )?.[1]
  )

const handedOut = () => {
  const states: Array<string> = []
  const onState: PayoutQueueOptions<never>["onState"] = ({ state }: PayoutStatus) =>
    Effect.sync(() => {
      states.push(state)
    })
  return { states, onState }
}

const alarm = handedOut()
queued(
  "a payout whose request is under way is unknown in its row, is no alarm, and is settled after its answer only",
  { under: ownMetrics, onState: alarm.onState },
  function* ({ queue, sandbox, sql }) {
    const { answer, arrived, held } = yield* makeHeld
    yield* sandbox.fault("requestWithdrawal", held)
    const reader = yield* startClient()
    yield* queue.submit(payout("invoice-1"))
    yield* settle
    yield* arrived
    const [row] = yield* sql`SELECT state, error FROM effect_pix_payouts`
    assert.deepStrictEqual({ ...row }, { state: "unknown", error: null })
    const status = Option.getOrThrow(yield* reader.status("invoice-1"))
    assert(status.state === "unknown")
    assert.isUndefined(status.error)
    assert.isAbove(status.underWayUntil?.epochMilliseconds ?? 0, status.mayHaveLeftAt?.epochMilliseconds ?? 0)
    for (const as of ["paid", "failed", "returned"] as const)
      assert.include((yield* Effect.flip(reader.settle("invoice-1", { as, by: "ana" }))).message, "under way until")
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual(yield* gauge("waiting"), 0)
    assert.strictEqual((yield* Effect.flip(reader.cancel("invoice-1")))._tag, "PayoutStateConflict")

    yield* answer()
    yield* settle
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(alarm.states, ["posted"])
    assert.deepStrictEqual(yield* linesOf(queue, "invoice-1"), [
      "Submitted > accepted",
      "Marked 1 > unknown, may have left",
      "Answered Recorded 1 > posted"
    ])
  }
)

queued(
  "a payout whose worker died is an alarm since its request, past the deadline, and may be settled then",
  { under: ownMetrics },
  function* ({ queue, sql }) {
    yield* queue.setPaused(true)
    yield* queue.submit(payout("invoice-1"))
    yield* TestClock.adjust("1 hour")
    const mark = 3_600_000
    yield* sql`UPDATE effect_pix_payouts SET state = 'unknown', sends = 1, may_have_left_at = ${mark}, marked_at = ${mark},
      under_way_until = ${mark + 100_000}`
    yield* TestClock.adjust("70 seconds")
    assert.strictEqual(yield* gauge("waiting"), 0)
    assert.include((yield* Effect.flip(queue.settle("invoice-1"))).message, "under way until")
    yield* TestClock.adjust("110 seconds")
    assert.strictEqual(yield* gauge("waiting"), 1)
    assert.closeTo((yield* gauge("oldest")) ?? 0, 180, 61)
    assert.strictEqual((yield* queue.settle("invoice-1", { as: "paid", by: "ana" })).state, "paid")
  }
)

/** The client, whose caller waits before each request, and lets it take an hour. */
const patient = Layer.effect(
  Payments,
  Effect.map(Payments, (client) => {
    const policy = PaymentsPolicy.make({ ...oneAttempt, attemptTimeout: "1 hour", deadline: "1 hour" })
    const requestWithdrawal: typeof client.requestWithdrawal = (...given) =>
      Effect.delay(Effect.provideService(client.requestWithdrawal(...given), PaymentsPolicy, policy), "20 seconds")
    return Payments.of({ ...client, requestWithdrawal })
  })
)
effect(
  "a request is over when its payout is under way no more, also through a decorated client with a longer deadline",
  Layer.provideMerge(patient, world),
  function* () {
    const { arrived, held } = yield* makeHeld
    yield* Sandbox.use((sandbox) => sandbox.fault("requestWithdrawal", held))
    const queue = yield* startWorker()
    yield* queue.submit(payout("invoice-1"))
    yield* settle
    yield* TestClock.adjust("20 seconds")
    yield* arrived
    const status = Effect.map(queue.status("invoice-1"), (found) => {
      const one = Option.getOrThrow(found)
      assert(one.state === "unknown")
      return one
    })
    const { underWayUntil } = yield* status
    assert.isDefined(underWayUntil)
    const left = (underWayUntil?.epochMilliseconds ?? 0) - (yield* Clock.currentTimeMillis)
    yield* TestClock.adjust(left - 1000)
    assert.isUndefined((yield* status).error)
    // It is asked again a second later.
    yield* TestClock.adjust("1500 millis")
    const { error } = yield* status
    // A worker that ends waits for its request.
    yield* TestClock.adjust("30 seconds")
    assert.deepInclude(error, { _tag: "OutcomeUnknown", reason: "Timeout" })
    assert.isTrue(Option.exists(yield* queue.status("invoice-1"), ({ state }) => state === "posted"))
  }
)

const waits = handedOut()
queued(
  "a payout whose request moved nothing is accepted again, which is told to nobody; a doubt is told once",
  { script: { poor: [poor], lost: [Fault.resetAfter, Fault.resetAfter] }, onState: waits.onState },
  function* ({ queue }) {
    yield* queue.submit(payout("poor"))
    yield* settle
    assert.strictEqual(Option.getOrThrow(yield* queue.status("poor")).state, "accepted")
    yield* TestClock.adjust("10 seconds")
    assert.deepStrictEqual(waits.states, ["posted"])
    yield* queue.submit(payout("lost"))
    yield* TestClock.adjust("10 seconds")
    assert.deepStrictEqual(waits.states, ["posted", "unknown", "posted"])
    assert.strictEqual(yield* requests("lost"), 3)
  }
)
