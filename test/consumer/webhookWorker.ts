import { Effect, Layer } from "effect"
import { Money, Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"

/** One of each for the isolate's life, as a worker's module has them. */
const state: { webhook?: ReturnType<typeof Webhook.toWebHandler> } = {}
const paid: Array<string> = []
const shipped: Array<string> = []

/** Charges that are paid, one that is open, and the handler; in a request, since nothing may be done before one. */
const start = Effect.gen(function* () {
  const services = yield* Layer.build(Sandbox.layerPayments)
  yield* Effect.gen(function* () {
    const payments = yield* Payments
    const sandbox = yield* Sandbox
    for (let n = 0; n < 50; n++) {
      const { id } = yield* payments.createTransaction({
        amount: Money.centavos(2500),
        paymentMethod: "PIX",
        customer: { name: "Maria Silva", email: "maria@example.com" }
      })
      yield* sandbox.markPaid(id)
      paid.push(id)
    }
  }).pipe(Effect.provideContext(services))
  const layer = Webhook.layer({
    // Answers from across a network come in another turn of the request's own.
    onPaid: ({ transaction }) =>
      Effect.andThen(
        Effect.sleep("5 millis"),
        Effect.sync(() => shipped.push(transaction.transactionId))
      )
  })
  state.webhook = Webhook.toWebHandler(Layer.provide(layer, Layer.succeedContext(services)))
}).pipe(Effect.scoped)

export default {
  fetch: async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname === "/start") await Effect.runPromise(start)
    if (pathname === "/webhook" && state.webhook !== undefined) return state.webhook.handler(request)
    return Response.json({ paid, shipped })
  }
}
