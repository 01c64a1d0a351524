/**
 * The lists of the steering API: searches, counts and shows charges, payouts, requests and webhooks.
 */
import * as Redacted from "effect/Redacted"
import type { ShownRequest } from "../SandboxApi.ts"
import type { SandboxWithdrawal } from "../SandboxLedger.ts"
import type { RecordedRequest } from "../SandboxRequest.ts"
import type { Charge } from "../SandboxState.ts"
import type { SandboxWebhook } from "../SandboxWebhook.ts"
import { curl } from "./curl.ts"

const shownBody = 16 * 1024

interface Listing {
  readonly search?: string | undefined
  readonly status?: string | undefined
  readonly limit?: number | undefined
}

/** How the rows of a list are searched, counted and shown. */
interface Rows<A, B> {
  readonly textOf: (value: A) => string
  readonly statusOf: (value: A) => string
  readonly show: (value: A) => B
}

/** The newest rows that fit, and how many fit in all. Only the returned rows are built. */
export const newest = <A, B>(
  all: ReadonlyArray<A>,
  { limit = 200, search = "", status }: Listing,
  { show, statusOf, textOf }: Rows<A, B>
) => {
  const wanted = search.trim().toLowerCase()
  const found = wanted === "" ? all : all.filter((value) => textOf(value).toLowerCase().includes(wanted))
  const counts: Record<string, number> = {}
  for (const value of found) counts[statusOf(value)] = (counts[statusOf(value)] ?? 0) + 1
  const fitting = status === undefined ? found : found.filter((value) => statusOf(value) === status)
  return { total: fitting.length, counts, items: fitting.slice(-limit).toReversed().map(show) }
}

export const statusOf = ({ status }: { readonly status: string }) => status

export const textOfCharge = (charge: Charge) => {
  const { amount, customer, idempotencyKey, rowId, status, transactionId } = charge
  const reais = (amount / 100).toFixed(2)
  const words = [transactionId, idempotencyKey, status, customer.name, customer.email, customer.externalRef]
  return `${words.join(" ")} ${reais} ${reais.replace(".", ",")} #${rowId}`
}

export const textOfWithdrawal = ({ amount, id, idempotencyKey, pixKey, status }: SandboxWithdrawal) =>
  [idempotencyKey, status, Redacted.value(pixKey), (amount / 100).toFixed(2), `#${id}`].join(" ")

export const textOfRequest = ({ idempotencyKey, method, operation, path, status, text }: RecordedRequest) =>
  [method, path, operation, idempotencyKey, status, Redacted.value(text)].join(" ")

export const textOfWebhook = ({ json, state, target }: SandboxWebhook) =>
  `${target} ${state} ${JSON.stringify(Redacted.value(json))}`

export const showRequest = (request: RecordedRequest): ShownRequest => {
  const { answer, arrivedAt, fault, headers, id, method, operation, path, query, status, text } = request
  return {
    id,
    arrivedAt,
    ...(operation !== undefined && { operation }),
    method,
    path,
    query,
    headers,
    body: Redacted.value(text).slice(0, shownBody),
    fault,
    ...(status !== undefined && { status }),
    ...(answer !== undefined && { answer: Redacted.value(answer) }),
    curl: curl(request)
  }
}
