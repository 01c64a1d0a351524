import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { ConfigurationError, Metadata, type Payments } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookVerifier } from "effect-pix/webhook"
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import { delivery, finish, kill, lookingUp, recording, stored, world } from "../support/webhooks.ts"

const Order = Schema.Struct({ order: Schema.Int })

describe("the metadata of a delivery", () => {
  effect("it is read by the user's schema, and found by the user's finder", world, function* () {
    const Body = Schema.Struct({ codigo: Schema.String, extra: Schema.String })
    const { events, idle, post } = yield* recording({
      metadata: Metadata.codec(Order),
      find: (json) => {
        const { codigo, extra } = Schema.decodeUnknownSync(Body)(json)
        return { about: "Transaction", transactionId: codigo, metadata: extra }
      }
    })
    for (const extra of ['{"order":42,"name":"Maria"}', "no json"]) {
      assert.strictEqual(yield* post({ codigo: yield* paidCharge, extra }), 200)
      yield* idle
    }
    assert.strictEqual(yield* post({ transactionId: yield* paidCharge }), 400)
    assert.deepStrictEqual(
      events.map(({ untrusted }) => untrusted),
      [{ metadata: { order: 42 } }, {}]
    )
  })

  effect("it is not read without a schema, and only what the schema reads is stored", world, function* () {
    const { id } = yield* charge
    const webhooks = [yield* recording(), yield* recording({ name: "some", metadata: Order })]
    for (const { post } of webhooks) {
      yield* post({ transactionId: id, status: "Paid", metadata: { order: 7, name: "Maria" }, customer: "Maria" })
    }
    yield* (yield* Sandbox).markPaid(id)
    assert.notInclude(yield* stored, "Maria")
    for (const webhook of webhooks) yield* finish(webhook)
    assert.deepStrictEqual(
      webhooks.map(({ events }) => events[0]?.untrusted),
      [{ status: "Paid" }, { status: "Paid", metadata: { order: 7 } }]
    )
  })

  effect("it is that of the delivery that claimed the status, also after later ones and a check", world, function* () {
    const { check, events, idle, post } = yield* recording({ metadata: Order })
    const id = yield* paidCharge
    yield* (yield* Sandbox).fault("getTransaction", Fault.answer(404), { times: 1 })
    for (const [order, status] of ["Paid", "Refunded", "Cancelled"].entries()) {
      yield* post({ transactionId: id, status, metadata: { order } })
    }
    yield* TestClock.adjust("10 millis")
    assert.deepStrictEqual(events, [])
    // The deliveries are early. The check looks the transaction up now.
    yield* check(id)
    yield* TestClock.adjust("100 millis")
    yield* (yield* Sandbox).refund(id)
    yield* TestClock.adjust("2 minutes")
    yield* idle
    assert.deepStrictEqual(
      events.map(({ transaction, untrusted }) => [transaction.enStatusTransaction, untrusted.metadata]),
      [
        ["Paid", { order: 0 }],
        ["Refunded", { order: 1 }]
      ]
    )
  })
})

describe("a delivery about a withdrawal", () => {
  effect("it is reported with its key and number and never looked up, whatever it names", world, function* () {
    const { events, idle, post, reports } = yield* recording()
    const id = yield* paidCharge
    const key = "payout-key"
    const seen: Array<unknown> = []
    for (const body of [
      { id: 1, idempotencyKey: "wd_1", enTransaction: "Paid" },
      { withdrawalId: 1, status: "Paid", transactionId: id },
      { data: { id, enTransaction: "Paid" } },
      { idempotencyKey: key, data: { status: "Paid" } },
      { transactionId: id, idempotencyKey: "wd_2", status: "Paid" },
      { withdrawalId: 7, idempotencyKey: "Zulmira Quixada", status: "ZULMIRA DA CONCEICAO" }
    ]) {
      assert.strictEqual(yield* post(body), 200)
      yield* idle
      const report = reports.at(-1)
      assert(report?._tag === "UnconfirmedWithdrawal")
      seen.push([report.idempotencyKey, report.withdrawalId, report.untrusted.status])
    }
    assert.deepStrictEqual(seen, [
      ["wd_1", 1, "Paid"],
      [undefined, 1, "Paid"],
      [undefined, undefined, "Paid"],
      [key, undefined, "Paid"],
      ["wd_2", undefined, "Paid"],
      [undefined, 7, undefined]
    ])
    assert.deepStrictEqual([events, yield* lookups], [[], 0])
  })

  effect("it is reported again if it is repeated, with the same id, which another text has not", world, function* () {
    const { idle, post, reports } = yield* recording()
    for (const status of ["Paid", "Paid", "Failed"]) {
      yield* post({ withdrawalId: 9, status })
      yield* idle
    }
    const [first, second, third] = reports.map(({ id }) => id)
    assert.strictEqual(first, second)
    assert.notStrictEqual(second, third)
  })

  effect("it is a dead letter where its report is never taken, without what it says of a person", world, function* () {
    const { deadLetters, find, idle, post, reports } = yield* recording({ onUnconfirmed: () => Effect.fail("never") })
    yield* post({ withdrawalId: 9, idempotencyKey: "wd_1", status: "Completed" })
    yield* post({ withdrawalId: 9, idempotencyKey: "Zulmira Quixada", status: "ZULMIRA DA CONCEICAO" })
    yield* kill(2)
    yield* idle
    assert.notMatch(yield* stored, /zulmira/i)
    const letters = yield* deadLetters
    const shown = letters.map(({ about, claimed, handler, idempotencyKey, withdrawalId }) =>
      [about, withdrawalId, handler, idempotencyKey, claimed?.join()].join(" ")
    )
    assert.deepStrictEqual(shown.toSorted(), [
      "Withdrawal 9 onUnconfirmed  ",
      "Withdrawal 9 onUnconfirmed wd_1 Completed"
    ])
    for (const letter of letters) assert.deepStrictEqual(yield* find(letter.id), [letter])
    for (const { id } of [...reports, ...letters]) assert.match(id, /^delivery:[\da-f]{64}$/)
  })
})

