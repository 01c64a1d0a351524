import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Layer, Logger, Option, References, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { ConfigurationError, Metadata, Money, Payments } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, type WebhookEvent, type WebhookOptions, WebhookVerifier } from "effect-pix/webhook"
import { charge } from "../support/charges.ts"
import { isTransaction, nobody, recording, testWebhook, world } from "../support/webhooks.ts"

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
    "at most `concurrency` handlers run at once",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      let running = 0
      let most = 0
      const { events, idle, post } = yield* recording({
        concurrency: 3,
        onStatus: () =>
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

  testWebhook(
    "metadata and payload are read by the user's own schemas, and found by the user's own finder",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const seen: Array<[string, string | undefined, number | undefined]> = []
      const sealed: Array<string> = []
      const context = yield* Layer.build(
        Webhook.layer({
          payload: Schema.Struct({ pedido: Schema.Struct({ codigo: Schema.String, extra: Schema.String }) }),
          metadata: Metadata.codec(Schema.Struct({ invoice: Schema.Int })),
          find: ({ pedido }) => ({ about: "Transaction", transactionId: pedido.codigo, metadata: pedido.extra }),
          seal: {
            seal: (text) => Effect.sync(() => `sealed-${sealed.push(text) - 1}`),
            open: (text) => Effect.fromNullishOr(sealed[Number(text.slice("sealed-".length))])
          },
          onStatus: ({ transaction, untrusted: { metadata, payload } }) =>
            Effect.sync(() => seen.push([transaction.enStatusTransaction, payload?.pedido.codigo, metadata?.invoice]))
        })
      )
      const { answer, idle } = Context.get(context, Webhook)
      const post = (body: unknown) =>
        Effect.map(
          answer(new Request("https://shop.example", { method: "POST", body: JSON.stringify(body) })),
          ({ status }) => status
        )
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      assert.strictEqual(yield* post({ pedido: { codigo: id, extra: '{"invoice":42}' } }), 200)
      yield* idle
      yield* sandbox.refund(id)
      yield* post({ pedido: { codigo: id, extra: "no json" } })
      yield* idle
      assert.strictEqual(yield* post({ transactionId: id }), 400)
      assert.deepStrictEqual(seen, [
        ["Paid", id, 42],
        ["Refunded", id, undefined]
      ])
      assert.strictEqual(sealed.length, 2)
    })
  )

  testWebhook(
    "without a schema of the user's no payload is stored",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { events, idle, post } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id, status: "Paid", metadata: { order: 7 } })
      yield* idle
      assert.deepStrictEqual(events[0]?.untrusted, { status: "Paid" })
    })
  )
})

