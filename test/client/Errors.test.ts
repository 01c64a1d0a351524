import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import {
  AuthError,
  BelowMinimum,
  type FailureReason,
  IdempotencyConflict,
  InsufficientBalance,
  InvalidRequest,
  Money,
  NoPixKey,
  type Operation,
  OutcomeUnknown,
  Payments,
  type PaymentsError,
  PaymentsPolicy,
  PixKey,
  RateLimited,
  RefusalRules,
  RequestRejected,
  ServiceUnavailable,
  TransactionNotFound,
  UnexpectedResponse
} from "effect-pix"
import { Duration, Effect, Layer, Schedule, Schema } from "effect"
import { HttpClient } from "effect/http"
import {
  charge,
  created,
  lostConnection,
  paymentsOn,
  payout,
  record,
  refusedConnection,
  type Reply,
  respond,
  scripted
} from "../support/Wire.ts"

type Script = readonly [Reply, ...ReadonlyArray<Reply>]
type Service = Payments["Service"]

const transactionId = "6f1b9a3e-2f7c-4f0e-9d53-0c5a7e1b2d44"
const keyed = { ...payout, pixKey: PixKey.email("maria@example.com") }

const writes = {
  createTransaction: (payments: Service) => payments.createTransaction(charge),
  requestWithdrawal: (payments: Service) => payments.requestWithdrawal(keyed)
}
const reads = {
  getTransaction: (payments: Service) => payments.getTransaction(transactionId),
  listTransactions: (payments: Service) => payments.listTransactions(),
  getBalance: (payments: Service) => payments.getBalance({ companyId: 7 })
}
const all: Readonly<Record<Operation, (payments: Service) => Effect.Effect<unknown, PaymentsError>>> = {
  ...writes,
  ...reads
}
const writeNames = ["createTransaction", "requestWithdrawal"] as const
const readNames = ["getTransaction", "listTransactions", "getBalance"] as const

const keyOf = (operation: Operation) =>
  operation === "createTransaction" ? "tx_1" : operation === "requestWithdrawal" ? "wd_1" : undefined

/** Twice again, at once. */
const impatient = PaymentsPolicy.layer({ retryReads: Schedule.recurs(2), retryWrites: Schedule.recurs(2) })

const failing = Effect.fnUntraced(function* <A, E extends PaymentsError>(
  use: (payments: Service) => Effect.Effect<A, E>,
  ...replies: Script
) {
  const { layer, sent } = scripted(...replies)
  const error = yield* Effect.flip(Effect.flatMap(Payments, use)).pipe(
    Effect.provide(Layer.provide(paymentsOn(layer), impatient))
  )
  return { error, sent }
})

const statusOf = (error: PaymentsError) => ("status" in error ? error.status : undefined)
const reasonOf = (error: PaymentsError): FailureReason | undefined => ("reason" in error ? error.reason : undefined)

const AnyError = Schema.Union([
  InvalidRequest,
  BelowMinimum,
  AuthError,
  NoPixKey,
  InsufficientBalance,
  TransactionNotFound,
  IdempotencyConflict,
  RateLimited,
  RequestRejected,
  ServiceUnavailable,
  UnexpectedResponse,
  OutcomeUnknown
])
const codec = Schema.toCodecJson(AnyError)

/** What holds for every error, whatever it is. */
const isSound = (error: PaymentsError, operation: Operation) => {
  assert.strictEqual(error.operation, operation)
  assert.strictEqual(error.idempotencyKey, keyOf(operation))
  const stored = JSON.stringify(Schema.encodeSync(codec)(error))
  const back = Schema.decodeUnknownSync(codec)(JSON.parse(stored))
  assert.deepStrictEqual(back, error)
  assert.strictEqual(back.message, error.message)
  if (error.outcome === "Unknown") {
    assert.include(error.message, operation === "createTransaction" ? "THE CHARGE MAY EXIST" : "MONEY MAY HAVE MOVED")
    assert.include(error.message, keyOf(operation) ?? "no key")
  } else {
    assert.notMatch(error.message, /MAY (EXIST|HAVE)/)
    if (error.idempotencyKey !== undefined) {
      assert.match(error.message, /Nothing (happened|was (sent|executed))|No money moved|never followed/)
    }
  }
}

