import { assert, describe } from "@effect/vitest"
import { Clock, DateTime, Duration, Effect, Exit, Fiber, Layer, Random, Schedule, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as TransactionWait from "../../src/transactions/TransactionWait.ts"
import { centavos } from "../../src/pix/Money.ts"
import type { Payments } from "../../src/client/Payments.ts"
import * as PaymentsError from "../../src/contract/PaymentsError.ts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { TransactionHints } from "../../src/transactions/TransactionHints.ts"
import type { TransactionDetail } from "../../src/contract/Transaction.ts"
import { mockPayments } from "../support/payments.ts"
import { charge, lookups } from "../support/charges.ts"
import { effect } from "../support/effect.ts"

const layer = Layer.mergeAll(Sandbox.layerPayments, TransactionHints.layer)

/** The default schedule without its jitter. */
const steady = { schedule: Schedule.spaced("10 seconds") }

const waitFor = (transactionId: string, options?: TransactionWait.Options) =>
  TransactionWait.final(transactionId, options)

type GetTransaction = Payments["Service"]["getTransaction"]
const finalBy = (getTransaction: GetTransaction, id: string, options?: TransactionWait.Options) =>
  Effect.provide(TransactionWait.final(id, options), mockPayments({ getTransaction }))
const changesBy = (getTransaction: GetTransaction, id: string, options?: TransactionWait.Options) =>
  Stream.provide(TransactionWait.changes(id, options), mockPayments({ getTransaction }))

const detailOf = (enStatusTransaction: string): TransactionDetail => ({
  id: 1,
  value: centavos(2500),
  transactionId: "9f1c8c52-6a3e-4b1f-9d57-0f4f5e1f2a11",
  enStatusTransaction
})

const limited = (seconds: number) =>
  new PaymentsError.RateLimited({
    operation: "getTransaction",
    attempts: 1,
    outcome: "Rejected",
    status: 429,
    retryAfter: Duration.seconds(seconds)
  })

/** Gives the answers one after another and repeats the last one. Records the time of each lookup in milliseconds. */
const script = (...answers: ReadonlyArray<TransactionDetail | PaymentsError.GetTransactionError>) => {
  const times: Array<number> = []
  const get: GetTransaction = () =>
    Effect.gen(function* () {
      times.push(yield* Clock.currentTimeMillis)
      const answer = answers[Math.min(times.length, answers.length) - 1]
      if (answer === undefined) return yield* Effect.die("no answer")
      return "_tag" in answer ? yield* answer : answer
    })
  return { get, times }
}

describe("TransactionWait.final", () => {
  effect("`final` returns a final transaction at once, with one lookup", layer, function* () {
    const sandbox = yield* Sandbox
    for (const move of [sandbox.markPaid, sandbox.cancel, sandbox.fail]) {
      const { id } = yield* charge
      const moved = yield* move(id)
      const detail = yield* waitFor(id)
      assert.strictEqual(detail.enStatusTransaction, moved.status)
      assert.strictEqual(detail.transactionId, id)
    }
    assert.strictEqual(yield* lookups, 3)
  })

  effect("`final` completes with the first poll after the payment", layer, function* () {
    const sandbox = yield* Sandbox
    const { id } = yield* charge
    const fiber = yield* Effect.forkChild(waitFor(id, steady))
    yield* TestClock.adjust("25 seconds")
    assert.strictEqual(yield* lookups, 3)
    yield* sandbox.markPaid(id)
    yield* TestClock.adjust("4 seconds")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 second")
    assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
    assert.strictEqual(yield* lookups, 4)
  })

  effect("a hint starts a lookup at once, and only for its own transaction", layer, function* () {
    const sandbox = yield* Sandbox
    const hints = yield* TransactionHints
    const one = yield* charge
    const other = yield* charge
    const fiber = yield* Effect.forkChild(waitFor(one.id, steady))
    yield* TestClock.adjust("1 second")
    yield* sandbox.markPaid(one.id)
    yield* hints.publish(other.id)
    yield* TestClock.adjust(0)
    assert.strictEqual(yield* lookups, 1)
    yield* hints.publish(one.id.toUpperCase())
    assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
    assert.strictEqual(yield* lookups, 2)
  })

  effect("a hint during a lookup is not lost", TransactionHints.layer, function* () {
    const hints = yield* TransactionHints
    let times = 0
    const get = () =>
      Effect.gen(function* () {
        const status = times++ === 0 ? "Awaiting" : "Paid"
        yield* Effect.sleep("1 second")
        return detailOf(status)
      })
    const fiber = yield* Effect.forkChild(finalBy(get, "t", steady))
    yield* TestClock.adjust("500 millis")
    yield* hints.publish("t")
    yield* TestClock.adjust("1500 millis")
    assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
  })

  effect(
    "many hints do not cause as many lookups, and do not delay the next poll",
    TransactionHints.layer,
    function* () {
      const hints = yield* TransactionHints
      const { get, times } = script(detailOf("Awaiting"))
      const fiber = yield* Effect.forkChild(finalBy(get, "t", steady))
      yield* TestClock.adjust(0)
      for (let i = 0; i < 90; i++) {
        yield* hints.publish("t")
        yield* TestClock.adjust("100 millis")
      }
      assert.strictEqual(times.length, 6)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(times.at(-1), 10_000)
      yield* hints.publish("t")
      yield* TestClock.adjust(0)
      assert.strictEqual(times.length, 8)
      yield* Fiber.interrupt(fiber)
    }
  )

  effect("after the charge's expiry there is one last lookup, and the error has its result", function* () {
    const { get, times } = script(detailOf("Awaiting"))
    const expiresAt = DateTime.makeUnsafe(25_000)
    const fiber = yield* Effect.forkChild(Effect.flip(finalBy(get, "t", { ...steady, expiresAt })))
    yield* TestClock.adjust("25 seconds")
    const error = yield* Fiber.join(fiber)
    assert.deepStrictEqual(times, [0, 10_000, 20_000, 25_000])
    assert(error._tag === "TimedOut")
    assert.strictEqual(error.reason, "Expired")
    assert.strictEqual(error.lastStatus, "Awaiting")
    assert.strictEqual(error.attempts, 4)
    assert.strictEqual(error.outcome, "NoEffect")
    assert.include(error.message, "does not prove")
  })

  effect("a payment just before the expiry is found by the last lookup", layer, function* () {
    const sandbox = yield* Sandbox
    const { id, pix } = yield* charge
    const now = yield* DateTime.now
    assert.isDefined(pix?.expirationDate)
    const left = Duration.toMillis(DateTime.distance(now, pix?.expirationDate ?? now))
    const fiber = yield* Effect.forkChild(
      waitFor(id, { schedule: Schedule.spaced("7 hours"), expiresAt: pix?.expirationDate })
    )
    yield* TestClock.adjust(left - 1)
    yield* sandbox.markPaid(id)
    yield* TestClock.adjust(1)
    assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
  })

  effect("an expiry in the past means one lookup", function* () {
    yield* TestClock.adjust("1 hour")
    const { get, times } = script(detailOf("Awaiting"))
    const error = yield* Effect.flip(finalBy(get, "t", { expiresAt: "1970-01-01T00:30:00Z" }))
    assert.strictEqual(error._tag, "TimedOut")
    assert.strictEqual(times.length, 1)
    assert.strictEqual(
      (yield* finalBy(script(detailOf("Paid")).get, "t", { expiresAt: 0 })).enStatusTransaction,
      "Paid"
    )
  })

  effect("the deadline ends waiting: by default after one hour, unless an expiry is given", function* () {
    const run = (options: TransactionWait.Options) =>
      Effect.gen(function* () {
        const before = yield* Clock.currentTimeMillis
        const fiber = yield* Effect.forkChild(
          Effect.flip(
            finalBy(script(detailOf("Awaiting")).get, "t", {
              schedule: Schedule.spaced("10 minutes"),
              ...options
            })
          ).pipe(Effect.zip(Clock.currentTimeMillis))
        )
        yield* TestClock.adjust("3 hours")
        const [error, after] = yield* Fiber.join(fiber)
        return {
          reason: error._tag === "TimedOut" ? error.reason : error._tag,
          minutes: (after - before) / 60_000
        }
      })
    assert.deepStrictEqual(yield* run({}), { reason: "Deadline", minutes: 60 })
    assert.deepStrictEqual(yield* run({ deadline: "90 seconds" }), { reason: "Deadline", minutes: 1.5 })
    const in2Hours = DateTime.add(yield* DateTime.now, { hours: 2 })
    assert.deepStrictEqual(yield* run({ expiresAt: in2Hours }), { reason: "Expired", minutes: 120 })
    const later = DateTime.add(yield* DateTime.now, { hours: 2 })
    assert.deepStrictEqual(yield* run({ expiresAt: later, deadline: "1 minute" }), { reason: "Deadline", minutes: 1 })
    assert.deepStrictEqual(yield* run({ schedule: Schedule.recurs(2) }), { reason: "Deadline", minutes: 0 })
  })

  effect("the deadline interrupts a lookup that hangs, and the last one may take 5 seconds", function* () {
    const cut: Array<number> = []
    const hanging = Effect.onInterrupt(Effect.never, () =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sync(() => cut.push(now)))
    )
    const fiber = yield* Effect.forkChild(Effect.flip(finalBy(() => hanging, "t", { deadline: "1 second" })))
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(cut, [1_000])
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("5 seconds")
    assert.deepStrictEqual(cut, [1_000, 6_000])
    const error = yield* Fiber.join(fiber)
    assert(error._tag === "TimedOut")
    assert.strictEqual(error.reason, "Deadline")
    assert.strictEqual(error.attempts, 2)
    assert.strictEqual(error.lastFailure, "ServiceUnavailable")
    assert.isUndefined(error.lastStatus)
  })

  effect("a payment while a lookup hangs is found by the last lookup, at the expiry", function* () {
    let times = 0
    const get = () =>
      Effect.suspend(() => (times++ === 0 ? Effect.never : Effect.delay(Effect.succeed(detailOf("Paid")), "4 seconds")))
    const fiber = yield* Effect.forkChild(finalBy(get, "t", { expiresAt: DateTime.makeUnsafe(60_000) }))
    yield* TestClock.adjust("64 seconds")
    assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
    assert.strictEqual(times, 2)
  })

  effect(
    "a proxy's page in place of an answer does not end waiting, and the error at the deadline names it",
    layer,
    function* () {
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      const fiber = yield* Effect.forkChild(waitFor(id, steady))
      yield* TestClock.adjust("1 second")
      yield* sandbox.fault("getTransaction", Fault.html(), { times: 1 })
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* lookups, 2)
      assert.isUndefined(fiber.pollUnsafe())
      yield* sandbox.markPaid(id)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")

      const other = yield* charge
      const late = yield* Effect.forkChild(Effect.flip(waitFor(other.id, { ...steady, deadline: "15 seconds" })))
      yield* TestClock.adjust("1 second")
      yield* sandbox.fault("getTransaction", Fault.html(), { times: 2 })
      yield* TestClock.adjust("14 seconds")
      const error = yield* Fiber.join(late)
      assert(error._tag === "TimedOut")
      assert.strictEqual(error.lastStatus, "Awaiting")
      assert.strictEqual(error.lastFailure, "UnexpectedResponse")
    }
  )

  effect("the default schedule is fast at first, slower later, jittered, and has a ceiling", function* () {
    const { get, times } = script(detailOf("Awaiting"))
    const fiber = yield* Effect.forkChild(
      Effect.flip(finalBy(get, "t", { deadline: "2 hours" })).pipe(Random.withSeed("seed"))
    )
    for (let i = 0; i < 120; i++) yield* TestClock.adjust("1 minute")
    yield* Fiber.join(fiber)
    const waits = times.slice(1, -1).map((time, i) => time - (times[i] ?? 0))
    const early = times.filter((time) => time <= 60_000).length
    assert.isAtLeast(early, 10)
    assert.isAtMost(early, 20)
    assert.isBelow(waits[0] ?? Infinity, 1_300)
    assert.isTrue(
      waits.every((wait) => wait <= 72_001),
      "a minute and a fifth at most"
    )
    assert.isTrue(
      waits.slice(-60).every((wait) => wait >= 48_000),
      "never fast again"
    )
    assert.isAbove(new Set(waits.slice(-60)).size, 30, "jittered")
    assert.isBelow(times.length, 160)
  })

  effect("waiting continues while the service cannot be reached", layer, function* () {
    const sandbox = yield* Sandbox
    const { id } = yield* charge
    const fiber = yield* Effect.forkChild(waitFor(id, steady))
    yield* TestClock.adjust("1 second")
    yield* sandbox.offline(TestClock.adjust("1 minute"))
    assert.isUndefined(fiber.pollUnsafe())
    yield* sandbox.markPaid(id)
    yield* TestClock.adjust("15 seconds")
    assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
  })

  effect("the wait that the service asks for is respected, also if hints arrive", TransactionHints.layer, function* () {
    const hints = yield* TransactionHints
    const { get, times } = script(limited(45), detailOf("Paid"))
    const fiber = yield* Effect.forkChild(finalBy(get, "t", steady))
    yield* TestClock.adjust("44 seconds")
    yield* hints.publish("t")
    yield* TestClock.adjust("999 millis")
    assert.deepStrictEqual(times, [0])
    yield* TestClock.adjust(1)
    assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
    assert.deepStrictEqual(times, [0, 45_000])
  })

  effect(
    "waiting ends at the deadline if the service asks to wait longer, and the error says that no lookup succeeded",
    function* () {
      const { get, times } = script(limited(600))
      const fiber = yield* Effect.forkChild(Effect.flip(finalBy(get, "t", { deadline: "1 minute" })))
      yield* TestClock.adjust("1 minute")
      const error = yield* Fiber.join(fiber)
      assert.deepStrictEqual(times, [0])
      assert(error._tag === "TimedOut")
      assert.isUndefined(error.lastStatus)
      assert.strictEqual(error.lastFailure, "RateLimited")
      assert.include(error.message, "no lookup succeeded")
    }
  )

  effect("waiting fails at once after an error that waiting cannot change", layer, function* () {
    const sandbox = yield* Sandbox
    const { id } = yield* charge
    assert.strictEqual((yield* Effect.flip(waitFor("not-a-known-id")))._tag, "TransactionNotFound")
    yield* sandbox.fault("getTransaction", Fault.refusal(418, "Sou um bule"))
    assert.strictEqual((yield* Effect.flip(waitFor(id)))._tag, "RequestRejected")
    yield* sandbox.rotateCredentials
    assert.strictEqual((yield* Effect.flip(waitFor(id)))._tag, "AuthError")
    assert.strictEqual(yield* lookups, 3)
    const noDate = yield* Effect.flip(waitFor(id, { expiresAt: "soon" }))
    assert.strictEqual(noDate._tag, "InvalidRequest")
    assert.strictEqual(yield* lookups, 3)
  })

  effect("an undocumented status does not end waiting, unless `until` says so", function* () {
    const strange = script(detailOf("UnderReview"), detailOf("Paid"), detailOf("Refunded"))
    const fiber = yield* Effect.forkChild(finalBy(strange.get, "t", steady))
    yield* TestClock.adjust("10 seconds")
    assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
    const refunded = yield* Effect.forkChild(
      finalBy(strange.get, "t", {
        ...steady,
        until: ({ enStatusTransaction }) => enStatusTransaction === "Refunded"
      })
    )
    yield* TestClock.adjust("10 seconds")
    assert.strictEqual((yield* Fiber.join(refunded)).enStatusTransaction, "Refunded")
  })

  effect(
    "an interruption ends waiting at once: between lookups, in one, and in the wait that the service asked for",
    TransactionHints.layer,
    function* () {
      const hints = yield* TransactionHints
      const { get, times } = script(detailOf("Awaiting"))
      let stopped = 0
      const hanging = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped++))
      const throttled = script(limited(1_000))
      const fibers = yield* Effect.forEach([get, hanging, throttled.get], (lookup) =>
        Effect.forkChild(finalBy(lookup, "t", steady))
      )
      yield* TestClock.adjust("5 seconds")
      for (const fiber of fibers) {
        yield* Fiber.interrupt(fiber)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      }
      assert.strictEqual(stopped, 1)
      yield* hints.publish("t")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(times.length, 1)
      assert.strictEqual(throttled.times.length, 1)
    }
  )
})

