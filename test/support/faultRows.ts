/** The faults of a request or its answer over each transport, and the error that a caller gets. */
import { NodeHttpClient } from "@effect/platform-node"
import { Layer, Result } from "effect"
import type { PaymentsError } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { Fault } from "effect-pix/sandbox"
import { FetchHttpClient, type HttpClient } from "effect/http"
import * as FetchTransport from "./FetchTransport.ts"
import { type OperationCall, requestWithdrawal } from "./operations.ts"
import type { Play } from "./RawServer.ts"
import * as Raw from "./rawReplies.ts"

/** The real transports, each built as a program would build it. */
export const transports = {
  fetch: FetchHttpClient.layer,
  "our fetch": FetchTransport.layer,
  undici: NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layerNodeHttp,
  "effect-pix/node": Layer.orDie(NodePayments.layerHttpClient())
} satisfies Record<string, Layer.Layer<HttpClient.HttpClient>>
export type Transport = keyof typeof transports

/** The way of a call: over a transport, or in memory if the transport does not matter. */
type Way = Transport | "memory"

const isFetch = (transport: Way) => transport === "fetch" || transport === "our fetch"

/** Whether a transport unpacks a compression that it did not request. */
const unpacks = (transport: Way) => isFetch(transport) || transport === "effect-pix/node"

export const names: ReadonlyArray<Transport> = ["fetch", "our fetch", "undici", "node:http", "effect-pix/node"]

/** The result of a call: the fields of its error on which a caller acts, and the number of requests at the server. */
export interface Outcome {
  readonly result: "Success" | PaymentsError["_tag"]
  readonly outcome?: PaymentsError["outcome"]
  readonly reason?: string
  readonly status?: number
  readonly requests: number
}

/** The outcome of a call that sent this number of requests. */
export const outcomeOf = <A>(result: Result.Result<A, PaymentsError>, requests: number): Outcome => {
  if (Result.isSuccess(result)) return { result: "Success", requests }
  const error = result.failure
  return {
    result: error._tag,
    outcome: error.outcome,
    ...("reason" in error && { reason: error.reason }),
    ...("status" in error && error.status !== undefined && { status: error.status }),
    requests
  }
}

/** The status is the one of the operation's good answer. */
const own = -1
export const limit = 64 * 1024

export interface Row {
  readonly name: string
  /**
   * The script for a server at `baseUrl`. A single fault applies to every request, a list of faults to the first
   * requests.
   */
  readonly faults: Fault.Fault | ReadonlyArray<Fault.Fault> | ((baseUrl: string) => Fault.Fault)
  readonly read: Outcome
  readonly write: Outcome
  /** How often a write was executed in all. */
  readonly executed: number
  /** The answer never ends: the server sends nothing, or only the head. */
  readonly stalls?: "silence" | "head"
  /** The expected outcome if an operation or a transport differs. */
  readonly but?: (call: OperationCall, transport: Way) => Partial<Outcome> | undefined
}

/** The expected outcome of an operation in a row. */
export const expectedOf = (row: Pick<Row, "read" | "write" | "but">, call: OperationCall, way: Way): Outcome => {
  const other = row.but?.(call, way)
  if (other?.result === "Success") return { result: "Success", requests: 1, ...other }
  const expected = { ...(call.isWrite ? row.write : row.read), ...other }
  return expected.status === own ? { ...expected, status: call.status } : expected
}

export const succeeded = (requests = 1) => {
  const outcome: Outcome = { result: "Success", requests }
  return { read: outcome, write: outcome }
}

/** The outcome of an answer that refuses the first attempt of a write. */
const refused = (result: Outcome["result"], status: number, requests = 1) => {
  const outcome: Outcome = { result, outcome: "Rejected", status, requests }
  return { read: outcome, write: outcome }
}

/** The outcome without a usable answer, after which another attempt may succeed. */
export const lost = (reason: string, status?: number, requests = 2) => {
  const rest = { reason, ...(status !== undefined && { status }), requests }
  const read: Outcome = { result: "ServiceUnavailable", outcome: "NoEffect", ...rest }
  const write: Outcome = { result: "OutcomeUnknown", outcome: "Unknown", ...rest }
  return { read, write }
}

