import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Logger, Redacted, Result, Schedule } from "effect"
import {
  Credentials,
  IdempotencyKeyGen,
  type OutcomeUnknown,
  Payments,
  type PaymentsError,
  PaymentsPolicy
} from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { FetchHttpClient, type HttpClient } from "effect/http"
import * as FetchTransport from "../../src/client/internal/transport/fetchTransport.ts"
import { calls, noTransaction, type OperationCall } from "../support/calls.ts"
import { fixture, type Play, serveBlindly, serveRaw, serveTls, serveTlsThenPlain } from "../support/RawServer.ts"

/** The real transports, each as a program would take it. */
const transports = {
  fetch: FetchHttpClient.layer,
  "our fetch": FetchTransport.layer,
  undici: NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layerNodeHttp,
  "effect-pix/node": Layer.orDie(NodePayments.layerHttpClient())
} satisfies Record<string, Layer.Layer<HttpClient.HttpClient>>
type Transport = keyof typeof transports

const isFetch = (transport: Transport) => transport === "fetch" || transport === "our fetch"

/** Those that unpack what was not asked for. */
const unpacks = (transport: Transport) => isFetch(transport) || transport === "effect-pix/node"

const names: ReadonlyArray<Transport> = ["fetch", "our fetch", "undici", "node:http", "effect-pix/node"]

/** What came of a call: of its error what a caller acts on, and what the server saw of it. */
interface Outcome {
  readonly result: "Success" | PaymentsError["_tag"]
  readonly outcome?: PaymentsError["outcome"]
  readonly reason?: string
  readonly status?: number
  readonly requests: number
}

/** The status is the one of the operation's good answer. */
const own = -1
const limit = 64 * 1024

const always = { retryReads: Schedule.recurs(1), retryWrites: Schedule.recurs(1), maxResponseBytes: limit }
/** One retry, at once. What takes its time to fail is cut off by the attempt's timeout. */
const patient = PaymentsPolicy.make({ ...always, attemptTimeout: "20 seconds", deadline: "1 minute" })
const impatient = PaymentsPolicy.make({ ...always, attemptTimeout: "400 millis", deadline: "1 minute" })

const quiet = Logger.layer([])

const clientOf = (baseUrl: string, credentials: Parameters<typeof Credentials.layer>[0]) => (transport: Transport) =>
  Payments.layer({ baseUrl }).pipe(
    Layer.provide([transports[transport], Credentials.layer(credentials), IdempotencyKeyGen.layerSequential])
  )

/** A port that no test is given, and nobody listens on. */
const refusing = "http://127.0.0.1:4"

const anyone = { clientId: "client", apiKey: Redacted.make("secret") }