describe("changes", () => {
  effect("`changes` emits each status once, in order, and ends with the final one", function* () {
    const { get, times } = script(
      detailOf("Awaiting"),
      limited(1),
      detailOf("Awaiting"),
      detailOf("UnderReview"),
      detailOf("UnderReview"),
      detailOf("Paid"),
      detailOf("Refunded")
    )
    const fiber = yield* changesBy(get, "t", steady).pipe(
      Stream.map(({ enStatusTransaction }) => enStatusTransaction),
      Stream.runCollect,
      Effect.forkChild
    )
    yield* TestClock.adjust("5 minutes")
    assert.deepStrictEqual(yield* Fiber.join(fiber), ["Awaiting", "UnderReview", "Paid"])
    assert.strictEqual(times.length, 6)
  })

  effect("`changes` emits the statuses that it saw before it fails", function* () {
    const seen: Array<string> = []
    const fiber = yield* changesBy(script(detailOf("Awaiting")).get, "t", {
      ...steady,
      deadline: "30 seconds"
    }).pipe(
      Stream.runForEach(({ enStatusTransaction }) => Effect.sync(() => seen.push(enStatusTransaction))),
      Effect.flip,
      Effect.forkChild
    )
    yield* TestClock.adjust("30 seconds")
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "TimedOut")
    assert.deepStrictEqual(seen, ["Awaiting"])
  })

  effect("`changes` makes no lookup before it is consumed, and stops with its consumer", function* () {
    const { get, times } = script(detailOf("Awaiting"), detailOf("Paid"))
    const stream = changesBy(get, "t", steady)
    assert.strictEqual((yield* Stream.runCollect(Stream.take(stream, 1))).length, 1)
    yield* TestClock.adjust("1 hour")
    assert.strictEqual(times.length, 1)
  })
})

