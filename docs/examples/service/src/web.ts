/** `npm start`: the web process. It charges, receives webhooks and accepts payouts, and sends none. */
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Config, Effect, Layer } from "effect"
import { PayoutQueue } from "effect-pix/payouts"
import { NodeWebhook } from "effect-pix/webhook"
import { createServer } from "node:http"
import { live, seal } from "./live.ts"
import { jobs } from "./nightly.ts"
import { routes } from "./routes.ts"
import { webhook } from "./webhook.ts"

const payouts = Layer.unwrap(Effect.map(seal, (seal) => PayoutQueue.layerClient({ seal })))

const server = NodeHttpServer.layerConfig(createServer, {
  host: Config.withDefault(Config.String("HOST"), "127.0.0.1"),
  port: Config.withDefault(Config.Port("PORT"), 3000)
})

const web = NodeWebhook.layerServe(routes, server).pipe(
  Layer.provide(jobs),
  Layer.provide(webhook),
  Layer.provide(payouts),
  Layer.provide(live("shop-web"))
)

// On SIGTERM the server takes no more requests, those under way end, and then the rest is closed.
NodeRuntime.runMain(Layer.launch(web))
