/**
 * The webhook that stores nothing: what it does before it answers.
 */
import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Logger, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { Money, Payments, TransactionWait } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { edge, isTransaction, nobody, recording, testWebhook } from "../support/webhooks.ts"
import type { WebhookOptions } from "effect-pix/webhook"
import { live } from "../support/effect.ts"

const starting = (options: WebhookOptions = {}) => recording<never>(options, edge)

/** The status of a delivery, while the time of its waits passes. */
const answered = Effect.fnUntraced(function* (post: Effect.Effect<number>, seconds = 10) {
  const fiber = yield* Effect.forkChild(post, { startImmediately: true })
  for (let n = 0; n < seconds && fiber.pollUnsafe() === undefined; n++) yield* TestClock.adjust("1 second")
  return yield* Fiber.join(fiber)
})

describe("Webhook.layer", () => {
  testWebhook(
    "50 deliveries at once are each looked up and handed out before they are answered with 200",
    Effect.gen(function* () {
      const { events, post } = yield* starting()
      const ids = yield* Effect.replicateEffect(paidCharge, 50)
      const each = Effect.forEach(
        ids,
        (id) =>
          Effect.map(post({ transactionId: id, status: "Paid" }), (status) => [
            status,
            events.some((event) => event.id === `${id}:Paid`)
          ]),
        { concurrency: "unbounded" }
      )
      const fiber = yield* Effect.forkChild(each)
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(
        yield* Fiber.join(fiber),
        ids.map(() => [200, true])
      )
      assert.strictEqual(events.length, 50)
    })
  )

  testWebhook(
    "each delivery of a status hands it out again, with the same event id",
    Effect.gen(function* () {
      const { events, idle, post } = yield* starting()
      const id = yield* paidCharge
      assert.deepStrictEqual([yield* post({ transactionId: id }), yield* post({ transactionId: id })], [200, 200])
      yield* (yield* Sandbox).refund(id)
      assert.strictEqual(yield* post({ transactionId: id, status: "Refunded" }), 200)
      assert.deepStrictEqual(
        events.map((event) => event.id),
        [`${id}:Paid`, `${id}:Paid`, `${id}:Refunded`]
      )
      yield* idle
    })
  )

  testWebhook(
    "an early delivery is looked up again for 8 seconds, and is handed out before its answer when the lookup shows it",
    Effect.gen(function* () {
      const { events, post, reports } = yield* starting()
      const { id } = yield* charge
      const fiber = yield* Effect.forkChild(post({ transactionId: id, status: "Paid" }))
      yield* TestClock.adjust("2 seconds")
      yield* (yield* Sandbox).markPaid(id)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(fiber), 200)
      assert.deepStrictEqual([events.length, reports, yield* lookups], [1, [], 3])
      assert.deepStrictEqual(events[0]?.untrusted, { status: "Paid" })
    })
  )

  testWebhook(
    "a delivery that stays early, or whose lookup has no answer, is reported and answered with 503 after four lookups",
    Effect.gen(function* () {
      const { events, post, reasons } = yield* starting()
      const { id } = yield* charge
      assert.strictEqual(yield* answered(post({ transactionId: id, status: "Paid" })), 503)
      assert.deepStrictEqual([reasons(), yield* lookups], [["StillOpen"], 4])
      assert.strictEqual(yield* answered(post({ transactionId: nobody(), status: "Paid" })), 503)
      yield* (yield* Sandbox).fault("getTransaction", Fault.refusal(401, "não"), { times: Infinity })
      assert.strictEqual(yield* answered(post({ transactionId: id, status: "Paid" })), 503)
      assert.deepStrictEqual([reasons(), events], [["StillOpen", "NotFound", "LookupFailed"], []])
    })
  )

  testWebhook(
    "a lookup that hangs, and a service that asks for a longer wait, are answered with 503 within 8 seconds",
    Effect.gen(function* () {
      const payments = yield* Payments
      const { post } = yield* starting().pipe(
        Effect.provideService(Payments, { ...payments, getTransaction: () => Effect.never })
      )
      assert.strictEqual(yield* answered(post({ transactionId: nobody() }), 8), 503)
      const busy = yield* starting()
      yield* (yield* Sandbox).fault("getTransaction", Fault.retryAfter("1 hour"), { times: Infinity })
      assert.strictEqual(yield* answered(busy.post({ transactionId: yield* paidCharge }), 30), 503)
      assert.strictEqual(yield* lookups, 1)
    })
  )

  testWebhook(
    "a delivery wakes whoever waits for the transaction before its own lookup, and again when a later lookup shows it",
    Effect.gen(function* () {
      const payments = yield* Payments
      const waiting = Effect.fnUntraced(function* (id: string) {
        const wait = TransactionWait.final(id, { schedule: Schedule.spaced("1 hour") })
        const fiber = yield* Effect.forkChild(wait)
        yield* TestClock.adjust(0)
        return { hasEnded: () => fiber.pollUnsafe() !== undefined }
      })
      let isHanging = true
      const { post } = yield* starting().pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (id) => (isHanging ? Effect.never : payments.getTransaction(id))
        })
      )
      const one = yield* charge
      const first = yield* waiting(one.id)
      yield* (yield* Sandbox).markPaid(one.id)
      yield* Effect.forkChild(post({ transactionId: one.id, status: "Paid" }))
      yield* TestClock.adjust(0)
      assert.isTrue(first.hasEnded())
      isHanging = false
      const two = yield* charge
      const second = yield* waiting(two.id)
      yield* Effect.forkChild(post({ transactionId: two.id, status: "Paid" }))
      yield* TestClock.adjust(0)
      assert.isFalse(second.hasEnded())
      yield* (yield* Sandbox).markPaid(two.id)
      yield* TestClock.adjust("1 second")
      assert.isTrue(second.hasEnded())
    })
  )

  testWebhook(
    "an early claim about a paid transaction hands the payment out once, and the refund when the lookup shows it",
    Effect.gen(function* () {
      const { post, statuses } = yield* starting()
      const id = yield* paidCharge
      const fiber = yield* Effect.forkChild(post({ transactionId: id, status: "Refunded" }))
      yield* TestClock.adjust("2 seconds")
      yield* (yield* Sandbox).refund(id)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), 200)
      assert.deepStrictEqual(statuses(), ["Paid", "Refunded"])
    })
  )

  testWebhook(
    "a handler that fails is reported to onFailure and answered with 503, and the next delivery calls it again",
    Effect.gen(function* () {
      let isBroken = true
      const { deadLetters, failures, post, statuses } = yield* starting({
        onPaid: () => (isBroken ? Effect.fail("away") : Effect.void)
      })
      const lines: Array<string> = []
      const logged = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
      const id = yield* paidCharge
      assert.strictEqual(yield* Effect.provide(post({ transactionId: id }), logged), 503)
      assert.match(lines.join("\n"), /answered with 503: onPaid failed\..*"error\.type":"HandlerFailed"/)
      assert.notInclude(lines.join("\n"), "away")
      isBroken = false
      assert.strictEqual(yield* post({ transactionId: id }), 200)
      assert.deepStrictEqual(
        failures.map(({ attempt, handler, isDead }) => [handler, attempt, isDead]),
        [["onPaid", 1, false]]
      )
      assert.deepStrictEqual([statuses(), yield* deadLetters], [["Paid"], []])
    })
  )

  testWebhook(
    "a report that no other lookup would change is answered with 200, and with 503 if onUnconfirmed fails",
    Effect.gen(function* () {
      let isAway = false
      const { post, reports } = yield* starting({
        expectedAmount: () => Effect.succeed(Money.centavos(1)),
        onUnconfirmed: () => (isAway ? Effect.fail("away") : Effect.void)
      })
      const bodies = [{ hello: "world" }, { withdrawalId: 7 }, { transactionId: yield* paidCharge, status: "Paid" }]
      for (const body of bodies) assert.strictEqual(yield* post(body), 200)
      assert.deepStrictEqual(
        reports.map((report) => (isTransaction(report) ? report.reason : report._tag)),
        ["Unrecognised", "UnconfirmedWithdrawal", "OtherAmount"]
      )
      isAway = true
      for (const body of bodies) assert.strictEqual(yield* post(body), 503)
    })
  )

  testWebhook(
    "a check looks up and hands out before it ends, and looks an open charge up once, without a report",
    Effect.gen(function* () {
      const { check, events, failures, reports, statuses } = yield* starting({
        onRefunded: () => Effect.fail("away")
      })
      const { id } = yield* charge
      yield* check(id)
      assert.deepStrictEqual([statuses(), reports, yield* lookups], [[], [], 1])
      yield* (yield* Sandbox).markPaid(id)
      yield* check(id)
      assert.deepStrictEqual(statuses(), ["Paid"])
      assert.deepStrictEqual(events[0]?.untrusted, {})
      yield* (yield* Sandbox).refund(id)
      yield* check(id)
      assert.deepStrictEqual(
        failures.map(({ handler }) => handler),
        ["onRefunded"]
      )
      assert.strictEqual((yield* Effect.flip(check("")))._tag, "InvalidRequest")
    })
  )

  testWebhook(
    "a flood of unknown ids begins firstLookupsPerSecond lookups in a second: an id that isKnown knows and one that is checked do not wait, and what waits for 8 seconds is answered with 503",
    Effect.gen(function* () {
      const own = new Set<string>()
      const { check, events, post } = yield* starting({
        firstLookupsPerSecond: 4,
        isKnown: (id) => Effect.sync(() => own.has(id))
      })
      const send = (transactionId: string) => Effect.forkChild(post({ transactionId }), { startImmediately: true })
      const flood = yield* Effect.forEach(
        Array.from({ length: 60 }, (_, n) => nobody(n)),
        send
      )
      yield* TestClock.adjust(0)
      assert.strictEqual(yield* lookups, 4)
      const known = yield* paidCharge
      own.add(known)
      const own1 = yield* send(known)
      yield* TestClock.adjust(0)
      assert.strictEqual(events.length, 1)
      assert.strictEqual(yield* Fiber.join(own1), 200)
      const checked = yield* Effect.forkChild(check(yield* paidCharge))
      yield* TestClock.adjust(0)
      yield* Fiber.join(checked)
      assert.strictEqual(events.length, 2)
      yield* TestClock.adjust("10 seconds")
      const statuses = yield* Effect.forEach(flood, Fiber.join)
      assert.deepStrictEqual(new Set(statuses), new Set([503]))
      assert.isAtMost(yield* lookups, 4 * 9 + 2)
    })
  )
})

