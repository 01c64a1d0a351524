import { assert, describe, it } from "@effect/vitest"
import { type FailureReason, Payments } from "effect-pix"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import {
  createTransaction,
  created,
  getTransaction,
  readNames,
  record,
  requestWithdrawal,
  transactionId,
  writeNames
} from "../support/operations.ts"
import { lostConnection, paymentsOn, refusedConnection, type Reply, respond, scripted } from "../support/Wire.ts"
import { expectError, type Expected, failing, isSound } from "../support/failing.ts"
import { effect } from "../support/effect.ts"

/** A body whose connection breaks in the middle. */
const brokenBody = (status: number) =>
  new Response(
    new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode(`{"message":"Pagamento`))
        controller.error(new Error("terminated"))
      }
    }),
    { status }
  )

/** A body without an end, in pieces of a megabyte. */
const endlessBody = (status: number) =>
  new Response(new ReadableStream({ pull: (controller) => controller.enqueue(megabyte) }), { status })
const megabyte = new Uint8Array(2 ** 20)

const bytesOf = (status: number, bytes: ReadonlyArray<number>, headers: Record<string, string> = {}): Reply => ({
  response: () => new Response(new Uint8Array(bytes), { status, headers })
})

describe("the status of a refusal", () => {
  type Row = readonly [status: number, write: Omit<Expected, "status">, read: Omit<Expected, "status">]

  const rejected = (attempts = 1) => ({ tag: "RequestRejected", outcome: "Rejected", attempts }) as const
  const unauthorized = { tag: "AuthError", outcome: "Rejected", attempts: 1 } as const
  const limited = { tag: "RateLimited", outcome: "Rejected", attempts: 3 } as const
  const conflict = { tag: "IdempotencyConflict", outcome: "Unknown", attempts: 1 } as const
  const unknown = (attempts: number, reason: FailureReason) =>
    ({ tag: "OutcomeUnknown", outcome: "Unknown", attempts, reason }) as const
  const unexpected = {
    tag: "UnexpectedResponse",
    outcome: "NoEffect",
    attempts: 1,
    reason: "Redirect"
  } as const
  const unavailable = (attempts: number, reason: FailureReason) =>
    ({ tag: "ServiceUnavailable", outcome: "NoEffect", attempts, reason }) as const

  const rows: ReadonlyArray<Row> = [
    [300, unknown(1, "Redirect"), unexpected],
    [301, rejected(), rejected()],
    [302, unknown(1, "Redirect"), unexpected],
    [303, unknown(1, "Redirect"), unexpected],
    [305, unknown(1, "Redirect"), unexpected],
    [306, unknown(1, "Redirect"), unexpected],
    [307, rejected(), rejected()],
    [308, rejected(), rejected()],
    [400, rejected(), rejected()],
    [401, unauthorized, unauthorized],
    [402, rejected(), rejected()],
    [403, unauthorized, unauthorized],
    [405, rejected(), rejected()],
    [406, rejected(), rejected()],
    [408, unknown(3, "Timeout"), unavailable(3, "Timeout")],
    [409, conflict, rejected()],
    [410, rejected(), rejected()],
    [413, rejected(), rejected()],
    [415, rejected(), rejected()],
    [418, rejected(), rejected()],
    [422, rejected(), rejected()],
    [423, unknown(1, "UnderWay"), rejected()],
    [424, unknown(1, "UnderWay"), rejected()],
    [425, rejected(3), rejected(3)],
    [429, limited, limited],
    [451, rejected(), rejected()],
    [460, unknown(1, "Timeout"), rejected()],
    [499, unknown(1, "Timeout"), rejected()],
    [500, unknown(3, "ServerError"), unavailable(3, "ServerError")],
    [501, unknown(1, "ServerError"), unavailable(1, "ServerError")],
    [502, unknown(3, "ServerError"), unavailable(3, "ServerError")],
    [503, unknown(3, "ServerError"), unavailable(3, "ServerError")],
    [504, unknown(3, "ServerError"), unavailable(3, "ServerError")],
    [505, unknown(1, "ServerError"), unavailable(1, "ServerError")],
    [520, unknown(1, "ServerError"), unavailable(1, "ServerError")],
    [599, unknown(1, "ServerError"), unavailable(1, "ServerError")]
  ]

  effect.each(rows)("the status %i becomes the documented error", function* ([status, write, read]) {
    const headers = status < 400 ? { location: "https://elsewhere.example/" } : {}
    const bodies = [`{"message":"não foi possível"}`, "<html><title>Erro</title></html>", "não foi possível"]
    for (const body of bodies) {
      for (const name of writeNames) yield* expectError(name, [respond(status, body, headers)], { ...write, status })
      for (const name of readNames) yield* expectError(name, [respond(status, body, headers)], { ...read, status })
    }
  })

  effect(
    "a refusal without words becomes the error of its status, except a 422 for a key of undeclared past",
    function* () {
      for (const body of ["", "{}", "null", `{"status":422}`, `{"error":"Unprocessable Entity"}`]) {
        for (const name of writeNames) {
          yield* expectError(name, [respond(422, body)], { ...conflict, status: 422 }, "given")
          for (const past of ["made", "None"] as const) {
            yield* expectError(name, [respond(422, body)], { ...rejected(), status: 422 }, past)
          }
          for (const past of ["made", "given", "None"] as const) {
            yield* expectError(name, [respond(400, body)], { ...rejected(), status: 400 }, past)
            yield* expectError(name, [respond(409, body)], { ...conflict, status: 409 }, past)
          }
        }
      }
    }
  )

  const mayConcernKey = [400, 402, 403, 404, 406, 412, 422]
  const others = [405, 410, 413, 415, 418, 451]
  const unread: ReadonlyArray<readonly [string, (status: number) => Reply, FailureReason]> = [
    ["is cut off", (status) => ({ response: () => brokenBody(status) }), "Truncated"],
    ["is JSON that does not end", (status) => respond(status, `{"message":"Pagamento j`), "Unreadable"],
    ["is over the bound", (status) => ({ response: () => endlessBody(status) }), "TooLarge"],
    ["declares more than the bound", (status) => respond(status, "x", { "content-length": "99999999" }), "TooLarge"],
    [
      "is declared as compressed, and is not",
      (status) => respond(status, "not packed", { "content-encoding": "gzip", "content-length": "10" }),
      "Unreadable"
    ],
    ["is no UTF-8", (status) => bytesOf(status, [0x4e, 0xe3, 0x6f, 0xff]), "Unreadable"],
    [
      "is compressed and was not unpacked",
      (status) => bytesOf(status, [0x0b, 0x02, 0x01, 0x41, 0x42, 0x03], { "content-encoding": "br" }),
      "Unreadable"
    ]
  ]
  effect.each(unread)(
    "a refusal of a key of undeclared past whose body %s is OutcomeUnknown",
    function* ([, reply, reason]) {
      for (const name of writeNames) {
        for (const status of mayConcernKey) {
          yield* expectError(name, [reply(status)], { ...unknown(1, reason), status }, "given")
        }
        // For these statuses the status alone still decides.
        yield* expectError(name, [reply(401)], { ...unauthorized, status: 401 }, "given")
        yield* expectError(name, [reply(409)], { ...conflict, status: 409 }, "given")
        yield* expectError(name, [reply(429)], { ...limited, status: 429 }, "given")
        for (const status of others) yield* expectError(name, [reply(status)], { ...rejected(), status }, "given")
      }
    }
  )

  effect.each(unread)(
    "a refusal of a key without a past whose body %s becomes the error of its status",
    function* ([, reply]) {
      for (const past of ["made", "None"] as const) {
        for (const name of writeNames) {
          for (const status of [400, 404, 422]) {
            yield* expectError(name, [reply(status)], { ...rejected(), status }, past)
          }
          yield* expectError(name, [reply(403)], { ...unauthorized, status: 403 }, past)
          yield* expectError(name, [reply(409)], { ...conflict, status: 409 }, past)
        }
      }
    }
  )

  effect("a compressed refusal that the transport has unpacked becomes the error that its words name", function* () {
    const body = { message: "Saldo insuficiente" }
    for (const length of [{}, { "content-length": "27" }]) {
      const reply = respond(422, body, { "content-encoding": "gzip", ...length })
      const { error } = yield* failing(requestWithdrawal.call, reply)
      assert.strictEqual(error._tag, "InsufficientBalance")
    }
  })

  effect("301, 307 and 308 say that the base URL is wrong", function* () {
    for (const status of [301, 307, 308]) {
      const { error } = yield* failing(requestWithdrawal.call, respond(status, "", { location: "/elsewhere" }))
      assert.include(error.message, "the base URL is wrong")
    }
  })

  effect(
    "404 is TransactionNotFound for the lookup, with its id, and RequestRejected for the other operations",
    function* () {
      const { error } = yield* failing(getTransaction.call, respond(404))
      assert.strictEqual(error._tag, "TransactionNotFound")
      assert.strictEqual("transactionId" in error && error.transactionId, transactionId)
      isSound(error, "getTransaction")
      for (const name of [...writeNames, "listTransactions", "getBalance"] as const) {
        yield* expectError(name, [respond(404)], { ...rejected(), status: 404 })
      }
    }
  )

  effect("a client that filters statuses itself gives the same errors", function* () {
    const { layer, sent } = scripted(respond(422, { message: "Saldo insuficiente" }))
    const filtered = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, HttpClient.filterStatusOk))
    const error = yield* Effect.flip(Effect.flatMap(Payments, requestWithdrawal.call)).pipe(
      Effect.provide(paymentsOn(Layer.provide(filtered, layer)))
    )
    assert.strictEqual(error._tag, "InsufficientBalance")
    assert.strictEqual(sent.length, 1)
  })
})

