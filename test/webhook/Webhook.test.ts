import { assert, describe, it } from "@effect/vitest"
import {
  Clock,
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Latch,
  Layer,
  Logger,
  References,
  Schedule,
  Schema,
  Scope
} from "effect"
import { HttpRouter } from "effect/http"
import { KeyValueStore } from "effect/persistence"
import { TestClock } from "effect/testing"
import * as Metadata from "../../src/contract/Metadata.ts"
import { centavos } from "../../src/pix/Money.ts"
import { Payments } from "../../src/client/Payments.ts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { TransactionHints } from "../../src/transactions/TransactionHints.ts"
import { Webhook, type WebhookOptions } from "../../src/webhook/Webhook.ts"
import type {
  Confirmed,
  Unconfirmed,
  UnconfirmedTransaction,
  UnconfirmedWithdrawal
} from "../../src/webhook/WebhookEvent.ts"
import { WebhookStore, WebhookStoreError } from "../../src/webhook/WebhookStore.ts"
import * as TransactionWait from "../../src/transactions/TransactionWait.ts"
import * as WebhookVerifier from "../../src/webhook/WebhookVerifier.ts"
import { charge, lookups } from "../support/charges.ts"

const world = Layer.mergeAll(Sandbox.layerPayments, TransactionHints.layer, WebhookStore.layerMemory, Logger.layer([]))

/** A handler which writes down what it was given, on the store and the sandbox of the test. */
const recording = Effect.fnUntraced(function* <P = unknown, M = unknown>(
  options: Partial<WebhookOptions<P, M, unknown, never, unknown>> = {}
) {
  const events: Array<Confirmed<P, M>> = []
  const reports: Array<Unconfirmed<P, M>> = []
  const scope = yield* Scope.fork(yield* Effect.scope)
  const context = yield* Webhook.layerStore<P, M, unknown, never, unknown>({
    ...options,
    onConfirmed: (event) =>
      Effect.andThen(
        Effect.sync(() => events.push(event)),
        options.onConfirmed?.(event) ?? Effect.void
      ),
    onUnconfirmed: (report) =>
      Effect.andThen(
        Effect.sync(() => reports.push(report)),
        options.onUnconfirmed?.(report) ?? Effect.void
      )
  }).pipe(Layer.buildWithScope(scope))
  const webhook = Context.get(context, Webhook)
  const post = (body: unknown, headers: Record<string, string> = {}, address = "https://shop.example/webhooks/pix") =>
    Effect.map(
      webhook.answer(
        new Request(address, {
          method: "POST",
          headers,
          body: typeof body === "string" ? body : JSON.stringify(body)
        })
      ),
      ({ status }) => status
    )
  return {
    ...webhook,
    post,
    events,
    reports,
    statuses: () => events.map(({ transaction }) => transaction.enStatusTransaction),
    reasons: () => reports.map((report) => ("reason" in report ? report.reason : report._tag)),
    /** The process ends. */
    crash: Scope.close(scope, Exit.void)
  }
})

const isTransaction = (report: Unconfirmed | undefined): report is UnconfirmedTransaction =>
  report?._tag === "UnconfirmedTransaction"

const isWithdrawal = (report: Unconfirmed | undefined): report is UnconfirmedWithdrawal =>
  report?._tag === "UnconfirmedWithdrawal"

const test = (name: string, effect: Effect.Effect<void, unknown, Scope.Scope | Layer.Success<typeof world>>) =>
  it.effect(name, () => effect.pipe(Effect.provide(world)))

