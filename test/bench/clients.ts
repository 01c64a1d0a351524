/**
 * The clients under comparison. Each sends the same charge with the same headers and gives back what identifies the
 * answer, so that none is measured while it fails.
 */
import { randomUUID } from "node:crypto"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { Credentials, IdempotencyKeyGen, Payments } from "effect-pix"
import { Stripe } from "stripe"
import { Pool } from "undici"
import { charge, createPath, credentials, listPath, rows } from "./payloads.ts"

interface Client {
  /** Creates a charge and gives its id. */
  readonly create: () => Promise<unknown>
  /** Reads a page of 100 rows and gives their number. */
  readonly list: () => Promise<unknown>
}

const readHeaders = {
  accept: "application/json",
  "x-client-id": credentials.clientId,
  "x-api-key": credentials.apiKey
}
const writeHeaders = () => ({
  ...readHeaders,
  "content-type": "application/json",
  "idempotency-key": `tx_${randomUUID()}`
})
const query = `?pageSize=${rows}`

interface Created {
  readonly data: { readonly id: string }
}
interface Listed {
  readonly res: { readonly items: ReadonlyArray<unknown> }
}

const undici = async (port: number): Promise<Client> => {
  const pool = new Pool(`http://127.0.0.1:${port}`)
  return {
    create: async () => {
      const body = JSON.stringify(charge)
      const answer = await pool.request({ method: "POST", path: createPath, headers: writeHeaders(), body })
      const value: Created = JSON.parse(await answer.body.text())
      return value.data.id
    },
    list: async () => {
      const answer = await pool.request({ method: "GET", path: listPath + query, headers: readHeaders })
      const value: Listed = JSON.parse(await answer.body.text())
      return value.res.items.length
    }
  }
}

const bareFetch = async (port: number): Promise<Client> => {
  const base = `http://127.0.0.1:${port}`
  return {
    create: async () => {
      const body = JSON.stringify(charge)
      const answer = await fetch(base + createPath, { method: "POST", headers: writeHeaders(), body })
      const value = (await answer.json()) as Created // what the server is known to send
      return value.data.id
    },
    list: async () => {
      const answer = await fetch(base + listPath + query, { headers: readHeaders })
      const value = (await answer.json()) as Listed // what the server is known to send
      return value.res.items.length
    }
  }
}

/** On its own resources: the paths and the names of the fields are Stripe's, the answers are those of the others. */
const stripe = async (port: number): Promise<Client> => {
  const client = new Stripe(credentials.apiKey, { host: "127.0.0.1", port, protocol: "http", telemetry: false })
  const params: Stripe.PaymentIntentCreateParams = {
    amount: charge.amount,
    currency: "brl",
    payment_method_data: { type: "pix", billing_details: { email: charge.customer.email } },
    receipt_email: charge.customer.email,
    description: "Plano mensal",
    payment_method_options: { pix: { expires_after_seconds: 172_800 } },
    metadata: { name: charge.customer.name, document: "11144477735", phone: "11987654321", reference: "order-1042" }
  }
  return {
    create: async () => {
      const value: unknown = await client.paymentIntents.create(params, { idempotencyKey: `tx_${randomUUID()}` })
      return (value as Created).data.id // the server answers with a charge of ours
    },
    list: async () => {
      const value: unknown = await client.paymentIntents.list({ limit: rows })
      return (value as Listed).res.items.length // the server answers with a page of ours
    }
  }
}

const ours =
  (http: Layer.Layer<HttpClient.HttpClient>) =>
  async (port: number): Promise<Client> => {
    const runtime = ManagedRuntime.make(
      Payments.layer({ baseUrl: `http://127.0.0.1:${port}`, companyId: 7 }).pipe(
        Layer.provide([
          http,
          IdempotencyKeyGen.layer,
          Credentials.layer({ clientId: credentials.clientId, apiKey: Redacted.make(credentials.apiKey) })
        ])
      )
    )
    const payments = await runtime.runPromise(Payments)
    // A fiber for each call, as a handler of a backend has.
    return {
      create: () => Effect.runPromise(Effect.map(payments.createTransaction(charge), ({ id }) => id)),
      list: () =>
        Effect.runPromise(Effect.map(payments.listTransactions({ pageSize: rows }), (page) => page.items.length))
    }
  }

interface Contender {
  readonly title: string
  readonly make: (port: number) => Promise<Client>
  /** Node's flags for its process. */
  readonly flags: ReadonlyArray<string>
}

const schemaJit = ["--import", "effect/schema/SchemaJITCompiler/enable"]

/** By name, in the order of the table. The first is the measure of the others. */
export const contenders = {
  undici: { title: "undici `Pool.request` + `JSON.parse`", make: undici, flags: [] },
  oursUndiciJit: {
    title: "effect-pix on Effect's undici layer, schema JIT",
    make: ours(NodeHttpClient.layerUndici),
    flags: schemaJit
  },
  oursUndici: { title: "effect-pix on Effect's undici layer", make: ours(NodeHttpClient.layerUndici), flags: [] },
  stripe: { title: "stripe-node (no validation)", make: stripe, flags: [] },
  fetch: { title: "`fetch` + `json()`", make: bareFetch, flags: [] },
  oursFetchJit: { title: "effect-pix on fetch, schema JIT", make: ours(FetchHttpClient.layer), flags: schemaJit },
  oursFetch: { title: "effect-pix on fetch", make: ours(FetchHttpClient.layer), flags: [] }
} satisfies Record<string, Contender>

export type ContenderName = keyof typeof contenders
