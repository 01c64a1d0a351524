import { assert, describe } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Schema } from "effect"
import { TestClock } from "effect/testing"
import { ConfigurationError, Metadata, type Payments, type PaymentsClient } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookVerifier } from "effect-pix/webhook"
import failure from "../fixtures/field/webhook-cashout-failure.json" with { type: "json" }
import pending from "../fixtures/field/webhook-cashout-pending.json" with { type: "json" }
import refunded from "../fixtures/field/webhook-cashout-refunded.json" with { type: "json" }
import successful from "../fixtures/field/webhook-cashout-successful.json" with { type: "json" }
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import { delivery, edge, finish, kill, recording, stored, world } from "../support/webhooks.ts"

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
    const rows = [
      [{ id: 1, idempotencyKey: "wd_1", enTransaction: "Paid" }, "wd_1 1 Paid"],
      [{ withdrawalId: 1, status: "Paid", transactionId: id }, "- 1 Paid"],
      [{ withdrawalId: 1, status: "Paid", transactionId: id }, "- 1 Paid"],
      [{ data: { id, enTransaction: "Paid" } }, "- - Paid"],
      [{ idempotencyKey: "payout-key", data: { status: "Paid" } }, "payout-key - Paid"],
      [{ transactionId: id, idempotencyKey: "wd_2", status: "Paid" }, "wd_2 - Paid"],
      [{ withdrawalId: 7, idempotencyKey: "Zulmira Quixada", status: "ZULMIRA DA CONCEICAO" }, "- 7 -"]
    ] as const
    for (const [body, expected] of rows) {
      assert.strictEqual(yield* post(body), 200)
      yield* idle
      const report = reports.at(-1)
      assert(report?._tag === "UnconfirmedWithdrawal")
      const { idempotencyKey = "-", untrusted, withdrawalId = "-" } = report
      assert.strictEqual(`${idempotencyKey} ${withdrawalId} ${untrusted.status ?? "-"}`, expected)
    }
    assert.deepStrictEqual([events, yield* lookups], [[], 0])
    // A delivery that is repeated is reported again, with the same id.
    const names = reports.map((report) => report.id)
    assert.deepStrictEqual([names.length, new Set(names).size, names[1]], [rows.length, rows.length - 1, names[2]])
  })

  for (const [seen, bodies] of Object.entries({ failure, pending, refunded, successful }).map(
    ([status, body]) =>
      [status, [body, { event: "x", data: [{ ...body, withdrawId: String(body.withdrawId) }] }]] as const
  ))
    effect(
      `one that was seen, ${seen}, is reported with nothing else of its body, which names persons`,
      world,
      function* () {
        const Reference = Metadata.codec(Schema.Struct({ reference: Schema.String }))
        const lines: Array<string> = []
        let isTaken = false
        const webhook = yield* recording({
          metadata: Reference,
          onUnconfirmed: () => (isTaken ? Effect.void : Effect.fail("the disk is full"))
        })
        const unrecorded = yield* recording({ metadata: Reference }, edge)
        const logged = Effect.provide(Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))]))
        for (const body of bodies) {
          for (const { post } of [webhook, unrecorded])
            assert.strictEqual(yield* logged(post(body, { "x-webhook-event-id": "evt-77" })), 200)
        }
        yield* TestClock.adjust("500 millis")
        const rows = yield* stored
        isTaken = true
        yield* finish(webhook)
        const reports = [...webhook.reports, ...unrecorded.reports]
        assert.isAbove(reports.length, 4)
        const endToEndId = seen === "successful" || seen === "refunded" ? { endToEndId: successful.endToEndId } : {}
        for (const report of reports) {
          assert.deepStrictEqual<unknown>(report, {
            _tag: "UnconfirmedWithdrawal",
            id: report.id,
            withdrawalId: 7184,
            idempotencyKey: undefined,
            untrusted: { status: seen, ...endToEndId, eventId: "evt-77", metadata: { reference: "invoice-42" } }
          })
        }
        const hidden = /EXEMPLO|52998224725|11222333000181|12345678"|87654321|123456"|654321|X55|Invalid|wld-|u-1/
        for (const text of [rows, lines.join(), JSON.stringify(reports)]) assert.notMatch(text, hidden)
      }
    )

  effect("an event id that is no short id is not shown", world, function* () {
    const { idle, post, reports } = yield* recording()
    for (const eventId of ["maria silva", "x".repeat(101), "maria@example.com"]) {
      yield* post({ withdrawId: 7 }, { "x-webhook-event-id": eventId })
      yield* idle
      assert.deepStrictEqual(reports.at(-1)?.untrusted, {})
    }
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
      WebhookVerifier.sharedSecret({ header: "s", secret: [] }),
      WebhookVerifier.all([WebhookVerifier.pathSecret({ secret: [] })])
    ])
    assert.deepStrictEqual(
      yield* settingsOf(Webhook.layer({ firstLookupsPerSecond: Number.NaN, handlerTimeout: "-1 seconds", verifier })),
      [
        "Webhook.firstLookupsPerSecond",
        "Webhook.handlerTimeout",
        "WebhookVerifier.pathSecret",
        "WebhookVerifier.sharedSecret"
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

  effect("a layer requires the services of its handlers, and a misspelt one does not compile", world, function* () {
    class Orders extends Context.Service<Orders, { readonly pay: (id: string) => Effect.Effect<void> }>()(
      "test/webhook/WebhookOptions.test/Orders"
    ) {}
    const layer: Layer.Layer<Webhook, ConfigurationError, Payments | PaymentsClient | Orders> = Webhook.layer({
      onPaid: ({ transaction }) => Effect.flatMap(Orders, ({ pay }) => pay(transaction.transactionId)),
      onClosed: () => Effect.fail("away")
    })
    // @ts-expect-error: there is no onPayed
    Webhook.layer({ onPayed: () => Effect.void })
    const paid: Array<string> = []
    const orders = Layer.succeed(Orders, { pay: (id) => Effect.sync(() => paid.push(id)) })
    const { answer } = Context.get(yield* Layer.build(Layer.provide(layer, orders)), Webhook)
    const id = yield* paidCharge
    yield* answer(delivery({ transactionId: id }))
    assert.deepStrictEqual(paid, [id])
  })
})
