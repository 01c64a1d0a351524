/**
 * Matches requests with the endpoints of the contract, and records them.
 */
import type * as DateTime from "effect/DateTime"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Endpoints from "../../contract/Endpoints.ts"
import type { Fault } from "../Fault.ts"
import type { RecordedRequest } from "../SandboxRequest.ts"
import { isTooDeep } from "./json.ts"

const endpoints = Object.values(Endpoints.all).map((endpoint: Endpoints.Endpoint) => ({
  endpoint,
  ending: new RegExp(`${endpoint.path.replaceAll(/:\w+/g, "[^/]*")}$`)
}))

/** The endpoint of a method and a path, if there is one. */
export interface Matched {
  readonly endpoint: Endpoints.Endpoint | undefined
  /** The path of the contract, without the path of the base URL before it. */
  readonly path: string
  /** The methods of the path. */
  readonly allowed: ReadonlyArray<string>
}

/** Matches the end of a path, since the base URL may have a path of its own. */
export const match = (method: string, path: string): Matched => {
  const allowed: Array<string> = []
  for (const { ending, endpoint } of endpoints) {
    const found = ending.exec(path)
    if (found === null) continue
    if (endpoint.method === method) return { endpoint, path: found[0], allowed: [method] }
    allowed.push(endpoint.method)
  }
  return { endpoint: undefined, path, allowed }
}

/** The largest part of an answer that is recorded, in bytes. */
const recordedAnswer = 16 * 1024

/** The request with its answer. */
export const withAnswer = (
  request: RecordedRequest,
  response: HttpServerResponse.HttpServerResponse
): RecordedRequest => {
  const { body, status } = response
  if (body._tag !== "Uint8Array") return { ...request, status }
  const answer = new TextDecoder().decode(body.body.subarray(0, recordedAnswer))
  return { ...request, status, answer: Redacted.make(answer, { label: "answer" }) }
}

const redacted = (label: string, value: string | undefined) =>
  value === undefined ? undefined : Redacted.make(value, { label })

const parse = (text: string): unknown =>
  Result.getOrUndefined(Result.try((): unknown => (text === "" ? undefined : JSON.parse(text))))

/** Headers whose values are not shown. */
const secret: ReadonlySet<string> = new Set([
  Endpoints.headerNames.clientId,
  Endpoints.headerNames.apiKey,
  "authorization",
  "cookie",
  "proxy-authorization"
])

export const record = (
  id: number,
  { headers, method }: HttpServerRequest.HttpServerRequest,
  url: URL,
  text: string,
  arrivedAt: DateTime.Utc,
  operation: Endpoints.Operation | undefined,
  fault: Fault
): RecordedRequest => {
  const { accept, apiKey, clientId, contentType, idempotencyKey } = Endpoints.headerNames
  const named = Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return {
    id,
    arrivedAt,
    operation,
    method,
    origin: url.origin,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headerNames: named.map(([name]) => name),
    headers: Object.fromEntries(named.map(([name, value]) => [name, secret.has(name) ? "<redacted>" : value])),
    accept: headers[accept],
    contentType: headers[contentType],
    idempotencyKey: headers[idempotencyKey],
    clientId: redacted("clientId", headers[clientId]),
    apiKey: redacted("apiKey", headers[apiKey]),
    text: Redacted.make(text, { label: "text" }),
    json: Redacted.make(isTooDeep(text) ? undefined : parse(text), { label: "json" }),
    fault: fault._tag,
    status: undefined,
    answer: undefined
  }
}