/** The outcome of an unusable answer, after which another attempt cannot succeed. */
const unusable = (reason: string, status: number) => {
  const { read, write } = lost(reason, status, 1)
  return { read: { ...read, result: "UnexpectedResponse" } satisfies Outcome, write }
}

const answers = (
  statuses: ReadonlyArray<number>,
  expected: (status: number) => Pick<Row, "read" | "write"> & Partial<Pick<Row, "but">>
): ReadonlyArray<Row> =>
  statuses.flatMap((status) => [
    { name: `${status}`, faults: Fault.refusal(status, "Recusado"), executed: 0, ...expected(status) },
    { name: `${status} as HTML`, faults: Fault.html(status), executed: 0, ...expected(status) },
    {
      name: `${status} without a body`,
      faults: Fault.empty(status, { executed: false }),
      executed: 0,
      ...expected(status)
    }
  ])

const notFound: Row["but"] = ({ operation }) =>
  operation === "getTransaction" ? { result: "TransactionNotFound" } : undefined

/** A page is the 404 of a load balancer: it says nothing of the transaction. */
const notOfService: Row["but"] = ({ operation }) =>
  operation === "getTransaction"
    ? { result: "UnexpectedResponse", outcome: "NoEffect", reason: "Unreadable" }
    : undefined

const statuses: ReadonlyArray<Row> = [
  ...answers([400, 402, 405, 406, 410, 411, 413, 414, 415, 422, 426, 428, 431, 451], (status) =>
    refused("RequestRejected", status)
  ),
  ...answers([423, 424], (status) => ({
    read: refused("RequestRejected", status).read,
    write: lost("UnderWay", status, 1).write
  })),
  ...answers([460, 499], (status) => ({
    read: refused("RequestRejected", status).read,
    write: lost("Timeout", status, 1).write
  })),
  // A fetch sends the request once more on another connection, as its standard says.
  ...answers([421], (status) => ({
    ...refused("RequestRejected", status),
    but: (_, transport) => (isFetch(transport) ? { requests: 2 } : undefined)
  })),
  ...answers([401, 403], (status) => refused("AuthError", status)),
  ...answers([404], (status) => ({ ...refused("RequestRejected", status), but: notFound })).map((row) =>
    row.name === "404 as HTML" ? { ...row, but: notOfService } : row
  ),
  ...answers([409], (status) => ({
    read: refused("RequestRejected", status).read,
    write: { result: "IdempotencyConflict", outcome: "Unknown", status, requests: 1 }
  })),
  ...answers([408], (status) => lost("Timeout", status)),
  ...answers([425], (status) => refused("RequestRejected", status, 2)),
  ...answers([429], (status) => refused("RateLimited", status, 2)),
  ...answers([500, 502, 503, 504], (status) => lost("ServerError", status)),
  ...answers([501, 505, 507, 511, 520, 524, 529, 599], (status) => lost("ServerError", status, 1))
]

/** A refusal of the repetition proves nothing about the first request. */
const sticky: ReadonlyArray<Row> = [400, 401, 403, 404, 409, 422, 429, 307].map((status): Row => ({
  name: `a reset after it was executed, then ${status}`,
  faults: [Fault.resetAfter, Fault.refusal(status, "Pagamento já existe")],
  read: refused(status === 401 || status === 403 ? "AuthError" : "RequestRejected", status, 2).read,
  write: lost("RefusedAfterUnknown", status).write,
  executed: 1,
  but: (call) => {
    if (call.isWrite) return undefined
    if (status === 429) return { result: "RateLimited" }
    return status === 404 ? notFound(call, "fetch") : undefined
  }
}))

const text = (status: number, body: string) => Fault.answer(status, { body, headers: { "content-type": "text/plain" } })

