import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Metric, Option, Stream } from "effect"
import { Money, PaymentsPolicy } from "effect-pix"
import { type PayoutItem, PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { layerMemory, payout, payouts, settle } from "../support/payoutQueue.ts"
import { effect } from "../support/effect.ts"

/** One request an attempt, so that each can be counted. */
const layerOnce = (options: PayoutQueueOptions = {}) =>
  Layer.provideMerge(layerMemory(options), PaymentsPolicy.layer(PaymentsPolicy.once))
const stateOf = (reference: string) =>
  Effect.gen(function* () {
    const queue = yield* PayoutQueue
    return Option.getOrThrow(yield* queue.status(reference))
  })
const paid = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  return (yield* sandbox.withdrawals).map(({ idempotencyKey }) => idempotencyKey)
})
const asked = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  return (yield* sandbox.requests).length
})

describe("submit", () => {
  effect("a payout is posted once, under the key of its reference, which never changes", layerMemory(), function* () {
    const queue = yield* PayoutQueue
    assert.strictEqual((yield* queue.submit(payout("invoice-42"))).state, "accepted")
    const posted = yield* queue.await("invoice-42")
    assert.strictEqual(posted._tag, "Posted")
    // Frozen: with another key the service would pay again.
    assert.strictEqual(posted.idempotencyKey, "payout_9e27a39736b1fd741e1f6be1de4aa7cac85b921d")
    assert.strictEqual((yield* queue.submit(payout("invoice-42"))).state, "posted")
    assert.deepStrictEqual(yield* paid, [posted.idempotencyKey])
    assert.isTrue(Option.isNone(yield* queue.status("invoice-43")))
  })

  effect(
    "the same reference with another content is a ReferenceConflict that names the differences",
    layerMemory(),
    function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(payout("invoice-1"))
      const amount = yield* Effect.flip(queue.submit(payout("invoice-1", 2000)))
      assert.strictEqual(amount._tag, "ReferenceConflict")
      assert.include(amount.message, "submitted before, for R$ 10,00, and this payout has another amount (R$ 20,00).")
      const { amount: same, reference } = payout("invoice-1")
      const content = yield* Effect.flip(queue.submit({ reference, amount: same }))
      assert.isTrue(content._tag === "ReferenceConflict" && content.differs.includes("content"))
      yield* queue.await("invoice-1")
      assert.strictEqual(yield* asked, 1)
    }
  )

  effect("what cannot be sent is refused before it is stored", layerMemory(), function* () {
    const queue = yield* PayoutQueue
    const errors = yield* Effect.forEach(
      [
        payout("small", 999),
        payout(" blank "),
        { ...payout("odd"), amount: 10.5 },
        { ...payout("kind"), pixKey: "maria@example.com" },
        { ...payout("more"), paid: true },
        undefined
      ],
      // A caller without types may give anything.
      (input) => Effect.flip(queue.submit(input as never))
    )
    assert.deepStrictEqual(
      errors.map(({ _tag }) => _tag),
      ["BelowMinimum", "InvalidRequest", "InvalidRequest", "InvalidRequest", "InvalidRequest", "InvalidRequest"]
    )
    assert.notInclude(JSON.stringify(errors), "maria")
    assert.strictEqual((yield* Stream.runCollect(queue.list())).length, 0)
  })

  effect("of many payouts all are accepted, or none", layerMemory(), function* () {
    const queue = yield* PayoutQueue
    yield* Effect.flip(queue.submitMany([payout("invoice-1"), payout("invoice-2", 1)]))
    yield* queue.submit(payout("invoice-3"))
    const conflict = yield* Effect.flip(queue.submitMany([payout("invoice-4"), payout("invoice-3", 5000)]))
    assert(conflict._tag === "PayoutsNotAccepted")
    assert.deepStrictEqual(
      conflict.wrong.map(({ error, reference }) => [reference, error._tag, error.concerns]),
      [["invoice-3", "ReferenceConflict", "Request"]]
    )
    assert.strictEqual(conflict.concerns, "Request")
    const listed = yield* Stream.runCollect(queue.list())
    assert.deepStrictEqual(
      listed.map(({ reference }) => reference),
      ["invoice-3"]
    )
  })

  effect(
    "of many payouts each wrong one is named, with its index, its reference and its error",
    layerMemory(),
    function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(payout("invoice-1"))
      // Callers without types give anything.
      const many = [
        payout("invoice-0"),
        payout("invoice-1", 5000),
        payout("invoice-2", 950),
        { ...payout("invoice-3"), pixKey: "?" },
        { ...payout("invoice-4"), reference: "" },
        null
      ] as ReadonlyArray<PayoutItem>
      const error = yield* Effect.flip(queue.submitMany(many))
      assert(error._tag === "PayoutsNotAccepted")
      assert.deepStrictEqual(
        error.wrong.map(({ amount, error, index, reference }) => [index, reference, amount, error._tag]),
        [
          [1, "invoice-1", Money.centavos(5000), "ReferenceConflict"],
          [2, "invoice-2", Money.centavos(950), "BelowMinimum"],
          [3, "invoice-3", Money.centavos(1000), "InvalidRequest"],
          [4, "", Money.centavos(1000), "InvalidRequest"],
          [5, "", undefined, "InvalidRequest"]
        ]
      )
      for (const words of [
        "Correct 5 and submit all of them again",
        "invoice-1 (index 1) was submitted before, with another amount",
        "invoice-2 (index 2) asks for R$ 9,50, which is under the minimum of R$ 10,00"
      ]) {
        assert.include(error.message, words)
      }
      const long = yield* Effect.flip(queue.submitMany(payouts(12, 1)))
      assert.match(long.message, /^No payout was accepted\. Correct 12 .* and 2 more\.$/)
    }
  )

  it.effect("a stored request whose opening never ends does not block the other payouts", () => {
    let isAway = true
    const seal = {
      seal: (request: string) => Effect.succeed(request),
      open: (sealed: string, reference: string) =>
        isAway && reference === "invoice-1" ? Effect.never : Effect.succeed(sealed)
    }
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.submitMany(payouts(2))
      yield* TestClock.adjust("32 seconds")
      assert.strictEqual((yield* stateOf("invoice-2")).state, "posted")
      isAway = false
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
    }).pipe(Effect.provide(layerMemory({ concurrency: 1, seal })))
  })

  effect(
    "a stored request that cannot be opened any more is compared by its check",
    layerMemory({ seal: { seal: (request) => Effect.succeed(request), open: () => Effect.succeed("no request") } }),
    function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(payout("invoice-1"))
      assert.strictEqual((yield* queue.submit(payout("invoice-1"))).reference, "invoice-1")
      const other = yield* Effect.flip(queue.submit({ ...payout("invoice-1"), description: "another one" }))
      assert.isTrue(other._tag === "ReferenceConflict" && other.differs.join() === "content")
    }
  )
})

