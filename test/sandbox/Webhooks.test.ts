import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Fiber, Layer, Logger, Redacted, type Schema } from "effect"
import { FetchHttpClient, HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { NodeSqlite } from "effect-pix/node"
import { Credentials, IdempotencyKeyGen, Payments } from "effect-pix"
import { Webhook, WebhookVerifier } from "effect-pix/webhook"
import { Sandbox, SandboxNotFound, SandboxOptions } from "effect-pix/sandbox"
import { createServer } from "node:http"
import { inspect } from "node:util"
import { charge as create } from "../support/charges.ts"
import { withdrawal } from "../support/operations.ts"
import { effect } from "../support/effect.ts"

const charge = Effect.map(create, ({ id }) => id)

const payout = (metadata?: Schema.JsonObject | string) =>
  Effect.gen(function* () {
    const payments = yield* Payments
    return yield* payments.requestWithdrawal({ ...withdrawal, metadata }, { idempotencyKey: "wd_42" })
  })

interface Call {
  readonly headers: Headers
  readonly body: Schema.Json
}

/** A receiver that answers with the given statuses in turn, and then with 200. */
const receiver = (...statuses: ReadonlyArray<number>) => {
  const calls: Array<Call> = []
  const handler = async (request: Request) => {
    const status = statuses[calls.length] ?? 200
    calls.push({ headers: request.headers, body: await request.json() })
    return new Response(null, { status })
  }
  return { calls, handler, bodies: () => calls.map(({ body }) => body) }
}

const statusesOf = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  return (yield* sandbox.webhooks).map(({ attempts, state }) => [state, ...attempts.map(({ status }) => status)])
})

const rich = (options: SandboxOptions = {}) =>
  Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 100_000, ...options }))

describe("the webhooks of a sandbox", () => {
  effect("every change of a charge is sent once, and its creation is not", rich(), function* () {
    const sandbox = yield* Sandbox
    const { bodies, handler } = receiver()
    yield* sandbox.subscribe(handler)
    const [paid, cancelled, failed] = yield* Effect.all([charge, charge, charge])
    yield* TestClock.setTime(Date.UTC(1970, 0, 1, 12))
    yield* sandbox.markPaid(paid)
    yield* sandbox.markPaid(paid)
    yield* sandbox.cancel(cancelled)
    yield* sandbox.fail(failed)
    yield* sandbox.refund(paid)
    yield* sandbox.awaitWebhooks

    const told = (transactionId: string, status: string) => ({
      event: "transaction.updated",
      transactionId,
      status,
      amount: 2500,
      paymentMethod: "PIX",
      updatedAt: "1970-01-01T12:00:00.000Z"
    })
    assert.deepStrictEqual(bodies(), [
      told(paid, "Paid"),
      told(cancelled, "Cancelled"),
      told(failed, "Failed"),
      told(paid, "Refunded")
    ])
  })

  effect("a charge that lapsed is sent at the next lookup", rich(), function* () {
    const sandbox = yield* Sandbox
    const payments = yield* Payments
    const { bodies, handler } = receiver()
    yield* sandbox.subscribe(handler)
    const id = yield* charge
    yield* TestClock.adjust("2 days")
    assert.deepStrictEqual(bodies(), [])
    yield* payments.getTransaction(id)
    yield* payments.getTransaction(id)
    yield* sandbox.awaitWebhooks
    assert.deepStrictEqual(bodies(), [
      {
        event: "transaction.updated",
        transactionId: id,
        status: "Cancelled",
        amount: 2500,
        paymentMethod: "PIX",
        updatedAt: "1970-01-02T00:00:00.000Z"
      }
    ])
  })

  effect(
    "the end of a payout is sent, with its key and with its metadata as the service stores it",
    rich(),
    function* () {
      const sandbox = yield* Sandbox
      const { bodies, handler } = receiver()
      yield* sandbox.subscribe(handler)
      const settled = yield* payout({ batch: 7, tags: ["a"] })
      yield* sandbox.awaitWebhooks
      assert.deepStrictEqual(bodies(), [])
      yield* sandbox.settleWithdrawal(settled.id)
      yield* sandbox.settleWithdrawal(settled.id)
      const common = { event: "withdrawal.updated", idempotencyKey: "wd_42", amount: 1000 }
      const createdAt = "1970-01-01T00:00:00.000Z"
      yield* sandbox.forgetKeys
      const rejected = yield* payout("batch-8")
      yield* sandbox.rejectWithdrawal(rejected.id)
      yield* sandbox.awaitWebhooks
      assert.deepStrictEqual(bodies(), [
        { ...common, withdrawalId: 1, status: "Settled", metadata: '{"batch":7,"tags":["a"]}', createdAt },
        { ...common, withdrawalId: 2, status: "Rejected", metadata: "batch-8", createdAt }
      ])
    }
  )

  effect("each subscriber gets a webhook of its own", rich(), function* () {
    const sandbox = yield* Sandbox
    const one = receiver(500)
    const two = receiver()
    const late = receiver()
    yield* sandbox.subscribe(one.handler)
    yield* sandbox.subscribe(two.handler)
    yield* sandbox.markPaid(yield* charge)
    yield* sandbox.subscribe(late.handler)
    yield* sandbox.awaitWebhooks
    assert.deepStrictEqual([one.calls.length, two.calls.length, late.calls.length], [1, 1, 0])
    assert.deepStrictEqual(yield* statusesOf, [
      ["Pending", 500],
      ["Taken", 200]
    ])
  })

  effect(
    "a webhook has the secret in a header, and prints no secret",
    rich({ webhookSecret: Redacted.make("a-shared-secret") }),
    function* () {
      const sandbox = yield* Sandbox
      const { calls, handler } = receiver()
      yield* sandbox.subscribe(handler)
      const { id } = yield* payout({ email: "maria@example.com" })
      yield* sandbox.settleWithdrawal(id)
      yield* sandbox.awaitWebhooks
      assert.strictEqual(calls[0]?.headers.get("x-webhook-secret"), "a-shared-secret")
      assert.strictEqual(calls[0]?.headers.get("content-type"), "application/json")
      const printed = inspect(yield* sandbox.webhooks, { depth: 10 })
      assert.notInclude(printed, "a-shared-secret")
    }
  )
})

