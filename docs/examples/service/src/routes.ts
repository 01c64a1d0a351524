/** The shop's own API. Yours to add: who may ask. */
import { Effect, Layer, Option, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { QrCode } from "effect-pix"
import { PayoutQueue } from "effect-pix/payouts"
import { Webhook } from "effect-pix/webhook"
import { chargeFor, create, find, NewOrder } from "./orders.ts"

const { empty, json } = HttpServerResponse
const order = Effect.gen(function* () {
  const { id } = yield* HttpRouter.schemaPathParams(Schema.Struct({ id: Schema.String }))
  return yield* Effect.flatMap(find(id), Effect.fromOption)
})

const post = Effect.gen(function* () {
  yield* create(yield* HttpServerRequest.schemaBodyJson(NewOrder))
  return empty({ status: 201 })
}).pipe(Effect.catchTag("SchemaError", ({ message }) => json({ message }, { status: 422 })))

const charge = Effect.gen(function* () {
  const answer = yield* Effect.flatMap(order, chargeFor)
  if (answer._tag === "Paid") {
    // The lookup found it before any delivery: the webhook's `onPaid` is called, once.
    yield* Webhook.use(({ check }) => check(answer.detail.transactionId))
    // Another amount was paid: a person decides.
    return yield* json({ state: answer.amount === "same" ? "paid" : "another amount was paid" })
  }
  const { qrcode } = answer.charge.pix
  return yield* json({ state: "open", code: qrcode, image: QrCode.dataUrl(qrcode) })
}).pipe(
  Effect.catchTag("NoSuchElementError", () => Effect.succeed(empty({ status: 404 }))),
  // Whatever went wrong, asking again is safe: the key is the same.
  Effect.tapError((error) => Effect.logError("No charge", error)),
  Effect.orElseSucceed(() => empty({ status: 503 }))
)

const show = Effect.gen(function* () {
  const { id, state } = yield* order
  const payout = yield* PayoutQueue.use((queue) => queue.status(`order/${id}`))
  return yield* json({ id, state, payout: Option.getOrUndefined(payout)?.state })
}).pipe(Effect.catchTag("NoSuchElementError", () => Effect.succeed(empty({ status: 404 }))))

export const routes = Layer.mergeAll(
  HttpRouter.add("POST", "/orders", post),
  HttpRouter.add("POST", "/orders/:id/charge", charge),
  HttpRouter.add("GET", "/orders/:id", show),
  HttpRouter.add("GET", "/health", empty()),
  Webhook.route("/webhooks/pix/:secret")
)
