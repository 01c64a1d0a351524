import { assert, describe } from "@effect/vitest"
import { Clock, DateTime, Duration, Effect, Exit, Fiber, Layer, Random, Schedule, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Money, type Payments, type TransactionDetail, TransactionHints, TransactionWait } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import * as PaymentsError from "../../src/contract/PaymentsError.ts"
import { charge, lookups } from "../support/charges.ts"
import { mockPayments } from "../support/payments.ts"
import { effect } from "../support/effect.ts"

type GetTransaction = Payments["Service"]["getTransaction"]
type Answer = TransactionDetail | PaymentsError.GetTransactionError

/** A lookup every ten seconds. */
const steady = { schedule: Schedule.spaced("10 seconds") }

const detailOf = (enStatusTransaction: string): TransactionDetail => ({
  id: 1,
  value: Money.centavos(2500),
  transactionId: "t",
  enStatusTransaction
})
const awaiting = detailOf("Awaiting")
const paid = detailOf("Paid")

const called = { operation: "getTransaction", attempts: 1 } as const
const refusal = { ...called, outcome: "Rejected" } as const
const limited = (seconds?: number) =>
  new PaymentsError.RateLimited({
    ...refusal,
    status: 429,
    ...(seconds !== undefined && { retryAfter: Duration.seconds(seconds) })
  })
const unavailable = new PaymentsError.ServiceUnavailable({ ...called, outcome: "NoEffect", reason: "ServerError" })
const page = { ...called, outcome: "NoEffect", reason: "Unreadable", status: 200, issues: [] } as const
const unreadable = new PaymentsError.UnexpectedResponse(page)

/** Gives the answers one after another and repeats the last one. Records the time of each lookup in milliseconds. */
const script = (...answers: ReadonlyArray<Answer>) => {
  const times: Array<number> = []
  const get: GetTransaction = () =>
    Effect.gen(function* () {
      times.push(yield* Clock.currentTimeMillis)
      const answer = answers[Math.min(times.length, answers.length) - 1] ?? awaiting
      return "_tag" in answer ? yield* answer : answer
    })
  return { get, times }
}

const finalBy = (getTransaction: GetTransaction, options?: TransactionWait.Options, id = "t") =>
  Effect.provide(TransactionWait.final(id, options), mockPayments({ getTransaction }))

const changesBy = (getTransaction: GetTransaction, options?: TransactionWait.Options) =>
  Stream.provide(TransactionWait.changes("t", options), mockPayments({ getTransaction }))

/** Waits for so long, and returns what the wait failed with and when. */
const failureAfter = Effect.fnUntraced(function* (
  time: Duration.Input,
  get: GetTransaction,
  options?: TransactionWait.Options
) {
  const before = yield* Clock.currentTimeMillis
  const waiting = Effect.zip(Effect.flip(finalBy(get, options)), Clock.currentTimeMillis)
  const fiber = yield* Effect.forkChild(waiting)
  yield* TestClock.adjust(time)
  const [error, after] = yield* Fiber.join(fiber)
  assert(error._tag === "TimedOut", error._tag)
  return { error, seconds: (after - before) / 1000 }
})

