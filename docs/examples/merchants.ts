/**
 * Many merchants in one process: each has its own client, webhook and account of payouts, on one database. They are built at
 * their first use and closed an hour after their last one, so a new merchant needs no restart.
 */
import { Effect, Layer, LayerMap, Redacted } from "effect"
import { Merchants, Money } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookClient, WebhookVerifier } from "effect-pix/webhook"

/** Stands for your table of merchants, and its secrets. */
const rows = new Map([["padaria", { clientId: "sandbox-client", apiKey: Redacted.make("sandbox-key"), companyId: 1 }]])

const merchants = Merchants.layer({
  baseUrl: "https://sandbox.example",
  load: (merchant) => Effect.succeed(rows.get(merchant))
}).pipe(Layer.provideMerge(Sandbox.layer)) // NodePayments.layerHttpClient()

/** The webhook and the payouts of one merchant. `name` and `account` are its own, and never change. */
const shopOf = (merchant: string) =>
  Layer.unwrap(
    Effect.map(Merchants, ({ get }) =>
      Webhook.layerSql({
        name: merchant,
        verifier: WebhookVerifier.pathSecret({ secret: Redacted.make(`secret-of-${merchant}`) }),
        onPaid: ({ transaction: { transactionId, value } }) =>
          PayoutQueue.use((queue) => queue.submit({ reference: transactionId, amount: Money.percent(value, 90) }))
      }).pipe(Layer.provideMerge(PayoutQueue.layer({ account: merchant })), Layer.provide(get(merchant)))
    )
  )

export class Shops extends LayerMap.Service<Shops>()("Shops", { lookup: shopOf, idleTimeToLive: "1 hour" }) {}

/** A delivery to `/webhooks/pix/:merchant/:secret`. */
export const deliver = Effect.fn("deliver")(
  function* (merchant: string, request: Request) {
    const shops = yield* Shops
    return yield* Webhook.use(({ answer }) => answer(request)).pipe(Effect.provide(shops.get(merchant)))
  },
  Effect.catchTag("MerchantNotFound", () => Effect.succeed(new Response(null, { status: 404 })))
)

// A trial: a delivery with the merchant's secret, one with a wrong secret, and one for a merchant that nobody has.
const trial = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const { transactionId } = yield* sandbox.charge(5000)
  yield* sandbox.markPaid(transactionId)
  const body = JSON.stringify({ transactionId, status: "Paid" })
  const delivery = (merchant: string, secret: string) =>
    deliver(merchant, new Request(`https://shop.example/webhooks/pix/${merchant}/${secret}`, { method: "POST", body }))
  const answers = [
    yield* delivery("padaria", "secret-of-padaria"),
    yield* delivery("padaria", "guess"),
    yield* delivery("banca", "secret-of-banca")
  ]
  const shops = yield* Shops
  const payout = yield* Effect.provide(
    Effect.andThen(
      WebhookClient.use(({ idle }) => idle),
      PayoutQueue.use((queue) => queue.await(transactionId))
    ),
    shops.get("padaria")
  )
  return [...answers.map(({ status }) => status), payout.state, payout.amount]
})

const layer = Shops.layer.pipe(Layer.provide(NodeSqlite.layer({ filename: ":memory:" })), Layer.provideMerge(merchants))
export const result = await Effect.runPromise(Effect.provide(trial, layer)) // => [200, 401, 404, "posted", 4500]