describe("a hint about a transaction", () => {
  test(
    "becomes a Confirmed event with what the lookup says",
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

  test(
    "that lies about a payment yields no event, and is reported once the lookup has said otherwise for a minute",
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

  test(
    "that lies about a refund hands out the payment, and reports the lie",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reasons, statuses } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id, status: "Cancelled" })
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

  test(
    "that is repeated is handed out once, also when the calls come at the same moment or differ in form",
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

  test(
    "is handed out anew when the status has changed, though the call is the same",
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

  test(
    "that comes again while its twin is in work is looked up again afterwards",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const atWork = yield* Latch.make()
      const go = yield* Latch.make()
      const { idle, post, statuses } = yield* recording({
        onConfirmed: () => Effect.andThen(atWork.open, go.await)
      })
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id })
      yield* atWork.await
      yield* sandbox.refund(id)
      assert.strictEqual(yield* post({ transactionId: id }), 200)
      yield* go.open
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid", "Refunded"])
    })
  )

  test(
    "that comes early is confirmed as soon as the service knows: first a 404, then still awaited, then paid",
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

  test(
    "about a refund that comes early hands out the payment at once and the refund when it is there",
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

  test(
    "that comes late, or out of order, changes nothing",
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

  test(
    "about a payment that comes after its refund is late news, not a lie",
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

  test(
    "never brings Paid after Refunded, though the service's books go back; it is reported, or passes",
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

  test(
    "that says truly that nothing has happened yet is no event and no report",
    Effect.gen(function* () {
      const { events, idle, post, reports } = yield* recording()
      const { id } = yield* charge
      yield* post({ transactionId: id, enStatusTransaction: "Awaiting" })
      yield* idle
      assert.deepStrictEqual([events, reports], [[], []])
      assert.strictEqual(yield* lookups, 1)
    })
  )

  test(
    "about nothing that the service knows is reported",
    Effect.gen(function* () {
      const { events, idle, post, reports } = yield* recording()
      yield* post({ transactionId: "9f1c8c52-6a3e-4b1f-9d57-0f4f5e1f2a11", status: "Paid" })
      yield* TestClock.adjust("2 minutes")
      yield* idle
      assert.deepStrictEqual(events, [])
      const [report] = reports
      assert(isTransaction(report))
      assert.strictEqual(report.reason, "NotFound")
      assert.strictEqual(report.error?._tag, "TransactionNotFound")
    })
  )

  test(
    "that is answered with another transaction is not confirmed by it",
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

  test(
    "waits through an outage of the service, and as long as the service asks",
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

  test(
    "whose lookups fail for too long is reported with the reason",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reports } = yield* recording({ retryLookup: Schedule.recurs(1) })
      const { id } = yield* charge
      yield* sandbox.rotateCredentials
      yield* post({ transactionId: id })
      yield* idle
      const [report] = reports
      assert(isTransaction(report))
      assert.strictEqual(report.reason, "LookupFailed")
      assert.strictEqual(report.error?._tag, "AuthError")
      assert.strictEqual(yield* lookups, 2)
    })
  )

  test(
    "with an id that cannot be one is reported without being sent",
    Effect.gen(function* () {
      const { idle, post, reasons } = yield* recording({ find: () => ({ about: "Transaction", transactionId: "" }) })
      assert.strictEqual(yield* post({}), 200)
      yield* idle
      assert.deepStrictEqual(reasons(), ["LookupFailed"])
      assert.strictEqual(yield* lookups, 0)
    })
  )

  test(
    "with a status that is not documented hands that status out",
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

  test(
    "wakes whoever waits for the transaction, at once",
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
})

describe("the user's code", () => {
  test(
    "is called again until it succeeds, and never after",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      let calls = 0
      const { events, idle, post } = yield* recording({
        onConfirmed: () =>
          Effect.suspend((): Effect.Effect<void, string> => {
            calls++
            if (calls === 1) throw new Error("thrown")
            return calls === 2 ? Effect.fail("failed") : calls === 3 ? Effect.die("died") : Effect.void
          })
      })
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id })
      yield* TestClock.adjust("10 seconds")
      yield* idle
      assert.strictEqual(calls, 4)
      assert.strictEqual(new Set(events.map((event) => event.id)).size, 1)
      yield* post({ transactionId: id })
      yield* TestClock.adjust("1 day")
      assert.strictEqual(calls, 4)
    })
  )

  test(
    "gets a transaction's events in order, though it fails at the first",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const done: Array<string> = []
      let failures = 3
      const { idle, post } = yield* recording({
        onConfirmed: ({ transaction }) =>
          Effect.suspend(() =>
            failures-- > 0 ? Effect.fail("later") : Effect.sync(() => done.push(transaction.enStatusTransaction))
          )
      })
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id, n: 1 })
      yield* TestClock.adjust("1 second")
      yield* sandbox.refund(id)
      yield* post({ transactionId: id, n: 2 })
      yield* TestClock.adjust("1 minute")
      yield* idle
      assert.deepStrictEqual(done, ["Paid", "Refunded"])
    })
  )

  test(
    "that hangs on one transaction holds up no other",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const bad = yield* charge
      const good = yield* charge
      const { post, statuses } = yield* recording({
        concurrency: 1,
        onConfirmed: ({ transaction }) => (transaction.transactionId === bad.id ? Effect.fail("always") : Effect.void)
      })
      yield* sandbox.markPaid(bad.id)
      yield* sandbox.cancel(good.id)
      yield* post({ transactionId: bad.id })
      yield* post({ transactionId: good.id })
      yield* TestClock.adjust("10 millis")
      assert.deepStrictEqual(statuses(), ["Paid", "Cancelled"])
    })
  )

  test(
    "is called at most `concurrency` times at once",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      let running = 0
      let most = 0
      const { events, idle, post } = yield* recording({
        concurrency: 3,
        onConfirmed: () =>
          Effect.gen(function* () {
            most = Math.max(most, ++running)
            yield* Effect.sleep("1 second")
            running--
          })
      })
      for (let i = 0; i < 10; i++) {
        const { id } = yield* charge
        yield* sandbox.markPaid(id)
        yield* post({ transactionId: id })
      }
      yield* TestClock.adjust("10 seconds")
      yield* idle
      assert.strictEqual(events.length, 10)
      assert.strictEqual(most, 3)
    })
  )

  test(
    "for what is not confirmed is retried too",
    Effect.gen(function* () {
      let calls = 0
      const { idle, post, reasons } = yield* recording({
        onUnconfirmed: () => Effect.suspend(() => (++calls < 3 ? Effect.fail("later") : Effect.void))
      })
      yield* post({ hello: "world" })
      yield* TestClock.adjust("10 seconds")
      yield* idle
      assert.strictEqual(calls, 3)
      assert.deepStrictEqual(new Set(reasons()), new Set(["Unrecognised"]))
    })
  )

  test(
    "gets the metadata by its own schema, and a payload by its own schema and its own finder",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { events, idle, post } = yield* recording({
        payload: Schema.Struct({ pedido: Schema.Struct({ codigo: Schema.String, extra: Schema.String }) }),
        metadata: Metadata.codec(Schema.Struct({ invoice: Schema.Int })),
        find: ({ pedido }) => ({ about: "Transaction", transactionId: pedido.codigo, metadata: pedido.extra })
      })
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      assert.strictEqual(yield* post({ pedido: { codigo: id, extra: '{"invoice":42}' } }), 200)
      yield* idle
      assert.deepStrictEqual(events[0]?.untrusted.metadata, { invoice: 42 })
      assert.strictEqual(events[0]?.untrusted.payload.pedido.codigo, id)
      yield* sandbox.refund(id)
      yield* post({ pedido: { codigo: id, extra: "no json" } })
      yield* idle
      assert.strictEqual(events[1]?.transaction.enStatusTransaction, "Refunded")
      assert.isUndefined(events[1]?.untrusted.metadata)
      assert.strictEqual(yield* post({ transactionId: id }), 400)
    })
  )
})

