/** Plays the examples that are no programs by themselves: each does what its reader's program does with it. */
import { ConfigProvider, Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { PayoutQueue } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookClient } from "effect-pix/webhook"
import { checkout as routes, Orders } from "../../../docs/examples/checkout.ts"
import { quickstart } from "../../../docs/examples/quickstart.ts"
import { chargeFor, create, find, NewOrder } from "../../../docs/examples/service/src/orders.ts"
import { createShop } from "../../../docs/examples/service/src/tables.ts"
import { webhook } from "../../../docs/examples/service/src/webhook.ts"
import { shopOrder } from "../shopOrder.ts"
import { layerPayments, layerSqlite } from "./world.ts"

/** The button is pressed twice. */
const checkout = async () => {
  const { dispose, handler } = HttpRouter.toWebHandler(
    routes.pipe(
      HttpRouter.provideRequest(Layer.merge(Orders.layer, layerPayments)),
      Layer.provide(HttpServer.layerServices)
    ),
    { disableLogger: true }
  )
  const press = () => handler(new Request("http://localhost/orders/42", { method: "POST" }))
  const pressed = [await press(), await press()]
  await dispose()
  const wrong = pressed.find(({ status }) => status !== 303)
  if (wrong !== undefined) throw new Error(`the page answers ${wrong.status}`)
}

const order = Schema.decodeUnknownSync(NewOrder)(shopOrder)

const shop = webhook.pipe(
  Layer.provideMerge(PayoutQueue.layer()),
  // A run after the first one finds the tables.
  Layer.provide(Layer.effectDiscard(Effect.ignore(createShop))),
  Layer.provideMerge([layerSqlite({ filename: ":memory:" }), layerPayments]),
  Layer.provideMerge(ConfigProvider.layer(ConfigProvider.fromUnknown({ WEBHOOK_SECRET: "open-sesame" })))
)

/** An order is charged and paid, its delivery comes twice, and the seller gets the share. */
const service = Effect.gen(function* () {
  yield* create(order)
  const answer = yield* chargeFor(yield* Effect.flatMap(find("42"), Effect.fromOption))
  const id = answer._tag === "Paid" ? answer.detail.transactionId : answer.charge.transactionId
  yield* Effect.ignore(Sandbox.use(({ markPaid }) => markPaid(id)))
  const body = JSON.stringify({ transactionId: id, status: "Paid" })
  const delivery = () => new Request("https://shop.example/webhooks/pix/open-sesame", { method: "POST", body })
  yield* Webhook.use(({ answer }) => Effect.andThen(answer(delivery()), answer(delivery())))
  yield* WebhookClient.use(({ idle }) => idle)
  yield* PayoutQueue.use((queue) => queue.await("order/42"))
})

export const drivers: Readonly<Record<string, () => Promise<unknown>>> = {
  "docs/examples/checkout.ts": checkout,
  "docs/examples/quickstart.ts": () =>
    Effect.gen(function* () {
      const { markPaid } = yield* Sandbox
      yield* quickstart(markPaid, () => Effect.void)
    }).pipe(Effect.provide(layerPayments), Effect.runPromise),
  "docs/examples/service": () => Effect.runPromise(Effect.provide(service, shop))
}