/** What the words of a refusal decide. */
const words: ReadonlyArray<Row> = [
  ...["404 page not found", "default backend - 404", "no Route matched with those values"].map((body): Row => ({
    name: `404 with the text "${body}"`,
    faults: text(404, body),
    ...refused("RequestRejected", 404),
    executed: 0,
    but: notOfService
  })),
  {
    name: "404 with white space",
    faults: text(404, " \n"),
    ...refused("RequestRejected", 404),
    executed: 0,
    but: notFound
  },
  ...[403, 422, 429].map((status): Row => ({
    name: `${status} with words about duplication`,
    faults: Fault.refusal(status, "Idempotency-Key already used"),
    read: refused(status === 403 ? "AuthError" : status === 429 ? "RateLimited" : "RequestRejected", status).read,
    write: { result: "IdempotencyConflict", outcome: "Unknown", status, requests: 1 },
    executed: 0,
    but: ({ isWrite }) => (isWrite || status !== 429 ? undefined : { requests: 2 })
  })),
  {
    name: "401 with words about duplication",
    faults: Fault.refusal(401, "Idempotency-Key already used"),
    ...refused("AuthError", 401),
    executed: 0
  },
  ...[400, 403, 404, 422, 429].map((status): Row => ({
    name: `${status} with words about a time-out behind the service`,
    faults: Fault.refusal(status, "Tempo esgotado no PSP"),
    read: refused(status === 403 ? "AuthError" : status === 429 ? "RateLimited" : "RequestRejected", status).read,
    write: lost("UnderWay", status, 1).write,
    executed: 0,
    but: (call) => {
      if (call.isWrite) return undefined
      if (status === 429) return { requests: 2 }
      return status === 404 ? notFound(call, "fetch") : undefined
    }
  })),
  ...["Prazo expirado", "O tempo limite para saque é 22h", "Token expirado"].map((message): Row => ({
    name: `422 with the words "${message}"`,
    faults: Fault.refusal(422, message),
    ...refused("RequestRejected", 422),
    executed: 0
  }))
]

/** A 201 with the record of the withdrawal, but for these fields. No other operation can read it. */
const recorded = (change: object, withdrawal: Partial<Outcome>): Row => ({
  name: `a record of the withdrawal with ${JSON.stringify(change)}`,
  faults: Fault.answer(201, { body: JSON.stringify({ ...JSON.parse(requestWithdrawal.answer), ...change }) }),
  ...unusable("Unreadable", 201),
  executed: 0,
  but: ({ operation }) => (operation === "requestWithdrawal" ? withdrawal : undefined)
})

/** What a record says of a withdrawal that was asked for. */
const records: ReadonlyArray<Row> = [
  ...[
    {},
    { result: 0 },
    { status: 0 },
    { code: 500 },
    { success: false, error: null },
    { enTransaction: "Cancelable" },
    { pixKey: null },
    { pixKey: "m***@example.com" },
    { pixKey: "Maria@Example.com", pixKeyType: "PHONE" }
  ].map((change) => recorded(change, { result: "Success" })),
  ...[
    { pixKey: "joao@example.com" },
    { pixKey: "390.533.447-05", pixKeyType: "EMAIL" },
    { companyId: 99 },
    { value: 20 },
    { enTransaction: "Failed" },
    { enTransaction: "REJECTED" }
  ].map((change) => recorded(change, { reason: "NotAsAsked" }))
]

/** The rows about status, headers and words of an answer, whose outcome is the same over every transport. */
export const answeredRows: ReadonlyArray<Row> = [
  ...statuses,
  ...sticky,
  ...words,
  ...records,

  ...["null", "{}", "[]", "0", '"ok"', "\u0000", '{"data":null}', `{"__proto__":{"id":1}}`].map((body): Row => ({
    name: `200 with ${JSON.stringify(body)}`,
    faults: Fault.answer(200, { body, headers: { "content-type": "application/json" } }),
    ...unusable("Unreadable", 200),
    executed: 0
  })),
  ...(["seconds", "date"] as const).flatMap((form): ReadonlyArray<Row> => [
    {
      name: `429 for longer than is waited, in ${form}`,
      faults: form === "date" ? Raw.retryAfterDate("1 hour", 429) : Fault.retryAfter("1 hour"),
      ...refused("RateLimited", 429),
      executed: 0
    },
    {
      name: `503 for longer than is waited, in ${form}`,
      faults: form === "date" ? Raw.retryAfterDate("1 hour", 503) : Fault.retryAfter("1 hour", { status: 503 }),
      ...lost("ServerError", 503, 1),
      executed: 0
    }
  ]),
  ...["0", "-1", "1.5", "1e9", "2026-13-45", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", ""].map((header): Row => ({
    name: `429 with Retry-After ${JSON.stringify(header)}`,
    faults: Fault.answer(429, { headers: { "retry-after": header } }),
    ...refused("RateLimited", 429, 2),
    executed: 0
  })),
  {
    name: "429 with Retry-After of twenty digits",
    faults: Fault.answer(429, { headers: { "retry-after": "9".repeat(20) } }),
    ...refused("RateLimited", 429),
    executed: 0
  }
]