describe("TransactionWait.final", () => {
  effect("a transaction that is final is returned at once, with one lookup", Sandbox.layerPayments, function* () {
    const sandbox = yield* Sandbox
    for (const move of [sandbox.markPaid, sandbox.cancel, sandbox.fail]) {
      const { id } = yield* charge
      const { status } = yield* move(id)
      const { enStatusTransaction, transactionId } = yield* TransactionWait.final(id)
      assert.deepStrictEqual([enStatusTransaction, transactionId], [status, id])
    }
    assert.strictEqual(yield* lookups, 3)
  })

  effect(
    "a wait on a sandbox ends with the first poll after the payment, also after an outage",
    Sandbox.layerPayments,
    function* () {
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      const fiber = yield* Effect.forkChild(TransactionWait.final(id, steady))
      yield* TestClock.adjust("1 second")
      yield* sandbox.offline(TestClock.adjust("1 minute"))
      yield* sandbox.markPaid(id)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("15 seconds")
      assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
      assert.strictEqual((yield* Effect.flip(TransactionWait.final("not-a-known-id")))._tag, "TransactionNotFound")
    }
  )

  interface Ended {
    readonly title: string
    readonly answers: ReadonlyArray<Answer>
    readonly options?: TransactionWait.Options
    /** The seconds of the lookups, and the status that the wait ends with. */
    readonly at: ReadonlyArray<number>
    readonly status?: string
  }
  const isRefunded = ({ enStatusTransaction }: TransactionDetail) => enStatusTransaction === "Refunded"
  const ended: ReadonlyArray<Ended> = [
    { title: "ends with the first poll after the payment", answers: [awaiting, awaiting, paid], at: [0, 10, 20] },
    { title: "continues after an outage", answers: [unavailable, paid], at: [0, 10] },
    { title: "continues after a page of a proxy", answers: [awaiting, unreadable, paid], at: [0, 10, 20] },
    { title: "continues after a limit without a time", answers: [limited(), paid], at: [0, 10] },
    { title: "waits as long as the service asks", answers: [limited(45), paid], at: [0, 45] },
    { title: "polls where the service asks for less", answers: [limited(4), paid], at: [0, 10] },
    { title: "continues after an undocumented status", answers: [detailOf("UnderReview"), paid], at: [0, 10] },
    {
      title: "ends where `until` says so, and not with a final status",
      answers: [paid, detailOf("Refunded")],
      options: { until: isRefunded },
      at: [0, 10],
      status: "Refunded"
    },
    {
      title: "finds a payment with the last lookup, at the expiry",
      answers: [awaiting, paid],
      options: { schedule: Schedule.spaced("7 hours"), expiresAt: 60_000 },
      at: [0, 60]
    },
    { title: "makes one lookup if the expiry is past", answers: [paid], options: { expiresAt: 0 }, at: [0] }
  ]
  effect.each(ended)("a wait $title", function* ({ answers, at, options, status = "Paid" }) {
    const { get, times } = script(...answers)
    const fiber = yield* Effect.forkChild(finalBy(get, { ...steady, ...options }))
    yield* TestClock.adjust("2 minutes")
    assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, status)
    assert.deepStrictEqual(
      times,
      at.map((seconds) => seconds * 1000)
    )
  })

  const ending = [
    new PaymentsError.RequestRejected({ ...refusal, status: 422 }),
    new PaymentsError.RequestRejected({ ...refusal, status: 301 }),
    new PaymentsError.AuthError({ ...refusal, status: 401 }),
    new PaymentsError.TransactionNotFound({ ...refusal, status: 404, transactionId: "t" })
  ]
  effect.each(ending)("a wait ends at once with $_tag ($status), which waiting cannot change", function* (error) {
    const { get, times } = script(error)
    assert.strictEqual(yield* Effect.flip(finalBy(get, steady)), error)
    assert.deepStrictEqual(times, [0])
  })
})

