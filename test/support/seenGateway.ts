/** A gateway in memory that answers as it was seen in the field: ids of 26 hexadecimal characters, codes under `brcode`, its own times. */
import { Clock, Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import brcode from "../fixtures/field/created-brcode.json" with { type: "json" }
import { paymentsOn } from "./Wire.ts"

interface SeenCharge {
  readonly id: string
  readonly amount: number
  /** When it was made, in milliseconds since 1970. */
  readonly at: number
  status: string
}

/** The times that the gateway writes. `now` is when the charge was made. */
export interface SeenTimes {
  readonly expiresAt: (now: number) => unknown
  /** Of the lookup. Default: the time in UTC, with its offset. */
  readonly createdAt?: (now: number) => unknown
  /** Fields of the answer of the creation. */
  readonly answered?: (now: number) => object
  /** By how many milliseconds the gateway's clock is ahead of the test's. */
  readonly ahead?: number
}

export const withOffset = (millis: number) => new Date(millis).toISOString().replace("Z", "+00:00")
/** The time of Brasília, without an offset. */
export const local = (millis: number) => new Date(millis - 3 * 3_600_000).toISOString().slice(0, 19)

/** The gateway's charges, in the order in which they were made, and `Payments` on it. A repeated key makes no charge. */
export const seenGateway = ({ ahead = 0, answered = () => ({}), createdAt = withOffset, expiresAt }: SeenTimes) => {
  const charges: Array<SeenCharge> = []
  const keys = new Map<string, SeenCharge>()
  let lookups = 0
  const create = (key: string, body: { readonly amount: number }, now: number) => {
    const known = keys.get(key)
    const charge = known ?? {
      id: `3fa94c1b7e2d4c8f9a6b5d0e${charges.length.toString(16).padStart(2, "0")}`,
      amount: body.amount,
      at: now,
      status: "Awaiting"
    }
    if (known === undefined) charges.push(charge)
    keys.set(key, charge)
    const pix = { ...brcode.data.pix, expiresAt: expiresAt(charge.at) }
    return { ...brcode, data: { ...brcode.data, id: charge.id, amount: charge.amount, pix, ...answered(charge.at) } }
  }
  const lookUp = (id: string) => {
    lookups++
    const { amount, at, status } = charges.find((charge) => charge.id === id) ?? { amount: 0, at: 0, status: "" }
    return { id: 1, transactionId: id, value: amount, enStatusTransaction: status, createdAt: createdAt(at) }
  }
  const client = HttpClient.make((request, url) =>
    Effect.map(Clock.currentTimeMillis, (time) => {
      const now = time + ahead
      const { body, headers, method } = request
      const text = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
      const answer =
        method === "POST"
          ? create(headers["idempotency-key"] ?? "", JSON.parse(text), now)
          : lookUp(url.pathname.split("/").at(-1) ?? "")
      return HttpClientResponse.fromWeb(request, Response.json(answer))
    })
  )
  const layer = paymentsOn(Layer.succeed(HttpClient.HttpClient, client))
  return { charges, layer, lookups: () => lookups }
}