describe("what the service answers", () => {
  effect("a refusal of a clean key is final, and retry sends it again", layerMemory(), function* () {
    const queue = yield* PayoutQueue
    const sandbox = yield* Sandbox
    yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, "Chave PIX bloqueada."))
    yield* queue.submit(payout("invoice-1"))
    const refused = yield* queue.await("invoice-1")
    assert.isTrue(refused._tag === "Refused" && refused.error._tag === "RequestRejected")
    yield* TestClock.adjust("1 hour")
    assert.strictEqual(yield* asked, 1)
    yield* queue.retry("invoice-1")
    assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
  })

  effect(
    "a refusal that is not about the payout (credentials, a rate limit, no connection) is tried again within the horizon",
    layerOnce({ poll: "5 minutes" }),
    function* () {
      const queue = yield* PayoutQueue
      const sandbox = yield* Sandbox
      yield* sandbox.fault("requestWithdrawal", Fault.refusal(401, "Credenciais inválidas."), { times: 3 })
      yield* sandbox.fault("requestWithdrawal", Fault.refusal(429, "Devagar."), { times: 1000 })
      yield* queue.submit(payout("invoice-1"))
      yield* TestClock.adjust("11 hours")
      const waiting = yield* stateOf("invoice-1")
      assert.isTrue(waiting._tag === "Accepted" && waiting.mayHaveLeftAt === undefined)
      assert.isTrue(waiting._tag === "Accepted" && waiting.error?._tag === "RateLimited")
      yield* sandbox.clearFaults
      yield* TestClock.adjust("6 minutes")
      assert.strictEqual((yield* stateOf("invoice-1")).state, "posted")
      assert.strictEqual((yield* paid).length, 1)
    }
  )

  effect(
    "a payout whose answer is lost is unknown, and a request with the same key finds that it was paid",
    layerOnce(),
    function* () {
      const queue = yield* PayoutQueue
      const sandbox = yield* Sandbox
      yield* sandbox.fault("requestWithdrawal", Fault.resetAfter)
      yield* queue.submit(payout("invoice-1"))
      yield* settle
      const unknown = yield* stateOf("invoice-1")
      assert.isTrue(unknown._tag === "Unknown" && unknown.mayHaveLeftAt !== undefined)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
      assert.strictEqual((yield* paid).length, 1)
    }
  )

  effect(
    "a payout that is refused after a lost answer stays unknown until the horizon, and is parked then",
    layerOnce({ poll: "5 minutes" }),
    function* () {
      const queue = yield* PayoutQueue
      const sandbox = yield* Sandbox
      yield* sandbox.fault("requestWithdrawal", Fault.resetAfter)
      yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, "Saque recusado."), { times: 10_000 })
      yield* queue.submit(payout("invoice-1"))
      yield* TestClock.adjust("11 hours")
      const unknown = yield* stateOf("invoice-1")
      assert.isTrue(unknown._tag === "Unknown" && unknown.error._tag === "OutcomeUnknown")
      yield* TestClock.adjust("2 hours")
      const parked = yield* stateOf("invoice-1")
      assert.isTrue(parked._tag === "Parked" && parked.because === "PastHorizon" && parked.mayHaveLeftAt !== undefined)
      const before = yield* asked
      yield* TestClock.adjust("3 days")
      assert.strictEqual(yield* asked, before)
      const refused = yield* Effect.flip(queue.resume("invoice-1"))
      assert.isTrue(refused._tag === "PayoutStateConflict" && refused.message.includes("notExecuted"))
      yield* sandbox.clearFaults
      yield* queue.settle("invoice-1")
      assert.strictEqual((yield* stateOf("invoice-1")).state, "settled")
      assert.strictEqual((yield* paid).length, 1)
    }
  )
})

