/**
 * Payouts that look like another one: another reference with the same PIX key and the same amount, within a day.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Money, PixKey } from "effect-pix"
import { PayoutQueue, type PayoutQueueOptions, Payouts, type Seal } from "effect-pix/payouts"
import { Fault } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { refused } from "../support/payoutAnswers.ts"
import { payout, queued, type Script, settle } from "../support/payoutQueue.ts"
import { shown } from "../support/payoutSeen.ts"
import { line, run } from "../support/sheets.ts"

/** What becomes of a payout to the person of all others. */
const runNew = (reference = "new") => run([payout(reference)])
const aDay = 86_400_000
/** A poll that does not slow a day of the test's clock down. */
const slow: PayoutQueueOptions = { poll: "6 hours" }

describe("a line of a sheet that looks like another payout", () => {
  queued.each(["accepted", "parked", "paid", "posted", "unknown"])(
    "is not accepted beside one that is %s, and is beside one that failed",
    { script: { unknown: Fault.resetAfter } },
    function* ({ queue }, twin) {
      const isSent = twin === "posted" || twin === "unknown"
      yield* queue.setPaused(!isSent)
      yield* queue.submit(payout(twin))
      yield* settle
      if (twin === "parked" || twin === "paid") yield* queue.park(twin)
      if (twin === "paid") yield* queue.settle(twin)
      assert.include(yield* shown(twin), twin)
      assert.deepStrictEqual(yield* runNew(), [[0, twin]])
      assert.strictEqual(yield* shown("new"), "absent")
      if (twin !== "posted" && twin !== "paid") yield* queue.park(twin)
      // No request of it is under way any more.
      yield* TestClock.adjust("10 minutes")
      yield* queue.settle(twin, { as: "failed" })
      yield* queue.setPaused(false)
      assert.deepStrictEqual(yield* runNew(), { done: ["new"] })
    }
  )

  const script: Script = { refused: [refused] }
  queued("is accepted beside one that is refused, other or older", { script, ...slow }, function* ({ queue }) {
    yield* queue.submit(payout("older"))
    yield* TestClock.adjust(aDay)
    assert.deepStrictEqual(yield* runNew(), [[0, "older"]])
    yield* TestClock.adjust(1)
    yield* queue.submitMany([payout("refused"), line("other-key"), payout("other-amount", 2000)])
    yield* settle
    assert.deepStrictEqual([yield* shown("refused"), yield* runNew()], ["refused", { done: ["new"] }])
  })

  queued("is compared as its key is sent, which no failure names", function* () {
    const amount = Money.centavos(1000)
    const items = [
      { reference: "a", amount, pixKey: PixKey.cpf("529.982.247-25") },
      { reference: "b", amount, pixKey: "52998224725", pixKeyType: "CPF" as const },
      { reference: "c", amount },
      { reference: "d", amount },
      { reference: "d", amount }
    ]
    assert.deepStrictEqual(yield* run(items), [[1, "a"], [3, "c"]]) // prettier-ignore
    const error = yield* Effect.flip(Payouts.run(items))
    assert.notInclude(error.message, "529")
    assert(error._tag === "PayoutsNotAccepted")
    assert.strictEqual(error.wrong[0].error.concerns, "Request")
  })

  queued("is accepted where allowAlike names it, or in a second run", function* () {
    const salaries = ["a", "b", "c"].map((name) => payout(name))
    assert.deepStrictEqual(yield* run(salaries, { allowAlike: ["b"] }), [[2, "b"]])
    // Those that the failure named are enough.
    assert.deepStrictEqual(yield* run(salaries, { allowAlike: ["b", "c"] }), { done: ["a", "b", "c"] })
    assert.deepStrictEqual(yield* run(salaries), { done: ["a", "b", "c"] })
    const all = [...salaries, payout("d")]
    assert.deepStrictEqual(yield* run(all), [[3, "b"]])
    assert.deepStrictEqual(yield* run(all, { allowAlike: true }), { done: ["a", "b", "c", "d"] })
  })

  const lost = new Set<string>()
  const seal: Seal.Seal = {
    seal: (text) => Effect.succeed(`sealed ${text}`),
    open: (text, { reference }) =>
      lost.has(reference)
        ? Effect.die(new Error("no key"))
        : reference === "stuck"
          ? Effect.never
          : Effect.succeed(text.replace("sealed ", ""))
  }
  queued("may be like one whose key was forgotten, or cannot be opened", { seal }, function* ({ queue, sql }) {
    yield* queue.submitMany([line("sealed", 1000), line("forgotten", 2000), line("stuck", 3000)])
    yield* settle
    assert.deepStrictEqual(yield* runNew(), { done: ["new"] })
    lost.add("sealed")
    yield* sql`UPDATE effect_pix_payouts SET request = NULL WHERE reference = 'forgotten'`
    const like = yield* run([line("newer", 1000), line("newest", 2000), line("last", 3000)])
    assert.deepStrictEqual(like, [[0, "sealed"], [1, "forgotten"], [2, "stuck"]]) // prettier-ignore
  })

  queued("is not compared with those of another account", function* () {
    yield* runNew()
    const other = yield* Layer.build(Layer.fresh(PayoutQueue.layerClient({ account: "b" })))
    const plan = yield* Effect.provideContext(Payouts.plan([payout("newer")]), other)
    assert.deepStrictEqual(plan.wrong, [])
  })
})
