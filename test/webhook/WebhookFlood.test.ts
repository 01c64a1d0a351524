/**
 * A flood of deliveries about ids that nobody knows: it costs a bounded number of lookups, and delays nothing rightful for
 * long. The lookups are counted at the gateway.
 */
import { assert, describe } from "@effect/vitest"
import { Clock, Context, Effect, Fiber, Latch, Layer } from "effect"
import { Statement } from "effect/sql"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { TestClock } from "effect/testing"
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import { makeWarnings } from "../support/payoutQueue.ts"
import { runs, seed, seeded } from "../support/seed.ts"
import { delivery, edge, nobody, recording, timing, until, world } from "../support/webhooks.ts"

/** The largest number of them within one second, wherever it begins. */
const mostInASecond = (at: ReadonlyArray<number>) =>
  Math.max(...at.map((from) => at.filter((other) => other >= from && other < from + 1000).length))

/** Lets so many seconds pass, and the work of each moment end. */
const pass = (seconds: number) => Effect.repeat(TestClock.adjust("100 millis"), { times: seconds * 10 - 1 })

const ids = (count: number, from = 0) => Array.from({ length: count }, (_, n) => nobody(from + n))

describe("a flood of ids that nobody knows", () => {
  effect(`any second begins at most firstLookupsPerSecond lookups (seed ${seed})`, world, function* () {
    const at: Array<number> = []
    const { below } = seeded(seed)
    const webhook = yield* recording({ firstLookupsPerSecond: 5 }).pipe(timing(at))
    const seconds = runs(10, 300)
    let forged = 0
    for (let second = 0; second < seconds; second++) {
      for (let n = below(24); n > 0; n--) assert.strictEqual(yield* webhook.claim(nobody(forged++)), 200)
      yield* TestClock.adjust("1 second")
    }
    assert.isAtMost(at.length, 5 * (seconds + 1))
    assert.isAbove(at.length, 4 * seconds, "the bound is used")
    for (let n = 1; n <= 3; n++) yield* webhook.claim(yield* paidCharge)
    yield* Effect.repeat(TestClock.adjust("1 second"), { until: () => webhook.events.length === 3, times: 200 })
    assert.strictEqual(webhook.events.length, 3)
    assert.isAtMost(mostInASecond(at), 5)
  })

  effect("an id that a lookup found, and one that the program checks, are looked up at once", world, function* () {
    const sandbox = yield* Sandbox
    const webhook = yield* recording({ firstLookupsPerSecond: 2 })
    const open = yield* charge
    yield* webhook.claim(open.id, "Awaiting")
    const paid = yield* paidCharge
    yield* webhook.claim(paid)
    yield* TestClock.adjust("2 seconds")
    for (const id of ids(30)) yield* webhook.claim(id)
    yield* TestClock.adjust("2 seconds")
    yield* sandbox.markPaid(open.id)
    yield* sandbox.refund(paid)
    const [checked, waiting] = [yield* paidCharge, yield* paidCharge]
    yield* webhook.claim(open.id)
    yield* webhook.claim(paid, "Refunded")
    yield* webhook.claim(waiting)
    yield* TestClock.adjust(0)
    yield* webhook.check(waiting)
    yield* webhook.check(checked)
    yield* until(() => webhook.events.length === 5)
    assert.deepStrictEqual(webhook.statuses().toSorted(), ["Paid", "Paid", "Paid", "Paid", "Refunded"])
  })

  effect(
    "a rightful delivery among forged ones is handed out within a second if isKnown knows it",
    world,
    function* () {
      const own = new Set<string>()
      const webhook = yield* recording({ firstLookupsPerSecond: 5, isKnown: (id) => Effect.sync(() => own.has(id)) })
      for (let round = 0; round < 4; round++) {
        const id = yield* paidCharge
        own.add(id)
        for (const forged of [...ids(15, round * 30), id, ...ids(15, round * 30 + 15)]) yield* webhook.claim(forged)
        yield* pass(1)
        assert.strictEqual(webhook.events.length, round + 1)
        yield* pass(2)
      }
    }
  )

  effect("what isKnown knows has ten times the bound, and not none", world, function* () {
    const at: Array<number> = []
    const webhook = yield* recording({ firstLookupsPerSecond: 2, isKnown: () => Effect.succeed(true) }).pipe(timing(at))
    for (const id of ids(60)) yield* webhook.claim(id)
    yield* pass(3)
    assert.strictEqual(mostInASecond(at), 22)
  })

  effect(
    "a hundred charges that isKnown knows are handed out in the second they come, without a line",
    world,
    function* () {
      const { layer, lines } = makeWarnings()
      const webhook = yield* Effect.provide(
        recording({ firstLookupsPerSecond: 20, isKnown: () => Effect.succeed(true) }),
        layer
      )
      for (let count = 0; count < 100; count++) yield* webhook.claim(yield* paidCharge)
      yield* pass(1)
      assert.deepStrictEqual([webhook.events.length, lines], [100, []])
    }
  )

  effect("a bound that holds says so once a minute", world, function* () {
    const { layer, lines } = makeWarnings()
    const webhook = yield* Effect.provide(recording({ firstLookupsPerSecond: 2 }), layer)
    const claimed = Effect.fnUntraced(function* (count: number, from: number) {
      for (const id of ids(count, from)) yield* webhook.claim(id)
      yield* pass(1)
      return lines.filter((line) => line.startsWith("Webhook: lookups wait, since more ids arrived")).length
    })
    const counts = [yield* claimed(2, 0), yield* claimed(20, 10), yield* claimed(20, 40)]
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual([...counts, yield* claimed(20, 70)], [0, 1, 1, 2])
  })

  effect("an id that waits is not passed by all that come after it", world, function* () {
    const webhook = yield* recording({ firstLookupsPerSecond: 4 })
    for (const id of [...ids(10), yield* paidCharge]) yield* webhook.claim(id)
    for (let second = 1; second <= 12; second++) {
      for (const id of ids(6, second * 10)) yield* webhook.claim(id)
      yield* pass(1)
    }
    assert.deepStrictEqual(webhook.statuses(), ["Paid"])
  })

  for (const [how, isKnown] of [
    ["fails", Effect.fail("Maria has no order")],
    ["never ends", Effect.never]
  ] as const)
    effect(`an isKnown that ${how} loses nothing, and is not called for a minute`, world, function* () {
      let called = 0
      const { layer, lines } = makeWarnings()
      yield* TestClock.adjust("1 hour")
      const webhook = yield* recording({
        firstLookupsPerSecond: 5,
        handlerTimeout: "4 seconds",
        isKnown: () => Effect.suspend(() => (called++, isKnown))
      }).pipe(Effect.provide(layer))
      for (const id of ids(20)) yield* webhook.claim(id)
      for (let n = 0; n < 3; n++) yield* webhook.claim(yield* paidCharge)
      yield* pass(12)
      assert.strictEqual(webhook.events.length, 3)
      // One for each transaction that was processed when it failed.
      assert.isTrue(0 < called && called <= 8, `${called} calls`)
      const line = "Webhook: isKnown failed, and is not called for a minute. Nothing is lost by that."
      const failed = lines.filter((text) => !text.startsWith("Webhook: lookups wait"))
      assert.deepStrictEqual(failed, Array(called).fill(line))
      const before = called
      yield* TestClock.adjust("60 seconds")
      for (const id of ids(20, 100)) yield* webhook.claim(id)
      yield* pass(1)
      assert.isAbove(called, before)
      assert.deepStrictEqual(yield* webhook.deadLetters, [])
    })

  effect("what waits is looked up at the full bound also when nothing arrives any more", world, function* () {
    const webhook = yield* recording({ firstLookupsPerSecond: 5 })
    for (const id of ids(40)) yield* webhook.claim(id)
    yield* pass(1)
    const found = yield* Effect.forEach(ids(40), webhook.find)
    assert.include(
      found.flat().map(({ waits }) => waits),
      "first"
    )
    yield* pass(7)
    assert.isAtLeast(yield* lookups, 40)
  })

  effect("a clock that is set back by hours stops no lookup", world, function* () {
    const clock = yield* Clock.Clock
    let ahead = 10 * 3_600_000
    const now = () => clock.currentTimeMillisUnsafe() + ahead
    const shifted: Clock.Clock = {
      ...clock,
      sleep: (duration) => clock.sleep(duration),
      currentTimeMillisUnsafe: now,
      currentTimeMillis: Effect.sync(now)
    }
    const webhook = yield* Effect.provideService(recording({ firstLookupsPerSecond: 5 }), Clock.Clock, shifted)
    for (const id of ids(5)) yield* webhook.claim(id)
    yield* Effect.repeat(TestClock.adjust(0), { until: () => Effect.map(lookups, (count) => count === 5) })
    ahead = 0
    yield* webhook.claim(yield* paidCharge)
    yield* TestClock.adjust("2 seconds")
    assert.deepStrictEqual(webhook.statuses(), ["Paid"])
  })

  effect("a row that begins to wait while others are taken is looked up when the bound allows", world, function* () {
    const mayAnswer = yield* Latch.make()
    let isTaking = false
    // The statement that takes the waiting rows does not see one that begins to wait before its answer.
    const transformer: Statement.Transformer = (statement, sql) => {
      if (!isTaking || !statement.compile()[0].includes("tries + 1, state = 'Open'")) return Effect.succeed(statement)
      isTaking = false
      const nothing = sql`SELECT name AS "key" FROM effect_pix_webhooks WHERE 1 = 0`
      return mayAnswer.open.pipe(Effect.andThen(Effect.repeat(Effect.yieldNow, { times: 500 })), Effect.as(nothing))
    }
    const webhook = yield* recording({
      firstLookupsPerSecond: 1,
      handlerTimeout: "10 minutes",
      isKnown: () => Effect.as(mayAnswer.await, false)
    }).pipe(Effect.provideService(Statement.CurrentTransformer, transformer))
    yield* webhook.claim(nobody(), "Awaiting")
    yield* TestClock.adjust("50 millis")
    yield* webhook.claim(yield* paidCharge)
    yield* TestClock.adjust("50 millis")
    isTaking = true
    yield* Effect.repeat(pass(1), { until: () => !isTaking, times: 70 })
    yield* pass(5)
    assert.deepStrictEqual([isTaking, webhook.statuses()], [false, ["Paid"]])
  })

  for (const [what, bodies, most] of [
    ["one delivery that names an id a hundred times", [Array(100).fill(nobody())], 4],
    ["ten deliveries that name one id a hundred times", Array(10).fill(Array(100).fill(nobody())), 6],
    ["one delivery that names a hundred ids", [ids(100)], 20],
    ["ten deliveries that name a hundred ids each", Array.from({ length: 10 }, (_, n) => ids(100, n * 100)), 200]
  ] as ReadonlyArray<readonly [string, ReadonlyArray<ReadonlyArray<string>>, number]>)
    effect(`${what} that the books know costs at most ${most} lookups, where it is not recorded`, world, function* () {
      const webhook = yield* recording({ isKnown: () => Effect.succeed(true) }, edge)
      const words = ["Paid", "x", "y"]
      const sent = yield* Effect.forEach(bodies, (names) =>
        Effect.forkChild(webhook.post(names.map((transactionId, n) => ({ transactionId, status: words[n % 3] }))), {
          startImmediately: true
        })
      )
      yield* pass(10)
      assert.deepStrictEqual(new Set(yield* Effect.forEach(sent, Fiber.join)), new Set([503]))
      assert.isAtMost(yield* lookups, most)
    })

  effect("a delivery that names a hundred paid charges is finished, where it is not recorded", world, function* () {
    const webhook = yield* recording({ firstLookupsPerSecond: 200 }, edge)
    const paid = yield* Effect.forEach(ids(100), () => paidCharge)
    assert.strictEqual(yield* webhook.post(paid.map((transactionId) => ({ transactionId, status: "Paid" }))), 200)
    assert.lengthOf(webhook.events, 100)
  })

  effect(
    "a delivery that comes while its charge is looked up is judged by a lookup that begins later",
    world,
    function* () {
      const at: Array<number> = []
      const sandbox = yield* Sandbox
      const webhook = yield* recording({}, edge).pipe(timing(at))
      const open = yield* charge
      const claimed = (status: string) => Effect.forkChild(webhook.claim(open.id, status), { startImmediately: true })
      const first = yield* claimed("Refunded")
      yield* pass(2)
      yield* sandbox.markPaid(open.id)
      const others = yield* Effect.forEach(["Paid", "Paid", "Cancelled"], claimed)
      yield* pass(10)
      assert.deepStrictEqual(yield* Effect.forEach([first, ...others], Fiber.join), [503, 200, 200, 503])
      assert.deepStrictEqual(webhook.statuses(), ["Paid"])
      assert.isAtMost(at.length, 5)
    }
  )

  effect(
    "a delivery that names an id a hundred times is recorded once for each status that it claims",
    world,
    function* () {
      const webhook = yield* recording()
      const claims = Array.from({ length: 100 }, (_, n) => ({
        transactionId: nobody(),
        status: ["Paid", "x", "y"][n % 3]
      }))
      assert.strictEqual(yield* webhook.post(claims), 200)
      assert.deepStrictEqual(
        (yield* webhook.find(nobody())).map(({ deliveries }) => deliveries),
        [2]
      )
    }
  )

  for (const layer of [undefined, edge] as const)
    effect(
      `forged deliveries are one line a minute, ${layer === edge ? "not recorded" : "recorded"}`,
      world,
      function* () {
        const { layer: logger, lines } = makeWarnings()
        const built = layer === edge ? Webhook.layer({}) : Webhook.layerSql({})
        const webhook = Context.get(yield* Layer.build(Layer.provide(built, logger)), Webhook)
        const flood = Effect.gen(function* () {
          for (let n = 0; n < 100; n++)
            yield* webhook.answer(delivery(n % 2 === 0 ? { hello: n } : { withdrawId: n, status: "failure" }))
          yield* pass(1)
        })
        yield* Effect.provide(flood, logger)
        yield* TestClock.adjust("1 minute")
        yield* Effect.provide(flood, logger)
        const [first, second, ...others] = lines
        assert.match(first ?? "", /^Webhook: could not be confirmed: Un[a-zA-Z]+$/)
        assert.match(
          second ?? "",
          /^Webhook: could not be confirmed: Un[a-zA-Z]+\. 99 more since the last such line\.$/
        )
        assert.deepStrictEqual(others, [])
      }
    )

  effect("an isKnown that fails lets no unrecorded delivery pass the bound", world, function* () {
    const at: Array<number> = []
    const isKnown = () => Effect.fail("the books are away")
    const { claim } = yield* recording({ firstLookupsPerSecond: 4, isKnown }, edge).pipe(timing(at))
    yield* Effect.forEach(ids(10), (id) => Effect.forkChild(claim(id)))
    yield* TestClock.adjust(0)
    assert.lengthOf(at, 4)
  })

  effect(
    "an unrecorded delivery waits 8 seconds for a lookup, unless isKnown knows it; no check waits",
    world,
    function* () {
      const own = new Set<string>()
      const at: Array<number> = []
      const { check, claim, events, reports } = yield* recording(
        { firstLookupsPerSecond: 4, isKnown: (id) => Effect.sync(() => own.has(id)) },
        edge
      ).pipe(timing(at))
      const send = (id: string) => Effect.forkChild(claim(id), { startImmediately: true })
      const flood = yield* Effect.forEach(ids(50), send)
      yield* TestClock.adjust(0)
      assert.lengthOf(at, 4)
      const known = yield* paidCharge
      own.add(known)
      const answer = yield* send(known)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual([yield* Fiber.join(answer), events.length], [200, 1])
      yield* check(yield* paidCharge)
      assert.strictEqual(events.length, 2)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(new Set(yield* Effect.forEach(flood, Fiber.join)), new Set([503]))
      assert.isAtMost(at.length, 4 * 8 + 2)
      // What no lookup could begin for is not reported.
      assert.isTrue(0 < reports.length && reports.length < 50, `${reports.length}`)
    }
  )
})
