/**
 * An `HttpClient` in memory which answers as the test scripts it, so that a test's clock decides about time; and what
 * the tests of the client have in common.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { Credentials, IdempotencyKeyGen, Money, Payments, type PaymentsOptions } from "effect-pix"
import { BigDecimal, Clock, DateTime, Effect, Layer, Redacted } from "effect"
import * as FetchTransport from "../../src/client/internal/transport/fetchTransport.ts"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientResponse } from "effect/http"

interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array | undefined
  /** When, by the test's clock. */
  readonly at: number
}

/** What becomes of one request: a response, a failure with this cause, or silence. */
export type Reply =
  | { readonly response: () => Response }
  | { readonly cause: unknown }
  | { readonly defect: unknown }
  | "silence"

export const respond = (status: number, body: unknown = "", headers: Record<string, string> = {}): Reply => ({
  response: () => new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers })
})

export const refusedConnection: Reply = {
  cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" })
}
export const lostConnection: Reply = {
  cause: new TypeError("fetch failed", { cause: Object.assign(new Error("read"), { code: "ECONNRESET" }) })
}

/** The client that plays the replies in turn; the last one stays. */
export const scripted = (...replies: readonly [Reply, ...ReadonlyArray<Reply>]) => {
  const sent: Array<Sent> = []
  const client = HttpClient.make((request, url, _signal, fiber) => {
    const reply = replies[Math.min(sent.length, replies.length - 1)] ?? replies[0]
    sent.push({
      method: request.method,
      url: url.href,
      headers: { ...request.headers },
      bytes: request.body._tag === "Uint8Array" ? request.body.body : undefined,
      at: fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    })
    if (reply === "silence") return Effect.never
    if ("defect" in reply) return Effect.die(reply.defect)
    return "cause" in reply
      ? Effect.fail(
          new HttpClientError.HttpClientError({
            reason: new HttpClientError.TransportError({ request, cause: reply.cause })
          })
        )
      : Effect.succeed(HttpClientResponse.fromWeb(request, reply.response()))
  })
  return { sent, layer: Layer.succeed(HttpClient.HttpClient, client) }
}

export const clientId = "client-4711"
export const apiKey = "sk_live_0f9d2c7b"

export const credentials = Credentials.layer({ clientId, apiKey: Redacted.make(apiKey) })

/** `Payments` on a transport, with keys tx_1, wd_2 and so on. */
export const paymentsOn = (
  transport: Layer.Layer<HttpClient.HttpClient>,
  options: PaymentsOptions = { baseUrl: "https://gateway.example" }
) => Payments.layer(options).pipe(Layer.provide([transport, credentials, IdempotencyKeyGen.layerSequential]))

/** The transports that users have. */
export const transports = {
  "FetchHttpClient.layer": FetchHttpClient.layer,
  "FetchTransport.layer": FetchTransport.layer,
  "NodeHttpClient.layerUndici": NodeHttpClient.layerUndici,
  "NodeHttpClient.layerNodeHttp": NodeHttpClient.layerNodeHttp
}

/** The minimal request of the contract. */
export const charge = {
  amount: Money.centavos(2500),
  paymentMethod: "PIX",
  customer: { name: "Maria Silva", email: "maria@example.com" }
} as const

export const payout = { amount: Money.centavos(1000) }

export const created = {
  data: {
    id: "6f1b9a3e-2f7c-4f0e-9d53-0c5a7e1b2d44",
    amount: 2500,
    paymentMethod: "PIX",
    status: "WAITING_PAYMENT",
    pix: { qrcode: "00020126580014br.gov.bcb.pix", expirationDate: "2026-11-22T12:00:00.000Z" }
  },
  status: 200,
  message: "Transação criada com sucesso"
}

export const listed = {
  ok: true,
  res: {
    items: [
      {
        id: 91,
        leadId: "0b54e2f6-78c3-4f8a-8b34-6f6f7cf1f1aa",
        lead: {
          id: "0b54e2f6-78c3-4f8a-8b34-6f6f7cf1f1aa",
          externalId: null,
          name: "Maria Silva",
          email: "maria@example.com",
          phone: "11987654321",
          documentNumber: "52998224725",
          documentType: "CPF"
        },
        amount: 2500,
        status: "PENDING",
        paymentMethod: "PIX",
        providerTxId: "prov-1",
        createdAt: "2026-11-21T10:00:00.000Z",
        updatedAt: "2026-11-21T10:05:00.000Z"
      }
    ],
    totalItems: 1,
    totalPages: 1,
    currentPage: 1,
    pageSize: 50
  }
}

export const detail = {
  id: 91,
  leadId: 12,
  lead: { id: 12, name: "Maria Silva", email: "maria@example.com", phone: "11987654321", document: "52998224725" },
  companyId: 7,
  value: 2500,
  transactionId: "6f1b9a3e-2f7c-4f0e-9d53-0c5a7e1b2d44",
  enStatusTransaction: "Awaiting",
  enPaymentSystem: "Pix",
  updateDate: "2026-11-21T07:05:00.000-03:00",
  createdAt: "2026-11-21T10:00:00.000Z"
}

export const balance = {
  id: 3,
  companyId: 7,
  currency: "BRL",
  enBalanceStatus: "Released",
  accBalance: 1234567.89,
  accBalanceCredit: 0.1,
  accBalanceCreditAwaiting: 0
}

/** The record of a withdrawal, which echoes the key. */
export const record = (idempotencyKey: string) => ({
  id: 55,
  companyId: 7,
  idempotencyKey,
  value: 10,
  pixKey: "maria@example.com",
  pixKeyType: "EMAIL",
  creditorDocument: "52998224725",
  description: "Rent",
  currency: "BRL",
  enTransaction: "Awaiting",
  createdAt: "2026-11-21T10:00:00.000Z"
})

/** A value as one reads it: decimals and instants as text that says what they are. */
export const shown = (value: unknown): unknown => {
  if (BigDecimal.isBigDecimal(value)) return `${BigDecimal.format(value)} reais`
  if (DateTime.isDateTime(value)) return `${DateTime.isUtc(value) ? "utc" : "zoned"} ${DateTime.formatIso(value)}`
  if (Array.isArray(value)) return value.map(shown)
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shown(member)]))
    : value
}