const told = <A>(result: Result.Result<A, PaymentsError>, requests: number): Outcome => {
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

interface Row {
  readonly name: string
  /** The script, made anew for a server at `baseUrl`. A single fault meets every request, a list its first ones. */
  readonly faults: Fault.Fault | ReadonlyArray<Fault.Fault> | ((baseUrl: string) => Fault.Fault)
  readonly read: Outcome
  readonly write: Outcome
  /** How often a write was executed in all. */
  readonly executed: number
  /** It never ends by itself. */
  readonly stalls?: true
  /** Where an operation or a transport differs. */
  readonly but?: (call: OperationCall, transport: Transport) => Partial<Outcome> | undefined
}

const succeeded = (requests = 1) => {
  const outcome: Outcome = { result: "Success", requests }
  return { read: outcome, write: outcome }
}

/** An answer that refuses, of a write's first attempt. */
const refused = (result: Outcome["result"], status: number, requests = 1) => {
  const outcome: Outcome = { result, outcome: "Rejected", status, requests }
  return { read: outcome, write: outcome }
}

/** No usable answer, and another attempt may help. */
const lost = (reason: string, status?: number, requests = 2) => {
  const rest = { reason, ...(status !== undefined && { status }), requests }
  const read: Outcome = { result: "ServiceUnavailable", outcome: "NoEffect", ...rest }
  const write: Outcome = { result: "OutcomeUnknown", outcome: "Unknown", ...rest }
  return { read, write }
}

/** An answer that is there and cannot be used: asking again does not help. */
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

const rows: ReadonlyArray<Row> = [
  { name: "nothing", faults: Fault.none, ...succeeded(), executed: 1 },
  { name: "an answer that comes late", faults: Fault.latency("20 millis"), ...succeeded(), executed: 1 },
  { name: "a key that is forgotten", faults: Fault.forgetKey, ...succeeded(), executed: 1 },

  { name: "a reset", faults: Fault.resetBefore, ...lost("ConnectionLost"), executed: 0 },
  { name: "a reset after it was executed", faults: Fault.resetAfter, ...lost("ConnectionLost"), executed: 1 },
  { name: "a refusal once it has arrived", faults: Fault.refuse, ...lost("ConnectionLost"), executed: 0 },
  { name: "a hang-up", faults: Fault.hangUpBefore, ...lost("ConnectionLost"), executed: 0 },
  { name: "a hang-up after it was executed", faults: Fault.hangUpAfter, ...lost("ConnectionLost"), executed: 1 },
  { name: "a truncated body", faults: Fault.truncated, ...lost("Truncated", own), executed: 1 },
  { name: "a body cut by a reset", faults: Fault.truncatedByReset, ...lost("Truncated", own), executed: 1 },

  { name: "silence", faults: Fault.silence(), ...lost("Timeout"), executed: 0, stalls: true },
  {
    name: "silence after it was executed",
    faults: Fault.silence({ executed: true }),
    ...lost("Timeout"),
    executed: 1,
    stalls: true
  },
  {
    name: "headers, then silence",
    faults: Fault.headersThenSilence,
    ...lost("Timeout", own),
    executed: 1,
    stalls: true
  },
  { name: "a dripping body", faults: Fault.drip("100 millis"), ...lost("Timeout", own), executed: 1, stalls: true },
  {
    name: "an answer that comes too late",
    faults: Fault.latency("1 hour"),
    ...lost("Timeout"),
    executed: 0,
    stalls: true
  },
  {
    name: "an answer that comes too late, executed at once",
    faults: Fault.latency("1 hour", { executed: true }),
    ...lost("Timeout"),
    executed: 1,
    stalls: true
  },

  ...answers([400, 402, 405, 406, 410, 411, 413, 414, 415, 426, 428, 431, 451], (status) =>
    refused("RequestRejected", status)
  ),
  { name: "422", faults: Fault.refusal(422, "Recusado"), ...refused("RequestRejected", 422), executed: 0 },
  { name: "422 as HTML", faults: Fault.html(422), ...refused("RequestRejected", 422), executed: 0 },
  {
    name: "422 without a body",
    faults: Fault.empty(422, { executed: false }),
    ...refused("RequestRejected", 422),
    executed: 0,
    but: ({ operation }) =>
      operation === "requestWithdrawal" ? { result: "IdempotencyConflict", outcome: "Unknown" } : undefined
  },
  ...answers([423, 424], (status) => ({
    read: refused("RequestRejected", status).read,
    write: lost("UnderWay", status, 1).write
  })),
  ...answers([460, 499], (status) => ({
    read: refused("RequestRejected", status).read,
    write: lost("Timeout", status, 1).write
  })),
  // A fetch sends it once more by itself, on another connection, as its standard has it.
  ...answers([421], (status) => ({
    ...refused("RequestRejected", status),
    but: (_, transport) => (isFetch(transport) ? { requests: 2 } : undefined)
  })),
  ...answers([401, 403], (status) => refused("AuthError", status)),
  ...answers([404], (status) => ({ ...refused("RequestRejected", status), but: notFound })),
  ...answers([409], (status) => ({
    read: refused("RequestRejected", status).read,
    write: { result: "IdempotencyConflict", outcome: "Unknown", status, requests: 1 }
  })),
  ...answers([408], (status) => lost("Timeout", status)),
  ...answers([425], (status) => refused("RequestRejected", status, 2)),
  ...answers([429], (status) => refused("RateLimited", status, 2)),
  ...answers([500, 502, 503, 504], (status) => lost("ServerError", status)),
  ...answers([501, 505, 507, 511, 520, 524, 529, 599], (status) => lost("ServerError", status, 1)),
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
  { name: "200 with JSON that is none", faults: Fault.malformed(), ...unusable("Unreadable", 200), executed: 1 },
  ...["null", "{}", "[]", "0", '"ok"', "\u0000", '{"data":null}', `{"__proto__":{"id":1}}`].map((body): Row => ({
    name: `200 with ${JSON.stringify(body)}`,
    faults: Fault.answer(200, { body, headers: { "content-type": "application/json" } }),
    ...unusable("Unreadable", 200),
    executed: 0
  })),
  {
    name: "200 said to be gzip, and none",
    faults: Fault.answer(200, { body: "not gzip", headers: { "content-encoding": "gzip" } }),
    ...unusable("Unreadable", 200),
    executed: 0,
    // To a transport that unpacks, this body breaks off.
    but: ({ isWrite }, transport) =>
      unpacks(transport) ? lost("Truncated", 200)[isWrite ? "write" : "read"] : undefined
  },

  {
    name: "an oversize body",
    faults: Fault.oversize(limit * 4),
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
    faults: Fault.gzipBomb(limit * 16),
    ...unusable("TooLarge", own),
    executed: 1,
    // To a transport that does not unpack it is a small body that is no JSON.
    but: (_, transport) => (unpacks(transport) ? undefined : { reason: "Unreadable" })
  },

  ...(["seconds", "date"] as const).flatMap((form): ReadonlyArray<Row> => [
    {
      name: `429 for longer than is waited, in ${form}`,
      faults: Fault.retryAfter("1 hour", { form }),
      ...refused("RateLimited", 429),
      executed: 0
    },
    {
      name: `503 for longer than is waited, in ${form}`,
      faults: Fault.retryAfter("1 hour", { form, status: 503 }),
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
  },

  // To the same server by another name: what follows a redirect would be seen there.
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
    faults: Fault.otherKey(),
    ...succeeded(),
    executed: 1,
    but: ({ operation }) => (operation === "requestWithdrawal" ? lost("KeyMismatch", own, 1).write : undefined)
  },
  {
    name: "a key that is forgotten after it was executed",
    faults: [Fault.resetAfter, Fault.forgetKey],
    ...succeeded(2),
    // The gateway broke its word: this is what `only-unsent` is for.
    executed: 2
  },

  // Sticky: a refusal of the repetition says nothing of the first sending.
  ...[400, 401, 403, 404, 409, 422, 429, 307].map((status): Row => ({
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
  })),
  {
    name: "500, then HTML",
    faults: [Fault.answer(500, { executed: true }), Fault.html()],
    read: { ...unusable("Unreadable", 200).read, requests: 2 },
    write: { ...unusable("Unreadable", 200).write, requests: 2 },
    executed: 1
  }
]

const written =
  (...lines: ReadonlyArray<string>): Play =>
  (socket) =>
    void socket.write(lines.join("\r\n"), "latin1")

/** The same, and the connection ends. */
const lastWords =
  (...lines: ReadonlyArray<string>): Play =>
  (socket) =>
    void socket.end(lines.join("\r\n"), "latin1")

const ok = "HTTP/1.1 200 OK"
const lengthOf = ({ answer }: OperationCall) => `content-length: ${answer.length}`
const good = (call: OperationCall) => [`HTTP/1.1 ${call.status} OK`, lengthOf(call), "", call.answer]
const twoBytes = ["content-length: 2", "", "{}"]

/** The transport cannot read it: there is no status. */
const noHttp = lost("Unreadable", undefined, 1)

interface Bytes extends Pick<Row, "name" | "read" | "write" | "but"> {
  readonly play: (call: OperationCall) => Play
}

const bytes: ReadonlyArray<Bytes> = [
  { name: "a good answer", play: (call) => written(...good(call)), ...succeeded() },
  { name: "two good answers", play: (call) => written(...good(call), ...good(call)), ...succeeded() },
  { name: "a body up to the end of the connection", play: ({ answer }) => lastWords(ok, "", answer), ...succeeded() },
  { name: "a BOM before the body", play: ({ answer }) => lastWords(ok, "", `\xef\xbb\xbf${answer}`), ...succeeded() },
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
    // This one takes it for the answer.
    but: (_, transport) => (transport === "node:http" ? { reason: "Unreadable", status: 101, requests: 1 } : undefined)
  },
  {
    name: "status 000",
    play: () => written("HTTP/1.1 000 What", ...twoBytes),
    ...noHttp,
    // The others fail in a way of their own.
    but: (_, transport) => (transport === "node:http" ? { status: 0 } : { reason: "Unrecognised", requests: 2 })
  },
  { name: "status 199", play: () => written("HTTP/1.1 199 What", ...twoBytes), ...noHttp },
  { name: "status 600", play: () => written("HTTP/1.1 600 What", ...twoBytes), ...lost("ServerError", 600, 1) },
  { name: "status 999", play: () => written("HTTP/1.1 999 What", ...twoBytes), ...lost("ServerError", 999, 1) },

  { name: "another protocol", play: () => lastWords("220 smtp.example ESMTP", ""), ...noHttp },
  { name: "a body alone", play: ({ answer }) => lastWords(answer), ...noHttp },
  { name: "one blank", play: () => lastWords(" "), ...noHttp },
  { name: "half a header", play: () => lastWords(ok, "content-le"), ...lost("ConnectionLost") },
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
    play: ({ answer }) => lastWords(ok, `content-length: ${answer.length - 5}`, "", answer),
    ...unusable("Unreadable", 200)
  },
  {
    name: "a length that is too long",
    play: ({ answer }) => lastWords(ok, `content-length: ${answer.length + 5}`, "", answer),
    ...lost("Truncated", 200)
  },
  {
    name: "chunks that break off",
    play: ({ answer }) => lastWords(ok, "transfer-encoding: chunked", "", answer.length.toString(16), answer, ""),
    ...lost("Truncated", 200)
  },
  {
    name: "a chunk without a size",
    play: ({ answer }) => lastWords(ok, "transfer-encoding: chunked", "", "zz", answer, ""),
    ...lost("Truncated", 200)
  },
  {
    name: "half a body up to the end of the connection",
    play: ({ answer }) => lastWords(ok, "", answer.slice(0, -9)),
    ...unusable("Unreadable", 200)
  }
]

