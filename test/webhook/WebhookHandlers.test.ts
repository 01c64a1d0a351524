import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Layer, Logger, Option, References, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ConfigurationError, Metadata, Money, Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, type WebhookEvent, type WebhookOptions, WebhookVerifier } from "effect-pix/webhook"
import { charge, paidCharge } from "../support/charges.ts"
import { exhaust, isTransaction, nobody, recording, testWebhook, world } from "../support/webhooks.ts"
import { effect } from "../support/effect.ts"

/** A gateway that answers this status for every transaction. */
const saying = (status: () => string) =>
  Effect.map(Payments, (payments) => ({
    ...payments,
    getTransaction: (id: string) =>
      Effect.map(payments.getTransaction(id), (detail) => ({ ...detail, enStatusTransaction: status() }))
  }))

describe("the handlers", () => {
  testWebhook(
    "each status calls the handler of its meaning and onStatus, and no other",
    Effect.gen(function* () {
      const called: Array<string> = []
      const note = (name: string) => (event: WebhookEvent.Confirmed) =>
        Effect.sync(() => called.push(`${name}:${event.transaction.enStatusTransaction}`))
      let status = ""
      const payments = yield* saying(() => status)
      const { idle, post } = yield* recording({
        onPaid: note("onPaid"),
        onRefunded: note("onRefunded"),
        onClosed: note("onClosed"),
        onStatus: note("onStatus")
      }).pipe(Effect.provideService(Payments, payments))
      const words = ["Paid", "Refunded", "Cancelled", "Failed", "Expired", "EXPIRED", "PAID", "Chargeback", "Awaiting"]
      for (status of words) {
        const { id } = yield* charge
        yield* post({ transactionId: id, status })
        yield* TestClock.adjust("2 minutes")
        yield* idle
      }
      assert.deepStrictEqual(called, [
        "onPaid:Paid",
        "onStatus:Paid",
        "onRefunded:Refunded",
        "onStatus:Refunded",
        "onClosed:Cancelled",
        "onStatus:Cancelled",
        "onClosed:Failed",
        "onStatus:Failed",
        "onClosed:Expired",
        "onStatus:Expired",
        "onClosed:EXPIRED",
        "onStatus:EXPIRED",
        "onStatus:PAID",
        "onStatus:Chargeback"
      ])
    })
  )

  testWebhook(
    "a delivery with the same word as the lookup agrees with it, in any case of both",
    Effect.gen(function* () {
      let status = ""
      const payments = yield* saying(() => status)
      const { idle, post, reasons, statuses } = yield* Effect.provideService(recording(), Payments, payments)
      for (const [said, claimed] of [
        ["PAID", "PAID"],
        ["PAID", "Paid"],
        ["Paid", "PAID"],
        ["AWAITING", "Awaiting"],
        ["Chargeback", "CHARGEBACK"]
      ] as const) {
        status = said
        const { id } = yield* charge
        yield* post({ transactionId: id, status: claimed })
        yield* TestClock.adjust("2 minutes")
        yield* idle
      }
      assert.deepStrictEqual(reasons(), [])
      assert.deepStrictEqual(statuses(), ["PAID", "PAID", "Paid", "AWAITING", "Chargeback"])
    })
  )

  testWebhook(
    "a charge that is cancelled calls no onPaid, whatever the delivery claims",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const shipped: Array<string> = []
      const { idle, post, reasons } = yield* recording({ onPaid: ({ id }) => Effect.sync(() => shipped.push(id)) })
      const { id } = yield* charge
      yield* sandbox.cancel(id)
      yield* post({ transactionId: id, status: "Paid" })
      yield* TestClock.adjust("2 minutes")
      yield* idle
      assert.deepStrictEqual(shipped, [])
      assert.deepStrictEqual(reasons(), ["Disagrees"])
    })
  )

  testWebhook(
    "a payment of another amount than expected calls neither onPaid nor onStatus, and is reported with both amounts",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const shipped: Array<string> = []
      let expected: Money.Centavos | undefined = Money.centavos(2501)
      const { idle, post, reports, statuses } = yield* recording({
        expectedAmount: () => Effect.succeed(expected),
        onPaid: ({ id }) => Effect.sync(() => shipped.push(id))
      })
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id, status: "Paid" })
      yield* idle
      assert.deepStrictEqual([shipped, statuses()], [[], []])
      const [report] = reports
      assert(isTransaction(report))
      assert.deepStrictEqual([report.reason, report.expected, report.transaction?.value], ["OtherAmount", 2501, 2500])
      // The order is corrected, and the service sends the delivery again.
      expected = Money.centavos(2500)
      yield* post({ transactionId: id, status: "Paid" })
      yield* idle
      assert.deepStrictEqual(shipped, [`${id}:Paid`])
    })
  )

  testWebhook(
    "a payment of a centavo more than expected is another amount too",
    Effect.gen(function* () {
      const { idle, post, reasons, statuses } = yield* recording({
        expectedAmount: ({ value }) => Effect.succeed(Money.centavos(value - 1))
      })
      const { id } = yield* charge
      yield* (yield* Sandbox).markPaid(id)
      yield* post({ transactionId: id, status: "Paid" })
      yield* idle
      assert.deepStrictEqual([statuses(), reasons()], [[], ["OtherAmount"]])
    })
  )

  testWebhook(
    "an amount without an expected amount is not compared, nor is the amount of an unpaid charge",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const paid = yield* charge
      const cancelled = yield* charge
      yield* sandbox.markPaid(paid.id)
      yield* sandbox.cancel(cancelled.id)
      const { idle, post, reports, statuses } = yield* recording({
        expectedAmount: ({ transactionId }) => Effect.succeed(transactionId === paid.id ? undefined : Money.centavos(1))
      })
      yield* post({ transactionId: paid.id })
      yield* idle
      yield* post({ transactionId: cancelled.id })
      yield* idle
      assert.deepStrictEqual([statuses(), reports], [["Paid", "Cancelled"], []])
    })
  )

  testWebhook(
    "a handler is called again until it succeeds, and never after",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      let calls = 0
      const { events, failures, idle, post } = yield* recording({
        onStatus: () =>
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
      assert.deepStrictEqual(
        failures.map(({ attempt, handler, id, isDead }) => [handler, id, attempt, isDead]),
        [1, 2, 3].map((attempt) => ["onStatus", `${id}:Paid`, attempt, false])
      )
      yield* post({ transactionId: id })
      yield* TestClock.adjust("1 day")
      assert.strictEqual(calls, 4)
    })
  )

  testWebhook(
    "the events of a transaction are handed out in order, though the first of them fails",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const done: Array<string> = []
      let failing = 3
      const { idle, post } = yield* recording({
        onStatus: ({ transaction }) =>
          Effect.suspend(() =>
            failing-- > 0 ? Effect.fail("later") : Effect.sync(() => done.push(transaction.enStatusTransaction))
          )
      })
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id, n: 1 })
      yield* TestClock.adjust("5 seconds")
      yield* TestClock.adjust("10 seconds")
      yield* idle
      yield* sandbox.refund(id)
      yield* post({ transactionId: id, n: 2 })
      yield* idle
      assert.deepStrictEqual(done, ["Paid", "Refunded"])
    })
  )

  testWebhook(
    "at most `concurrency` transactions are worked on at once",
    Effect.gen(function* () {
      const payments = yield* Payments
      let running = 0
      let most = 0
      const { events, idle, post } = yield* recording({ concurrency: 3 }).pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (id) =>
            Effect.gen(function* () {
              most = Math.max(most, ++running)
              yield* Effect.sleep("1 second")
              running--
              return yield* payments.getTransaction(id)
            })
        })
      )
      for (let i = 0; i < 10; i++) yield* post({ transactionId: yield* paidCharge })
      for (let n = 0; n < 10; n++) yield* TestClock.adjust("1 second")
      yield* idle
      assert.deepStrictEqual([events.length, most], [10, 3])
    })
  )

  testWebhook(
    "onUnconfirmed is called again after a failure too",
    Effect.gen(function* () {
      let calls = 0
      const { idle, post, reports } = yield* recording({
        onUnconfirmed: () => Effect.suspend(() => (++calls < 3 ? Effect.fail("later") : Effect.void))
      })
      yield* post({ hello: "world" })
      yield* TestClock.adjust("10 seconds")
      yield* idle
      assert.deepStrictEqual(
        reports.map(({ _tag }) => _tag),
        ["Unrecognised", "Unrecognised", "Unrecognised"]
      )
      assert.strictEqual(new Set(reports.map(({ id }) => id)).size, 1)
    })
  )
})