describe("a wait with wrong options", () => {
  // A caller without types may give this.
  for (const [path, wrong] of Object.entries({
    expiresAt: ["soon", Number.NaN, new Date("x")],
    deadline: ["soon", Number.NaN, -1, "-1 second", {}, { hours: Number.NaN }, [0, Number.NaN]],
    schedule: [7, "1 second", {}],
    until: [true, "Paid"]
  }) as ReadonlyArray<[string, ReadonlyArray<unknown>]>) {
    effect(`waiting fails with InvalidRequest, and makes no lookup, if ${path} is wrong`, function* () {
      for (const value of wrong) {
        const { get, times } = script(detailOf("Paid"))
        const options = { [path]: value } as TransactionWait.Options
        const final = yield* Effect.flip(finalBy(get, "t", options))
        assert(final._tag === "InvalidRequest", String(value))
        assert.deepStrictEqual(
          final.issues.map((issue) => issue.path),
          [path]
        )
        const changes = yield* Effect.flip(Stream.runDrain(changesBy(get, "t", options)))
        assert.strictEqual(changes._tag, "InvalidRequest")
        assert.deepStrictEqual(times, [])
      }
    })
  }

  effect("waiting fails with InvalidRequest, and makes no lookup, if the id is not a text", function* () {
    for (const id of [7, null, undefined] as ReadonlyArray<unknown>) {
      const { get, times } = script(detailOf("Paid"))
      const error = yield* Effect.flip(finalBy(get, id as string))
      assert(error._tag === "InvalidRequest", String(id))
      assert.deepStrictEqual([error.issues.map(({ path }) => path), times], [["transactionId"], []])
    }
  })

  effect("waiting fails with InvalidRequest, and makes no lookup, if the options are not an object", function* () {
    for (const given of [null, 7, "fast", []] as ReadonlyArray<unknown>) {
      const { get, times } = script(detailOf("Paid"))
      const error = yield* Effect.flip(finalBy(get, "t", given as TransactionWait.Options))
      assert(error._tag === "InvalidRequest", String(given))
      assert.deepStrictEqual([error.issues.map(({ path }) => path), times], [["options"], []])
    }
  })
})
