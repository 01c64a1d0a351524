/** A worker on Cloudflare: its webhook, and each hour a look at the open orders, since a delivery may be lost. */
import { ConfigProvider, Effect, Layer } from "effect"
import { Payments } from "effect-pix"
import { Webhook } from "effect-pix/webhook"

interface Env {
  readonly PAYMENTS_BASE_URL: string
  readonly PAYMENTS_CLIENT_ID: string
  readonly PAYMENTS_API_KEY: string // a secret: npx wrangler secret put PAYMENTS_API_KEY
  readonly ORDERS: { readonly put: (key: string, value: string) => Promise<void> } // a binding of yours, as a KV namespace
}
interface Context {
  readonly waitUntil: (work: Promise<unknown>) => void
}

const webhookOf = (env: Env) =>
  Webhook.layer({
    // It may be called twice for one event: put is the same the second time.
    onPaid: ({ transaction }) => Effect.promise(() => env.ORDERS.put(transaction.transactionId, "paid"))
  }).pipe(Layer.provide(Payments.layerFetch), Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env))))

/** Of your own store: the charges that are not paid yet. */
const openOrders = async (_env: Env): Promise<ReadonlyArray<string>> => []

const worker = {
  fetch: (request: Request, env: Env, context: Context) =>
    Webhook.toWebHandler(webhookOf(env), { waitUntil: (work) => context.waitUntil(work) }).handler(request),
  // Each hour, by a cron trigger: a delivery may be lost.
  scheduled: async (_event: unknown, env: Env) => {
    const { check } = Webhook.toWebHandler(webhookOf(env))
    for (const id of await openOrders(env)) await check(id)
  }
}
export default worker