describe("the metadata of a delivery", () => {
  testWebhook(
    "it is read by the user's own schema, and found by the user's own finder",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { events, idle, post } = yield* recording({
        metadata: Metadata.codec(Schema.Struct({ invoice: Schema.Int })),
        find: (json) => {
          const { codigo, extra } = Schema.decodeUnknownSync(
            Schema.Struct({ codigo: Schema.String, extra: Schema.String })
          )(json)
          return { about: "Transaction", transactionId: codigo, metadata: extra }
        }
      })
      const id = yield* paidCharge
      assert.strictEqual(yield* post({ codigo: id, extra: '{"invoice":42,"name":"Maria"}' }), 200)
      yield* idle
      yield* sandbox.refund(id)
      yield* post({ codigo: id, extra: "no json" })
      yield* idle
      assert.strictEqual(yield* post({ transactionId: id }), 400)
      assert.deepStrictEqual(
        events.map(({ untrusted }) => untrusted),
        [{ metadata: { invoice: 42 } }, {}]
      )
    })
  )

  testWebhook(
    "it is not read without a schema, and nothing of it is stored; with one, only what the schema reads",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const body = { status: "Paid", metadata: { order: 7, name: "Maria" }, customer: "Maria" }
      const { id } = yield* charge
      const none = yield* recording()
      yield* none.post({ transactionId: id, ...body })
      const some = yield* recording({ name: "some", metadata: Schema.Struct({ order: Schema.Int }) })
      yield* some.post({ transactionId: id, ...body })
      yield* (yield* Sandbox).markPaid(id)
      const stored = JSON.stringify(yield* sql`SELECT webhook, value FROM effect_pix_webhooks ORDER BY webhook`)
      assert.notInclude(stored, "Maria")
      yield* TestClock.adjust("2 seconds")
      yield* Effect.all([none.idle, some.idle])
      assert.deepStrictEqual(
        [none, some].map(({ events }) => events[0]?.untrusted),
        [{ status: "Paid" }, { status: "Paid", metadata: { order: 7 } }]
      )
    })
  )
})