describe("the attempts of a webhook", () => {
  effect(
    "a webhook is sent at once, then after 1, 5, 25, 125 and 625 seconds, with the same body, and then no more",
    rich(),
    function* () {
      const sandbox = yield* Sandbox
      const { bodies, handler } = receiver(500, 404, 302, 503, 429, 400, 500)
      yield* sandbox.subscribe(handler)
      yield* sandbox.markPaid(yield* charge)
      for (const wait of [0, 1, 5, 25, 125, 625, 3125]) {
        yield* TestClock.adjust(wait * 1000)
        yield* sandbox.awaitWebhooks
      }
      const [webhook] = yield* sandbox.webhooks
      assert.strictEqual(webhook?.state, "GivenUp")
      const attempts = webhook?.attempts.map(({ at, status }) => [Date.parse(at) / 1000, status])
      assert.deepStrictEqual(attempts, [
        [0, 500],
        [1, 404],
        [6, 302],
        [31, 503],
        [156, 429],
        [781, 400]
      ])
      assert.deepStrictEqual(bodies(), Array<unknown>(6).fill(bodies()[0]))
    }
  )

  effect("the attempts of a webhook end with the first 2xx", rich(), function* () {
    const sandbox = yield* Sandbox
    const { handler } = receiver(500, 204)
    yield* sandbox.subscribe(handler)
    yield* sandbox.markPaid(yield* charge)
    yield* sandbox.awaitWebhooks
    yield* TestClock.adjust("1 second")
    yield* sandbox.awaitWebhooks
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(yield* statusesOf, [["Taken", 500, 204]])
  })

  effect("a webhook is sent again after handlers that throw, reject, fail or never answer", rich(), function* () {
    const sandbox = yield* Sandbox
    const answers: Array<() => Promise<Response> | Effect.Effect<Response, unknown>> = [
      () => {
        throw new Error("thrown")
      },
      () => Promise.reject(new Error("rejected")),
      () => Effect.fail("failed"),
      () => Effect.never,
      () => Effect.succeed(new Response(null, { status: 200 }))
    ]
    yield* sandbox.subscribe(() => answers.shift()?.() ?? Effect.never)
    yield* sandbox.markPaid(yield* charge)
    yield* sandbox.awaitWebhooks
    for (const wait of [1, 5, 25, 10, 125]) {
      yield* TestClock.adjust(wait * 1000)
      // The fourth is under way until its time is over.
      if (wait !== 25) yield* sandbox.awaitWebhooks
    }
    assert.deepStrictEqual(yield* statusesOf, [["Taken", undefined, undefined, undefined, undefined, 200]])
  })

  effect("the change of a charge does not wait for its webhook", rich(), function* () {
    const sandbox = yield* Sandbox
    const open = yield* Deferred.make<void>()
    yield* sandbox.subscribe(() => Effect.as(Deferred.await(open), new Response(null, { status: 200 })))
    const paid = yield* sandbox.markPaid(yield* charge)
    assert.strictEqual(paid.status, "Paid")
    const resting = yield* Effect.forkChild(sandbox.awaitWebhooks, { startImmediately: true })
    assert.deepStrictEqual(yield* statusesOf, [["Pending"]])
    assert.isUndefined(resting.pollUnsafe())
    yield* Deferred.succeed(open, undefined)
    yield* Fiber.join(resting)
    assert.deepStrictEqual(yield* statusesOf, [["Taken", 200]])
  })

  effect("a reset ends all attempts: nothing more is sent, and nobody is subscribed", rich(), function* () {
    const sandbox = yield* Sandbox
    const { calls, handler } = receiver(500)
    yield* sandbox.subscribe(handler)
    yield* sandbox.markPaid(yield* charge)
    yield* sandbox.awaitWebhooks
    yield* sandbox.reset
    yield* TestClock.adjust("1 hour")
    yield* sandbox.markPaid(yield* charge)
    yield* sandbox.awaitWebhooks
    assert.strictEqual(calls.length, 1)
    assert.deepStrictEqual(yield* sandbox.webhooks, [])
  })
})