describe("an event for which a handler fails", () => {
  testWebhook(
    "it becomes a dead letter when the schedule ends, which can be listed and run again",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      let broken = true
      const { deadLetters, discard, events, failures, idle, post, retry } = yield* recording({
        retry: Schedule.recurs(2),
        onPaid: () => (broken ? Effect.fail("a bad row") : Effect.void)
      })
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id, status: "Paid" })
      yield* idle
      const [letter, ...others] = yield* deadLetters
      assert(letter !== undefined)
      assert.deepStrictEqual(others, [])
      const { about, attempts, handler, transactionId } = letter
      assert.deepStrictEqual([about, transactionId, handler, attempts], ["Transaction", id, "onPaid", 3])
      assert.deepStrictEqual(
        failures.map(({ isDead }) => isDead),
        [false, false, true]
      )
      assert.isFalse(yield* retry("delivery:nothing"))
      assert.isFalse(yield* discard("delivery:nothing"))
      broken = false
      assert.isTrue(yield* retry(letter.id))
      yield* idle
      assert.deepStrictEqual(
        events.map((event) => event.id),
        [`${id}:Paid`]
      )
      assert.deepStrictEqual(yield* deadLetters, [])
      assert.isFalse(yield* discard(letter.id))
    })
  )

  testWebhook(
    "a discarded dead letter is deleted, and another delivery about its transaction is looked up",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { deadLetters, discard, failures, idle, post } = yield* recording({
        retry: Schedule.recurs(0),
        onPaid: () => Effect.fail("a bad row")
      })
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id, status: "Paid" })
      yield* idle
      for (const letter of yield* deadLetters) assert.isTrue(yield* discard(letter.id))
      assert.deepStrictEqual(yield* deadLetters, [])
      yield* post({ transactionId: id, status: "Paid" })
      yield* idle
      assert.deepStrictEqual(
        failures.map(({ attempt }) => attempt),
        [1, 1]
      )
    })
  )

  testWebhook(
    "it is retried by another delivery about the transaction",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      let broken = true
      const { deadLetters, idle, post, statuses } = yield* recording({
        retry: Schedule.recurs(0),
        onPaid: () => (broken ? Effect.fail("a bad row") : Effect.void)
      })
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id })
      yield* idle
      assert.strictEqual((yield* deadLetters).length, 1)
      broken = false
      yield* post({ transactionId: id })
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
      assert.deepStrictEqual(yield* deadLetters, [])
    })
  )

  testWebhook(
    "it has the whole schedule again after each retry, by a delivery or by `retry`",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { deadLetters, failures, idle, post, retry } = yield* recording({
        retry: Schedule.recurs(1),
        onPaid: () => Effect.fail("a bad row")
      })
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const attempts = Effect.gen(function* () {
        yield* idle
        const [letter, ...others] = yield* deadLetters
        assert.deepStrictEqual([letter?.attempts, others], [2, []])
        return failures.splice(0).map(({ attempt, isDead }) => [attempt, isDead])
      })
      const whole = [
        [1, false],
        [2, true]
      ]
      yield* post({ transactionId: id })
      assert.deepStrictEqual(yield* attempts, whole)
      yield* post({ transactionId: id })
      assert.deepStrictEqual(yield* attempts, whole)
      for (const letter of yield* deadLetters) assert.isTrue(yield* retry(letter.id))
      assert.deepStrictEqual(yield* attempts, whole)
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
            Webhook.layer({ ...options, onPaid: () => Effect.fail("hush-1"), retry: Schedule.recurs(1) }).pipe(
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
    "a delivery is answered with 503 if seal or noted fails",
    Effect.gen(function* () {
      const unsealed = yield* recording({}, () =>
        Webhook.layer({
          payload: Schema.Unknown,
          seal: { seal: () => Effect.fail("no key"), open: () => Effect.fail("no key") }
        })
      )
      assert.strictEqual(yield* unsealed.post({ withdrawalId: 7 }), 503)
      const unasked = yield* recording({ noted: () => Effect.die("the books are away") })
      assert.strictEqual(yield* unasked.post({ transactionId: nobody(), idempotencyKey: "payout-7" }), 503)
    })
  )

  testWebhook(
    "a body for which open fails or never ends is opened again, and its event has the payload",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const seen: Array<unknown> = []
      const failures: Array<WebhookEvent.HandlerFailure> = []
      let opened = 0
      const { idle, post } = yield* recording({}, () =>
        Webhook.layer({
          payload: Schema.Struct({ order: Schema.Int }),
          handlerTimeout: "3 seconds",
          seal: {
            seal: (text) => Effect.succeed(`sealed ${text}`),
            open: (text) =>
              Effect.suspend(() => {
                opened++
                if (opened === 1) return Effect.fail("the key store is away")
                return opened === 2 ? Effect.never : Effect.succeed(text.slice("sealed ".length))
              })
          },
          find: () => ({ about: "Transaction", transactionId: id, status: "Paid" }),
          onPaid: ({ untrusted }) => Effect.sync(() => seen.push(untrusted)),
          onFailure: (failure) => Effect.sync(() => failures.push(failure))
        })
      )
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ order: 7 })
      yield* TestClock.adjust("10 seconds")
      yield* idle
      assert.deepStrictEqual(seen, [{ payload: { order: 7 }, status: "Paid" }])
      assert.deepStrictEqual(
        failures.map(({ handler }) => handler),
        ["open", "open"]
      )
    })
  )

  testWebhook(
    "an onFailure that fails itself changes nothing",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      let calls = 0
      const { idle, post } = yield* recording({}, () =>
        Webhook.layer({
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
  it.effect("all wrong settings are in the layer's ConfigurationError", () =>
    Effect.gen(function* () {
      const layer = Webhook.layer({
        concurrency: Number.NaN,
        maxBodyBytes: 1.5,
        bodyTimeout: 0,
        handlerTimeout: "-1 seconds",
        verifier: WebhookVerifier.all([
          WebhookVerifier.ipAllowList(["nowhere"]),
          WebhookVerifier.all([WebhookVerifier.pathSecret({ secret: [] })])
        ])
      })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
      assert.instanceOf(error, ConfigurationError)
      assert.deepStrictEqual(error.settings.map(({ setting }) => setting).toSorted(), [
        "Webhook.bodyTimeout",
        "Webhook.concurrency",
        "Webhook.handlerTimeout",
        "Webhook.maxBodyBytes",
        "WebhookVerifier.pathSecret",
        "WebhookVerifier.ipAllowList"
      ])
    }).pipe(Effect.provide(world))
  )

  it.effect("the settings of a database are checked too", () =>
    Effect.gen(function* () {
      const layer = Webhook.layerSql({ name: "a b", lease: 0, poll: 0, retention: 0 })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
      assert.instanceOf(error, ConfigurationError)
      assert.deepStrictEqual(error.settings.map(({ setting }) => setting).toSorted(), [
        "Webhook.lease",
        "Webhook.name",
        "Webhook.poll",
        "Webhook.retention"
      ])
    }).pipe(Effect.provide([world, NodeSqlite.layer({ filename: ":memory:" })]))
  )

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