describe("TransactionWait.TimedOut", () => {
  interface Late {
    readonly title: string
    readonly options: TransactionWait.Options
    readonly answers?: ReadonlyArray<Answer>
    readonly seconds: number
    readonly error: Partial<TransactionWait.TimedOut>
  }
  const spaced = { schedule: Schedule.spaced("10 minutes") }
  const late: ReadonlyArray<Late> = [
    { title: "after an hour by default", options: spaced, seconds: 3600, error: { reason: "Deadline", attempts: 7 } },
    {
      title: "at its deadline",
      options: { ...spaced, deadline: "90 seconds" },
      seconds: 90,
      error: { reason: "Deadline", attempts: 2 }
    },
    {
      title: "at the expiry, also after hours",
      options: { ...spaced, expiresAt: 7_200_000 },
      seconds: 7200,
      error: { reason: "Expired", attempts: 13 }
    },
    {
      title: "at the deadline if that is before the expiry",
      options: { ...spaced, expiresAt: 7_200_000, deadline: "1 minute" },
      seconds: 60,
      error: { reason: "Deadline" }
    },
    {
      title: "at the expiry if that is before the deadline",
      options: { ...spaced, expiresAt: 60_000, deadline: "2 minutes" },
      seconds: 60,
      error: { reason: "Expired" }
    },
    {
      title: "at the end of its schedule",
      options: { schedule: Schedule.recurs(2) },
      seconds: 0,
      error: { reason: "Deadline", attempts: 3 }
    },
    {
      title: "after one lookup if the expiry is past",
      options: { expiresAt: -1 },
      seconds: 0,
      error: { reason: "Expired", attempts: 1 }
    },
    {
      title: "with the failure of the last lookup and the status before it",
      options: { ...steady, deadline: "15 seconds" },
      answers: [awaiting, unreadable],
      seconds: 15,
      error: { lastStatus: "Awaiting", lastFailure: "UnexpectedResponse", attempts: 3 }
    },
    {
      title: "at the deadline if the service asks for a longer wait",
      options: { deadline: "1 minute" },
      answers: [limited(600)],
      seconds: 60,
      error: { reason: "Deadline", lastFailure: "RateLimited", attempts: 1 }
    }
  ]
  effect.each(late)("a wait times out $title", function* ({ answers = [], error: expected, options, seconds: at }) {
    const { error, seconds } = yield* failureAfter("3 hours", script(...answers).get, options)
    assert.strictEqual(seconds, at)
    for (const [name, value] of Object.entries(expected))
      assert.strictEqual(error[name as keyof typeof expected], value) // the keys of the row
  })

  effect("the error says what was seen, that it proves nothing, and can be stored", function* () {
    const { error: seen } = yield* failureAfter("25 seconds", script().get, { ...steady, expiresAt: 25_000 })
    const { error: unseen } = yield* failureAfter("1 hour", script(unavailable).get, { deadline: "1 minute" })
    assert.include(
      seen.message,
      "The charge expired for transaction t: its status was not final yet after 4 lookup(s)."
    )
    assert.match(unseen.message, /The time to wait was over .* no lookup succeeded .* the last one failed with Serv/)
    for (const error of [seen, unseen]) {
      assert.include(error.message, "does not prove that it was not paid")
      assert.strictEqual(error.outcome, "NoEffect")
      const codec = Schema.fromJsonString(Schema.toCodecJson(TransactionWait.TimedOut))
      const stored = yield* Schema.decodeEffect(codec)(yield* Schema.encodeEffect(codec)(error))
      assert.strictEqual(stored.message, error.message)
    }
  })

  effect("the deadline interrupts a lookup that hangs, and the last lookup may take 5 seconds", function* () {
    const cut: Array<number> = []
    const hanging = Effect.onInterrupt(Effect.never, () =>
      Effect.map(Clock.currentTimeMillis, (now) => void cut.push(now))
    )
    const { error, seconds } = yield* failureAfter("1 minute", () => hanging, { deadline: "1 second" })
    assert.deepStrictEqual([cut, seconds], [[1000, 6000], 6])
    assert.deepStrictEqual([error.attempts, error.lastFailure, error.lastStatus], [2, "ServiceUnavailable", undefined])
  })

  effect("a payment while a lookup hangs is found by the last lookup, at the expiry", function* () {
    let times = 0
    const get = () =>
      Effect.suspend(() => (times++ === 0 ? Effect.never : Effect.delay(Effect.succeed(paid), "4 seconds")))
    const fiber = yield* Effect.forkChild(finalBy(get, { expiresAt: DateTime.makeUnsafe(60_000) }))
    yield* TestClock.adjust("64 seconds")
    assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
    assert.strictEqual(times, 2)
  })
})

describe("TransactionWait.polling", () => {
  effect(
    "the default schedule is fast at first, slower later, jittered, and at most a minute and a fifth",
    function* () {
      const { get, times } = script()
      yield* failureAfter("2 hours", get, { deadline: "2 hours" }).pipe(Random.withSeed("seed"))
      const waits = times.slice(1, -1).map((time, i) => time - (times[i] ?? 0))
      const late = waits.slice(-60)
      assert.isTrue((waits[0] ?? 0) >= 800 && (waits[0] ?? 0) <= 1200)
      const early = times.filter((time) => time <= 60_000).length
      assert.isTrue(early >= 12 && early <= 17, `${early} in the first minute`)
      const tenMinutes = times.filter((time) => time <= 600_000).length
      assert.isTrue(tenMinutes >= 25 && tenMinutes <= 33, `${tenMinutes} in the first ten minutes`)
      assert.isTrue(late.every((wait) => wait >= 48_000 && wait <= 72_001))
      assert.isAbove(new Set(late).size, 30)
    }
  )
})

