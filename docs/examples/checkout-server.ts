import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Sandbox } from "effect-pix/sandbox"
import { NodeWebhook } from "effect-pix/webhook"
import { createServer } from "node:http"
import { checkout, Orders } from "./checkout.ts"

/** Plays the payer, for as long as the gateway is a sandbox: pays all that waits to be paid. */
const payer = HttpRouter.add(
  "POST",
  "/payer",
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    const waiting = (yield* sandbox.transactions).filter(({ status }) => status === "Awaiting")
    yield* Effect.forEach(waiting, ({ transactionId }) => Effect.ignore(sandbox.markPaid(transactionId)))
    return HttpServerResponse.text(`Paid: ${waiting.length}\n`)
  })
)

// For a real gateway: Payments.layerFetch instead, and no payer.
const services = Layer.merge(Orders.layer, Sandbox.layerPayments)

// Not `HttpRouter.serve`, whose server may listen before its routes are there.
const server = NodeWebhook.layerServe(
  Layer.mergeAll(checkout, payer),
  NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 3000 })
).pipe(Layer.provide(services))

const words = "Open http://localhost:3000/orders/42. To pay: curl -X POST http://localhost:3000/payer"

NodeRuntime.runMain(Effect.andThen(Console.log(words), Layer.launch(server)))