/** The rows whose outcome may differ by transport, and one answer of each kind. */
export const rows: ReadonlyArray<Row> = [
  { name: "nothing", faults: Fault.none, ...succeeded(), executed: 1 },
  { name: "an answer that comes late", faults: Fault.latency("20 millis"), ...succeeded(), executed: 1 },
  { name: "a key that is forgotten", faults: Fault.forgetKey, ...succeeded(), executed: 1 },

  { name: "a reset", faults: Fault.resetBefore, ...lost("ConnectionLost"), executed: 0 },
  { name: "a reset after it was executed", faults: Fault.resetAfter, ...lost("ConnectionLost"), executed: 1 },
  { name: "a refusal once it has arrived", faults: Fault.refuse, ...lost("ConnectionLost"), executed: 0 },
  { name: "a hang-up", faults: Raw.hangUpBefore, ...lost("ConnectionLost"), executed: 0 },
  { name: "a hang-up after it was executed", faults: Raw.hangUpAfter, ...lost("ConnectionLost"), executed: 1 },
  { name: "a truncated body", faults: Fault.truncated, ...lost("Truncated", own), executed: 1 },
  { name: "a body cut by a reset", faults: Raw.truncatedByReset, ...lost("Truncated", own), executed: 1 },

  { name: "silence", faults: Fault.silence(), ...lost("Timeout"), executed: 0, stalls: "silence" },
  {
    name: "silence after it was executed",
    faults: Fault.silence({ executed: true }),
    ...lost("Timeout"),
    executed: 1,
    stalls: "silence"
  },
  {
    name: "headers, then silence",
    faults: Raw.headersThenSilence,
    ...lost("Timeout", own),
    executed: 1,
    stalls: "head"
  },
  { name: "a dripping body", faults: Raw.drip("100 millis"), ...lost("Timeout", own), executed: 1, stalls: "head" },
  {
    name: "an answer that comes too late",
    faults: Fault.latency("1 hour"),
    ...lost("Timeout"),
    executed: 0,
    stalls: "silence"
  },
  {
    name: "an answer that comes too late, executed at once",
    faults: Fault.latency("1 hour", { executed: true }),
    ...lost("Timeout"),
    executed: 1,
    stalls: "silence"
  },

  ...statuses.filter(({ name }) => ["400", "409", "421 as HTML", "429 without a body", "500"].includes(name)),
  {
    name: "500 although it was executed",
    faults: Fault.refusal(500, "Erro", { executed: true }),
    ...lost("ServerError", 500),
    executed: 1
  },

  { name: "200 as HTML", faults: Fault.html(), ...unusable("Unreadable", 200), executed: 0 },
  { name: "200 without a body", faults: Fault.empty(), ...unusable("Unreadable", 200), executed: 1 },
  { name: "204", faults: Fault.empty(204), ...unusable("Unreadable", 204), executed: 1 },
  { name: "202 without a body", faults: Fault.empty(202), ...unusable("Unreadable", 202), executed: 1 },
  { name: "200 with JSON that is none", faults: Raw.malformed(), ...unusable("Unreadable", 200), executed: 1 },
  {
    name: "200 said to be gzip, and none",
    faults: Fault.answer(200, { body: "not gzip", headers: { "content-encoding": "gzip" } }),
    ...unusable("Unreadable", 200),
    executed: 0,
    // A transport that unpacks finds this body cut off.
    but: ({ isWrite }, transport) =>
      unpacks(transport) ? lost("Truncated", 200)[isWrite ? "write" : "read"] : undefined
  },

  {
    name: "an oversize body",
    faults: Raw.oversize(limit * 4),
    ...unusable("TooLarge", own),
    executed: 1
  },
  {
    name: "an oversize body of known length",
    faults: Fault.answer(200, { body: " ".repeat(limit + 1), executed: true }),
    ...unusable("TooLarge", 200),
    executed: 1
  },
  {
    name: "an oversize error",
    faults: Fault.answer(503, { body: " ".repeat(limit + 1) }),
    ...lost("ServerError", 503),
    executed: 0
  },
  {
    name: "a gzip bomb",
    faults: Raw.gzipBomb(limit * 16),
    ...unusable("TooLarge", own),
    executed: 1,
    // For a transport that does not unpack, it is a small body that is not JSON.
    but: (_, transport) => (unpacks(transport) ? undefined : { reason: "Unreadable" })
  },

  // The redirect leads to the same server by another name, so that a followed redirect would be counted.
  ...[301, 307, 308].map((status): Row => ({
    name: `a redirect by ${status}`,
    faults: (baseUrl) => Fault.redirect(baseUrl.replace("127.0.0.1", "localhost"), status),
    ...refused("RequestRejected", status),
    executed: 0
  })),
  ...[300, 302, 303].map((status): Row => ({
    name: `a redirect by ${status}`,
    faults: (baseUrl) => Fault.redirect(baseUrl.replace("127.0.0.1", "localhost"), status),
    read: unusable("Redirect", status).read,
    write: lost("Redirect", status, 1).write,
    executed: 0
  })),

  {
    name: "another key's record",
    faults: Raw.otherKey(),
    ...succeeded(),
    executed: 1,
    but: ({ operation }) => (operation === "requestWithdrawal" ? lost("KeyMismatch", own, 1).write : undefined)
  },
  {
    name: "a key that is forgotten after it was executed",
    faults: [Fault.resetAfter, Fault.forgetKey],
    ...succeeded(2),
    // This gateway does not recognise keys. `only-unsent` is for such a gateway.
    executed: 2
  },

  ...sticky.filter(({ name }) => /(422|429|307)$/.test(name)),
  {
    name: "500, then HTML",
    faults: [Fault.answer(500, { executed: true }), Fault.html()],
    read: { ...unusable("Unreadable", 200).read, requests: 2 },
    write: { ...unusable("Unreadable", 200).write, requests: 2 },
    executed: 1
  }
]

