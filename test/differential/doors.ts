/**
 * All names of the library that the programs use, by its public imports. If a name differs between the two states, edit
 * only this file: the namespaces are imported whole, so that a name which one state lacks is `undefined` there and not
 * an error of the import, as in `root.NewName ?? Reflect.get(root, "OldName")`.
 */
import * as root from "effect-pix"
import * as node from "effect-pix/node"
import * as payouts from "effect-pix/payouts"
import * as webhook from "effect-pix/webhook"
import { ConfigProvider, Layer, Redacted } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { secrets } from "./secrets.ts"

export const { Money, Payments, PaymentsPolicy, PixKey, TransactionStream } = root
export const { NodeSqlite } = node
export const { PayoutQueue, Payouts } = payouts
export const { Webhook } = webhook

export type Payments = root.Payments
export type Service = root.Payments["Service"]
export type Queue = payouts.PayoutQueue["Service"]
export type PayoutItem = payouts.PayoutItem

const { Credentials, IdempotencyKeyGen } = root

const credentials = Credentials.layer({ clientId: secrets.clientId, apiKey: Redacted.make(secrets.apiKey) })

/** `Payments` on a given client, with keys in sequence. */
export const paymentsOver = (baseUrl: string, client: Layer.Layer<HttpClient.HttpClient>): Layer.Layer<root.Payments> =>
  Layer.orDie(
    Payments.layer({ baseUrl, companyId: 1 }).pipe(
      Layer.provide([client, credentials, IdempotencyKeyGen.layerSequential])
    )
  )

/** The transports that need sockets; each makes a `Payments` for an address. */
export const socketTransports: Readonly<
  Record<string, (baseUrl: string, shared: Layer.Layer<HttpClient.HttpClient>) => Layer.Layer<root.Payments>>
> = {
  fetch: (baseUrl) =>
    Layer.orDie(
      Layer.provide(
        Payments.layerFetch,
        ConfigProvider.layer(
          ConfigProvider.fromUnknown({
            PAYMENTS_BASE_URL: baseUrl,
            PAYMENTS_CLIENT_ID: secrets.clientId,
            PAYMENTS_API_KEY: secrets.apiKey,
            PAYMENTS_COMPANY_ID: "1"
          })
        )
      )
    ),
  FetchHttpClient: (baseUrl) => paymentsOver(baseUrl, FetchHttpClient.layer),
  node: (baseUrl, shared) => paymentsOver(baseUrl, shared)
}

/** The Node transport, made once for all calls of the program. */
export const nodeTransport: Layer.Layer<HttpClient.HttpClient> = Layer.orDie(node.NodePayments.layerHttpClient())

/** The option `earlier` for a call that may have been executed. */
export const earlierUnknown = { earlier: "Unknown" } as const

/** The checkpoint of the error of a reader of pages, if it has one. */
export const checkpointOf = (error: unknown): root.TransactionStream.Checkpoint | undefined =>
  typeof error === "object" && error !== null && "checkpoint" in error
    ? // Both states use this name. The content of the checkpoint may differ.
      (error.checkpoint as root.TransactionStream.Checkpoint)
    : undefined

/** The states in which a payout in the queue waits for nothing. */
export const isFinal = (state: string): boolean => ["posted", "settled", "failed", "refused", "parked"].includes(state)

/** One attempt, since the queue repeats. */
export const once = PaymentsPolicy.once

/** Two retries without waits, with an unlimited budget, so that cases do not affect each other. */
export const twice = (schedule: Parameters<typeof PaymentsPolicy.make>[0]) =>
  PaymentsPolicy.make({ ...schedule, retryBudget: "unlimited" })