describe("a crash", () => {
  test(
    "while the user's code is at work brings the event again at the next start",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const atWork = yield* Deferred.make<void>()
      const first = yield* recording({
        onConfirmed: () => Effect.andThen(Deferred.succeed(atWork, undefined), Effect.never)
      })
      yield* first.post({ transactionId: id, metadata: { order: 7 } })
      yield* Deferred.await(atWork)
      yield* first.crash
      const second = yield* recording()
      yield* second.idle
      assert.deepStrictEqual(second.statuses(), ["Paid"])
      assert.strictEqual(second.events[0]?.id, first.events[0]?.id)
      assert.deepStrictEqual(second.events[0]?.untrusted.metadata, { order: 7 })
      yield* second.crash
      const third = yield* recording()
      yield* third.idle
      yield* third.post({ transactionId: id })
      yield* third.idle
      assert.deepStrictEqual(third.events, [])
    })
  )

  test(
    "between the user's code and the note of its success brings the event again",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const store = yield* WebhookStore
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const reached = yield* Deferred.make<void>()
      const first = yield* recording().pipe(
        Effect.provideService(WebhookStore, {
          ...store,
          set: () => Effect.andThen(Deferred.succeed(reached, undefined), Effect.never)
        })
      )
      yield* first.post({ transactionId: id })
      yield* Deferred.await(reached)
      yield* first.crash
      const second = yield* recording()
      yield* second.idle
      assert.deepStrictEqual([first.statuses(), second.statuses()], [["Paid"], ["Paid"]])
    })
  )

  test(
    "after the note, before the call is finished, brings no event again",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const store = yield* WebhookStore
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const reached = yield* Deferred.make<void>()
      const first = yield* recording().pipe(
        Effect.provideService(WebhookStore, {
          ...store,
          finish: () => Effect.andThen(Deferred.succeed(reached, undefined), Effect.never)
        })
      )
      yield* first.post({ transactionId: id })
      yield* Deferred.await(reached)
      yield* first.crash
      const second = yield* recording()
      yield* second.idle
      assert.deepStrictEqual(second.events, [])
      assert.deepStrictEqual(yield* store.unfinished, [])
    })
  )

  test(
    "during the wait for an early hint loses nothing",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      const first = yield* recording()
      yield* first.post({ transactionId: id, status: "Paid" })
      yield* TestClock.adjust("10 seconds")
      yield* first.crash
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(first.reports, [])
      yield* sandbox.markPaid(id)
      const second = yield* recording()
      yield* second.idle
      assert.deepStrictEqual(second.statuses(), ["Paid"])
    })
  )

  test(
    "is not needed to resume what the user's schedule gave up: the next start is enough",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const store = yield* WebhookStore
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const first = yield* recording({ onConfirmed: () => Effect.fail("never"), retry: Schedule.recurs(2) })
      yield* first.post({ transactionId: id })
      yield* first.idle
      assert.strictEqual(first.events.length, 3)
      assert.strictEqual((yield* store.unfinished).length, 1)
      const second = yield* recording()
      yield* second.idle
      assert.strictEqual(second.events.length, 1)
      assert.deepStrictEqual(yield* store.unfinished, [])
    })
  )

  test(
    "of the lookup itself is survived: the call stays recorded, and others go on",
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      const bad = yield* charge
      const good = yield* charge
      yield* sandbox.markPaid(bad.id)
      yield* sandbox.markPaid(good.id)
      const first = yield* recording().pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (id) => (id === bad.id ? Effect.die("bug") : payments.getTransaction(id))
        })
      )
      yield* first.post({ transactionId: bad.id })
      yield* first.post({ transactionId: good.id })
      yield* first.idle
      assert.deepStrictEqual(
        first.events.map((event) => event.id),
        [`${good.id}:Paid`]
      )
      const second = yield* recording()
      yield* second.idle
      assert.deepStrictEqual(
        second.events.map((event) => event.id),
        [`${bad.id}:Paid`]
      )
    })
  )

  test(
    "leaves a call that the new schema does not take where it is",
    Effect.gen(function* () {
      const store = yield* WebhookStore
      yield* store.record({ id: "old", body: '{"old":true}' })
      const { events, idle, reports } = yield* recording({ payload: Schema.Struct({ new: Schema.String }) })
      yield* idle
      assert.deepStrictEqual([events, reports], [[], []])
      assert.strictEqual((yield* store.unfinished).length, 1)
    })
  )
})

