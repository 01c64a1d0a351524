/** What every process of the service stands on. Each part is one layer value, so that all share one database client. */
import { PgClient } from "@effect/sql-pg"
import { Config, Effect, Layer, Option } from "effect"
import { FetchHttpClient } from "effect/http"
import { Otlp } from "effect/observability"
import { PaymentsPolicy } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { Seal } from "effect-pix/payouts"

const database = PgClient.layerConfig({
  url: Config.Redacted("DATABASE_URL"),
  maxConnections: Config.withDefault(Config.Int("DATABASE_CONNECTIONS"), 20)
})

const gateway = Layer.merge(
  NodePayments.layer,
  // A deploy waits for the calls under way, so none may take long.
  PaymentsPolicy.layer({ attemptTimeout: "10 seconds", deadline: "30 seconds" })
)

const signals = (serviceName: string) =>
  Layer.unwrap(
    Effect.map(Config.option(Config.String("OTEL_EXPORTER_OTLP_ENDPOINT")), (endpoint) =>
      Option.isNone(endpoint)
        ? Layer.empty
        : Layer.provide(Otlp.layerJson({ baseUrl: endpoint.value, resource: { serviceName } }), FetchHttpClient.layer)
    )
  )

export const live = (serviceName: string) => Layer.mergeAll(database, gateway, signals(serviceName))

/** PIX keys of payouts are stored sealed. The web process seals, and the worker opens. */
export const seal = Effect.map(Config.Redacted("PAYOUT_SEAL_KEY"), (key) => Seal.aesGcm(key))