describe("limits", () => {
  effect("a payout above maxAmount waits for a person", layerMemory({ maxAmount: 4999 }), function* () {
    const queue = yield* PayoutQueue
    yield* queue.submit(payout("invoice-1", 5000))
    const parked = yield* queue.await("invoice-1")
    assert.isTrue(parked._tag === "Parked" && parked.because === "OverMaxAmount" && parked.mayHaveLeftAt === undefined)
    assert.strictEqual(yield* asked, 0)
  })

  effect(
    "payouts above dailyCap wait for the next day of the zone, and unknown payouts count",
    layerOnce({ dailyCap: 4000, concurrency: 1, poll: "5 minutes" }),
    function* () {
      const queue = yield* PayoutQueue
      const sandbox = yield* Sandbox
      // The test's clock begins at 21:00 in São Paulo.
      yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, "Recusado."))
      yield* sandbox.fault("requestWithdrawal", Fault.resetAfter)
      yield* queue.submitMany(payouts(6))
      yield* TestClock.adjust("179 minutes")
      // One was refused and gave its amount back; one was unknown for a second, and counts once.
      assert.strictEqual((yield* paid).length, 4)
      assert.strictEqual((yield* Stream.runCollect(queue.list({ state: "accepted" }))).length, 1)
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* paid).length, 5)
    }
  )

  effect(
    "nothing is sent while the queue is paused, and payouts are sent after the pause",
    layerMemory(),
    function* () {
      const queue = yield* PayoutQueue
      yield* queue.setPaused(true)
      yield* queue.submitMany(payouts(5))
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(yield* asked, 0)
      assert.isTrue(yield* queue.isPaused)
      yield* queue.setPaused(false)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* paid).length, 5)
    }
  )
})