/** Everything of a write that must be the same on each of its attempts. */
const sent = (requests: Effect.Success<Sandbox["Service"]["requests"]>) =>
  new Set(requests.map(({ idempotencyKey, text }) => `${idempotencyKey ?? "no key"} ${Redacted.value(text)}`))

const sandbox = Layer.provide(Sandbox.layerServer, Layer.succeed(SandboxOptions, { balance: 100_000 }))

/** Calls once, against a server of its own whose faults are planned. */
const play = Effect.fnUntraced(
  function* (
    call: OperationCall,
    transport: Transport,
    policy: PaymentsPolicy,
    plan: (baseUrl: string) => { readonly faults: Fault.Fault | ReadonlyArray<Fault.Fault>; readonly times: number }
  ) {
    const { baseUrl, credentials, fault, requests, transactions, withdrawals } = yield* Sandbox
    return yield* Effect.gen(function* () {
      // The lookup needs something to look up; its creation is not counted.
      if (call.operation === "getTransaction") yield* (calls[0] ?? call).run("")
      const id = (yield* transactions)[0]?.transactionId ?? noTransaction
      const { faults, times } = plan(baseUrl)
      yield* fault(call.operation, faults, { times })
      const result = yield* Effect.result(Effect.provideService(call.run(id), PaymentsPolicy, policy))
      const arrived = (yield* requests).slice(call.operation === "getTransaction" ? 1 : 0)
      assert.isAtMost(sent(arrived).size, 1, "the attempts of one call differ")
      const executed = yield* call.operation === "createTransaction" ? transactions : withdrawals
      return { told: told(result, arrived.length), executed: call.isWrite ? executed.length : 0 }
    }).pipe(Effect.provide(clientOf(baseUrl, yield* credentials)(transport)))
  },
  Effect.provide([sandbox, quiet])
)

