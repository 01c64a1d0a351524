/**
 * What holds an account for longer than the horizon, as over a weekend, parks no payout of which nothing can have left, though it was
 * asked meanwhile; and one step ends it.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { PayoutQueue } from "effect-pix/payouts"
import { Fault } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { meetAll, poor, unauthorised } from "../support/payoutAnswers.ts"
import { payouts, queued } from "../support/payoutQueue.ts"
import { count, paid } from "../support/payoutSeen.ts"

const options = { by: "maria" }
const pause = (paused: boolean) => PayoutQueue.use((queue) => queue.setPaused(paused, options))
/** What `payouts retry --because Balance` does. */
const retryAll = PayoutQueue.use((queue) =>
  Stream.runForEach(queue.list({ because: "Balance" }), ({ reference }) => queue.retry(reference, options))
)

describe("ten payouts", () => {
  queued.each([
    ["a pause", pause(true), pause(false)],
    ["credentials that the gateway refuses", meetAll(unauthorised), meetAll()],
    ["a limit of the gateway", meetAll(Fault.refusal(422, "Limite diário excedido")), meetAll()],
    ["a balance that is short", meetAll(poor), Effect.andThen(meetAll(), retryAll)]
  ] as const)(
    "that wait for %s for five times the horizon are paid after one step, and none is parked",
    { horizon: "1 hour", poll: "10 minutes", lease: "20 minutes" },
    function* ({ queue }, [, hold, release]) {
      yield* hold
      yield* queue.submitMany(payouts(10))
      yield* Effect.repeat(TestClock.adjust("5 minutes"), { times: 59 })
      assert.deepStrictEqual([yield* paid, yield* count("accepted")], [0, 10])
      yield* release
      yield* Effect.repeat(TestClock.adjust("1 minute"), { times: 9 })
      assert.deepStrictEqual([yield* paid, yield* count("posted")], [10, 10])
    }
  )
})