describe("a failure of the transport", () => {
  const caused = (cause: unknown): Reply => ({ cause })
  const coded = (code: string, more: object = {}) => Object.assign(new Error("x"), { code, ...more })
  const wrapped = (code: string, more: object = {}) => new TypeError("fetch failed", { cause: coded(code, more) })

  const noTls = "0A:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:ssl/record:77:"

  type Row = readonly [name: string, reply: Reply, sent: "NotSent" | "Unknown", reason: FailureReason, attempts: number]

  /** The codes with which Node, Bun and OpenSSL refuse a certificate or a version of TLS. */
  const certificateCodes = [
    "CERT_HAS_EXPIRED",
    "CERT_NOT_YET_VALID",
    "CERT_REVOKED",
    "CERT_UNTRUSTED",
    "CERT_REJECTED",
    "CERT_SIGNATURE_FAILURE",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_GET_ISSUER_CERT",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "HOSTNAME_MISMATCH",
    "ERR_SSL_UNSUPPORTED_PROTOCOL"
  ]

  const rows: ReadonlyArray<Row> = [
    ["a refused connection", refusedConnection, "NotSent", "NoConnection", 3],
    ["a refused connection under fetch", caused(wrapped("ECONNREFUSED")), "NotSent", "NoConnection", 3],
    ["a refused connection under Bun", caused(coded("ConnectionRefused")), "NotSent", "NoConnection", 3],
    ["a name that does not resolve", caused(wrapped("ENOTFOUND")), "NotSent", "NameNotResolved", 3],
    ["a resolver that does not answer", caused(wrapped("EAI_AGAIN")), "NotSent", "NameNotResolved", 3],
    ["a connection not made in time", caused(wrapped("UND_ERR_CONNECT_TIMEOUT")), "NotSent", "NoConnection", 3],
    ["a connect that times out", caused(coded("ETIMEDOUT", { syscall: "connect" })), "NotSent", "NoConnection", 3],
    ["a reset while connecting", caused(wrapped("ECONNRESET", { syscall: "connect" })), "NotSent", "NoConnection", 3],
    ["no route", caused(wrapped("EHOSTUNREACH", { syscall: "connect" })), "NotSent", "NoConnection", 3],
    ...certificateCodes.map((code): Row => [
      `a handshake that ends with ${code}`,
      caused(wrapped(code)),
      "NotSent",
      "Tls",
      1
    ]),
    ["a peer without TLS", caused(wrapped("ERR_SSL_WRONG_VERSION_NUMBER", { message: noTls })), "NotSent", "Tls", 1],
    [
      "a record that is no TLS, by a routine that reads answers",
      caused(
        wrapped("ERR_SSL_WRONG_VERSION_NUMBER", { message: "SSL routines:ssl3_get_record:wrong version number:" })
      ),
      "Unknown",
      "Tls",
      3
    ],
    ["a broken record of TLS, which may be of the answer", caused(coded("EPROTO")), "Unknown", "Tls", 3],
    [
      "several addresses, all refused",
      caused(
        Object.assign(new AggregateError([coded("ECONNREFUSED"), coded("ENETUNREACH", { syscall: "connect" })]), {
          code: "ECONNREFUSED"
        })
      ),
      "NotSent",
      "NoConnection",
      3
    ],
    [
      "several addresses, one of them reset while reading",
      caused(new AggregateError([coded("ECONNREFUSED"), coded("ECONNRESET", { syscall: "read" })])),
      "Unknown",
      "ConnectionLost",
      3
    ],
    ["a reset after the request", lostConnection, "Unknown", "ConnectionLost", 3],
    [
      "a reset in the handshake, which looks like a reset after it",
      caused(coded("ECONNRESET")),
      "Unknown",
      "ConnectionLost",
      3
    ],
    ["a broken pipe", caused(coded("EPIPE", { syscall: "write" })), "Unknown", "ConnectionLost", 3],
    ["a socket closed by the other side", caused(wrapped("UND_ERR_SOCKET")), "Unknown", "ConnectionLost", 3],
    ["a read that times out", caused(coded("ETIMEDOUT", { syscall: "read" })), "Unknown", "Timeout", 3],
    ["headers that never come", caused(wrapped("UND_ERR_HEADERS_TIMEOUT")), "Unknown", "Timeout", 3],
    ["an answer that is not HTTP", caused(wrapped("HPE_INVALID_CONSTANT")), "Unknown", "Unreadable", 1],
    ["an unknown code", caused(coded("E_NEVER_SEEN")), "Unknown", "Unrecognised", 3],
    ["a cause without a code", caused(new TypeError("fetch failed")), "Unknown", "Unrecognised", 3],
    ["a cause that is no error", caused("boom"), "Unknown", "Unrecognised", 3],
    ["a defect of the transport", { defect: new Error("boom") }, "Unknown", "Unrecognised", 3]
  ]

  effect.each(rows)("an error after %s says whether anything was sent", function* ([, reply, sent, reason, attempts]) {
    for (const name of writeNames) {
      yield* expectError(
        name,
        [reply],
        sent === "NotSent"
          ? { tag: "ServiceUnavailable", outcome: "NotSent", attempts, reason }
          : { tag: "OutcomeUnknown", outcome: "Unknown", attempts, reason }
      )
    }
    for (const name of readNames) {
      yield* expectError(name, [reply], { tag: "ServiceUnavailable", outcome: "NoEffect", attempts, reason })
    }
  })

  it.effect("a cause that contains itself ends the search, not the process", () => {
    const cause: { cause?: unknown } = {}
    cause.cause = cause
    return expectError("requestWithdrawal", [{ cause }], {
      tag: "OutcomeUnknown",
      outcome: "Unknown",
      attempts: 3,
      reason: "Unrecognised"
    })
  })
})

