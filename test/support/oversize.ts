/**
 * A program that makes one call over each transport, whose answer is over the bound, and then ends: `node oversize.ts
 * <transport...>` with the settings of `Payments.layerFetch` in its environment.
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
  const printed = Effect.flatMap(asked, (error) =>
    Console.log(`${name}:`, error._tag, "reason" in error ? error.reason : "")
  )
  await Effect.runPromise(Effect.provide(printed, layers[name] ?? Payments.layerFetch))
}
