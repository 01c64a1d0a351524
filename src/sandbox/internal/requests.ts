/**
 * Matches requests with the endpoints of the contract, and records them.
 */
import * as DateTime from "effect/DateTime"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Endpoints from "../../contract/Endpoints.ts"
import * as Fault from "../Fault.ts"
import type { SandboxRequest } from "../SandboxRequest.ts"

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

/** Matches the end of a path, since the base URL may have a path of its own. `isSeen` adds the endpoints that were seen. */
export const match = (method: string, path: string, isSeen: boolean): Matched => {
  const allowed: Array<string> = []
  for (const { ending, endpoint } of endpoints) {
    const found = endpoint.group !== "seen" || isSeen ? ending.exec(path) : null
    if (found === null) continue
    if (endpoint.method === method) return { endpoint, path: found[0], allowed: [method] }
    allowed.push(endpoint.method)
  }
  return { endpoint: undefined, path, allowed }
}

/** The largest part of an answer that is recorded, in bytes. */
const recordedAnswer = 16 * 1024

/** The status and the beginning of the body of an answer, as a request records them. */
export const answerOf = ({ body, status }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Uint8Array"
    ? { status, answer: new TextDecoder().decode(body.body.subarray(0, recordedAnswer)) }
    : { status }

/** Headers whose values are not shown. */
const secret: ReadonlySet<string> = new Set([
  Endpoints.headerNames.clientId,
  Endpoints.headerNames.apiKey,
  "authorization",
  "cookie",
  "proxy-authorization"
])

interface Arrived {
  readonly id: number
  readonly request: HttpServerRequest.HttpServerRequest
  readonly url: URL
  readonly body: string
  readonly now: DateTime.Utc
  readonly operation: Endpoints.Operation | undefined
  readonly fault: Fault.Fault | undefined
}

export const record = ({ body, fault, id, now, operation, request, url }: Arrived): SandboxRequest => {
  const { headers, method } = request
  const idempotencyKey = headers[Endpoints.headerNames.idempotencyKey]
  const named = Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return {
    id,
    arrivedAt: DateTime.formatIso(now),
    ...(operation !== undefined && { operation }),
    method,
    origin: url.origin,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(named.map(([name, value]) => [name, secret.has(name) ? "<redacted>" : value])),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    body,
    ...(fault !== undefined && fault !== Fault.none && { fault })
  }
}
