/**
 * A payout whose request is under way: it is `unknown` for everybody from the commit of its mark, is handed out to nobody, is no alarm
 * before its deadline, and is settled by nobody before its answer.
 */
import { assert } from "@effect/vitest"
import { Effect, Layer, Metric, Option } from "effect"
import type { PayoutQueueOptions, PayoutStatus } from "effect-pix/payouts"
import { Fault } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { lastValues, pointOf } from "../support/exported.ts"
import { makeHeld, poor } from "../support/payoutAnswers.ts"
import { payout, queued, settle, startClient } from "../support/payoutQueue.ts"
import { linesOf, requests } from "../support/payoutSeen.ts"

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
