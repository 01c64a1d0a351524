/** A webhook as a plain web handler, on a sandbox of its own. */
import { Effect, Layer } from "effect"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, type WebhookOptions } from "effect-pix/webhook"
import { paidCharge } from "./charges.ts"

/** A web handler for one paid charge, the body of its delivery, and the ids that the handler confirmed. */
export const webShop = Effect.fnUntraced(function* (options: WebhookOptions = {}) {
  const gateway = yield* Layer.build(Layer.fresh(Sandbox.layerPayments))
  const id = yield* Effect.provideContext(paidCharge, gateway)
  const confirmed: Array<string> = []
  const onPaid = (event: { readonly id: string }) => Effect.sync(() => confirmed.push(event.id))
  const layer = Webhook.layer({ ...options, onPaid, onUnconfirmed: () => Effect.void }).pipe(
    Layer.provide(Layer.succeedContext(gateway))
  )
  const webhook = yield* Effect.acquireRelease(
    Effect.sync(() => Webhook.toWebHandler(layer)),
    ({ dispose }) => Effect.promise(dispose)
  )
  return { ...webhook, id, body: JSON.stringify({ transactionId: id, status: "Paid" }), confirmed, event: `${id}:Paid` }
})
