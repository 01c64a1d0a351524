/**
 * A flood of deliveries about ids that nobody knows: it costs a bounded number of lookups, and delays nothing rightful for
 * long. The lookups are counted at the gateway.
 */
import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Latch, Random } from "effect"
import { Statement } from "effect/sql"
import { Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { databases } from "../support/database.ts"
import { starting, testOn } from "../support/databaseWebhooks.ts"
import { runs, seed, seeded } from "../support/seed.ts"
import { nobody, recording, testWebhook } from "../support/webhooks.ts"

/** The times of the lookups of a webhook, by the program's clock. */
const timed = (at: Array<number>) =>
  Effect.map(Payments, (payments) => ({
    ...payments,
    getTransaction: (id: string) =>
      Effect.andThen(
        Effect.map(Clock.currentTimeMillis, (now) => void at.push(now)),
        payments.getTransaction(id)
      )
  }))

/** The largest number of them within one second, wherever it begins. */
const mostInASecond = (at: ReadonlyArray<number>) =>
  Math.max(...at.map((from) => at.filter((other) => other >= from && other < from + 1000).length))

/** Lets so many seconds pass, and the work of each moment end. */
const pass = (seconds: number) =>
  Effect.repeat(Effect.andThen(TestClock.adjust("250 millis"), Effect.repeat(TestClock.adjust(0), { times: 150 })), {
    times: seconds * 4 - 1
  })

/** Lets the work of this moment end. No time passes. */
const until = (isOver: () => boolean) => Effect.repeat(TestClock.adjust(0), { until: isOver, times: 5000 })

describe("a flood of ids that nobody knows, at first", () => {
  testWebhook(
    "it begins at most firstLookupsPerSecond lookups in any second, and hands out each rightful delivery that comes after the flood within two seconds",
    Effect.gen(function* () {
      const at: Array<number> = []
      const { below } = seeded(seed)
      const webhook = yield* recording({ firstLookupsPerSecond: 5 }).pipe(
        Effect.provideServiceEffect(Payments, timed(at))
      )
      const seconds = runs(20, 300)
      let forged = 0
      for (let second = 0; second < seconds; second++) {
        for (let n = below(24); n > 0; n--) {
          assert.strictEqual(yield* webhook.post({ transactionId: nobody(forged++), status: "Paid" }), 200)
        }
        yield* TestClock.adjust("1 second")
      }
      assert.isAbove(forged, seconds * 8)
      assert.isAtMost(mostInASecond(at), 5, `seed ${seed}`)
      assert.isAtMost(at.length, 5 * (seconds + 1))
      assert.isAbove(at.length, 4 * seconds, "the bound is used")
      for (let n = 0; n < 5; n++) {
        const transactionId = yield* paidCharge
        yield* webhook.post({ transactionId, status: "Paid" })
        yield* pass(2)
        yield* until(() => webhook.events.length === n + 1)
        assert.strictEqual(webhook.events.length, n + 1)
      }
      assert.isAtMost(mostInASecond(at), 5, `seed ${seed}`)
    })
  )

  testWebhook(
    "an id that a lookup found, and one that the program checks, are looked up at once",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const webhook = yield* recording({ firstLookupsPerSecond: 2 })
      const open = yield* charge
      yield* webhook.post({ transactionId: open.id, status: "Awaiting" })
      const paid = yield* paidCharge
      yield* webhook.post({ transactionId: paid, status: "Paid" })
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(webhook.statuses(), ["Paid"])
      for (let n = 0; n < 100; n++) yield* webhook.post({ transactionId: nobody(n), status: "Paid" })
      yield* TestClock.adjust("2 seconds")
      yield* sandbox.markPaid(open.id)
      yield* sandbox.refund(paid)
      const checked = yield* paidCharge
      yield* webhook.post({ transactionId: open.id, status: "Paid" })
      yield* webhook.post({ transactionId: paid, status: "Refunded" })
      yield* webhook.check(checked)
      yield* Effect.repeat(TestClock.adjust(0), { until: () => webhook.events.length === 4, times: 1000 })
      assert.deepStrictEqual(webhook.statuses().toSorted(), ["Paid", "Paid", "Paid", "Refunded"])
    })
  )
})