export const written =
  (...lines: ReadonlyArray<string>): Play =>
  (socket) =>
    void socket.write(lines.join("\r\n"), "latin1")

/** The same, and the connection ends. */
const writtenLast =
  (...lines: ReadonlyArray<string>): Play =>
  (socket) =>
    void socket.end(lines.join("\r\n"), "latin1")

const ok = "HTTP/1.1 200 OK"
const lengthOf = ({ answer }: OperationCall) => `content-length: ${answer.length}`
export const good = (call: OperationCall) => [`HTTP/1.1 ${call.status} OK`, lengthOf(call), "", call.answer]
const twoBytes = ["content-length: 2", "", "{}"]

/** The transport cannot read the answer, so there is no status. */
const noHttp = lost("Unreadable", undefined, 1)

interface Bytes extends Pick<Row, "name" | "read" | "write" | "but"> {
  readonly play: (call: OperationCall) => Play
}

export const bytes: ReadonlyArray<Bytes> = [
  { name: "a good answer", play: (call) => written(...good(call)), ...succeeded() },
  { name: "two good answers", play: (call) => written(...good(call), ...good(call)), ...succeeded() },
  { name: "a body up to the end of the connection", play: ({ answer }) => writtenLast(ok, "", answer), ...succeeded() },
  { name: "a BOM before the body", play: ({ answer }) => writtenLast(ok, "", `\xef\xbb\xbf${answer}`), ...succeeded() },
  {
    name: "JSON said to be a picture",
    play: (call) => written(ok, "content-type: image/png", lengthOf(call), "", call.answer),
    ...succeeded()
  },
  {
    name: "an encoding that nobody knows",
    play: (call) => written(ok, "content-encoding: x-none", lengthOf(call), "", call.answer),
    ...succeeded()
  },
  {
    name: "102 and 103 before the answer",
    play: (call) => written("HTTP/1.1 102 Processing", "", "HTTP/1.1 103 Early Hints", "", ...good(call)),
    ...succeeded()
  },
  {
    name: "100, unasked, before the answer",
    play: (call) => written("HTTP/1.1 100 Continue", "", ...good(call)),
    ...lost("ConnectionLost"),
    but: (_, transport) => (transport === "node:http" ? succeeded().read : undefined)
  },
  {
    name: "101, unasked",
    play: () => written("HTTP/1.1 101 Switching Protocols", "upgrade: h2c", "connection: upgrade", "", ""),
    ...lost("ConnectionLost"),
    // This transport returns it as the answer.
    but: (_, transport) => (transport === "node:http" ? { reason: "Unreadable", status: 101, requests: 1 } : undefined)
  },
  {
    name: "status 000",
    play: () => written("HTTP/1.1 000 What", ...twoBytes),
    ...noHttp,
    // Each of the others fails in its own way.
    but: (_, transport) => (transport === "node:http" ? { status: 0 } : { reason: "Unrecognised", requests: 2 })
  },
  { name: "status 199", play: () => written("HTTP/1.1 199 What", ...twoBytes), ...noHttp },
  { name: "status 600", play: () => written("HTTP/1.1 600 What", ...twoBytes), ...lost("ServerError", 600, 1) },
  { name: "status 999", play: () => written("HTTP/1.1 999 What", ...twoBytes), ...lost("ServerError", 999, 1) },

  { name: "another protocol", play: () => writtenLast("220 smtp.example ESMTP", ""), ...noHttp },
  { name: "a body alone", play: ({ answer }) => writtenLast(answer), ...noHttp },
  { name: "one blank", play: () => writtenLast(" "), ...noHttp },
  { name: "half a header", play: () => writtenLast(ok, "content-le"), ...lost("ConnectionLost") },
  {
    name: "a header of 40 kB",
    play: (call) => written(ok, `x-big: ${"a".repeat(40_000)}`, lengthOf(call), "", call.answer),
    ...noHttp
  },
  {
    name: "a header with NUL",
    play: (call) => written(ok, "x-a: a\0b", lengthOf(call), "", call.answer),
    ...noHttp
  },
  { name: "two lengths", play: () => written(ok, "content-length: 3", ...twoBytes), ...noHttp },
  { name: "a negative length", play: () => written(ok, "content-length: -2", "", "{}"), ...noHttp },
  {
    name: "a length and chunks",
    play: () => written(ok, "content-length: 2", "transfer-encoding: chunked", "", "2", "{}", "0", "", ""),
    ...noHttp
  },
  {
    name: "a length that is too short",
    play: ({ answer }) => writtenLast(ok, `content-length: ${answer.length - 5}`, "", answer),
    ...unusable("Unreadable", 200)
  },
  {
    name: "a length that is too long",
    play: ({ answer }) => writtenLast(ok, `content-length: ${answer.length + 5}`, "", answer),
    ...lost("Truncated", 200)
  },
  {
    name: "chunks that break off",
    play: ({ answer }) => writtenLast(ok, "transfer-encoding: chunked", "", answer.length.toString(16), answer, ""),
    ...lost("Truncated", 200)
  },
  {
    name: "a chunk without a size",
    play: ({ answer }) => writtenLast(ok, "transfer-encoding: chunked", "", "zz", answer, ""),
    ...lost("Truncated", 200)
  },
  {
    name: "half a body up to the end of the connection",
    play: ({ answer }) => writtenLast(ok, "", answer.slice(0, -9)),
    ...unusable("Unreadable", 200)
  }
]
