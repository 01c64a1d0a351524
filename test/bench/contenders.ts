/**
 * The clients under comparison. Each sends the same request with the same headers, and returns a value that identifies
 * the answer, so that a failing client is never measured.
 */
import { randomUUID } from "node:crypto"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, ManagedRuntime, Redacted, Tracer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { Credentials, IdempotencyKeyGen, Payments } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { Agent, type Dispatcher, Pool } from "undici"
import { type Call, charge, chargeId, credentials, paths, rows, withdrawal, withdrawalBody } from "./payloads.ts"
import { peer } from "./peers.ts"

/** One function for each operation. It returns a value that identifies the answer. */
export type Client = Readonly<Record<Call, () => Promise<unknown>>>

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
const listPath = `${paths.list}?pageSize=${rows}`

interface Created {
  readonly data: { readonly id: string }
}
interface Listed {
  readonly res: { readonly items: ReadonlyArray<unknown> }
}
interface Detail {
  readonly enStatusTransaction: string
}
interface Withdrawn {
  readonly id: number
}

/** The four operations on two functions that fetch JSON. The plain clients differ only in these functions. */
const clientOf = (
  get: (path: string) => Promise<unknown>,
  post: (path: string, body: unknown) => Promise<unknown>
): Client => ({
  // The server always sends this shape.
  create: async () => ((await post(paths.create, charge)) as Created).data.id,
  lookup: async () => ((await get(paths.lookup)) as Detail).enStatusTransaction,
  list: async () => ((await get(listPath)) as Listed).res.items.length,
  withdraw: async () => ((await post(paths.withdraw, withdrawalBody)) as Withdrawn).id
})

const undici = async (origin: string): Promise<Client> => {
  const pool = new Pool(origin)
  return clientOf(
    async (path) => JSON.parse(await (await pool.request({ method: "GET", path, headers: readHeaders })).body.text()),
    async (path, body) => {
      const answer = await pool.request({ method: "POST", path, headers: writeHeaders(), body: JSON.stringify(body) })
      return JSON.parse(await answer.body.text())
    }
  )
}