describe("a hint about a withdrawal", () => {
  test(
    "is never confirmed, whatever it claims and whatever transaction it names",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { events, idle, post, reports } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const calls = [
        { id: 1, idempotencyKey: "wd_1", enTransaction: "Paid" },
        { withdrawalId: 1, status: "Paid", transactionId: id },
        { event: "withdrawal.paid", data: { id, status: "Paid" } },
        { withdrawal: { id: 1, status: "Paid" }, transaction: { id, status: "Paid" } },
        { transactionId: id, idempotencyKey: "wd_2", status: "Paid" }
      ]
      for (const call of calls) assert.strictEqual(yield* post(call), 200)
      yield* idle
      assert.deepStrictEqual(events, [])
      assert.strictEqual(reports.length, calls.length)
      assert.isTrue(reports.every(isWithdrawal))
      assert.strictEqual(yield* lookups, 0)
    })
  )

  test(
    "comes with the evidence there is: our note, whether the metadata is ours, and the balance",
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      yield* sandbox.credit(5000)
      const { events, idle, post, remember, reports } = yield* recording()
      const request = { amount: centavos(1000), metadata: { invoice: "A-42" } }
      yield* remember({ idempotencyKey: "payout-key", ...request })
      const { id } = yield* payments.requestWithdrawal(
        { ...request, pixKey: "maria@example.com", pixKeyType: "EMAIL" },
        { idempotencyKey: "payout-key" }
      )
      yield* remember({ idempotencyKey: "payout-key", ...request, withdrawalId: id })
      const other = yield* charge
      yield* sandbox.markPaid(other.id)

      yield* post({ idempotencyKey: "payout-key", status: "Paid", metadata: '{"invoice":"A-42"}' })
      yield* idle
      yield* post({ withdrawalId: id, status: "Paid", metadata: { invoice: "B-1" } })
      yield* idle
      yield* post({ transactionId: other.id, idempotencyKey: "payout-key" })
      yield* idle
      yield* post({ withdrawalId: id + 1, metadata: {} })
      yield* idle

      assert.deepStrictEqual(events, [])
      const evidence = reports.filter(isWithdrawal).map((report) => report.evidence)
      const note = { idempotencyKey: "payout-key", ...request, withdrawalId: id }
      assert.deepStrictEqual(
        evidence.map(({ noted, sameMetadata }) => ({ noted, sameMetadata })),
        [
          { noted: note, sameMetadata: true },
          { noted: note, sameMetadata: false },
          { noted: note, sameMetadata: undefined },
          { noted: undefined, sameMetadata: undefined }
        ]
      )
      const balance = yield* evidence[0]?.balance ?? Effect.die("no evidence")
      assert.strictEqual(String(balance.companyId), String(sandbox.companyId))
    })
  )

  test(
    "with metadata nested beyond all measure is reported, and finished",
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const { idle, post, remember, reports } = yield* recording()
      yield* remember({ idempotencyKey: "wd_7", amount: centavos(1000), metadata: { a: 1 } })
      const depth = 10_000
      const metadata = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`
      assert.strictEqual(yield* post(`{"idempotencyKey":"wd_7","metadata":${metadata}}`), 200)
      yield* idle
      assert.deepStrictEqual(
        reports.filter(isWithdrawal).map(({ evidence }) => evidence.sameMetadata),
        [false]
      )
      assert.deepStrictEqual(yield* store.unfinished, [])
    })
  )

  test(
    "that is repeated word for word is reported once; one that differs is reported too",
    Effect.gen(function* () {
      const { idle, post, reports } = yield* recording()
      for (const status of ["Paid", "Paid", "Failed", "Paid"]) {
        yield* post({ withdrawalId: 9, status })
        yield* idle
      }
      assert.deepStrictEqual(
        reports.map((report) => report.untrusted.status),
        ["Paid", "Failed"]
      )
    })
  )

  test(
    "is reported again when the hook failed for good",
    Effect.gen(function* () {
      const first = yield* recording({ onUnconfirmed: () => Effect.fail("never"), retry: Schedule.recurs(0) })
      yield* first.post({ withdrawalId: 9 })
      yield* first.idle
      const second = yield* recording()
      yield* second.idle
      assert.deepStrictEqual(second.reasons(), ["UnconfirmedWithdrawal"])
    })
  )
})

describe("the answers", () => {
  const stream = (chunks: number, bytes: number) => {
    let sent = 0
    return {
      sent: () => sent,
      body: new ReadableStream<Uint8Array>({
        pull: (controller) => {
          if (sent++ < chunks) controller.enqueue(new Uint8Array(bytes).fill(32))
          else controller.close()
        }
      })
    }
  }
  const request = (init: RequestInit) => new Request("https://shop.example/webhooks/pix", { method: "POST", ...init })

  test(
    "405 for another method, naming the one that is allowed",
    Effect.gen(function* () {
      const { answer } = yield* recording()
      for (const method of ["GET", "PUT", "DELETE", "OPTIONS"]) {
        const response = yield* answer(request({ method }))
        assert.strictEqual(response.status, 405)
        assert.strictEqual(response.headers.get("allow"), "POST")
      }
    })
  )

  test(
    "413 for a body that is too large: by what it says, or while it streams",
    Effect.gen(function* () {
      const { answer, post } = yield* recording()
      const { post: small } = yield* recording({ maxBodyBytes: 10 })
      assert.strictEqual(yield* post(`"${"x".repeat(64 * 1024)}"`), 413)
      assert.strictEqual(yield* post(`"${"x".repeat(64 * 1024 - 2)}"`), 200)
      assert.strictEqual(yield* small("[1,2,3,4,5]"), 413)
      assert.strictEqual(yield* post("{}", { "Content-Length": "65537" }), 413)
      const endless = stream(1_000_000, 1024)
      const init: RequestInit & { duplex: "half" } = { body: endless.body, duplex: "half" }
      assert.strictEqual((yield* answer(request(init))).status, 413)
      assert.isBelow(endless.sent(), 100)
    })
  )

  test(
    "400 for what cannot be read, without saying it back",
    Effect.gen(function* () {
      const { answer, post, reports } = yield* recording()
      for (const body of ["", "{", "secret=1", '{"a":1}}', "\u0000"]) assert.strictEqual(yield* post(body), 400)
      assert.strictEqual((yield* answer(request({}))).status, 400)
      const notUtf8 = yield* answer(request({ body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]) }))
      assert.strictEqual(notUtf8.status, 400)
      assert.strictEqual(yield* Effect.promise(() => notUtf8.text()), "")
      assert.deepStrictEqual(reports, [])
    })
  )

  test(
    "400 for what breaks the user's schema or finder",
    Effect.gen(function* () {
      interface Nested {
        readonly next?: Nested
      }
      const Nested = Schema.Struct({
        next: Schema.optionalKey(Schema.suspend((): Schema.Codec<Nested> => Nested))
      })
      const { post: bySchema } = yield* recording({ payload: Nested, maxBodyBytes: 1_000_000 })
      const depth = 50_000
      assert.strictEqual(yield* bySchema(`${'{"next":'.repeat(depth)}{}${"}".repeat(depth)}`), 400)
      assert.strictEqual(yield* bySchema({ next: {} }), 200)
      const { post: byFinder } = yield* recording({
        find: () => {
          throw new Error("a bug")
        }
      })
      assert.strictEqual(yield* byFinder({}), 400)
    })
  )

  test(
    "408 for a body that does not come",
    Effect.gen(function* () {
      const { answer } = yield* recording()
      const init: RequestInit & { duplex: "half" } = { body: new ReadableStream<Uint8Array>(), duplex: "half" }
      const fiber = yield* Effect.forkChild(answer(request(init)))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(fiber)).status, 408)
    })
  )

  test(
    "200 and a report for what names nothing",
    Effect.gen(function* () {
      const { idle, post, reasons } = yield* recording()
      for (const body of ["null", "[]", '"ping"', '{"type":"test"}', "1e999"])
        assert.strictEqual(yield* post(body), 200)
      yield* idle
      assert.deepStrictEqual(
        reasons(),
        Array.from({ length: 5 }, () => "Unrecognised")
      )
    })
  )

  test(
    "503 when the store fails, and nothing is done that was not recorded",
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const { id } = yield* charge
      const { idle, post } = yield* recording().pipe(
        Effect.provideService(WebhookStore, {
          ...store,
          record: () => Effect.fail(new WebhookStoreError({ method: "record" }))
        })
      )
      assert.strictEqual(yield* post({ transactionId: id }), 503)
      assert.strictEqual(yield* post({ transactionId: id }), 503)
      yield* idle
      assert.strictEqual(yield* lookups, 0)
    })
  )

  test(
    "503 when there is too much to do, until there is less",
    Effect.gen(function* () {
      const { post } = yield* recording({ capacity: 3 })
      const { id } = yield* charge
      const open = (n: number) => ({ transactionId: id, n })
      assert.deepStrictEqual(
        yield* Effect.forEach([1, 2, 3, 4, 5, 1], (n) => post(open(n))),
        [200, 200, 200, 503, 503, 200]
      )
      yield* TestClock.adjust("3 minutes")
      assert.strictEqual(yield* post(open(4)), 200)
    })
  )

  test(
    "503 for what goes beyond the capacity in one burst, while the store is slow",
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const { post } = yield* recording({ capacity: 3 }).pipe(
        Effect.provideService(WebhookStore, {
          ...store,
          record: (call) => Effect.delay(store.record(call), "1 second")
        })
      )
      const burst = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3, 4, 5, 1], (n) => post({ n }), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust("1 second")
      const answers = yield* Fiber.join(burst)
      assert.deepStrictEqual(answers, [200, 200, 200, 503, 503, 503])
    })
  )

  test(
    "503 when the store hangs, after 10 seconds; what it recorded after all is worked on",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const store = yield* WebhookStore
      const awake = yield* Latch.make()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const { idle, post, statuses } = yield* recording().pipe(
        Effect.provideService(WebhookStore, { ...store, record: (call) => awake.whenOpen(store.record(call)) })
      )
      const answer = yield* Effect.forkChild(post({ transactionId: id }))
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(answer.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(answer), 503)
      yield* awake.open
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
    })
  )

  test(
    "are not needed: what a caller sent before it went away is worked on",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const store = yield* WebhookStore
      const asked = yield* Latch.make()
      const awake = yield* Latch.make()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const { idle, post, statuses } = yield* recording().pipe(
        Effect.provideService(WebhookStore, {
          ...store,
          record: (call) => Effect.andThen(asked.open, awake.whenOpen(store.record(call)))
        })
      )
      const answer = yield* Effect.forkChild(post({ transactionId: id }))
      yield* asked.await
      yield* Fiber.interrupt(answer)
      yield* awake.open
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
    })
  )

  test(
    "503 when the verifier itself breaks, or the store does",
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const broken = yield* recording({ verifier: { verify: () => Effect.die("a bug") } })
      assert.strictEqual(yield* broken.post({}), 503)
      const storeless = yield* recording().pipe(
        Effect.provideService(WebhookStore, { ...store, record: () => Effect.die("a bug") })
      )
      assert.strictEqual(yield* storeless.post({}), 503)
    })
  )

  test(
    "and the lookups survive a flood of ids that nobody knows: no room is kept for them when it is scarce",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const { post, reasons, reports, statuses } = yield* recording({ capacity: 10 })
      const junk = (n: number) => ({ transactionId: `9f1c8c52-6a3e-4b1f-9d57-${String(n).padStart(12, "0")}` })
      for (let n = 0; n < 100; n++) {
        assert.strictEqual(yield* post(junk(n)), 200)
        yield* TestClock.adjust(0)
      }
      assert.strictEqual(yield* post({ transactionId: id }), 200)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(statuses(), ["Paid"])
      assert.strictEqual(reports.length, 95)
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(
        reasons(),
        Array.from({ length: 100 }, () => "NotFound")
      )
      assert.isBelow(yield* lookups, 200)
    })
  )

  test(
    "and the room survive a flood of different calls about one transaction: one claim is followed a few times at once",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const store = yield* WebhookStore
      const { id } = yield* charge
      const other = yield* charge
      yield* sandbox.markPaid(other.id)
      const { idle, post, reasons, statuses } = yield* recording({ capacity: 10 })
      for (let n = 0; n < 100; n++) {
        assert.strictEqual(yield* post({ transactionId: id, status: "Paid", n }), 200)
        yield* TestClock.adjust(0)
      }
      assert.strictEqual((yield* store.unfinished).length, 4)
      assert.strictEqual(yield* post({ transactionId: other.id }), 200)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(statuses(), ["Paid"])
      yield* TestClock.adjust("3 minutes")
      yield* idle
      assert.deepStrictEqual(reasons(), ["StillOpen", "StillOpen", "StillOpen", "StillOpen"])
      assert.isBelow(yield* lookups, 40)
    })
  )

  test(
    "and the room survive a flood about one transaction that the user's code does not take",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      const other = yield* charge
      yield* sandbox.markPaid(id)
      yield* sandbox.markPaid(other.id)
      const { events, post } = yield* recording({
        capacity: 10,
        onConfirmed: ({ transaction }) => (transaction.transactionId === id ? Effect.fail("a bad row") : Effect.void)
      })
      for (let n = 0; n < 100; n++) {
        assert.strictEqual(yield* post({ transactionId: id, status: "Paid", n }), 200)
        yield* TestClock.adjust(0)
      }
      assert.strictEqual(yield* post({ transactionId: other.id }), 200)
      yield* TestClock.adjust(0)
      assert.strictEqual(events.at(-1)?.id, `${other.id}:Paid`)
    })
  )

  test(
    "and what comes last in such a flood is looked up all the same, after those before it were done",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      const { idle, post, reasons, statuses } = yield* recording()
      for (let n = 0; n < 10; n++) yield* post({ transactionId: id, status: "Paid", n })
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(yield* post({ transactionId: id, status: "Paid", real: true }), 200)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(reasons(), ["StillOpen", "StillOpen", "StillOpen"])
      yield* sandbox.markPaid(id)
      yield* TestClock.adjust("1 minute")
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
    })
  )

  test(
    "and the room survive a flood about one transaction whose reports nobody takes, and the truth comes through",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      const { post, statuses } = yield* recording({
        capacity: 10,
        confirm: Schedule.recurs(0),
        onUnconfirmed: () => Effect.fail("the queue is away")
      })
      for (let n = 0; n < 100; n++) {
        assert.strictEqual(yield* post({ transactionId: id, status: "Paid", n }), 200)
        yield* TestClock.adjust(0)
      }
      yield* sandbox.markPaid(id)
      assert.strictEqual(yield* post({ transactionId: id, status: "Paid", real: true }), 200)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(statuses(), ["Paid"])
    })
  )

  test(
    "do not wait for whoever is told of the hints",
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

  it("need limits that are numbers", () => {
    for (const limits of [{ capacity: 0 }, { concurrency: Number.NaN }, { maxBodyBytes: 1.5 }]) {
      const [name = ""] = Object.keys(limits)
      assert.throws(() => Webhook.layer({ onConfirmed: () => Effect.void, ...limits }), name)
    }
  })

  test(
    "401 when the verifier refuses, and nothing is recorded",
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const verifier: WebhookVerifier.WebhookVerifier = {
        verify: ({ headers }) =>
          headers["x-test"] === "yes"
            ? Effect.void
            : Effect.fail(new WebhookVerifier.WebhookRefused({ by: "test", reason: "Missing" }))
      }
      const { idle, post } = yield* recording({ verifier })
      assert.strictEqual(yield* post("not even json"), 401)
      assert.strictEqual(yield* post({ withdrawalId: 1 }), 401)
      assert.deepStrictEqual(yield* store.unfinished, [])
      assert.strictEqual(yield* post({ withdrawalId: 1 }, { "X-Test": "yes" }), 200)
      yield* idle
    })
  )

  test(
    "come before the work is done",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      yield* sandbox.fault("getTransaction", Fault.latency("20 seconds"))
      const { post } = yield* recording()
      const before = yield* Clock.currentTimeMillis
      assert.strictEqual(yield* post({ transactionId: id }), 200)
      assert.strictEqual(yield* Clock.currentTimeMillis, before)
    })
  )

  test(
    "and the logs repeat nothing of a call, nor of what the user's code failed with",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const context = yield* Layer.build(
        Webhook.layer({
          onConfirmed: () => Effect.fail("hush-1"),
          retry: Schedule.recurs(1),
          verifier: WebhookVerifier.none
        }).pipe(Layer.provide(logger), Layer.provide(Layer.succeed(References.MinimumLogLevel, "All")))
      )
      const webhook = Context.get(context, Webhook)
      const nobody = "9f1c8c52-6a3e-4b1f-9d57-0f4f5e1f2a11"
      const bodies = [
        { transactionId: nobody, name: "hush-5" },
        { transactionId: id, metadata: "hush-2", customer: { name: "hush-3" } },
        { withdrawalId: 1, metadata: "hush-4" }
      ]
      for (const body of bodies) yield* webhook.answer(request({ body: JSON.stringify(body) }))
      yield* TestClock.adjust("2 minutes")
      yield* webhook.idle
      assert.isTrue(lines.some((line) => line.includes("onConfirmed failed")))
      assert.isTrue(lines.some((line) => line.includes("UnconfirmedTransaction (NotFound)")))
      assert.isTrue(lines.some((line) => line.includes("UnconfirmedWithdrawal")))
      assert.notInclude(lines.join("\n"), "hush-")
    })
  )
})

describe("the store", () => {
  test(
    "that fails in the background is asked again, and nothing is lost",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const store = yield* WebhookStore
      let failures = 3
      const flaky = <A>(effect: Effect.Effect<A, WebhookStoreError>) =>
        Effect.suspend(() => (failures-- > 0 ? Effect.fail(new WebhookStoreError({ method: "get" })) : effect))
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const { idle, post, statuses } = yield* recording().pipe(
        Effect.provideService(WebhookStore, {
          ...store,
          get: (key) => flaky(store.get(key)),
          set: (key, value) => flaky(store.set(key, value))
        })
      )
      yield* post({ transactionId: id })
      yield* TestClock.adjust("1 minute")
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
      assert.deepStrictEqual(yield* store.unfinished, [])
    })
  )

  test(
    "whose note of what was handed out is damaged brings the event again rather than none",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const store = yield* WebhookStore
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const { idle, post, statuses } = yield* recording().pipe(
        Effect.provideService(WebhookStore, { ...store, get: () => Effect.succeed("{") })
      )
      yield* post({ transactionId: id })
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
    })
  )

  it.effect("in a KeyValueStore keeps apart what others keep there, and shows no id", () =>
    Effect.gen(function* () {
      const keyValue = yield* KeyValueStore.KeyValueStore
      yield* keyValue.set("other", "theirs")
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const { idle, post, statuses } = yield* recording()
      yield* post({ transactionId: id })
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
      const keys = yield* keyValue.keys
      assert.strictEqual(keys.length, 2)
      assert.notInclude(keys.join(), id)
      assert.strictEqual(yield* keyValue.get("other"), "theirs")
    }).pipe(
      Effect.provide([
        Sandbox.layerPayments,
        TransactionHints.layer,
        Layer.provideMerge(WebhookStore.layerKeyValueStore, KeyValueStore.layerMemory)
      ])
    )
  )
})

describe("the ways in", () => {
  it("a route answers on Effect's HttpRouter, under a prefix too", async () => {
    const app = Webhook.route("/webhooks/:secret").pipe(
      Layer.provide(
        Webhook.layer({
          onConfirmed: () => Effect.void,
          onUnconfirmed: () => Effect.void,
          verifier: WebhookVerifier.pathSecret({ secret: (await import("effect")).Redacted.make("open sesame") })
        })
      ),
      Layer.provide(Sandbox.layerPayments)
    )
    const { dispose, handler } = HttpRouter.toWebHandler(app, { disableLogger: true })
    const post = (path: string, method = "POST") =>
      handler(new Request(`https://shop.example${path}`, method === "POST" ? { method, body: "{}" } : { method }))
    const statuses = [
      await post("/webhooks/open%20sesame"),
      await post("/webhooks/open%20sesame?x=/1"),
      await post("/webhooks/other"),
      await post("/webhooks/%E0%A4%A"),
      await post("/webhooks/open%20sesame", "GET"),
      await post("/elsewhere")
    ].map(({ status }) => status)
    await dispose()
    assert.deepStrictEqual(statuses.toSpliced(3, 1), [200, 200, 401, 405, 404])
    assert.include([400, 401, 404], statuses[3])
  })

  it("a plain handler takes a web Request, resumes by itself, and says where the call came from", async () => {
    const events: Array<string> = []
    const shared = Layer.succeedContext(await Effect.runPromise(Effect.scoped(Layer.build(world))))
    const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof world>>) =>
      Effect.runPromise(Effect.provide(effect, shared))
    const { id } = await run(charge)
    await run(Effect.flatMap(Sandbox, (sandbox) => sandbox.markPaid(id)))
    await run(
      Effect.flatMap(WebhookStore, (store) => store.record({ id: "1", body: JSON.stringify({ transactionId: id }) }))
    )
    const webhook = Webhook.toWebHandler(
      Webhook.layerStore({
        onConfirmed: (event) => Effect.sync(() => events.push(event.id)),
        onUnconfirmed: () => Effect.void,
        verifier: WebhookVerifier.ipAllowList(["203.0.113.0/24"])
      }).pipe(Layer.provide(shared))
    )
    await webhook.idle()
    await webhook.idle()
    assert.deepStrictEqual(events, [`${id}:Paid`])
    const call = () => new Request("https://shop.example/webhooks/pix", { method: "POST", body: "{}" })
    const answers = [
      await webhook.handler(call(), { remoteAddress: "203.0.113.9" }),
      await webhook.handler(call(), { remoteAddress: "198.51.100.9" }),
      await webhook.handler(call())
    ]
    await webhook.dispose()
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [200, 401, 401]
    )
  })
})