/** All operations at once, each with what is expected of it. */
const each = <R>(check: (call: OperationCall) => Effect.Effect<void, unknown, R>) =>
  Effect.forEach(calls, check, { concurrency: "unbounded", discard: true })

const expectedOf = (row: Pick<Row, "read" | "write" | "but">, call: OperationCall, transport: Transport): Outcome => {
  const other = row.but?.(call, transport)
  if (other?.result === "Success") return { result: "Success", requests: 1, ...other }
  const expected = { ...(call.isWrite ? row.write : row.read), ...other }
  return expected.status === own ? { ...expected, status: call.status } : expected
}

describe.concurrent.each(names)("over %s", (transport) => {
  describe("a gateway that fails", () => {
    for (const row of rows) {
      it.live(`every operation over ${transport} meets ${row.name} as documented`, () =>
        each((call) =>
          Effect.gen(function* () {
            const expected = expectedOf(row, call, transport)
            const script = (baseUrl: string) => (typeof row.faults === "function" ? row.faults(baseUrl) : row.faults)
            const isSequence = Array.isArray(row.faults)
            const policy = row.stalls === undefined ? patient : impatient

            const lasting = yield* play(call, transport, policy, (baseUrl) => ({
              faults: script(baseUrl),
              times: isSequence ? 1 : Infinity
            }))
            assert.deepStrictEqual(
              lasting,
              { told: expected, executed: call.isWrite ? row.executed : 0 },
              call.operation
            )

            // What is tried again helps where the fault is gone by then, and nothing is done twice.
            if (isSequence || expected.requests !== 2) return
            const once = yield* play(call, transport, policy, (baseUrl) => ({ faults: script(baseUrl), times: 1 }))
            assert.deepStrictEqual(
              once,
              { told: succeeded(2).read, executed: call.isWrite ? 1 : 0 },
              `${call.operation}, at the second attempt`
            )
          })
        )
      )
    }
  })

  describe("a connection that is never made", () => {
    /** Nothing arrives, so what counts is the attempts that the error tells of. */
    const unsent = (reason: string, attempts: number) => (call: OperationCall) => ({
      tag: "ServiceUnavailable",
      outcome: call.isWrite ? "NotSent" : "NoEffect",
      reason,
      attempts
    })
    const failure = Effect.fnUntraced(function* (
      call: OperationCall,
      baseUrl: string,
      over: Layer.Layer<HttpClient.HttpClient>,
      policy: PaymentsPolicy = patient
    ) {
      const client = Payments.layer({ baseUrl }).pipe(
        Layer.provide([over, Credentials.layer(anyone), IdempotencyKeyGen.layerSequential])
      )
      const error = yield* Effect.flip(call.run(noTransaction)).pipe(
        Effect.provide([client, quiet]),
        Effect.provideService(PaymentsPolicy, policy)
      )
      const reason = "reason" in error ? error.reason : undefined
      return { tag: error._tag, outcome: error.outcome, reason, attempts: error.attempts }
    })
    const nothing: Play = (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")

    it.live(`a port that refuses proves over ${transport} that nothing was sent`, () =>
      each((call) =>
        Effect.gen(function* () {
          const error = yield* failure(call, refusing, transports[transport])
          assert.deepStrictEqual<unknown>(error, unsent("NoConnection", 2)(call), call.operation)
        })
      )
    )

    it.live(`a name that does not resolve proves over ${transport} that nothing was sent`, () =>
      each((call) =>
        Effect.gen(function* () {
          const error = yield* failure(call, "https://nothing.invalid", transports[transport])
          assert.deepStrictEqual<unknown>(error, unsent("NameNotResolved", 2)(call), call.operation)
        })
      )
    )

    it.live(`a self-signed certificate proves over ${transport} that nothing was sent`, () =>
      Effect.gen(function* () {
        const server = yield* serveTls(nothing)
        yield* each((call) =>
          Effect.gen(function* () {
            const error = yield* failure(call, `https://127.0.0.1:${server.port}`, transports[transport])
            assert.deepStrictEqual<unknown>(error, unsent("Tls", 1)(call), call.operation)
          })
        )
        assert.strictEqual(server.requests(), 0)
        assert.strictEqual(server.connections(), calls.length)
      })
    )

    /** Trusts the certificate, for the name that it is for if told to; fetch cannot be told. */
    const trusting = (named: { readonly servername?: string }) =>
      ({
        fetch: undefined,
        "our fetch": undefined,
        undici: NodeHttpClient.layerUndiciOptions({ connect: { ca: fixture.cert, ...named } }),
        "node:http": NodeHttpClient.layerNodeHttpOptions({ ca: fixture.cert, ...named }),
        "effect-pix/node": Layer.orDie(NodePayments.layerHttpClient({ tls: { ca: fixture.cert, ...named } }))
      })[transport]
    const trustingLayer = trusting({})
    it.live.skipIf(trustingLayer === undefined)(
      `a certificate of another host proves over ${transport} that nothing was sent`,
      () =>
        Effect.gen(function* () {
          const server = yield* serveTls(nothing)
          yield* each((call) =>
            Effect.gen(function* () {
              const over = trustingLayer ?? transports[transport]
              const error = yield* failure(call, `https://127.0.0.1:${server.port}`, over)
              assert.deepStrictEqual<unknown>(error, unsent("Tls", 1)(call), call.operation)
            })
          )
          assert.strictEqual(server.requests(), 0)
        })
    )

    it.live(`a port that speaks no TLS is met over ${transport} as documented`, () =>
      Effect.gen(function* () {
        const server = yield* serveBlindly("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        yield* each((call) =>
          Effect.gen(function* () {
            const error = yield* failure(call, `https://127.0.0.1:${server.port}`, transports[transport])
            assert.deepStrictEqual<unknown>(error, unsent("Tls", 1)(call), call.operation)
          })
        )
      })
    )

    // Nothing that most transports tell says how far these two came: a request might have left. One of them knows.
    const knows = transport === "effect-pix/node"
    const perhapsSent = (reason: string) => (call: OperationCall) => ({
      ...unsent(reason, 2)(call),
      ...(call.isWrite && !knows && { tag: "OutcomeUnknown", outcome: "Unknown" })
    })

    it.live(`a connection that ends in the TLS handshake is met over ${transport} as documented`, () =>
      Effect.gen(function* () {
        const server = yield* serveBlindly("")
        yield* each((call) =>
          Effect.gen(function* () {
            const error = yield* failure(call, `https://127.0.0.1:${server.port}`, transports[transport])
            assert.deepStrictEqual<unknown>(error, perhapsSent("ConnectionLost")(call), call.operation)
          })
        )
      })
    )

    const named = trusting({ servername: "another.example" })
    it.live.skipIf(named === undefined)(
      `plain bytes that answer what came over TLS leave a write over ${transport} unknown`,
      () =>
        Effect.gen(function* () {
          const server = yield* serveTlsThenPlain("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")
          yield* each((call) =>
            Effect.gen(function* () {
              const over = named ?? transports[transport]
              const error = yield* failure(call, `https://127.0.0.1:${server.port}`, over)
              const outcome = call.isWrite ? "Unknown" : "NoEffect"
              assert.deepStrictEqual([error.outcome, error.attempts], [outcome, 2], call.operation)
            })
          )
          assert.strictEqual(server.requests(), 2 * calls.length)
        })
    )

    it.live(`a TLS handshake that stalls is met over ${transport} as documented`, () =>
      Effect.gen(function* () {
        const server = yield* serveBlindly(null)
        yield* each((call) =>
          Effect.gen(function* () {
            const error = yield* failure(call, `https://127.0.0.1:${server.port}`, transports[transport], impatient)
            assert.deepStrictEqual<unknown>(error, perhapsSent("Timeout")(call), call.operation)
          })
        )
      })
    )
  })

  describe("bytes that come back", () => {
    for (const row of bytes) {
      it.live(`every operation over ${transport} reads ${row.name} as documented`, () =>
        each((call) =>
          Effect.gen(function* () {
            const server = yield* serveRaw(row.play(call))
            const result = yield* Effect.result(call.run(noTransaction)).pipe(
              Effect.provide([clientOf(`http://127.0.0.1:${server.port}`, anyone)(transport), quiet]),
              Effect.provideService(PaymentsPolicy, patient)
            )
            assert.deepStrictEqual(told(result, server.requests()), expectedOf(row, call, transport), call.operation)
          })
        )
      )
    }
  })

  describe("a connection that is used again", () => {
    /** Answers the first request of each connection, and breaks it at the second. */
    const stale = (call: OperationCall) => {
      const used = new WeakSet<object>()
      return serveRaw((socket, request) => {
        if (used.has(socket)) return void socket.destroy()
        used.add(socket)
        written(...good(call))(socket, request)
      })
    }
    // By default this transport uses no connection again.
    const keeping =
      transport === "node:http" ? NodeHttpClient.layerNodeHttpOptions({ keepAlive: true }) : transports[transport]

    it.live(`a connection that breaks at its next request is not used by ${transport} to send that again`, () =>
      each((call) =>
        Effect.gen(function* () {
          const server = yield* stale(call)
          const once = Effect.result(call.run(noTransaction))
          // A transport may open another connection first: it is asked until it uses one again.
          const client = Payments.layer({ baseUrl: `http://127.0.0.1:${server.port}` }).pipe(
            Layer.provide([keeping, Credentials.layer(anyone), IdempotencyKeyGen.layerSequential])
          )
          yield* Effect.gen(function* () {
            for (let count = 1; count <= 50; count++) {
              const result = yield* Effect.provideService(once, PaymentsPolicy, PaymentsPolicy.once)
              if (Result.isSuccess(result)) continue
              const { read, write } = lost("ConnectionLost", undefined, count)
              assert.deepStrictEqual(told(result, server.requests()), call.isWrite ? write : read, call.operation)
              return
            }
            assert.fail("no connection was used again")
          }).pipe(Effect.provide([client, quiet]))
        })
      )
    )
  })

  describe("a call that is interrupted while its request is under way", () => {
    it.live(
      `a call that is interrupted closes its connection over ${transport}, and a write is reported with its key`,
      () =>
        each((call) =>
          Effect.gen(function* () {
            const arrived = yield* Deferred.make<void>()
            const closed = yield* Deferred.make<void>()
            const server = yield* serveRaw((socket) => {
              socket.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
              Deferred.doneUnsafe(arrived, Effect.void)
            })
            const reports: Array<OutcomeUnknown> = []
            const policy = PaymentsPolicy.make({
              onInterruptedWrite: (report) => Effect.sync(() => void reports.push(report))
            })
            const fiber = yield* Effect.forkChild(
              call
                .run(noTransaction)
                .pipe(
                  Effect.provide([clientOf(`http://127.0.0.1:${server.port}`, anyone)(transport), quiet]),
                  Effect.provideService(PaymentsPolicy, policy)
                )
            )
            yield* Deferred.await(arrived)
            yield* Fiber.interrupt(fiber)
            assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
            yield* Deferred.await(closed)
            assert.strictEqual(server.requests(), 1)
            assert.deepStrictEqual(
              reports.map(({ idempotencyKey, outcome, reason }) => [idempotencyKey, outcome, reason]),
              call.isWrite ? [[call.operation === "createTransaction" ? "tx_1" : "wd_1", "Unknown", "Interrupted"]] : []
            )
          })
        )
    )
  })

  describe("the policy says what of a write is sent again", () => {
    const modes = { "same-key": [2, 2], "only-unsent": [1, 2], never: [1, 1] } as const
    const writes = calls.filter(({ isWrite }) => isWrite)
    for (const [mode, [ofSent, ofUnsent]] of Object.entries(modes)) {
      for (const call of writes) {
        it.live(`the policy ${mode} says over ${transport} what is sent again of ${call.operation}`, () =>
          Effect.gen(function* () {
            const { baseUrl, credentials, fault, requests } = yield* Sandbox
            const policy = { ...patient, writes: mode as keyof typeof modes } // the names of `modes` itself
            const known = yield* credentials
            const attemptsAt = (url: string) =>
              Effect.map(Effect.flip(call.run("")), (error) => error.attempts).pipe(
                Effect.provide([clientOf(url, known)(transport), quiet]),
                Effect.provideService(PaymentsPolicy, policy)
              )
            yield* fault(call.operation, Fault.resetAfter, { times: Infinity })
            assert.strictEqual(yield* attemptsAt(baseUrl), ofSent)
            assert.strictEqual((yield* requests).length, ofSent)
            assert.strictEqual(yield* attemptsAt(refusing), ofUnsent)
          }).pipe(Effect.provide(sandbox))
        )
      }
    }
  })
})