interface Expected {
  readonly tag: PaymentsError["_tag"]
  readonly outcome: PaymentsError["outcome"]
  readonly attempts: number
  readonly status?: number | undefined
  readonly reason?: FailureReason
}

const expectError = (operation: Operation, replies: Script, expected: Expected) =>
  Effect.gen(function* () {
    const { error, sent } = yield* failing(all[operation], ...replies)
    assert.deepStrictEqual(
      {
        tag: error._tag,
        outcome: error.outcome,
        attempts: error.attempts,
        requests: sent.length,
        status: statusOf(error),
        reason: reasonOf(error)
      },
      {
        tag: expected.tag,
        outcome: expected.outcome,
        attempts: expected.attempts,
        requests: expected.attempts,
        status: expected.status,
        reason: expected.reason
      }
    )
    isSound(error, operation)
  })

describe("a status becomes the documented error", () => {
  type Row = readonly [status: number, write: Omit<Expected, "status">, read: Omit<Expected, "status">]

  const rejected = (attempts = 1) => ({ tag: "RequestRejected", outcome: "Rejected", attempts }) as const
  const unauthorized = { tag: "AuthError", outcome: "Rejected", attempts: 1 } as const
  const limited = { tag: "RateLimited", outcome: "Rejected", attempts: 3 } as const
  const conflict = { tag: "IdempotencyConflict", outcome: "Unknown", attempts: 1 } as const
  const unknown = (attempts: number, reason: FailureReason) =>
    ({ tag: "OutcomeUnknown", outcome: "Unknown", attempts, reason }) as const
  const unavailable = (attempts: number, reason: FailureReason) =>
    ({ tag: "ServiceUnavailable", outcome: "NoEffect", attempts, reason }) as const

  const rows: ReadonlyArray<Row> = [
    [300, rejected(), rejected()],
    [301, rejected(), rejected()],
    [302, rejected(), rejected()],
    // The service acted, and says where to read the result.
    [303, unknown(1, "Redirect"), rejected()],
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
    [425, rejected(3), rejected(3)],
    [429, limited, limited],
    [451, rejected(), rejected()],
    [499, rejected(), rejected()],
    [500, unknown(3, "ServerError"), unavailable(3, "ServerError")],
    [501, unknown(1, "ServerError"), unavailable(1, "ServerError")],
    [502, unknown(3, "ServerError"), unavailable(3, "ServerError")],
    [503, unknown(3, "ServerError"), unavailable(3, "ServerError")],
    [504, unknown(3, "ServerError"), unavailable(3, "ServerError")],
    [505, unknown(1, "ServerError"), unavailable(1, "ServerError")],
    [520, unknown(1, "ServerError"), unavailable(1, "ServerError")],
    [599, unknown(1, "ServerError"), unavailable(1, "ServerError")]
  ]

  it.effect.each(rows)("%i", ([status, write, read]) =>
    Effect.gen(function* () {
      const headers = status < 400 ? { location: "https://elsewhere.example/" } : {}
      const bodies = ["", `{"message":"não foi possível"}`, "<html><title>Erro</title></html>", `{"message":`]
      for (const body of bodies) {
        for (const name of writeNames) yield* expectError(name, [respond(status, body, headers)], { ...write, status })
        for (const name of readNames) yield* expectError(name, [respond(status, body, headers)], { ...read, status })
      }
    })
  )

  it.effect("404 is TransactionNotFound for the lookup, with its id, and a refusal for the others", () =>
    Effect.gen(function* () {
      const { error } = yield* failing(reads.getTransaction, respond(404))
      assert.strictEqual(error._tag, "TransactionNotFound")
      assert.strictEqual("transactionId" in error && error.transactionId, transactionId)
      isSound(error, "getTransaction")
      for (const name of [...writeNames, "listTransactions", "getBalance"] as const) {
        yield* expectError(name, [respond(404)], { ...rejected(), status: 404 })
      }
    })
  )

  it.effect("a client that fails on statuses by itself changes none of it", () =>
    Effect.gen(function* () {
      const { layer, sent } = scripted(respond(422, { message: "Saldo insuficiente" }))
      const filtered = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, HttpClient.filterStatusOk))
      const error = yield* Effect.flip(Effect.flatMap(Payments, writes.requestWithdrawal)).pipe(
        Effect.provide(paymentsOn(Layer.provide(filtered, layer)))
      )
      assert.strictEqual(error._tag, "InsufficientBalance")
      assert.strictEqual(sent.length, 1)
    })
  )
})