describe("a flood of ids that nobody knows", () => {
  testWebhook(
    "rightful deliveries among the forged ones are handed out within seconds if isKnown knows them, and all of them in the end if it does not",
    Effect.gen(function* () {
      for (const isTold of [true, false]) {
        const own = new Set<string>()
        const forgedAsked = new Set<string>()
        const isKnown = (id: string) =>
          Effect.sync(() => {
            if (!own.has(id)) forgedAsked.add(id)
            return isTold && own.has(id)
          })
        const webhook = yield* recording({ firstLookupsPerSecond: 5, isKnown })
        for (let second = 0; second < 15; second++) {
          if (second % 3 === 0) {
            const id = yield* paidCharge
            own.add(id)
            yield* webhook.post({ transactionId: id, status: "Paid" })
          }
          for (let n = 0; n < 12; n++) yield* webhook.post({ transactionId: nobody(second * 12 + n), status: "Paid" })
          yield* pass(1)
          if (isTold && second % 3 === 2) assert.strictEqual(webhook.events.length, own.size, `second ${second}`)
        }
        assert.isAbove(forgedAsked.size, 50)
        for (let n = 0; n < 120 && webhook.events.length < own.size; n++) yield* pass(1)
        assert.deepStrictEqual(new Set(webhook.events.map(({ id }) => id)), new Set([...own].map((id) => `${id}:Paid`)))
        assert.strictEqual(webhook.events.length, own.size)
        yield* webhook.crash
      }
    })
  )

  testWebhook(
    "an id that was not found waits behind all new ones: a new rightful delivery is handed out before thousands of second lookups",
    Effect.gen(function* () {
      const webhook = yield* recording({ firstLookupsPerSecond: 20 })
      // Ten a second are looked up at once, and each wants six more lookups within a minute.
      for (let second = 0; second < 20; second++) {
        for (let n = 0; n < 10; n++) yield* webhook.post({ transactionId: nobody(second * 10 + n), status: "Paid" })
        yield* TestClock.adjust("1 second")
      }
      for (let n = 0; n < 5; n++) {
        for (let n = 0; n < 10; n++) yield* webhook.post({ transactionId: nobody(400 + n), status: "Paid" })
        yield* webhook.post({ transactionId: yield* paidCharge, status: "Paid" })
        yield* pass(2)
        assert.strictEqual(webhook.events.length, n + 1)
      }
    })
  )

  testWebhook(
    "an isKnown that fails, dies, throws or never ends loses nothing, and delays nothing for longer than handlerTimeout",
    Effect.gen(function* () {
      const broken: ReadonlyArray<(id: string) => Effect.Effect<boolean, string>> = [
        () => Effect.fail("the books are away"),
        () => Effect.die("a bug"),
        () => {
          throw new Error("a bug")
        },
        () => Effect.never
      ]
      for (const isKnown of broken) {
        let called = 0
        const webhook = yield* recording({
          firstLookupsPerSecond: 5,
          handlerTimeout: "4 seconds",
          isKnown: (id) => {
            called++
            return isKnown(id)
          }
        })
        for (let n = 0; n < 50; n++) yield* webhook.post({ transactionId: nobody(n), status: "Paid" })
        const ids = yield* Effect.replicateEffect(paidCharge, 10)
        for (const transactionId of ids) yield* webhook.post({ transactionId, status: "Paid" })
        yield* pass(30)
        assert.strictEqual(webhook.events.length, 10)
        assert.isAtMost(called, 8, "it is not called for a minute")
        assert.deepStrictEqual(yield* webhook.deadLetters, [])
        yield* webhook.crash
      }
    })
  )

  testWebhook(
    "is looked up at the full bound also when nothing arrives any more",
    Effect.gen(function* () {
      const webhook = yield* recording({ firstLookupsPerSecond: 5 })
      yield* TestClock.adjust("500 millis")
      for (let n = 0; n < 50; n++) yield* webhook.post({ transactionId: nobody(n), status: "Paid" })
      yield* pass(11)
      assert.isAtLeast(yield* lookups, 50)
    })
  )

  testWebhook(
    "a clock that is set back by hours stops no lookup",
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let ahead = 10 * 3_600_000
      const shifted: Clock.Clock = {
        ...clock,
        sleep: (duration) => clock.sleep(duration),
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + ahead,
        currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe() + ahead)
      }
      const webhook = yield* Effect.provideService(recording({ firstLookupsPerSecond: 5 }), Clock.Clock, shifted)
      for (let n = 0; n < 5; n++) yield* webhook.post({ transactionId: nobody(n), status: "Paid" })
      yield* until(() => false)
      assert.strictEqual(yield* lookups, 5)
      ahead = 0
      yield* webhook.post({ transactionId: yield* paidCharge, status: "Paid" })
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(webhook.statuses(), ["Paid"])
    })
  )

  testWebhook(
    "a row that begins to wait while others are taken is looked up at once if the bound allows it",
    Effect.gen(function* () {
      const mayAnswer = yield* Latch.make()
      let isTaking = false
      // The rows of the last rank are taken after those of the rank that the row gets.
      const transformer: Statement.Transformer = (statement) => {
        if (!isTaking || !statement.compile()[0].includes("state = 'Missed'")) return Effect.succeed(statement)
        isTaking = false
        return mayAnswer.open.pipe(Effect.andThen(Effect.repeat(Effect.yieldNow, { times: 500 })), Effect.as(statement))
      }
      const webhook = yield* recording({
        firstLookupsPerSecond: 1,
        handlerTimeout: "10 minutes",
        isKnown: () => Effect.as(mayAnswer.await, false)
      }).pipe(Effect.provideService(Statement.CurrentTransformer, transformer))
      yield* webhook.post({ transactionId: nobody(), status: "Awaiting" })
      yield* until(() => false)
      yield* webhook.post({ transactionId: yield* paidCharge, status: "Paid" })
      yield* until(() => false)
      isTaking = true
      yield* Effect.repeat(pass(1), { until: () => !isTaking, times: 70 })
      yield* pass(5)
      assert.deepStrictEqual([isTaking, webhook.statuses()], [false, ["Paid"]])
    })
  )

  testWebhook(
    "waits in the store for the next process, which looks them up by the same bound and loses nothing",
    Effect.gen(function* () {
      const start = (at: Array<number>) =>
        recording({ firstLookupsPerSecond: 5 }).pipe(Effect.provideServiceEffect(Payments, timed(at)))
      const before: Array<number> = []
      const first = yield* start(before)
      for (let n = 0; n < 50; n++) yield* first.post({ transactionId: nobody(n), status: "Paid" })
      const ids = yield* Effect.replicateEffect(paidCharge, 5)
      for (const transactionId of ids) yield* first.post({ transactionId, status: "Paid" })
      yield* first.crash
      const at: Array<number> = []
      const second = yield* start(at)
      // What the first process had taken is leased to it.
      yield* pass(60)
      assert.strictEqual(second.events.length + first.events.length, 5)
      assert.isAtMost(mostInASecond(at), 5)
    })
  )
})