/** The cheapest request with undici. */
export const dispatchOn = (dispatcher: Pick<Dispatcher, "dispatch">, origin: string): Client => {
  const send = (method: "GET" | "POST", path: string, headers: Record<string, string>, body?: string) =>
    new Promise<unknown>((resolve, reject) => {
      const chunks: Array<Buffer> = []
      dispatcher.dispatch(
        { origin, path, method, headers, body: body ?? null },
        {
          onRequestStart: () => undefined,
          onResponseStart: () => undefined,
          onResponseData: (_, chunk) => void chunks.push(chunk),
          onResponseEnd: () =>
            resolve(JSON.parse((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString())),
          onResponseError: (_, error) => reject(error)
        }
      )
    })
  return clientOf(
    (path) => send("GET", path, readHeaders),
    (path, body) => send("POST", path, writeHeaders(), JSON.stringify(body))
  )
}

const bareFetch =
  (init: () => RequestInit) =>
  async (origin: string): Promise<Client> =>
    clientOf(
      async (path) => (await fetch(origin + path, { ...init(), headers: readHeaders })).json(),
      async (path, body) => {
        const sent = { method: "POST", headers: writeHeaders(), body: JSON.stringify(body) }
        return (await fetch(origin + path, { ...init(), ...sent })).json()
      }
    )

/** A program with Effect's client alone: the same headers, and JSON without a schema. */
const plainEffect = async (origin: string): Promise<Client> => {
  const runtime = ManagedRuntime.make(FetchHttpClient.layer)
  const client = await runtime.runPromise(HttpClient.HttpClient)
  const run = (request: HttpClientRequest.HttpClientRequest) =>
    Effect.runPromise(Effect.flatMap(HttpClient.filterStatusOk(client).execute(request), ({ json }) => json))
  return clientOf(
    (path) => run(HttpClientRequest.get(origin + path, { headers: readHeaders })),
    (path, body) =>
      Effect.runPromise(
        HttpClientRequest.post(origin + path, { headers: writeHeaders() }).pipe(HttpClientRequest.bodyJson(body))
      ).then(run)
  )
}

/** The paths and the names of the fields are Stripe's. The answers are the same as for the other clients. */
const stripe = async (origin: string): Promise<Client> => {
  const { Stripe } = await peer<{ readonly Stripe: new (key: string, options: object) => StripeClient }>("stripe")
  const { hostname, port } = new URL(origin)
  const client = new Stripe(credentials.apiKey, { host: hostname, port, protocol: "http", telemetry: false })
  const key = () => ({ idempotencyKey: `tx_${randomUUID()}` })
  return clientOf(
    (path) => client.rawRequest("GET", path, undefined, {}),
    (path, body) => client.rawRequest("POST", path, body, { ...key(), additionalHeaders: readHeaders })
  )
}
interface StripeClient {
  readonly rawRequest: (method: string, path: string, body: unknown, options: object) => Promise<unknown>
}

const openai = async (origin: string): Promise<Client> => {
  interface OpenAi {
    readonly get: (path: string, options: object) => Promise<unknown>
    readonly post: (path: string, options: object) => Promise<unknown>
  }
  const { OpenAI } = await peer<{ readonly OpenAI: new (options: object) => OpenAi }>("openai")
  const client = new OpenAI({ apiKey: credentials.apiKey, baseURL: origin })
  return clientOf(
    (path) => client.get(path, { headers: readHeaders }),
    (path, body) => client.post(path, { body, headers: writeHeaders() })
  )
}

const mercadopago = async (origin: string): Promise<Client> => {
  interface Rest {
    readonly RestClient: { readonly fetch: (path: string, config: object) => Promise<unknown> }
  }
  const { AppConfig } = await peer<{ readonly AppConfig: { BASE_URL: string } }>(
    "mercadopago/dist/utils/config/index.js"
  )
  const { RestClient } = await peer<Rest>("mercadopago/dist/utils/restClient/index.js")
  AppConfig.BASE_URL = origin
  return clientOf(
    (path) => RestClient.fetch(path, { method: "GET", headers: readHeaders }),
    (path, body) => RestClient.fetch(path, { method: "POST", headers: writeHeaders(), body: JSON.stringify(body) })
  )
}

const axios = async (origin: string): Promise<Client> => {
  interface Axios {
    readonly get: (path: string, options: object) => Promise<{ readonly data: unknown }>
    readonly post: (path: string, body: unknown, options: object) => Promise<{ readonly data: unknown }>
  }
  const { Agent: HttpAgent } = await import("node:http")
  const { default: make } = await peer<{ readonly default: { readonly create: (options: object) => Axios } }>("axios")
  const client = make.create({ baseURL: origin, httpAgent: new HttpAgent({ keepAlive: true }) })
  return clientOf(
    async (path) => (await client.get(path, { headers: readHeaders })).data,
    async (path, body) => (await client.post(path, body, { headers: writeHeaders() })).data
  )
}

const ky = async (origin: string): Promise<Client> => {
  type Answer = { readonly json: () => Promise<unknown> }
  interface Ky {
    readonly get: (url: string, options: object) => Answer
    readonly post: (url: string, options: object) => Answer
  }
  const { default: client } = await peer<{ readonly default: Ky }>("ky")
  return clientOf(
    (path) => client.get(origin + path, { headers: readHeaders }).json(),
    (path, body) => client.post(origin + path, { headers: writeHeaders(), json: body }).json()
  )
}

/** A tracer that makes spans and stores none. */
export const tracing = Layer.succeed(Tracer.Tracer, Tracer.make({ span: (options) => new Tracer.NativeSpan(options) }))

/** `Payments` on a transport, as in a backend. */
const paymentsOn = (http: Layer.Layer<HttpClient.HttpClient, unknown>, origin: string) =>
  Payments.layer({ baseUrl: origin, companyId: 7 }).pipe(
    Layer.provide([
      http,
      IdempotencyKeyGen.layer,
      Credentials.layer({ clientId: credentials.clientId, apiKey: Redacted.make(credentials.apiKey) })
    ])
  )

/** Our own layer over fetch, as `Payments.layerFetch` builds it. */
const ownFetch = async (origin: string): Promise<ManagedRuntime.ManagedRuntime<Payments, unknown>> => {
  process.env["PAYMENTS_BASE_URL"] = origin
  process.env["PAYMENTS_CLIENT_ID"] = credentials.clientId
  process.env["PAYMENTS_API_KEY"] = credentials.apiKey
  return ManagedRuntime.make(Payments.layerFetch)
}

type Runtime = ManagedRuntime.ManagedRuntime<Payments, unknown>

export const ours =
  (make: (origin: string) => Runtime | Promise<Runtime>, tracer: Layer.Layer<never> = Layer.empty) =>
  async (origin: string): Promise<Client> => {
    const runtime = await make(origin)
    const payments = await runtime.runPromise(Payments)
    const context = await Effect.runPromise(Effect.scoped(Layer.build(tracer)))
    // A fiber for each call, as a handler of a backend has.
    const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromiseWith(context)(effect)
    const page = { pageSize: rows }
    return {
      create: () => run(Effect.map(payments.createTransaction(charge), ({ id }) => id)),
      lookup: () => run(Effect.map(payments.getTransaction(chargeId), (detail) => detail.enStatusTransaction)),
      list: () => run(Effect.map(payments.listTransactions(page), ({ items }) => items.length)),
      withdraw: () => run(Effect.map(payments.requestWithdrawal(withdrawal), ({ id }) => id))
    }
  }

export const on = (http: Layer.Layer<HttpClient.HttpClient, unknown>) => (origin: string) =>
  ManagedRuntime.make(paymentsOn(http, origin))

const node = NodePayments.layerHttpClient({ connections: 10_000 })

interface Contender {
  readonly title: string
  readonly make: (origin: string) => Promise<Client>
}

/** By name, in the order of the table. The mean of the first two, which are the same, is the measure of the others. */
export const contenders = {
  undici: { title: "undici `Pool.request` + `JSON.parse`", make: undici },
  undiciAgain: { title: "the same, in another process", make: undici },
  dispatch: { title: "undici `dispatch` by hand", make: async (origin) => dispatchOn(new Agent(), origin) },
  oursNode: { title: "**effect-pix/node**", make: ours(on(node)) },
  oursNodeTraced: { title: "**effect-pix/node**, with a tracer", make: ours(on(node), tracing) },
  oursUndici: { title: "**effect-pix** on Effect's undici layer", make: ours(on(NodeHttpClient.layerUndici)) },
  oursFetch: { title: "**effect-pix** on fetch (`Payments.layerFetch`)", make: ours(ownFetch) },
  oursFetchTraced: { title: "**effect-pix** on fetch, with a tracer", make: ours(ownFetch, tracing) },
  fetch: { title: "`fetch` + `json()`", make: bareFetch(() => ({})) },
  fetchSignal: {
    title: "`fetch` with a signal + `json()`",
    make: bareFetch(() => ({ signal: new AbortController().signal }))
  },
  effect: { title: "Effect's `HttpClient` on fetch, no schema", make: plainEffect },
  stripe: { title: "stripe", make: stripe },
  openai: { title: "openai", make: openai },
  mercadopago: { title: "mercadopago", make: mercadopago },
  axios: { title: "axios", make: axios },
  ky: { title: "ky", make: ky }
} satisfies Record<string, Contender>

export type ContenderName = keyof typeof contenders
export const names = Object.keys(contenders) as ReadonlyArray<ContenderName> // the keys of a literal