describe("a failure of the transport says whether anything was sent", () => {
  const caused = (cause: unknown): Reply => ({ cause })
  const coded = (code: string, more: object = {}) => Object.assign(new Error("x"), { code, ...more })
  const wrapped = (code: string, more: object = {}) => new TypeError("fetch failed", { cause: coded(code, more) })

  const noTls = "0A:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:ssl/record:77:"

  type Row = readonly [name: string, reply: Reply, sent: "NotSent" | "Unknown", reason: FailureReason, attempts: number]

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
    ["a self-signed certificate", caused(wrapped("DEPTH_ZERO_SELF_SIGNED_CERT")), "NotSent", "Tls", 1],
    ["an expired certificate", caused(wrapped("CERT_HAS_EXPIRED")), "NotSent", "Tls", 1],
    ["a certificate of another host", caused(wrapped("ERR_TLS_CERT_ALTNAME_INVALID")), "NotSent", "Tls", 1],
    ["a peer without TLS", caused(wrapped("ERR_SSL_WRONG_VERSION_NUMBER", { message: noTls })), "NotSent", "Tls", 1],
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
      "a reset in the handshake, which cannot be told from one after",
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
    ["a code that nobody knows", caused(coded("E_NEVER_SEEN")), "Unknown", "Unrecognised", 3],
    ["a cause without a code", caused(new TypeError("fetch failed")), "Unknown", "Unrecognised", 3],
    ["a cause that is no error", caused("boom"), "Unknown", "Unrecognised", 3],
    ["a defect of the transport", { defect: new Error("boom") }, "Unknown", "Unrecognised", 3]
  ]

  it.effect.each(rows)("%s", ([, reply, sent, reason, attempts]) =>
    Effect.gen(function* () {
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
  )

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

  it.effect.each(bodies)("%s", ([, reply, status]) =>
    Effect.gen(function* () {
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
    })
  )

  it.effect("says where it differs from the contract, and never a value", () =>
    Effect.gen(function* () {
      const secret = "canary-7f3e"
      const data = { ...created.data, amount: secret, status: null, pix: { qrcode: 5, expirationDate: secret } }
      const { error } = yield* failing(writes.createTransaction, respond(200, { ...created, data }))
      assert.strictEqual(error._tag, "OutcomeUnknown")
      if (error._tag !== "OutcomeUnknown") return
      assert.isNotEmpty(error.issues)
      for (const { path } of error.issues ?? []) assert.match(path, /^data\./)
      assert.notInclude(`${String(error)} ${JSON.stringify(error)}`, secret)
      isSound(error, "createTransaction")
    })
  )

  it.effect("of a withdrawal that echoes another key is OutcomeUnknown, never success", () =>
    Effect.gen(function* () {
      yield* expectError("requestWithdrawal", [respond(201, record("wd_of_somebody_else"))], {
        tag: "OutcomeUnknown",
        outcome: "Unknown",
        attempts: 1,
        status: 201,
        reason: "KeyMismatch"
      })
      const { error } = yield* failing(writes.requestWithdrawal, respond(201, record("wd_of_somebody_else")))
      assert.include(error.message, "idempotencyKey: is not the key that was sent")
      assert.notInclude(String(error), "somebody")
    })
  )
})

describe("an outcome that is unknown stays unknown", () => {
  const statuses = [302, 400, 401, 403, 404, 409, 410, 422]

  it.effect.each(statuses)("a reset and then %i", (status) =>
    Effect.gen(function* () {
      for (const name of writeNames) {
        for (const body of ["", `{"message":"Saldo insuficiente"}`, `{"error":"idempotency key already used"}`]) {
          yield* expectError(name, [lostConnection, respond(status, body)], {
            tag: "OutcomeUnknown",
            outcome: "Unknown",
            attempts: 2,
            status,
            reason: "RefusedAfterUnknown"
          })
        }
      }
    })
  )

  it.effect("whatever came before: 500, 408, a defect, a rate limit in between", () =>
    Effect.gen(function* () {
      const befores: ReadonlyArray<Script> = [
        [respond(500)],
        [respond(408)],
        [{ defect: new Error("boom") }],
        [lostConnection, respond(429)],
        [respond(429), lostConnection]
      ]
      for (const [first, ...more] of befores) {
        yield* expectError("requestWithdrawal", [first, ...more, respond(422)], {
          tag: "OutcomeUnknown",
          outcome: "Unknown",
          attempts: 2 + more.length,
          status: 422,
          reason: "RefusedAfterUnknown"
        })
      }
    })
  )

  it.effect("also when the last attempt provably was not sent", () =>
    expectError("requestWithdrawal", [lostConnection, refusedConnection], {
      tag: "OutcomeUnknown",
      outcome: "Unknown",
      attempts: 3,
      reason: "ConnectionLost"
    })
  )

  it.effect("also when the last attempt was refused for its rate, with the hint kept", () =>
    Effect.gen(function* () {
      const { error } = yield* failing(
        writes.requestWithdrawal,
        lostConnection,
        respond(429, "", { "retry-after": "3600" })
      )
      assert.strictEqual(error._tag, "OutcomeUnknown")
      if (error._tag !== "OutcomeUnknown") return
      assert.strictEqual(error.attempts, 2)
      assert.deepStrictEqual(error.retryAfter, Duration.seconds(3600))
    })
  )

  it.effect("but what provably was not sent, or was refused, leaves a refusal what it is", () =>
    Effect.gen(function* () {
      for (const first of [refusedConnection, respond(429), respond(425)]) {
        yield* expectError("requestWithdrawal", [first, respond(422)], {
          tag: "RequestRejected",
          outcome: "Rejected",
          attempts: 2,
          status: 422
        })
      }
    })
  )

  it.effect("until a repetition under the same key is answered readably", () =>
    Effect.gen(function* () {
      const inFlight = respond(409, { message: "A request with this idempotency key is in progress" })
      for (const first of [lostConnection, respond(503)]) {
        const { layer, sent } = scripted(first, inFlight, respond(201, record("wd_1")))
        const paid = yield* Effect.flatMap(Payments, writes.requestWithdrawal).pipe(
          Effect.provide(Layer.provide(paymentsOn(layer), impatient))
        )
        assert.strictEqual(paid.idempotencyKey, "wd_1")
        assert.deepStrictEqual(
          sent.map(({ headers }) => headers["idempotency-key"]),
          ["wd_1", "wd_1", "wd_1"]
        )
        assert.deepStrictEqual(sent[2]?.bytes, sent[0]?.bytes)
      }
    })
  )
})

describe("the words of a refused withdrawal", () => {
  const refusedWith = (status: number, body: unknown, request: Parameters<Service["requestWithdrawal"]>[0] = payout) =>
    Effect.map(
      failing((payments) => payments.requestWithdrawal(request), respond(status, body)),
      ({ error, sent }) => {
        assert.strictEqual(sent.length, 1)
        assert.strictEqual(statusOf(error), status)
        isSound(error, "requestWithdrawal")
        return error
      }
    )

  /** One message in each shape in which services write one. */
  const shapes = (message: string): ReadonlyArray<unknown> => [
    message,
    JSON.stringify(message),
    { message },
    { mensagem: message },
    { Message: message, statusCode: 422 },
    { error: message },
    { error: { message } },
    { error: { code: "E1", message } },
    { erro: { mensagem: message } },
    { errors: [message] },
    { errors: [{ message }] },
    { errors: { amount: [message] } },
    { detail: message },
    { type: "about:blank", title: "Unprocessable Entity", status: 422, detail: message },
    { ok: false, res: { message } },
    { data: null, status: 422, message },
    `<html><head><title>${message}</title></head><body>x</body></html>`
  ]

  const words: ReadonlyArray<readonly [PaymentsError["_tag"], ReadonlyArray<string>]> = [
    [
      "InsufficientBalance",
      [
        "Saldo insuficiente",
        "Saldo insuficiente para realizar o saque.",
        "O saldo disponível é menor que o valor solicitado",
        "Não há saldo suficiente: saldo insuficiente",
        "Insufficient balance",
        "insufficient funds",
        "Balance is not enough for this withdrawal",
        "INSUFFICIENT_BALANCE"
      ]
    ],
    [
      "BelowMinimum",
      [
        "O valor mínimo para saque é de R$ 10,00",
        "Valor abaixo do mínimo permitido",
        "Minimum withdrawal amount is 1000",
        "The amount is below the minimum",
        "Saque mínimo: 1000 centavos"
      ]
    ],
    [
      "NoPixKey",
      [
        "Nenhuma chave PIX cadastrada",
        "Não há chave PIX cadastrada na conta bancária da empresa.",
        "A conta bancária não possui chave pix",
        "Chave PIX não encontrada",
        "No PIX key found for the company's bank account",
        "pixKey is required",
        "PIX key not registered"
      ]
    ],
    [
      "IdempotencyConflict",
      [
        "Idempotency-Key already used with a different body",
        "Esta chave de idempotência já foi utilizada",
        "A request with this idempotency key is in progress",
        "Já existe um pagamento com esta referência",
        "Saque já foi solicitado",
        "Duplicate withdrawal",
        "Transaction already exists",
        "Requisição em processamento",
        "Saque em andamento",
        "Saque já solicitado",
        "Transação já processada",
        "Operação duplicada",
        "Request in flight"
      ]
    ]
  ]

  const each = words.flatMap(([tag, messages]) => messages.map((message) => [message, tag] as const))

  it.effect.each(each)("%s: %s", ([message, tag]) =>
    Effect.gen(function* () {
      for (const status of [400, 409, 422]) {
        for (const shape of shapes(message)) {
          const error = yield* refusedWith(status, shape)
          assert.strictEqual(error._tag, tag, JSON.stringify(shape))
        }
      }
    })
  )

  it.effect("name the cause whatever the status of the refusal, except those that speak for themselves", () =>
    Effect.gen(function* () {
      const body = { message: "Saldo insuficiente" }
      for (const status of [402, 404, 412, 418]) {
        assert.strictEqual((yield* refusedWith(status, body))._tag, "InsufficientBalance")
      }
      for (const status of [401, 403]) assert.strictEqual((yield* refusedWith(status, body))._tag, "AuthError")
    })
  )

  it.effect("of a charge name no cause that only a withdrawal has", () =>
    Effect.gen(function* () {
      for (const message of ["Saldo insuficiente", "Nenhuma chave PIX cadastrada", "Valor abaixo do mínimo"]) {
        yield* expectError("createTransaction", [respond(422, { message })], {
          tag: "RequestRejected",
          outcome: "Rejected",
          attempts: 1,
          status: 422
        })
      }
    })
  )

  it.effect("say whether a key was used before, is in flight, or which of both is not clear", () =>
    Effect.gen(function* () {
      const cases = [
        ["Idempotency-Key already used with a different body", "Reused"],
        ["A request with this idempotency key is in progress", "InFlight"],
        ["Requisição com esta chave de idempotência em processamento", "InFlight"],
        ["Conflict", "Unclear"]
      ] as const
      for (const [message, conflict] of cases) {
        const error = yield* refusedWith(409, { message }, keyed)
        assert.strictEqual(error._tag, "IdempotencyConflict")
        assert.strictEqual("conflict" in error && error.conflict, conflict, message)
      }
    })
  )

  it.effect("where none names a cause, 400, 404, 409 and 422 without a key stand for the documented one", () =>
    Effect.gen(function* () {
      const silent = ["", "{}", "null", "[]", `{"message":""}`, `{"message":"Bad Request"}`, "Não foi possível"]
      for (const body of silent) {
        for (const status of [400, 404, 409, 422]) {
          assert.strictEqual((yield* refusedWith(status, body))._tag, "NoPixKey", `${status} ${body}`)
        }
        for (const status of [402, 405, 410, 412, 418, 423]) {
          assert.strictEqual((yield* refusedWith(status, body))._tag, "RequestRejected", `${status} ${body}`)
        }
      }
    })
  )

  it.effect("that name another cause are no missing key", () =>
    Effect.gen(function* () {
      const others = [
        "Conta bloqueada",
        "Account suspended",
        "Limite diário de saques atingido",
        "Moeda inválida",
        "Invalid metadata",
        "Sistema em manutenção",
        "Bloqueado por suspeita de fraude",
        "Withdrawals are disabled for this company"
      ]
      for (const message of others) {
        for (const status of [400, 404, 422]) {
          assert.strictEqual((yield* refusedWith(status, { message }))._tag, "RequestRejected", message)
        }
      }
    })
  )

  it.effect("cannot mean a missing key when the request named one", () =>
    Effect.gen(function* () {
      for (const message of ["", "Chave PIX não encontrada", "Nenhuma chave PIX cadastrada"]) {
        for (const status of [400, 404, 422]) {
          assert.strictEqual((yield* refusedWith(status, { message }, keyed))._tag, "RequestRejected", message)
        }
      }
    })
  )

  it.effect("are read by the user's own rules, of the layer or of the call", () =>
    Effect.gen(function* () {
      const rules = RefusalRules.make({
        rules: [
          { cause: "InsufficientBalance", words: /\be-1042\b/ },
          { cause: "NoPixKey", words: /sem destino/g }
        ],
        noPixKeyStatuses: [418]
      })
      const ask = (status: number, message: string) =>
        Effect.gen(function* () {
          const { layer } = scripted(respond(status, { message }))
          const asked = Effect.map(
            Effect.flip(Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(payout))),
            (error) => error._tag
          )
          const ofLayer = yield* asked.pipe(
            Effect.provide(Layer.provide(paymentsOn(layer), Layer.succeed(RefusalRules, rules)))
          )
          const ofCall = yield* asked.pipe(
            Effect.provide(paymentsOn(layer)),
            Effect.provideService(RefusalRules, rules)
          )
          assert.strictEqual(ofCall, ofLayer)
          return ofCall
        })
      assert.strictEqual(yield* ask(400, "Erro E-1042"), "InsufficientBalance")
      assert.strictEqual(yield* ask(400, "Conta sem destino"), "NoPixKey")
      assert.strictEqual(yield* ask(400, "Conta sem destino"), "NoPixKey")
      assert.strictEqual(yield* ask(418, ""), "NoPixKey")
      assert.strictEqual(yield* ask(422, ""), "RequestRejected")
      assert.strictEqual(yield* ask(422, "Saldo insuficiente"), "RequestRejected")
    })
  )

  it.effect("are shown cut, on one line, without what the request held", () =>
    Effect.gen(function* () {
      const body = {
        message: `Chave maria@example.com recusada\r\n\u001B[31m para sk_live_0f9d2c7b ${"x ".repeat(300)}`
      }
      const error = yield* refusedWith(422, body, keyed)
      const said = "serviceMessage" in error ? (error.serviceMessage ?? "") : ""
      assert.match(said, /^Chave \[redacted\] recusada/)
      assert.isAtMost(said.length, 200)
      // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
      assert.notMatch(error.message, /[\u0000-\u001F]/)
      assert.notInclude(JSON.stringify(error), "sk_live")
    })
  )
})

