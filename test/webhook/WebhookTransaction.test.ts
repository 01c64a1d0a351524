import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Latch, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { Payments, TransactionHints, TransactionWait } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { centavos } from "../../src/pix/Money.ts"
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { exhaust, isTransaction, nobody, recording, testWebhook } from "../support/webhooks.ts"

describe("a hint about a transaction", () => {
  testWebhook(
    "a hint becomes a Confirmed event with what the lookup says",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { events, idle, post } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      assert.strictEqual(yield* post({ event: "x", data: { id, status: "PAID", amount: 99_999_999 } }), 200)
      yield* idle
      assert.strictEqual(events.length, 1)
      assert.strictEqual(events[0]?._tag, "Confirmed")
      assert.strictEqual(events[0]?.id, `${id}:Paid`)
      assert.strictEqual(events[0]?.transaction.transactionId, id)
      assert.strictEqual(events[0]?.transaction.value, centavos(2500))
      assert.strictEqual(events[0]?.untrusted.status, "PAID")
    })
  )

  testWebhook(
    "a false claim of a payment makes no event, and is reported after the lookup denied it for a minute",
    Effect.gen(function* () {
      const { events, idle, post, reports } = yield* recording()
      const { id } = yield* charge
      assert.strictEqual(yield* post({ transactionId: id, status: "Paid" }), 200)
      yield* TestClock.adjust("62 seconds")
      assert.strictEqual(reports.length, 0)
      yield* TestClock.adjust("1 second")
      yield* idle
      assert.deepStrictEqual(events, [])
      assert.strictEqual(yield* lookups, 7)
      const [report] = reports
      assert(isTransaction(report))
      assert.strictEqual(report.reason, "StillOpen")
      assert.strictEqual(report.lastStatus, "Awaiting")
      assert.strictEqual(report.transactionId, id)
      assert.strictEqual(report.untrusted.status, "Paid")
    })
  )

  testWebhook(
    "a false claim of a refund hands out the payment, and the claim is reported",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reasons, statuses } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id, status: "Cancelled" })
      yield* TestClock.adjust("2 minutes")
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
      assert.deepStrictEqual(reasons(), ["Disagrees"])
      yield* post({ transactionId: id, status: "refunded" })
      yield* TestClock.adjust("2 minutes")
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
      assert.deepStrictEqual(reasons(), ["Disagrees", "Disagrees"])
    })
  )

  testWebhook(
    "a status is handed out once for repeated, simultaneous and differently written deliveries",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reports, statuses } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const bodies = Array.from({ length: 20 }, (_, i) => ({
        transactionId: id,
        status: i % 3 === 0 ? "Paid" : undefined,
        attempt: i % 5
      }))
      const answers = yield* Effect.forEach(bodies, (body) => post(body), { concurrency: "unbounded" })
      assert.isTrue(answers.every((status) => status === 200))
      yield* idle
      yield* post(bodies[0])
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
      assert.deepStrictEqual(reports, [])
    })
  )

  testWebhook(
    "a delivery of the same content is looked up again: a status that changed meanwhile is handed out",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { events, idle, post, statuses } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id })
      yield* idle
      yield* sandbox.refund(id)
      yield* post({ transactionId: id })
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid", "Refunded"])
      assert.deepStrictEqual(
        events.map((event) => event.id),
        [`${id}:Paid`, `${id}:Refunded`]
      )
    })
  )

  testWebhook(
    "a delivery that is repeated during its lookup is looked up again afterwards",
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      const atWork = yield* Latch.make()
      const go = yield* Latch.make()
      const { idle, post, statuses } = yield* recording().pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (id) => Effect.tap(payments.getTransaction(id), Effect.andThen(atWork.open, go.await))
        })
      )
      const id = yield* paidCharge
      yield* post({ transactionId: id })
      yield* atWork.await
      yield* sandbox.refund(id)
      assert.strictEqual(yield* post({ transactionId: id }), 200)
      yield* go.open
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid", "Refunded"])
    })
  )

  testWebhook(
    "an early hint is confirmed when the lookup shows it: first a 404, then still awaited, then paid",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reports, statuses } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.fault("getTransaction", Fault.refusal(404, "não encontrada"), { times: 2 })
      yield* post({ transactionId: id, status: "Paid" })
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(yield* lookups, 3)
      yield* sandbox.markPaid(id)
      assert.deepStrictEqual(statuses(), [])
      yield* TestClock.adjust("4 seconds")
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
      assert.deepStrictEqual(reports, [])
    })
  )

  testWebhook(
    "an early hint about a refund hands out the payment at once and the refund when the lookup shows it",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reports, statuses } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id, status: "Refunded" })
      yield* TestClock.adjust("1500 millis")
      assert.deepStrictEqual(statuses(), ["Paid"])
      yield* sandbox.refund(id)
      yield* TestClock.adjust("2 seconds")
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid", "Refunded"])
      assert.deepStrictEqual(reports, [])
    })
  )

  for (const closed of ["cancel", "fail"] as const) {
    testWebhook(
      `a payment that is claimed while the lookup still says ${closed === "cancel" ? "Cancelled" : "Failed"} is handed out when the lookup says Paid`,
      Effect.gen(function* () {
        const payments = yield* Payments
        const sandbox = yield* Sandbox
        const { id } = yield* charge
        yield* sandbox[closed](id)
        let isPaid = false
        const { idle, post, reports, statuses } = yield* recording().pipe(
          Effect.provideService(Payments, {
            ...payments,
            getTransaction: (id) =>
              Effect.map(payments.getTransaction(id), (detail) =>
                isPaid ? { ...detail, enStatusTransaction: "Paid" } : detail
              )
          })
        )
        yield* post({ transactionId: id, status: "Paid" })
        yield* TestClock.adjust("20 seconds")
        isPaid = true
        yield* TestClock.adjust("20 seconds")
        yield* idle
        assert.deepStrictEqual(statuses(), [closed === "cancel" ? "Cancelled" : "Failed", "Paid"])
        assert.deepStrictEqual(reports, [])
      })
    )
  }

  testWebhook(
    "a claim that the lookup denies is looked up again for a minute before it is reported, for each pair of statuses",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      for (const [become, claims] of [
        ["markPaid", "Cancelled"],
        ["markPaid", "Failed"],
        ["markPaid", "Refunded"],
        ["cancel", "Paid"],
        ["cancel", "Failed"],
        ["fail", "Paid"]
      ] as const) {
        const { crash, idle, post, reasons } = yield* recording()
        const { id } = yield* charge
        yield* sandbox[become](id)
        yield* post({ transactionId: id, status: claims })
        yield* TestClock.adjust("62 seconds")
        assert.deepStrictEqual(reasons(), [], `${become}, ${claims}`)
        yield* TestClock.adjust("1 second")
        yield* idle
        assert.deepStrictEqual(reasons(), ["Disagrees"], `${become}, ${claims}`)
        yield* crash
      }
    })
  )

  testWebhook(
    "a late or unordered hint changes nothing",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reports, statuses } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id, status: "Paid" })
      yield* idle
      yield* post({ transactionId: id, status: "Awaiting" })
      yield* post({ transactionId: id, status: "WAITING_PAYMENT" })
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
      assert.deepStrictEqual(reports, [])
    })
  )

  testWebhook(
    "a hint about a payment after its refund is old and is not reported",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reports, statuses } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* sandbox.refund(id)
      yield* post({ transactionId: id, status: "Refunded" })
      yield* idle
      yield* post({ transactionId: id, status: "Paid" })
      yield* idle
      assert.deepStrictEqual(statuses(), ["Refunded"])
      assert.deepStrictEqual(reports, [])
    })
  )

  testWebhook(
    "Paid is never handed out after Refunded, though the service's books go back: it is reported, or passes",
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      let status = "Refunded"
      const { idle, post, reasons, statuses } = yield* recording().pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (id) =>
            Effect.map(payments.getTransaction(id), (detail) => ({ ...detail, enStatusTransaction: status }))
        })
      )
      yield* post({ transactionId: id })
      yield* idle
      status = "Paid"
      yield* post({ transactionId: id, n: 1 })
      yield* TestClock.adjust("1 second")
      status = "Refunded"
      yield* TestClock.adjust("10 seconds")
      yield* idle
      assert.deepStrictEqual(reasons(), [])
      status = "Paid"
      yield* post({ transactionId: id, n: 2 })
      yield* TestClock.adjust("2 minutes")
      yield* idle
      assert.deepStrictEqual(statuses(), ["Refunded"])
      assert.deepStrictEqual(reasons(), ["WentBack"])
    })
  )

  testWebhook(
    "Paid after Refunded is reported too where both were handed out before",
    Effect.gen(function* () {
      const payments = yield* Payments
      const { id } = yield* charge
      let status = "Paid"
      const { idle, post, reasons, statuses } = yield* recording().pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (id) =>
            Effect.map(payments.getTransaction(id), (detail) => ({ ...detail, enStatusTransaction: status }))
        })
      )
      for (status of ["Paid", "Refunded", "Paid"]) {
        yield* post({ transactionId: id, status })
        yield* TestClock.adjust("2 minutes")
        yield* idle
      }
      assert.deepStrictEqual([statuses(), reasons()], [["Paid", "Refunded"], ["WentBack"]])
    })
  )

  testWebhook(
    "a status that returns is not handed out again: Paid, Cancelled and Paid are two events",
    Effect.gen(function* () {
      const payments = yield* Payments
      const { id } = yield* charge
      let status = ""
      const { events, idle, post, reports } = yield* recording().pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (id) =>
            Effect.map(payments.getTransaction(id), (detail) => ({ ...detail, enStatusTransaction: status }))
        })
      )
      for (status of ["Paid", "Cancelled", "Paid", "Cancelled", "Paid"]) {
        yield* post({ transactionId: id, status })
        yield* idle
      }
      assert.deepStrictEqual(
        events.map((event) => event.id),
        [`${id}:Paid`, `${id}:Cancelled`]
      )
      assert.deepStrictEqual(reports, [])
    })
  )

  testWebhook(
    "an id is the same in capital letters and in small ones, in a delivery and in a lookup: its status is handed out once",
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const { events, idle, post, reports } = yield* recording().pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (wanted) =>
            Effect.map(payments.getTransaction(wanted.toLowerCase()), (detail) => ({
              ...detail,
              transactionId: wanted === id ? id.toUpperCase() : id
            }))
        })
      )
      for (const transactionId of [id.toUpperCase(), id, id.toUpperCase()]) {
        yield* post({ transactionId, status: "Paid" })
        yield* idle
      }
      assert.deepStrictEqual(
        events.map((event) => event.id),
        [`${id}:Paid`]
      )
      assert.deepStrictEqual(reports, [])
      // Deliveries that wait share one row, in any case of the id.
      yield* sandbox.fault("getTransaction", Fault.refusal(404, "não encontrada"), { times: 1000 })
      for (const transactionId of [id.toUpperCase(), id]) yield* post({ transactionId, status: "Paid" })
      yield* TestClock.adjust("2 minutes")
      yield* idle
      assert.strictEqual(reports.length, 1)
    })
  )

  testWebhook(
    "a true hint that a charge is still open makes no event and no report",
    Effect.gen(function* () {
      const { events, idle, post, reports } = yield* recording()
      const { id } = yield* charge
      yield* post({ transactionId: id, enStatusTransaction: "Awaiting" })
      yield* idle
      assert.deepStrictEqual([events, reports], [[], []])
      assert.strictEqual(yield* lookups, 1)
    })
  )

  testWebhook(
    "a transaction that the service does not know is reported after a minute",
    Effect.gen(function* () {
      const { events, idle, post, reports } = yield* recording()
      yield* post({ transactionId: nobody(), status: "Paid" })
      yield* TestClock.adjust("2 minutes")
      yield* idle
      assert.deepStrictEqual(events, [])
      const [report] = reports
      assert(isTransaction(report))
      assert.strictEqual(report.reason, "NotFound")
      assert.strictEqual(report.error?._tag, "TransactionNotFound")
    })
  )

  testWebhook(
    "a lookup that answers another transaction confirms nothing",
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      const one = yield* charge
      const other = yield* charge
      yield* sandbox.markPaid(other.id)
      const { events, idle, post, reasons } = yield* recording().pipe(
        Effect.provideService(Payments, { ...payments, getTransaction: () => payments.getTransaction(other.id) })
      )
      yield* post({ transactionId: one.id, status: "Paid" })
      yield* idle
      assert.deepStrictEqual(events, [])
      assert.deepStrictEqual(reasons(), ["OtherTransaction"])
    })
  )

  testWebhook(
    "many deliveries during an outage of the service cause few lookups, and do not shorten the time of its retries",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reports, statuses } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* sandbox.fault("getTransaction", Fault.refusal(401, "não"), { times: 1000 })
      for (const looks of [1, 2, 3]) {
        for (let n = 0; n < 50; n++) {
          const call = Effect.suspend(() => post({ transactionId: id, status: "Paid", n }))
          yield* Effect.all([call, call, call], { concurrency: "unbounded" })
          yield* TestClock.adjust(0)
        }
        // One lookup for each wait, and not a hundred and fifty.
        assert.strictEqual(yield* lookups, looks)
        if (looks < 3) yield* TestClock.adjust(`${looks * 2400} millis`)
      }
      yield* sandbox.clearFaults
      yield* TestClock.adjust("1 minute")
      yield* idle
      assert.deepStrictEqual([statuses(), reports], [["Paid"], []])
    })
  )

  testWebhook(
    "a delivery after an outage is handed out by the next regular lookup, or when the service asked for, an hour later at most",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { post, statuses } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const call = Effect.suspend(() =>
        Effect.andThen(post({ transactionId: id, status: "Paid" }), TestClock.adjust(0))
      )
      yield* sandbox.fault("getTransaction", Fault.refusal(401, "não"), { times: 1 })
      yield* call
      assert.deepStrictEqual(statuses(), [])
      yield* call
      yield* TestClock.adjust("1500 millis")
      assert.deepStrictEqual(statuses(), [])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(statuses(), ["Paid"])

      yield* sandbox.refund(id)
      yield* sandbox.fault("getTransaction", Fault.retryAfter("365 days"), { times: 1 })
      yield* call
      yield* TestClock.adjust("30 seconds")
      yield* call
      assert.deepStrictEqual(statuses(), ["Paid"])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(statuses(), ["Paid", "Refunded"])
    })
  )

  testWebhook(
    "a hint waits through an outage of the service, and as long as the service asks",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reports, statuses } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* sandbox.fault("getTransaction", Fault.retryAfter("600 seconds"), { times: 1 })
      yield* post({ transactionId: id })
      yield* TestClock.adjust("599 seconds")
      assert.strictEqual(yield* lookups, 1)
      yield* sandbox.offline(TestClock.adjust("3 hours"))
      assert.deepStrictEqual(statuses(), [])
      yield* TestClock.adjust("10 minutes")
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
      assert.deepStrictEqual(reports, [])
    })
  )

  testWebhook(
    "a hint whose lookups fail for too long is reported with the reason",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reports } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.rotateCredentials
      yield* post({ transactionId: id })
      yield* exhaust("outage", 1, TestClock.adjust("10 millis"))
      yield* TestClock.adjust("1 second")
      yield* idle
      const [report] = reports
      assert(isTransaction(report))
      assert.strictEqual(report.reason, "LookupFailed")
      assert.strictEqual(report.error?._tag, "AuthError")
      assert.strictEqual(yield* lookups, 2)
    })
  )

  testWebhook(
    "an invalid id is reported and not sent",
    Effect.gen(function* () {
      const { idle, post, reasons } = yield* recording({ find: () => ({ about: "Transaction", transactionId: "" }) })
      assert.strictEqual(yield* post({}), 200)
      yield* idle
      assert.deepStrictEqual(reasons(), ["LookupFailed"])
      assert.strictEqual(yield* lookups, 0)
    })
  )

  testWebhook(
    "a status that is not documented is handed out unchanged",
    Effect.gen(function* () {
      const payments = yield* Payments
      const { id } = yield* charge
      const { idle, post, statuses } = yield* recording().pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (id) =>
            Effect.map(payments.getTransaction(id), (detail) => ({ ...detail, enStatusTransaction: "Chargeback" }))
        })
      )
      yield* post({ transactionId: id })
      yield* idle
      assert.deepStrictEqual(statuses(), ["Chargeback"])
    })
  )

  testWebhook(
    "a hint wakes whoever waits for the transaction, at once",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { post } = yield* recording()
      const { id } = yield* charge
      const fiber = yield* Effect.forkChild(TransactionWait.final(id, { schedule: Schedule.spaced("1 hour") }))
      yield* TestClock.adjust(0)
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id })
      assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
    })
  )

  testWebhook(
    "a hint wakes whoever waits for the transaction though its own lookup hangs, and again when a later lookup confirms it",
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      let isHanging = true
      const { post } = yield* recording().pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (id) => (isHanging ? Effect.never : payments.getTransaction(id))
        })
      )
      const waiting = Effect.fnUntraced(function* (id: string) {
        const wait = TransactionWait.final(id, { schedule: Schedule.spaced("1 hour") })
        const fiber = yield* Effect.forkChild(wait)
        yield* TestClock.adjust(0)
        return { hasEnded: () => fiber.pollUnsafe() !== undefined }
      })
      const one = yield* charge
      const first = yield* waiting(one.id)
      yield* sandbox.markPaid(one.id)
      yield* post({ transactionId: one.id, status: "Paid" })
      yield* TestClock.adjust(0)
      assert.isTrue(first.hasEnded())

      isHanging = false
      const two = yield* charge
      const second = yield* waiting(two.id)
      yield* post({ transactionId: two.id, status: "Paid" })
      yield* TestClock.adjust(0)
      assert.isFalse(second.hasEnded())
      yield* sandbox.markPaid(two.id)
      yield* TestClock.adjust("1 minute")
      assert.isTrue(second.hasEnded())
    })
  )

  testWebhook(
    "a delivery does not wait for the listeners of its hint",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { post, statuses } = yield* recording().pipe(
        Effect.provideService(TransactionHints, {
          publish: () => Effect.never,
          subscribe: () => Effect.die("nobody subscribes")
        })
      )
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      assert.strictEqual(yield* post({ transactionId: id }), 200)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(statuses(), ["Paid"])
    })
  )
})