describe("steering", () => {
  effect("steering sends any body, and sends a webhook again to its own target", rich(), function* () {
    const sandbox = yield* Sandbox
    const one = receiver()
    const two = receiver()
    yield* sandbox.subscribe(one.handler)
    yield* sandbox.subscribe(two.handler)
    const lie = { transactionId: "9f1c8c52-6a3e-4b1f-9d57-0f4f5e1f2a11", status: "Paid" }
    yield* sandbox.sendWebhook(lie)
    yield* sandbox.resendWebhook(2)
    yield* sandbox.awaitWebhooks
    assert.deepStrictEqual([one.bodies(), two.bodies()], [[lie], [lie, lie]])
    assert.deepStrictEqual(
      (yield* sandbox.webhooks).map(({ id, json }) => [id, json]),
      [
        [1, lie],
        [2, lie],
        [3, lie]
      ]
    )
    const error = yield* Effect.flip(sandbox.resendWebhook(4))
    assert.deepStrictEqual(error, new SandboxNotFound({ subject: "webhook", id: 4 }))
  })

  effect("steering refuses a target that is no loopback address", rich(), function* () {
    const sandbox = yield* Sandbox
    for (const target of ["https://shop.example/hook", "http://127.0.0.1.example/", "file:///hook", "hook"]) {
      const cause = yield* Effect.flip(Effect.sandbox(sandbox.subscribe(target)))
      assert.include(Cause.pretty(cause), "Sandbox.subscribe must be a loopback address", target)
    }
    const cause = yield* Effect.flip(
      Effect.sandbox(Layer.build(Layer.fresh(rich({ webhookUrl: "https://shop.example/hook" }))))
    )
    assert.include(Cause.pretty(cause), "SandboxOptions.webhookUrl must be")
  })
})