describe("a plain handler of Webhook.layer", () => {
  live(
    "a layer that is built for each request shares the bound of lookups, and is closed after the answer",
    Layer.fresh(Sandbox.layerPayments),
    function* () {
      const services = yield* Effect.context<Payments>()
      const payments = yield* Payments
      const at: Array<number> = []
      const timed: Payments["Service"] = {
        ...payments,
        getTransaction: (id) =>
          Effect.andThen(
            Effect.map(Clock.currentTimeMillis, (now) => void at.push(now)),
            payments.getTransaction(id)
          )
      }
      const waiting: Array<Promise<unknown>> = []
      const events: Array<string> = []
      let open = 0
      const counted = Layer.effectDiscard(
        Effect.acquireRelease(
          Effect.sync(() => void open++),
          () => Effect.sync(() => void open--)
        )
      )
      const layer = Webhook.layer({
        firstLookupsPerSecond: 1,
        onPaid: ({ id }) => Effect.sync(() => events.push(id))
      }).pipe(
        Layer.provide(Layer.succeed(Payments, timed)),
        Layer.provide(Layer.succeedContext(services)),
        Layer.merge(counted)
      )
      const { check, handler } = Webhook.toWebHandler(layer, { waitUntil: (work) => void waiting.push(work) })
      const id = yield* paidCharge
      const delivery = () => new Request("https://shop.example", { method: "POST", body: JSON.stringify({ id }) })
      assert.strictEqual((yield* Effect.promise(() => handler(delivery()))).status, 200)
      yield* Effect.promise(() => check(id))
      assert.strictEqual((yield* Effect.promise(() => handler(delivery()))).status, 200)
      // The second delivery waited for its place.
      assert.isAtLeast((at[2] ?? 0) - (at[0] ?? 0), 500)
      yield* Effect.promise(() => Promise.all(waiting))
      assert.deepStrictEqual([events, open, waiting.length], [[`${id}:Paid`, `${id}:Paid`, `${id}:Paid`], 0, 3])
    }
  )
})