describe("the settings of a webhook", () => {
  const settingsOf = <A>(layer: Layer.Layer<A, unknown, Layer.Success<typeof world>>) =>
    Effect.map(Effect.flip(Effect.scoped(Layer.build(layer))), (error) => {
      assert.instanceOf(error, ConfigurationError)
      return error.settings.map(({ setting }) => setting).toSorted()
    })

  effect("every setting that is wrong is in the layer's ConfigurationError", world, function* () {
    const verifier = WebhookVerifier.all([
      WebhookVerifier.ipAllowList(["nowhere"]),
      WebhookVerifier.all([WebhookVerifier.pathSecret({ secret: [] })])
    ])
    assert.deepStrictEqual(
      yield* settingsOf(Webhook.layer({ firstLookupsPerSecond: Number.NaN, handlerTimeout: "-1 seconds", verifier })),
      [
        "Webhook.firstLookupsPerSecond",
        "Webhook.handlerTimeout",
        "WebhookVerifier.ipAllowList",
        "WebhookVerifier.pathSecret"
      ]
    )
    assert.deepStrictEqual(
      yield* settingsOf(Webhook.layerSql({ name: "a b", concurrency: 0, lease: 0, poll: 0, retention: 0 })),
      ["Webhook.concurrency", "Webhook.lease", "Webhook.name", "Webhook.poll", "Webhook.retention"]
    )
    assert.deepStrictEqual(yield* settingsOf(Webhook.layerSql({ name: "a".repeat(65) })), ["Webhook.name"])
    assert.deepStrictEqual(yield* settingsOf(Webhook.layerClient({ name: "a b" })), ["Webhook.name"])
    assert.deepStrictEqual(yield* settingsOf(Webhook.layerClient()), ["effect_pix_webhooks"])
    yield* recording({ name: "a".repeat(64) })
    yield* Effect.scoped(Layer.build(Webhook.layerClient()))
  })

  it("a handler that is misspelt does not compile", () => {
    // @ts-expect-error: there is no onPayed
    const layer = Webhook.layer({ onPayed: () => Effect.void })
    assert.isTrue(Layer.isLayer(layer))
  })

  effect("a layer requires the services of its handlers", world, function* () {
    class Orders extends Context.Service<Orders, { readonly pay: (id: string) => Effect.Effect<void> }>()(
      "test/webhook/WebhookOptions.test/Orders"
    ) {}
    const layer: Layer.Layer<Webhook, ConfigurationError, Payments | Orders> = Webhook.layer({
      onPaid: ({ transaction }) => Effect.flatMap(Orders, ({ pay }) => pay(transaction.transactionId)),
      onClosed: () => Effect.fail("away")
    })
    const paid: Array<string> = []
    const orders = Layer.succeed(Orders, { pay: (id) => Effect.sync(() => paid.push(id)) })
    const { answer } = Context.get(yield* Layer.build(Layer.provide(layer, orders)), Webhook)
    const id = yield* paidCharge
    yield* answer(delivery({ transactionId: id }))
    assert.deepStrictEqual(paid, [id])
  })

  effect("at most `concurrency` transactions are processed at a time, and each delays no other", world, function* () {
    let running = 0
    let most = 0
    const { claim, events, ...webhook } = yield* recording({ concurrency: 3 }).pipe(
      lookingUp((answer) =>
        Effect.suspend(() => {
          most = Math.max(most, ++running)
          return Effect.ensuring(
            Effect.delay(answer, "1 second"),
            Effect.sync(() => running--)
          )
        })
      )
    )
    for (let n = 0; n < 9; n++) yield* claim(yield* paidCharge)
    yield* TestClock.adjust("3 seconds")
    yield* finish(webhook)
    assert.deepStrictEqual([events.length, most], [9, 3])
  })
})