describe("with the webhook handler", () => {
  const confirming = (verifier = WebhookVerifier.none) => {
    const events: Array<string> = []
    const reports: Array<string> = []
    const layer = Webhook.layerSql({
      verifier,
      onStatus: ({ transaction }) => Effect.sync(() => events.push(transaction.enStatusTransaction)),
      onUnconfirmed: (report) =>
        Effect.sync(() => {
          const key = report._tag === "UnconfirmedWithdrawal" ? report.idempotencyKey : undefined
          reports.push([report._tag, report.untrusted.status, key].join(" "))
        })
    }).pipe(Layer.provide(NodeSqlite.layer({ filename: ":memory:" })))
    return { events, reports, layer }
  }
  const secret = Redacted.make("a-shared-secret")
  const verifier = WebhookVerifier.sharedSecret({ header: "X-Webhook-Secret", secret })

  it.effect(
    "a paid charge becomes one Confirmed event though its webhook is repeated, and a forged webhook becomes none",
    () => {
      const { events, layer, reports } = confirming(verifier)
      return Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const { answer, idle } = yield* Webhook
        yield* sandbox.subscribe(answer)
        const open = yield* charge
        yield* sandbox.sendWebhook({ event: "transaction.updated", transactionId: open, status: "Paid" })
        yield* sandbox.markPaid(yield* charge)
        yield* sandbox.resendWebhook(2)
        yield* sandbox.awaitWebhooks
        yield* TestClock.adjust("2 minutes")
        yield* idle
        assert.deepStrictEqual(events, ["Paid"])
        assert.deepStrictEqual(reports, ["UnconfirmedTransaction Paid "])
        assert.deepStrictEqual(yield* statusesOf, [
          ["Taken", 200],
          ["Taken", 200],
          ["Taken", 200]
        ])
      }).pipe(Effect.provide(Layer.provideMerge(layer, rich({ webhookSecret: secret }))))
    }
  )

  it.effect("a payout stays unconfirmed, and its report has the key by which your books have it", () => {
    const { events, layer, reports } = confirming()
    return Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { answer, idle } = yield* Webhook
      yield* sandbox.subscribe(answer)
      yield* sandbox.settleWithdrawal((yield* payout({ batch: 7 })).id)
      yield* sandbox.awaitWebhooks
      yield* idle
      assert.deepStrictEqual([events, reports], [[], ["UnconfirmedWithdrawal Settled wd_42"]])
    }).pipe(Effect.provide(Layer.provideMerge(layer, rich())))
  })

  it.effect("a handler that asks for another secret answers 401, and the sandbox tries again", () => {
    const { events, layer } = confirming(verifier)
    return Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { answer } = yield* Webhook
      yield* sandbox.subscribe(answer)
      yield* sandbox.markPaid(yield* charge)
      yield* sandbox.awaitWebhooks
      assert.deepStrictEqual(yield* statusesOf, [["Pending", 401]])
      assert.deepStrictEqual(events, [])
    }).pipe(
      Effect.provide(
        Layer.provideMerge(layer, rich({ webhookSecret: Redacted.make("another") })).pipe(
          Layer.provide(Logger.layer([]))
        )
      )
    )
  })

  it.live("a webhook over HTTP is confirmed, between two loopback ports", () => {
    const { events, layer } = confirming(verifier)
    const server = NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })
    const gateway = Layer.unwrap(
      Effect.gen(function* () {
        const { address } = yield* HttpServer.HttpServer
        const webhookUrl = `${HttpServer.formatAddress(address)}/webhooks/pix`
        return Layer.provide(
          Sandbox.layerServer,
          Layer.succeed(SandboxOptions, { balance: 100_000, webhookUrl, webhookSecret: secret })
        )
      })
    )
    const client = Layer.unwrap(
      Effect.gen(function* () {
        const { baseUrl, companyId, credentials } = yield* Sandbox
        return Layer.provide(Payments.layer({ baseUrl, companyId }), [
          Credentials.layer(yield* credentials),
          IdempotencyKeyGen.layerSequential
        ])
      })
    )
    const shop = Layer.merge(
      Webhook.route("/webhooks/pix"),
      HttpRouter.add("POST", "/moved", HttpServerResponse.redirect("/webhooks/pix", { status: 307 }))
    ).pipe((routes) => HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }))
    const world = shop.pipe(
      Layer.provideMerge(layer),
      Layer.provideMerge(client),
      Layer.provide(FetchHttpClient.layer),
      Layer.provideMerge(gateway),
      Layer.provideMerge(server)
    )
    return Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle } = yield* Webhook
      yield* sandbox.markPaid(yield* charge)
      yield* sandbox.awaitWebhooks
      yield* idle
      assert.deepStrictEqual(events, ["Paid"])

      const { address } = yield* HttpServer.HttpServer
      yield* sandbox.subscribe(new URL("/moved", HttpServer.formatAddress(address)))
      yield* sandbox.subscribe("http://127.0.0.1:1/nobody-listens")
      yield* sandbox.sendWebhook({ event: "another" })
      yield* sandbox.awaitWebhooks
      assert.deepStrictEqual(
        (yield* sandbox.webhooks).map(({ attempts }) => attempts[0]?.status),
        [200, 200, 307, undefined]
      )
    }).pipe(Effect.provide(Layer.provide(world, Logger.layer([]))))
  })
})
