/**
 * A program that asks once over each transport, is answered with more than it takes, and has nothing else to do:
 * `node oversize.ts <transport...>` with the settings of `Payments.layerFetch` in its environment.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { Payments } from "../../src/client/Payments.ts"
import * as NodePayments from "../../src/node/NodePayments.ts"

const layers: Readonly<Record<string, typeof Payments.layerFetch>> = {
  "our fetch": Payments.layerFetch,
  fetch: Payments.layerOver(FetchHttpClient.layer),
  undici: Payments.layerOver(NodeHttpClient.layerUndici),
  "node:http": Payments.layerOver(NodeHttpClient.layerNodeHttp),
  "our Node transport": NodePayments.layer
}

const asked = Effect.flatMap(Payments, (payments) => Effect.flip(payments.getBalance({ companyId: 7 })))

for (const name of process.argv.slice(2)) {
  const told = Effect.flatMap(asked, (error) =>
    Console.log(`${name}:`, error._tag, "reason" in error ? error.reason : "")
  )
  await Effect.runPromise(Effect.provide(told, layers[name] ?? Payments.layerFetch))
}