describe("each error", () => {
  const common = { operation: "requestWithdrawal", attempts: 2, idempotencyKey: "wd_1" } as const
  const answered = { ...common, status: 422, serviceMessage: "Não", outcome: "Rejected" } as const
  // As the longest `Retry-After` is read: beyond the safe milliseconds.
  const huge = Duration.nanos(99_999_999_999_999_000_000_000n)
  const errors: ReadonlyArray<PaymentsError> = [
    new InvalidRequest({ ...common, outcome: "NotSent", issues: [{ path: "amount", problem: "x" }] }),
    new BelowMinimum({ ...common, outcome: "NotSent", amount: Money.centavos(999), minimum: Money.centavos(1000) }),
    new AuthError(answered),
    new NoPixKey(answered),
    new InsufficientBalance(answered),
    new TransactionNotFound({ ...answered, operation: "getTransaction", transactionId }),
    new IdempotencyConflict({ ...answered, outcome: "Unknown", conflict: "Unclear" }),
    new RateLimited({ ...answered, retryAfter: huge }),
    new RequestRejected(answered),
    new ServiceUnavailable({ ...common, outcome: "NotSent", reason: "NoConnection", retryAfter: huge }),
    new UnexpectedResponse({
      operation: "getBalance",
      attempts: 1,
      status: 200,
      outcome: "NoEffect",
      reason: "TooLarge",
      issues: []
    }),
    new OutcomeUnknown({ ...common, outcome: "Unknown", reason: "Interrupted", retryAfter: Duration.millis(1500) })
  ]

  it.each(errors.map((error) => [error._tag, error] as const))(
    "%s can be stored as JSON and read back",
    (tag, error) => {
      const stored = JSON.stringify(Schema.encodeSync(codec)(error))
      const back = Schema.decodeUnknownSync(codec)(JSON.parse(stored))
      assert.strictEqual(back._tag, tag)
      assert.deepStrictEqual(back, error)
      assert.strictEqual(back.message, error.message)
      assert.instanceOf(back, Error)
    }
  )

  it("is caught by its tag, and the types name what is left", () => {
    const asked = Effect.flatMap(Payments, writes.requestWithdrawal)
    const caught = Effect.catchTag(asked, "NoPixKey", () => Effect.succeed("none"))
    expectTypeOf<Extract<Effect.Error<typeof caught>, { _tag: "NoPixKey" }>>().toEqualTypeOf<never>()
    expectTypeOf<Extract<Effect.Error<typeof caught>, { _tag: "AuthError" }>>().toEqualTypeOf<AuthError>()
  })

  it("stands in the type of the operations that can fail with it, and in no other", () => {
    type TagsOf<Name extends Operation> = Effect.Error<ReturnType<Service[Name]>>["_tag"]
    type Read =
      | "InvalidRequest"
      | "AuthError"
      | "RateLimited"
      | "RequestRejected"
      | "ServiceUnavailable"
      | "UnexpectedResponse"
    type Write =
      | "InvalidRequest"
      | "AuthError"
      | "IdempotencyConflict"
      | "RateLimited"
      | "RequestRejected"
      | "ServiceUnavailable"
      | "OutcomeUnknown"
    expectTypeOf<TagsOf<"createTransaction">>().toEqualTypeOf<Write>()
    expectTypeOf<TagsOf<"getTransaction">>().toEqualTypeOf<Read | "TransactionNotFound">()
    expectTypeOf<TagsOf<"listTransactions">>().toEqualTypeOf<Read>()
    expectTypeOf<TagsOf<"getBalance">>().toEqualTypeOf<Read>()
    expectTypeOf<TagsOf<"requestWithdrawal">>().toEqualTypeOf<
      Write | "BelowMinimum" | "InsufficientBalance" | "NoPixKey"
    >()
    expectTypeOf<Effect.Services<ReturnType<Service["requestWithdrawal"]>>>().toEqualTypeOf<never>()
  })
})