for (const { name, ...database } of databases)
  testOn(database)(
    `two processes on ${name} share a flood: each begins at most its bound, and nothing rightful is lost`,
    Effect.gen(function* () {
      const settings = { firstLookupsPerSecond: 20 }
      const times: ReadonlyArray<Array<number>> = [[], []]
      const start = yield* Clock.currentTimeMillis
      const [one, two] = yield* Effect.all([
        starting(settings).pipe(Effect.provideServiceEffect(Payments, timed(times[0] ?? []))),
        starting(settings).pipe(Effect.provideServiceEffect(Payments, timed(times[1] ?? [])))
      ])
      const ids = yield* Effect.replicateEffect(paidCharge, 10)
      const forged = Array.from({ length: 100 }, (_, n) => nobody(n))
      const all = yield* Random.shuffle([...ids, ...forged])
      yield* Effect.forEach(all, (transactionId, n) =>
        (n % 2 === 0 ? one : two).post({ transactionId, status: "Paid" })
      )
      yield* Effect.repeat(Effect.sleep("50 millis"), { until: () => one.events.length + two.events.length === 10 })
      // A lookup is counted a moment before its call, so the calls within one second may be more on a busy machine.
      const seconds = Math.floor(((yield* Clock.currentTimeMillis) - start) / 1000)
      for (const at of times) assert.isAtMost(at.length, 20 * (seconds + 1))
    })
  )