describe("an event for which a handler fails", () => {
  testWebhook(
    "it becomes a dead letter after a day, which can be listed, found and run again with all tries",
    Effect.gen(function* () {
      let broken = true
      const { deadLetters, discard, events, failures, find, idle, post, retry } = yield* recording({
        onPaid: () => (broken ? Effect.fail("a bad row") : Effect.void)
      })
      const id = yield* paidCharge
      yield* post({ transactionId: id, status: "Paid" })
      yield* TestClock.adjust("20 hours")
      assert.deepStrictEqual(yield* deadLetters, [])
      yield* TestClock.adjust("10 hours")
      yield* idle
      const [letter, ...others] = yield* deadLetters
      assert(letter !== undefined)
      assert.deepStrictEqual(others, [])
      const { about, failures: attempts, handler, transactionId, webhook } = letter
      assert.deepStrictEqual([webhook, about, transactionId, handler], ["default", "Transaction", id, "onPaid"])
      assert.strictEqual(attempts, failures.length)
      assert.deepStrictEqual(failures.map(({ isDead }) => isDead).indexOf(true), failures.length - 1)
      assert.deepStrictEqual(
        (yield* find(id.toUpperCase())).map(({ failures, handler, state }) => [state, handler, failures]),
        [["Dead", "onPaid", attempts]]
      )
      for (const step of [retry, discard]) {
        assert.isFalse(yield* step("nothing"))
        assert.strictEqual((yield* Effect.flip(step(letter.id, { by: " " })))._tag, "InvalidRequest")
      }
      assert.isTrue(yield* retry(letter.id, { by: "ana" }))
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* deadLetters, [])
      assert.isAbove(failures.length, (attempts ?? 0) + 5)
      broken = false
      yield* TestClock.adjust("10 minutes")
      yield* idle
      assert.deepStrictEqual(
        events.map((event) => event.id),
        [`${id}:Paid`]
      )
      assert.isFalse(yield* discard(letter.id))
      assert.deepStrictEqual(
        (yield* find(id)).map(({ handedOut, state }) => [state, handedOut]),
        [["Finished", ["Paid"]]]
      )
    })
  )

  testWebhook(
    "a dead letter is retried by another delivery about its transaction, also after it was discarded",
    Effect.gen(function* () {
      const { deadLetters, discard, failures, idle, post } = yield* recording({
        onPaid: () => Effect.fail("a bad row")
      })
      const id = yield* paidCharge
      const dies = Effect.andThen(exhaust("failed", 1, TestClock.adjust("10 millis")), TestClock.adjust("1 second"))
      for (let n = 0; n < 3; n++) {
        yield* post({ transactionId: id, status: "Paid" })
        yield* dies
        yield* idle
        const [letter] = yield* deadLetters
        assert(letter !== undefined)
        if (n === 1) assert.isTrue(yield* discard(letter.id))
        assert.strictEqual((yield* deadLetters).length, n === 1 ? 0 : 1)
      }
      assert.deepStrictEqual(
        failures.map(({ attempt }) => attempt),
        [1, 1000, 1, 1000, 1, 1000]
      )
    })
  )

  testWebhook(
    "a handler that never ends is interrupted after handlerTimeout, and counts as failed",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      let cut = 0
      const { failures, post } = yield* recording({
        handlerTimeout: "5 seconds",
        onPaid: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void cut++))
      })
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id })
      yield* TestClock.adjust("4 seconds")
      assert.strictEqual(cut, 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(cut, 1)
      assert.strictEqual(failures[0]?.handler, "onPaid")
    })
  )

  testWebhook(
    "the error of a handler is in the log only if the user logs it",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const logged = (options: Pick<WebhookOptions, "onFailure">) =>
        Effect.gen(function* () {
          const lines: Array<string> = []
          const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
          const { id } = yield* charge
          yield* sandbox.markPaid(id)
          const context = yield* Layer.build(
            Webhook.layerSql({ ...options, onPaid: () => Effect.fail("hush-1") }).pipe(
              Layer.provide(logger),
              Layer.provide(Layer.succeed(References.MinimumLogLevel, "All"))
            )
          )
          const { answer, idle } = Context.get(context, Webhook)
          const bodies = [
            { transactionId: nobody(), name: "hush-5" },
            { transactionId: id, metadata: "hush-2", customer: { name: "hush-3" } },
            { withdrawalId: 1, metadata: "hush-4" }
          ]
          for (const body of bodies) {
            yield* answer(new Request("https://shop.example", { method: "POST", body: JSON.stringify(body) }))
          }
          yield* TestClock.adjust("2 minutes")
          yield* exhaust("failed", 1, TestClock.adjust("10 millis"))
          yield* TestClock.adjust("1 minute")
          yield* idle
          return lines.join("\n")
        })
      const silent = yield* logged({})
      assert.include(silent, "onPaid failed, attempt 1")
      assert.include(silent, "Webhook.deadLetters")
      assert.include(silent, "UnconfirmedTransaction (NotFound)")
      assert.include(silent, "UnconfirmedWithdrawal")
      assert.notInclude(silent, "hush-")
      const loud = yield* logged({ onFailure: ({ cause, handler }) => Effect.logError(handler, cause) })
      assert.include(loud, "hush-1")
      assert.notMatch(loud, /hush-[^1]/)
    })
  )
})

