import { assert, describe } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { HttpRouter, HttpServer } from "effect/http"
import { Money, type Payments, QrCode } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { checkout, Orders } from "../docs/examples/checkout.ts"
import { effect } from "./support/effect.ts"

/** A browser on the checkout, whose gateway is the sandbox of the test. */
const browser = Effect.gen(function* () {
  const services = Layer.succeedContext(yield* Effect.context<Payments | Sandbox>())
  const orders = new Map(Context.get(yield* Layer.build(Orders.layer), Orders))
  const routes = checkout.pipe(
    HttpRouter.provideRequest(Layer.merge(Layer.succeed(Orders, orders), services)),
    Layer.provide(HttpServer.layerServices)
  )
  const { handler } = yield* Effect.acquireRelease(
    Effect.sync(() => HttpRouter.toWebHandler(routes, { disableLogger: true })),
    ({ dispose }) => Effect.promise(dispose)
  )
  const visit = (method: "GET" | "POST", path: string) =>
    Effect.promise(async () => {
      const response = await handler(new Request(`http://localhost${path}`, { method }))
      return { status: response.status, location: response.headers.get("location"), body: await response.text() }
    })
  return { orders, visit }
})

/** A test of the checkout page, as a browser and its gateway see it. */
const checkoutPage = (
  title: string,
  body: (
    world: Effect.Success<typeof browser> & { readonly sandbox: Sandbox["Service"] }
  ) => Generator<Effect.Effect<unknown, unknown>, unknown, never>
) =>
  effect(title, Sandbox.layerPayments, function* () {
    const world = { ...(yield* browser), sandbox: yield* Sandbox }
    yield* Effect.gen(() => body(world))
  })

/** The part of a charge's id that its code has. */
const idIn = (charge: { readonly transactionId: string } | undefined) =>
  charge?.transactionId.replaceAll("-", "") ?? "none"

describe("the checkout page", () => {
  checkoutPage("charges when the button is pressed, and shows what pays the charge", function* ({ sandbox, visit }) {
    const before = yield* visit("GET", "/orders/42")
    assert.include(before.body, "R$ 25,00")
    assert.include(before.body, '<form method="post">')
    assert.lengthOf(yield* sandbox.transactions, 0)

    const pressed = yield* visit("POST", "/orders/42")
    assert.deepStrictEqual([pressed.status, pressed.location], [303, "/orders/42"])
    const [charge] = yield* sandbox.transactions
    assert.strictEqual(charge?.amount, 2500)

    const page = (yield* visit("GET", "/orders/42")).body
    const [, copied = ""] = /<textarea id="code" rows="4" readonly>([^<]*)</.exec(page) ?? []
    const [, picture = ""] = /src="(data:image\/svg\+xml,[^"]*)"/.exec(page) ?? []
    assert.match(copied, /^000201.*6304[\dA-F]{4}$/)
    assert.include(copied, idIn(charge))
    assert.strictEqual(picture, QrCode.dataUrl(copied, { size: 320 }))
    assert.match(page, /Pay by \d\d\/\d\d\/\d{4}, \d\d:\d\d, Brasília time/)
  })

  checkoutPage("makes one charge if the button is pressed twice at the same time", function* ({ sandbox, visit }) {
    const press = visit("POST", "/orders/42")
    yield* Effect.andThen(Effect.all([press, press], { concurrency: "unbounded" }), press)
    assert.lengthOf(yield* sandbox.transactions, 1)
  })

  checkoutPage("shows that the charge is paid", function* ({ sandbox, visit }) {
    assert.strictEqual((yield* visit("GET", "/orders/42/status")).status, 503)
    yield* visit("POST", "/orders/42")
    assert.strictEqual((yield* visit("GET", "/orders/42/status")).body, '"Awaiting"')
    const [charge] = yield* sandbox.transactions
    yield* sandbox.markPaid(charge?.transactionId ?? "none")
    assert.strictEqual((yield* visit("GET", "/orders/42/status")).body, '"Paid"')
  })

  checkoutPage("shows another code after the first one has lapsed", function* ({ sandbox, visit }) {
    yield* visit("POST", "/orders/42")
    const before = (yield* visit("GET", "/orders/42")).body
    yield* TestClock.adjust("1 day")
    assert.strictEqual((yield* visit("GET", "/orders/42/status")).body, '"Cancelled"')
    yield* visit("POST", "/orders/42")
    const [old, charge] = yield* sandbox.transactions
    const after = (yield* visit("GET", "/orders/42")).body
    assert.include(before, idIn(old))
    assert.include(after, idIn(charge))
    assert.strictEqual((yield* visit("GET", "/orders/42/status")).body, '"Awaiting"')
  })

  checkoutPage(
    "charges a changed cart again, and finds that the old code was paid",
    function* ({ orders, sandbox, visit }) {
      yield* visit("POST", "/orders/42")
      const order = orders.get("42")
      assert(order !== undefined)
      orders.set("42", { ...order, total: Money.centavos(3000) })
      assert.notInclude((yield* visit("GET", "/orders/42")).body, "QR code")
      assert.strictEqual((yield* visit("POST", "/orders/42")).status, 303)
      const [old, charge] = yield* sandbox.transactions
      assert.deepStrictEqual([old?.amount, charge?.amount], [2500, 3000])
      assert.include((yield* visit("GET", "/orders/42")).body, idIn(charge))

      yield* sandbox.markPaid(old?.transactionId ?? "none")
      assert.strictEqual((yield* visit("POST", "/orders/42")).status, 303)
      const page = (yield* visit("GET", "/orders/42")).body
      assert.include(page, "You have paid R$ 25,00.")
      assert.notInclude(page, "QR code")
      assert.lengthOf(yield* sandbox.transactions, 2)
    }
  )

  checkoutPage("repeats a failed charge with the same key", function* ({ sandbox, visit }) {
    yield* sandbox.fault("createTransaction", Fault.html(200, { executed: true }))
    const failed = yield* visit("POST", "/orders/42")
    assert.strictEqual(failed.status, 503)
    assert.include(failed.body, "If you have paid")
    assert.strictEqual((yield* visit("POST", "/orders/42")).status, 303)
    assert.lengthOf(yield* sandbox.transactions, 1)
    const keys = (yield* sandbox.requests).map(({ idempotencyKey }) => idempotencyKey)
    assert.strictEqual(keys.length, 2)
    assert.strictEqual(keys[0], keys[1])
  })

  checkoutPage("shows no code for another amount", function* ({ sandbox, visit }) {
    const data = { id: "3f1d8f0e-8a0f-4a54-9d7e-6f2f0d7f3f10", amount: 2500, status: "WAITING_PAYMENT" }
    const qrcode =
      "00020126400014br.gov.bcb.pix0118fulano@exemplo.com520400005303986540525.505802BR5913FULANO DE TAL6009SAO PAULO62070503***63040000"
    const body = JSON.stringify({ data: { ...data, pix: { qrcode } } })
    yield* sandbox.fault("createTransaction", Fault.answer(200, { body, executed: true }))
    assert.strictEqual((yield* visit("POST", "/orders/42")).status, 503)
    assert.notInclude((yield* visit("GET", "/orders/42")).body, "fulano")
  })

  checkoutPage("shows only its own orders", function* ({ sandbox, visit }) {
    assert.strictEqual((yield* visit("GET", "/orders/43")).status, 404)
    assert.strictEqual((yield* visit("POST", "/orders/43")).status, 404)
    assert.lengthOf(yield* sandbox.requests, 0)
  })
})
