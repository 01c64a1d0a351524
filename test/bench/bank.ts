/**
 * A gateway in memory of several client ids, each with a balance and keys of its own: the same key under two client ids is
 * paid twice. The test decides what a request is answered with, and which payout left twice.
 */
import { Effect, Layer, Redacted } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { Credentials, IdempotencyKeyGen, Payments } from "effect-pix"

/** What the gateway does with a request, in the place of paying it. */
export type Misbehaviour =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  | "lose the answer"
  | "no connection"

export interface Received {
  readonly clientId: string
  readonly key: string
  /** In centavos. */
  readonly amount: number
}

const companies: Readonly<Record<string, number>> = { "client-a": 1, "client-b": 2, "client-c": 3 }

export const makeBank = (decide: (request: Received, index: number) => Misbehaviour | undefined = () => undefined) => {
  const received: Array<Received> = []
  /** By client id and key. */
  const paid = new Map<string, Received & { readonly id: number }>()
  const client = HttpClient.make((request) => {
    const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : "{}"
    const one: Received = {
      clientId: request.headers["x-client-id"] ?? "",
      key: request.headers["idempotency-key"] ?? "",
      amount: JSON.parse(body).amount
    }
    const misbehaviour = decide(one, received.length)
    received.push(one)
    const answer = (status: number, json: unknown, headers = {}) =>
      Effect.succeed(HttpClientResponse.fromWeb(request, new Response(JSON.stringify(json), { status, headers })))
    const fail = (cause: unknown) =>
      Effect.fail(
        new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
      )
    if (misbehaviour === "no connection") {
      return fail(Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" }))
    }
    if (typeof misbehaviour === "object")
      return answer(misbehaviour.status, misbehaviour.body ?? "", misbehaviour.headers)
    const name = `${one.clientId} ${one.key}`
    const record = paid.get(name) ?? { ...one, id: paid.size + 1 }
    paid.set(name, record)
    if (misbehaviour === "lose the answer") {
      return fail(new TypeError("fetch failed", { cause: Object.assign(new Error("read"), { code: "ECONNRESET" }) }))
    }
    return answer(201, {
      id: record.id,
      companyId: companies[one.clientId],
      idempotencyKey: one.key,
      value: one.amount / 100,
      enTransaction: "Awaiting"
    })
  })
  /** A `Payments` of a client id, whose credentials may change. */
  const makeClient = (
    clientId: string,
    {
      onRead = () => undefined,
      ...options
    }: {
      readonly companyId?: number
      readonly baseUrl?: string
      /** Runs at each read of the credentials, and may name another client id from then on. */
      readonly onRead?: (read: number) => string | undefined
    } = {}
  ) => {
    let current = { clientId, apiKey: Redacted.make("sk_1") }
    let reads = 0
    const credentials = Layer.succeed(Credentials, {
      current: Effect.sync(() => {
        const other = onRead(++reads)
        if (other !== undefined) current = { ...current, clientId: other }
        return current
      }),
      reload: () => Effect.succeed(false)
    })
    return {
      layer: Layer.orDie(
        Payments.layer({ baseUrl: "https://gateway.example", ...options }).pipe(
          Layer.provide([Layer.succeed(HttpClient.HttpClient, client), credentials, IdempotencyKeyGen.layer])
        )
      ),
      use: (clientId: string, apiKey = "sk_1") =>
        Effect.sync(() => {
          current = { clientId, apiKey: Redacted.make(apiKey) }
        })
    }
  }
  return { received, paid, makeClient }
}
