/**
 * How fast payouts leave: a gateway that refuses for a while, one that is slow and has a pace, and a payout that the balance does not cover.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Fault } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { limited } from "../support/limitedGateway.ts"
import { meetAll, poor } from "../support/payoutAnswers.ts"
import { payout, payouts, queued, startWorker } from "../support/payoutQueue.ts"
import { count, paid, requests } from "../support/payoutSeen.ts"

const slow = { poll: "5 minutes", lease: "10 minutes" } as const
const steps = (count: number) => Effect.repeat(TestClock.adjust("100 millis"), { times: count - 1 })

describe("payouts leave as fast as the gateway takes them", () => {
  queued("after 30 seconds of 429 that met an idle account, which few requests met", slow, function* ({ queue }) {
    yield* meetAll(Fault.answer(429))
    yield* queue.submitMany(payouts(300))
    yield* steps(300)
    assert.isAtMost(yield* requests(), 8)
    yield* meetAll()
    yield* steps(1200)
    assert.strictEqual(yield* paid, 300)
  })

  queued(
    "by two workers with a pace, which no window exceeds, though the gateway is slow and one payout has no answer",
    { ...slow, pace: { most: 10, per: "10 seconds" }, script: { never: Fault.resetBefore } },
    function* ({ queue }) {
      const { fault, times } = limited(() => Fault.latency("3 seconds"))
      yield* meetAll(fault)
      yield* startWorker(slow)
      yield* queue.submit(payout("never"))
      yield* queue.submitMany(payouts(140))
      yield* steps(400)
      const began = times.length
      yield* steps(600)
      const used = times.length - began
      const most = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 10_000).length))
      assert.isAtMost(most, 10)
      assert.isAtLeast(used, 57)
      // Those that are under way are answered before the workers stop.
      yield* queue.setPaused(true)
      yield* steps(40)
    }
  )

  queued(
    "where the balance does not cover the first of 500",
    { ...slow, script: { large: poor } },
    function* ({ queue }) {
      yield* queue.submit(payout("large", 500_000))
      yield* queue.submitMany(payouts(500))
      yield* steps(600)
      assert.strictEqual(yield* count("posted"), 500)
    }
  )
})