describe("an operator", () => {
  effect("parks a payout, and resumes it", layerMemory(), function* () {
    const queue = yield* PayoutQueue
    yield* queue.setPaused(true)
    yield* queue.submit(payout("invoice-1"))
    assert.strictEqual((yield* queue.park("invoice-1")).state, "parked")
    yield* queue.setPaused(false)
    yield* TestClock.adjust("1 hour")
    assert.strictEqual(yield* asked, 0)
    assert.strictEqual((yield* queue.resume("invoice-1")).state, "accepted")
    assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
  })

  effect(
    "settles a posted payout, and a payout that was never sent only when it is parked",
    layerMemory(),
    function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(payout("invoice-1"))
      yield* queue.await("invoice-1")
      assert.strictEqual((yield* queue.settle("invoice-1", { as: "failed" })).state, "failed")
      yield* queue.setPaused(true)
      yield* queue.submit(payout("invoice-2"))
      const unsent = yield* Effect.flip(queue.settle("invoice-2"))
      assert.isTrue(unsent._tag === "PayoutStateConflict" && unsent.message.includes("park it and then settle it"))
      yield* queue.park("invoice-2")
      assert.strictEqual((yield* queue.settle("invoice-2")).state, "settled")
      assert.strictEqual((yield* Effect.flip(queue.settle("invoice-3")))._tag, "PayoutNotFound")
      for (const step of [queue.park, queue.resume, queue.retry]) {
        assert.strictEqual((yield* Effect.flip(step("invoice-1")))._tag, "PayoutStateConflict")
      }
    }
  )

  effect("sends a payout that waits for its next attempt at once", layerOnce(), function* () {
    const queue = yield* PayoutQueue
    const sandbox = yield* Sandbox
    yield* sandbox.fault("requestWithdrawal", Fault.refusal(401, "Não."), { times: 12 })
    yield* queue.submit(payout("invoice-1"))
    yield* TestClock.adjust("10 minutes")
    yield* sandbox.clearFaults
    yield* queue.retry("invoice-1")
    yield* TestClock.adjust("2 seconds")
    assert.strictEqual((yield* stateOf("invoice-1")).state, "posted")
  })
})

describe("a list", () => {
  effect("all payouts are listed, the oldest first, beyond the size of a page", layerMemory(), function* () {
    const queue = yield* PayoutQueue
    yield* queue.setPaused(true)
    yield* queue.submitMany(payouts(450))
    yield* TestClock.adjust("1 second")
    yield* queue.submit(payout("last"))
    const listed = yield* Stream.runCollect(queue.list({ state: "accepted" }))
    assert.strictEqual(new Set(listed.map(({ reference }) => reference)).size, 451)
    assert.strictEqual(listed.at(-1)?.reference, "last")
    assert.strictEqual((yield* Stream.runCollect(queue.list({ state: "posted" }))).length, 0)
  })
})

describe("the log and the settings", () => {
  effect("the number that waits in each state is a metric", layerMemory(), function* () {
    const queue = yield* PayoutQueue
    yield* queue.submit(payout("invoice-1"))
    yield* queue.await("invoice-1")
    yield* TestClock.adjust("1 minute")
    const names = (yield* Metric.snapshot).map(({ id }) => id)
    assert.include(names, "effect_pix_payout_queue_waiting")
    assert.include(names, "effect_pix_payout_queue_changes")
  })

  effect("settings that make no sense are all named by one ConfigurationError", function* () {
    const error = yield* Effect.flip(
      Effect.provide(
        Effect.asVoid(PayoutQueue),
        layerMemory({
          concurrency: 0,
          lease: "-1 seconds",
          dailyCap: 0.5,
          forget: { data: "-1 days" }
        })
      )
    )
    assert(error._tag === "ConfigurationError")
    assert.deepStrictEqual(error.settings.map(({ setting }) => setting).toSorted(), [
      "concurrency",
      "dailyCap",
      "forget.data",
      "lease"
    ])
    const endless = yield* Effect.flip(Effect.provide(Effect.asVoid(PayoutQueue), layerMemory({ lease: "Infinity" })))
    assert.include(endless.message, "lease")
  })
})