describe("a success that cannot be read", () => {
  const bodies: ReadonlyArray<readonly [string, Reply, number]> = [
    ["is empty", respond(200), 200],
    ["is null", respond(200, "null"), 200],
    ["has no content", { response: () => new Response(null, { status: 204 }) }, 204],
    ["is a page of HTML", respond(200, "<html><b>Maria</b></html>"), 200],
    ["is JSON cut in the middle", respond(201, `{"data":{"id":"`), 201],
    ["is another object", respond(201, { ok: true }), 201],
    ["is a list", respond(201, "[]"), 201]
  ]

  effect.each(bodies)(
    "a success that %s is unknown for a write and unexpected for a read",
    function* ([, reply, status]) {
      for (const name of writeNames) {
        yield* expectError(name, [reply], {
          tag: "OutcomeUnknown",
          outcome: "Unknown",
          attempts: 1,
          status,
          reason: "Unreadable"
        })
      }
      for (const name of readNames) {
        yield* expectError(name, [reply], {
          tag: "UnexpectedResponse",
          outcome: "NoEffect",
          attempts: 1,
          status,
          reason: "Unreadable"
        })
      }
    }
  )

  effect("an unreadable success says where it differs from the contract, and never a value", function* () {
    const secret = "canary-7f3e"
    const data = { ...created.data, amount: secret, status: null, pix: { qrcode: 5, expirationDate: secret } }
    const { error } = yield* failing(createTransaction.call, respond(200, { ...created, data }))
    assert.strictEqual(error._tag, "OutcomeUnknown")
    if (error._tag !== "OutcomeUnknown") return
    assert.isNotEmpty(error.issues)
    for (const { path } of error.issues ?? []) assert.match(path, /^data\./)
    assert.notInclude(`${String(error)} ${JSON.stringify(error)}`, secret)
    isSound(error, "createTransaction")
  })

  effect("a success of a withdrawal that echoes another key is OutcomeUnknown, never success", function* () {
    yield* expectError("requestWithdrawal", [respond(201, record("wd_of_somebody_else"))], {
      tag: "OutcomeUnknown",
      outcome: "Unknown",
      attempts: 1,
      status: 201,
      reason: "KeyMismatch"
    })
    const { error } = yield* failing(requestWithdrawal.call, respond(201, record("wd_of_somebody_else")))
    assert.include(error.message, "idempotencyKey is not the key that was sent")
    assert.notInclude(String(error), "somebody")
  })
})
