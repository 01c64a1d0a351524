/**
 * When a delivery is looked up again: after another one about its transaction, after an outage, and for how long.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Latch, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { TransactionHints, TransactionWait } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { charge, paidCharge } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import {
  edge,
  evenly,
  exhaust,
  finish,
  inSeconds,
  lookingUp,
  recorded,
  recording,
  saying,
  timing,
  unrecorded,
  world
} from "../support/webhooks.ts"

const all = { concurrency: "unbounded" } as const

describe("deliveries about one transaction that overlap", () => {
  effect("deliveries and checks at once, in any case of the id, hand a status out once", world, function* () {
    const { check, idle, post, reports, statuses } = yield* recording().pipe(saying(() => "Paid"))
    const { id } = yield* charge
    const bodies = Array.from({ length: 20 }, (_, n) => ({
      transactionId: n % 2 === 0 ? id : id.toUpperCase(),
      ...(n % 3 === 0 && { status: "Paid" }),
      n: n % 5
    }))
    const checks = [check(id), check(id.toUpperCase())]
    const [answers] = yield* Effect.all([Effect.forEach(bodies, (body) => post(body), all), ...checks], all)
    assert.deepStrictEqual(new Set(answers), new Set([200]))
    yield* idle
    assert.deepStrictEqual([statuses(), reports], [["Paid"], []])
  })

  effect("a delivery during a lookup is looked up at once after it", world, function* () {
    const sandbox = yield* Sandbox
    const id = yield* paidCharge
    const atWork = yield* Latch.make()
    const goesOn = yield* Latch.make()
    const { claim, idle, statuses } = yield* recording().pipe(
      lookingUp((answer) => Effect.tap(answer, Effect.andThen(atWork.open, goesOn.await)))
    )
    yield* claim(id)
    yield* atWork.await
    yield* sandbox.refund(id)
    yield* claim(id)
    yield* goesOn.open
    // No time passes.
    yield* idle
    assert.deepStrictEqual(statuses(), ["Paid", "Refunded"])
  })

  effect("an early claim waits on after a later one that is confirmed, and after a check", world, function* () {
    const sandbox = yield* Sandbox
    const { check, claim, reports, statuses, ...webhook } = yield* recording()
    const id = yield* paidCharge
    yield* claim(id, "Refunded")
    yield* TestClock.adjust("1500 millis")
    yield* claim(id, "Paid")
    yield* TestClock.adjust("10 seconds")
    yield* check(id)
    yield* TestClock.adjust("10 seconds")
    assert.deepStrictEqual([statuses(), reports], [["Paid"], []])
    yield* sandbox.refund(id)
    yield* TestClock.adjust("1 minute")
    yield* webhook.idle
    assert.deepStrictEqual([statuses(), reports], [["Paid", "Refunded"], []])
  })

  effect(
    "a repetition of an early claim is one lookup, and the claim waits for a minute after it",
    world,
    function* () {
      const at: Array<number> = []
      const { claim, idle, reasons } = yield* recording().pipe(timing(at))
      const { id } = yield* charge
      for (let n = 1; n <= 20; n++) {
        yield* claim(id)
        yield* TestClock.adjust("500 millis")
        assert.strictEqual(at.length, n)
      }
      yield* TestClock.adjust("61 seconds")
      assert.deepStrictEqual(reasons(), [])
      yield* TestClock.adjust("5 seconds")
      yield* idle
      assert.deepStrictEqual(reasons(), ["StillOpen"])
      assert.deepStrictEqual(inSeconds(at.slice(19).map((time) => time - 9500)), recorded.times)
    }
  )
})

describe("an outage of the service", () => {
  effect("a delivery that is repeated is looked up after 2, 4, 8 seconds, up to five minutes", world, function* () {
    const at: Array<number> = []
    const { claim, reports, statuses, ...webhook } = yield* recording().pipe(timing(at), evenly)
    const sandbox = yield* Sandbox
    const id = yield* paidCharge
    yield* sandbox.fault("getTransaction", Fault.refusal(401, "não"), { times: 1000 })
    for (const seconds of [0.1, 1, 2, 5, 10, 15, 30, 60, 120, 240, 300, 300]) {
      yield* Effect.replicateEffect(claim(id), 10, all)
      yield* TestClock.adjust(seconds * 1000)
    }
    assert.deepStrictEqual(inSeconds(at), [0, 2, 6, 14, 30, 62, 126, 254, 510, 810])
    yield* sandbox.clearFaults
    yield* TestClock.adjust("5 minutes")
    yield* webhook.idle
    assert.deepStrictEqual([statuses(), reports], [["Paid"], []])
  })

  for (const [asks, waits] of [
    [600, 600],
    [86_400, 3600]
  ] as const)
    effect(`a delivery is looked up again after ${waits} seconds if the service asks for ${asks}`, world, function* () {
      const at: Array<number> = []
      const { claim, ...webhook } = yield* recording().pipe(timing(at), evenly)
      const id = yield* paidCharge
      yield* (yield* Sandbox).fault("getTransaction", Fault.retryAfter(`${asks} seconds`), { times: 1 })
      yield* claim(id)
      yield* TestClock.adjust(waits * 1000 + 100)
      yield* webhook.idle
      assert.deepStrictEqual(inSeconds(at), [0, waits])
    })

  effect(
    "a delivery that is not recorded has 503 after 8 seconds, or at once if the service asks for more",
    world,
    function* () {
      const [hanging, refused] = [yield* paidCharge, yield* paidCharge]
      const { claim, reasons } = yield* recording({}, edge).pipe(
        lookingUp((answer, id) => (id === hanging ? Effect.never : answer))
      )
      yield* (yield* Sandbox).fault("getTransaction", Fault.retryAfter("1 hour"), { times: 1 })
      assert.strictEqual(yield* claim(refused), 503)
      const answer = yield* Effect.forkChild(claim(hanging), { startImmediately: true })
      yield* TestClock.adjust("7900 millis")
      assert.isUndefined(answer.pollUnsafe())
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual([yield* Fiber.join(answer), ...reasons()], [503, "LookupFailed", "LookupFailed"])
    }
  )

  effect("a lookup that hangs is repeated after 10 seconds, and delays no other transaction", world, function* () {
    const [one, other] = [yield* paidCharge, yield* paidCharge]
    let hung = 0
    const { claim, statuses, ...webhook } = yield* recording().pipe(
      lookingUp((answer, id) => (id === one && ++hung < 3 ? Effect.never : answer))
    )
    yield* claim(one)
    yield* claim(other)
    yield* TestClock.adjust("9 seconds")
    assert.deepStrictEqual([statuses(), hung], [["Paid"], 1])
    yield* finish(webhook)
    assert.deepStrictEqual([statuses(), hung], [["Paid", "Paid"], 3])
  })

  effect("a delivery whose last lookup fails is reported with the error", world, function* () {
    const { idle, post, reports } = yield* recording()
    const { id } = yield* charge
    yield* (yield* Sandbox).rotateCredentials
    yield* post({ transactionId: id })
    yield* exhaust("outage", 1, TestClock.adjust("10 millis"))
    yield* TestClock.adjust("1 second")
    yield* idle
    assert.deepStrictEqual(
      reports.map((report) => "error" in report && [report.reason, report.error?._tag]),
      [["LookupFailed", "AuthError"]]
    )
  })
})

describe("a delivery wakes whoever waits for its transaction", () => {
  const waiting = Effect.fnUntraced(function* (id: string) {
    const fiber = yield* Effect.forkChild(TransactionWait.final(id, { schedule: Schedule.spaced("1 hour") }))
    yield* TestClock.adjust(0)
    return () => fiber.pollUnsafe() !== undefined
  })

  for (const { layer, name } of [recorded, unrecorded]) {
    effect(`${name} wakes them before its own lookup, and again when a later one confirms it`, world, function* () {
      const [paid, early] = [yield* charge, yield* charge]
      const { claim } = yield* recording({}, layer).pipe(
        lookingUp((answer, id) => (id === paid.id ? Effect.never : answer))
      )
      const hasEnded = { paid: yield* waiting(paid.id), early: yield* waiting(early.id) }
      yield* (yield* Sandbox).markPaid(paid.id)
      for (const { id } of [paid, early]) yield* Effect.forkChild(claim(id))
      yield* TestClock.adjust(0)
      assert.deepStrictEqual([hasEnded.paid(), hasEnded.early()], [true, false])
      yield* (yield* Sandbox).markPaid(early.id)
      yield* TestClock.adjust("1 second")
      assert.isTrue(hasEnded.early())
    })

    effect(`${name} does not wait for them`, world, function* () {
      const { claim, statuses } = yield* recording({}, layer).pipe(
        Effect.provideService(TransactionHints, { publish: () => Effect.never, subscribe: () => Effect.die("nobody") })
      )
      assert.strictEqual(yield* claim(yield* paidCharge), 200)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(statuses(), ["Paid"])
    })
  }

  effect("a check of a transaction that is still open wakes nobody", world, function* () {
    const { id } = yield* charge
    const hint = yield* (yield* TransactionHints).subscribe(id)
    const { check, idle } = yield* recording()
    const woken = yield* Effect.forkChild(hint.await, { startImmediately: true })
    yield* check(id)
    yield* idle
    assert.isUndefined(woken.pollUnsafe())
    yield* (yield* Sandbox).markPaid(id)
    yield* check(id)
    yield* idle
    yield* Fiber.join(woken)
  })
})
