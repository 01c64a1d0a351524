/**
 * What reached the sandbox: every request that arrived, executed or not, for a test to count and to read.
 */
import type * as DateTime from "effect/DateTime"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Endpoints from "../../contract/Endpoints.ts"
import type { Operation } from "../../contract/PaymentsError.ts"
import type { Fault } from "../Fault.ts"

/**
 * One request as it arrived. What may be secret or personal is `Redacted`: it prints as `<redacted>`, and
 * `Redacted.value` shows it.
 */
export interface RecordedRequest {
  readonly arrivedAt: DateTime.Utc
  /** Which operation it is, by method and path; absent for a path that the service does not have. */
  readonly operation: Operation | undefined
  readonly method: string
  /** Scheme, host and port, as `https://sandbox.example`. */
  readonly origin: string
  /** The path as it was sent. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** The names of the headers, in lower case and sorted. */
  readonly headerNames: ReadonlyArray<string>
  readonly accept: string | undefined
  readonly contentType: string | undefined
  readonly idempotencyKey: string | undefined
  readonly clientId: Redacted.Redacted | undefined
  readonly apiKey: Redacted.Redacted | undefined
  /** The body as it was sent, to the byte (as UTF-8); empty for none. */
  readonly text: Redacted.Redacted
  /** The body read as JSON; `undefined` where it is none. */
  readonly json: Redacted.Redacted<unknown>
  /** What went wrong with it, by the fault's tag. */
  readonly fault: Fault["_tag"]
}

const endpoints = [
  Endpoints.createTransaction,
  Endpoints.listTransactions,
  Endpoints.getTransaction,
  Endpoints.getBalance,
  Endpoints.requestWithdrawal
].map(({ method, operation, path }) => ({
  method,
  operation,
  ending: new RegExp(`${path.replaceAll(/:\w+/g, "[^/]*")}$`)
}))

/**
 * The operation of a method and path. What stands before the path of the contract is the base URL's own path, whatever
 * it is.
 */
export const match = (
  method: string,
  path: string
): { readonly operation: Operation; readonly path: string } | undefined => {
  for (const endpoint of endpoints) {
    const found = endpoint.method === method ? endpoint.ending.exec(path) : null
    if (found !== null) return { operation: endpoint.operation, path: found[0] }
  }
  return undefined
}

const redacted = (label: string, value: string | undefined) =>
  value === undefined ? undefined : Redacted.make(value, { label })

const parse = (text: string): unknown =>
  Result.getOrUndefined(Result.try((): unknown => (text === "" ? undefined : JSON.parse(text))))

export const record = (
  { headers, method }: HttpServerRequest.HttpServerRequest,
  url: URL,
  text: string,
  arrivedAt: DateTime.Utc,
  operation: Operation | undefined,
  fault: Fault
): RecordedRequest => {
  const { accept, apiKey, clientId, contentType, idempotencyKey } = Endpoints.headerNames
  return {
    arrivedAt,
    operation,
    method,
    origin: url.origin,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headerNames: Object.keys(headers).toSorted(),
    accept: headers[accept],
    contentType: headers[contentType],
    idempotencyKey: headers[idempotencyKey],
    clientId: redacted("clientId", headers[clientId]),
    apiKey: redacted("apiKey", headers[apiKey]),
    text: Redacted.make(text, { label: "text" }),
    json: Redacted.make(parse(text), { label: "json" }),
    fault: fault._tag
  }
}