describe("what an error tells a person", () => {
  const common = { operation: "requestWithdrawal", attempts: 1, idempotencyKey: "wd_1" } as const

  it("when to come back, in words that a person reads", () => {
    const limited = (retryAfter: Duration.Duration) =>
      new RateLimited({ ...common, outcome: "Rejected", status: 429, retryAfter }).message
    assert.include(limited(Duration.seconds(119.2)), "ask again in 120 second(s)")
    assert.include(limited(Duration.zero), "ask again now")
    assert.include(limited(Duration.millis(1e23)), "ask again in more than a day")
    const unknown = { ...common, outcome: "Unknown", reason: "ServerError", status: 503 } as const
    const waiting = new OutcomeUnknown({ ...unknown, retryAfter: Duration.seconds(5) })
    assert.include(waiting.message, "The service asks to come back in 5 second(s).")
  })

  it("that a refusal speaks of its own call, under its key", () => {
    const { message } = new RequestRejected({ ...common, outcome: "Rejected", status: 422 })
    assert.include(message, "Nothing was executed by this call (idempotency key wd_1)")
  })

  it("to wait for what is in flight, and to find out what a key was used for", () => {
    const conflict = (conflict: "InFlight" | "Reused") =>
      new IdempotencyConflict({ ...common, outcome: "Unknown", status: 409, conflict }).message
    assert.include(conflict("InFlight"), "Wait, and ask again with the same key.")
    assert.include(conflict("Reused"), "Find out what it was used for")
  })
})