describe("the user's code around a delivery", () => {
  testWebhook(
    "an onFailure that fails itself changes nothing",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      let calls = 0
      const { idle, post } = yield* recording({}, () =>
        Webhook.layerSql({
          onPaid: () => Effect.suspend(() => (++calls < 2 ? Effect.fail("later") : Effect.void)),
          onFailure: () => Effect.die("a bug")
        })
      )
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id })
      yield* TestClock.adjust("5 seconds")
      yield* idle
      assert.strictEqual(calls, 2)
    })
  )
})

describe("the settings", () => {
  effect("all wrong settings are in the layer's ConfigurationError", world, function* () {
    const layer = Webhook.layer({
      firstLookupsPerSecond: Number.NaN,
      handlerTimeout: "-1 seconds",
      verifier: WebhookVerifier.all([
        WebhookVerifier.ipAllowList(["nowhere"]),
        WebhookVerifier.all([WebhookVerifier.pathSecret({ secret: [] })])
      ])
    })
    const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
    assert.instanceOf(error, ConfigurationError)
    assert.deepStrictEqual(error.settings.map(({ setting }) => setting).toSorted(), [
      "Webhook.firstLookupsPerSecond",
      "Webhook.handlerTimeout",
      "WebhookVerifier.ipAllowList",
      "WebhookVerifier.pathSecret"
    ])
  })

  effect(
    "a client of a name that none can have, or of a database without a table, is refused",
    Layer.fresh(world),
    function* () {
      const refused = (name?: string) =>
        Effect.map(Effect.flip(Effect.scoped(Layer.build(Webhook.layerClient({ name })))), (error) => {
          assert.instanceOf(error, ConfigurationError)
          return error.settings.map(({ setting }) => setting)
        })
      assert.deepStrictEqual(yield* refused("a b"), ["Webhook.name"])
      assert.deepStrictEqual(yield* refused(), ["effect_pix_webhooks"])
      yield* recording()
      yield* Effect.scoped(Layer.build(Webhook.layerClient()))
    }
  )

  effect("the settings of a database are checked too", world, function* () {
    const layer = Webhook.layerSql({ name: "a b", concurrency: 0, lease: 0, poll: 0, retention: 0 })
    const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
    assert.instanceOf(error, ConfigurationError)
    assert.deepStrictEqual(error.settings.map(({ setting }) => setting).toSorted(), [
      "Webhook.concurrency",
      "Webhook.lease",
      "Webhook.name",
      "Webhook.poll",
      "Webhook.retention"
    ])
  })

  it("a handler that is misspelt does not compile", () => {
    // @ts-expect-error: there is no onPayed
    const layer = Webhook.layer({ onPayed: () => Effect.void })
    assert.isTrue(Layer.isLayer(layer))
  })
})

describe("a layer", () => {
  testWebhook(
    "a layer requires the services of its handlers",
    Effect.gen(function* () {
      class Orders extends Context.Service<Orders, { readonly pay: (id: string) => Effect.Effect<void> }>()(
        "test/webhook/WebhookHandlers.test/Orders"
      ) {}
      const sandbox = yield* Sandbox
      const paid = yield* Deferred.make<string>()
      const layer: Layer.Layer<Webhook, ConfigurationError, Payments | Orders> = Webhook.layer({
        onPaid: ({ transaction }) => Effect.flatMap(Orders, ({ pay }) => pay(transaction.transactionId)),
        onClosed: () => Effect.fail(Option.none())
      })
      const orders = Layer.succeed(Orders, { pay: (id) => Deferred.done(paid, Exit.succeed(id)) })
      const context = yield* Layer.build(Layer.provide(layer, orders))
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const call = new Request("https://shop.example", { method: "POST", body: JSON.stringify({ transactionId: id }) })
      yield* Context.get(context, Webhook).answer(call)
      assert.strictEqual(yield* Deferred.await(paid), id)
    })
  )
})