describe("TransactionHints", () => {
  const layer = Layer.mergeAll(Sandbox.layerPayments, TransactionHints.layer)

  effect("a hint starts a lookup at once, in any case of the id and only for its own transaction", layer, function* () {
    const sandbox = yield* Sandbox
    const hints = yield* TransactionHints
    const [one, other] = [yield* charge, yield* charge]
    const fiber = yield* Effect.forkChild(TransactionWait.final(one.id, steady))
    yield* TestClock.adjust("1 second")
    yield* sandbox.markPaid(one.id)
    yield* hints.publish(other.id)
    yield* TestClock.adjust(0)
    assert.strictEqual(yield* lookups, 1)
    yield* hints.publish(one.id.toUpperCase())
    assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
    assert.strictEqual(yield* lookups, 2)
  })

  effect("a hint during a lookup is not lost", layer, function* () {
    const hints = yield* TransactionHints
    let times = 0
    const get = () =>
      Effect.delay(
        Effect.sync(() => (times++ === 0 ? awaiting : paid)),
        "1 second"
      )
    const fiber = yield* Effect.forkChild(finalBy(get, steady))
    yield* TestClock.adjust("500 millis")
    yield* hints.publish("t")
    yield* TestClock.adjust("1500 millis")
    assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
  })

  effect("five hints start a lookup between two polls, the others none, and no poll is delayed", layer, function* () {
    const hints = yield* TransactionHints
    const { get, times } = script()
    const fiber = yield* Effect.forkChild(finalBy(get, steady))
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
  })

  effect("a hint does not shorten the wait that the service asked for", layer, function* () {
    const hints = yield* TransactionHints
    const { get, times } = script(limited(45), paid)
    const fiber = yield* Effect.forkChild(finalBy(get, steady))
    yield* TestClock.adjust("44 seconds")
    yield* hints.publish("t")
    yield* TestClock.adjust("999 millis")
    assert.deepStrictEqual(times, [0])
    yield* TestClock.adjust(1)
    assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
    assert.deepStrictEqual(times, [0, 45_000])
  })

  effect(
    "an interruption ends a wait at once: between lookups, in one, and in the wait that was asked for",
    layer,
    function* () {
      const hints = yield* TransactionHints
      const [polled, throttled] = [script(), script(limited(1000))]
      let stopped = 0
      const hanging = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped++))
      for (const get of [polled.get, hanging, throttled.get]) {
        const fiber = yield* Effect.forkChild(finalBy(get, steady))
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.interrupt(fiber)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      }
      yield* hints.publish("t")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual([stopped, polled.times.length, throttled.times.length], [1, 1, 1])
    }
  )
})

describe("TransactionWait.changes", () => {
  const statusesOf = (get: GetTransaction, options: TransactionWait.Options) => {
    const seen: Array<string> = []
    return Stream.runForEach(changesBy(get, options), (detail) =>
      Effect.sync(() => seen.push(detail.enStatusTransaction))
    ).pipe(
      Effect.result,
      Effect.map(({ _tag }) => [_tag, ...seen])
    )
  }

  effect("the stream has each status once, in order, and ends with the final one", function* () {
    const review = detailOf("UnderReview")
    const { get, times } = script(awaiting, limited(1), awaiting, review, review, paid, detailOf("Refunded"))
    const fiber = yield* Effect.forkChild(statusesOf(get, steady))
    yield* TestClock.adjust("5 minutes")
    assert.deepStrictEqual(yield* Fiber.join(fiber), ["Success", "Awaiting", "UnderReview", "Paid"])
    assert.strictEqual(times.length, 6)
  })

  effect("the stream has the statuses that it saw before it fails", function* () {
    const fiber = yield* Effect.forkChild(statusesOf(script().get, { ...steady, deadline: "30 seconds" }))
    yield* TestClock.adjust("30 seconds")
    assert.deepStrictEqual(yield* Fiber.join(fiber), ["Failure", "Awaiting"])
  })

  effect("the stream makes no lookup before it is consumed, and stops with its consumer", function* () {
    const { get, times } = script(awaiting, paid)
    const stream = changesBy(get, steady)
    assert.deepStrictEqual(times, [])
    assert.strictEqual((yield* Stream.runCollect(Stream.take(stream, 1))).length, 1)
    yield* TestClock.adjust("1 hour")
    assert.strictEqual(times.length, 1)
  })
})

describe("TransactionWait.Options", () => {
  const wrong: ReadonlyArray<readonly [path: string, values: ReadonlyArray<unknown>]> = [
    ["expiresAt", ["soon", Number.NaN, new Date("x")]],
    ["deadline", ["soon", Number.NaN, -1, "-1 second", {}, { hours: Number.NaN }, [0, Number.NaN]]],
    ["schedule", [7, "1 second", {}]],
    ["until", [true, "Paid"]],
    ["options", [null, 7, "fast", []]],
    ["transactionId", [7, null]]
  ]
  effect.each(wrong)(
    "a wrong %s is an InvalidRequest that names it, and no lookup is made",
    function* ([path, values]) {
      for (const value of values) {
        const { get, times } = script(paid)
        // A caller without types may give this.
        const options = (path === "options" ? value : path === "transactionId" ? {} : { [path]: value }) as object
        const id = (path === "transactionId" ? value : "t") as string // as such a caller gives it
        const waits = [finalBy(get, options, id), ...(id === "t" ? [Stream.runDrain(changesBy(get, options))] : [])]
        for (const wait of waits) {
          const error = yield* Effect.flip(Effect.asVoid(wait))
          assert(error._tag === "InvalidRequest", String(value))
          assert.deepStrictEqual([error.issues.map((issue) => issue.path), times], [[path], []])
        }
      }
    }
  )
})
