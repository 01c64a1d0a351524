/** Which error the words of a refusal make of a write. */
import { assert, describe } from "@effect/vitest"
import type { PaymentsError, WriteOptions } from "effect-pix"
import { Duration, Effect } from "effect"
import { errorOf, type Use } from "../support/calls.ts"
import { effect } from "../support/effect.ts"
import { createTransaction, keyedWithdrawal, withdrawal } from "../support/operations.ts"
import { lostConnection, respond } from "../support/Wire.ts"

/** The past of the key: the call makes it, the caller gives it, or gives it with a word about its past. */
const pasts = { made: undefined, given: {}, None: { earlier: "None" }, Unknown: { earlier: "Unknown" } } as const
type Past = keyof typeof pasts
const declaredPasts: ReadonlyArray<Past> = ["made", "given", "None"]

const options = (past: Past): WriteOptions | undefined => pasts[past] && { idempotencyKey: "wd_1", ...pasts[past] }

const payNone =
  (past: Past): Use =>
  (payments) =>
    payments.requestWithdrawal(withdrawal, options(past))
const payTo =
  (past: Past): Use =>
  (payments) =>
    payments.requestWithdrawal(keyedWithdrawal, options(past))
const charge =
  (past: Past): Use =>
  (payments) =>
    createTransaction.call(payments, options(past))

/** The error of a write that is refused with this status and body, after one request. */
const refused = (use: Use, status: number, body: unknown, headers?: Record<string, string>) =>
  Effect.map(errorOf(use, respond(status, body, headers)), ({ error, requests }) => {
    assert.strictEqual(requests, error.attempts)
    return error
  })

/** A message in each of the common shapes of an error body. */
const shapes = (message: string): ReadonlyArray<unknown> => [
  message,
  JSON.stringify(message),
  { mensagem: message },
  { error: { code: "E1", message } },
  { errors: { amount: [message] } },
  { type: "about:blank", title: "Unprocessable Entity", status: 422, detail: message },
  { ok: false, res: { message } },
  `<html><head><title>${message}</title></head><body>x</body></html>`
]

const writes = { payNone, payTo, charge }
type Tag = PaymentsError["_tag"]
interface Row {
  readonly words: unknown
  readonly is: Tag
  /** Default: a withdrawal to the key on file, with a 422, for each past of its key but "Unknown". */
  readonly of?: keyof typeof writes
  readonly statuses?: ReadonlyArray<number>
  readonly pasts?: ReadonlyArray<Past>
}

const each = (words: ReadonlyArray<unknown>, row: Omit<Row, "words">) =>
  words.map((one): Row => ({ words: one, ...row }))

const given: Pick<Row, "of" | "pasts"> = { of: "payTo", pasts: ["given"] }
const declared: Pick<Row, "of" | "pasts"> = { of: "payTo", pasts: ["made", "None"] }
const before = [
  "Já existe um pagamento com esta referência",
  "Transaction already exists",
  "Saque em andamento",
  "Saque já solicitado"
]
const already = "Saque já solicitado"
const unsure = "Não foi possível"
const page = `<html><head><style>${"x".repeat(20_000)}</style></head><body><p>${already}</p></body></html>`

const rows: ReadonlyArray<Row> = [
  ...each(["Saldo insuficiente para realizar o saque.", "insufficient funds", "INSUFFICIENT_BALANCE"], {
    is: "InsufficientBalance",
    statuses: [400, 402, 404, 418, 422]
  }),
  ...each(["O valor mínimo para saque é de R$ 10,00", "The amount is below the minimum"], { is: "BelowMinimum" }),
  ...each(["Nenhuma chave PIX cadastrada", "pixKey is required"], { is: "NoPixKey" }),
  ...each(["Idempotency-Key already used with a different body", "Requisição duplicada", "DUPLICATE_REQUEST"], {
    is: "IdempotencyConflict",
    statuses: [403, 409, 422, 429]
  }),
  ...each(["Idempotency-Key already used", "Saldo insuficiente"], { is: "AuthError", statuses: [401] }),
  ...each(["Saldo insuficiente"], { is: "AuthError", statuses: [403] }),
  ...each(before, { ...given, is: "IdempotencyConflict", statuses: [400, 403, 422] }),
  ...each(before, { ...declared, is: "RequestRejected", statuses: [400, 422] }),
  ...each(before, { ...declared, is: "AuthError", statuses: [403] }),
  ...each(["Pedido já recebido"], { of: "charge", pasts: ["given"], is: "IdempotencyConflict" }),
  ...each(["Pedido já recebido", "Saldo insuficiente", "Nenhuma chave PIX cadastrada", "Valor abaixo do mínimo"], {
    of: "charge",
    pasts: ["made", "None"],
    is: "RequestRejected"
  }),
  ...each(["Duplicate request"], { of: "charge", is: "IdempotencyConflict" }),
  ...each(["Conta bloqueada", "Saldo insuficiente", "Nenhuma chave PIX cadastrada", ""], {
    is: "IdempotencyConflict",
    statuses: [409]
  }),
  ...each([already, "Saldo insuficiente"], { is: "RequestRejected", statuses: [301, 307, 308], pasts: ["made"] }),
  // The cause of a withdrawal without a PIX key is documented for a 400 or 404 without words, and only the service says it.
  ...each(["", "{}", "null", "[]", `{"message":"Bad Request"}`, `{"code":400}`], {
    is: "NoPixKey",
    statuses: [400, 404]
  }),
  ...each([""], { is: "RequestRejected", statuses: [402, 405, 410, 418] }),
  ...each(["", unsure, "Nenhuma chave PIX cadastrada"], { ...declared, is: "RequestRejected", statuses: [400, 404] }),
  ...each(["<html><title>404 Not Found</title></html>", "404 Not Found"], {
    is: "RequestRejected",
    statuses: [400, 404]
  }),
  ...each(["Conta bloqueada", "Moeda inválida", "Limite diário de saques atingido", unsure], {
    is: "RequestRejected",
    statuses: [400, 404, 422],
    pasts: ["made"]
  }),
  { words: { message: "O saque não foi feito", observacao: "Saldo insuficiente" }, is: "InsufficientBalance" },
  // Words about an earlier request count wherever they are in the body.
  ...each(
    [
      { title: already, detail: "Saldo insuficiente" },
      { error: already, message: unsure },
      { message: unsure, info: { texts: [{ text: already }] } },
      { code: "E1", errors: [{ code: "DUPLICATE_REQUEST", message: unsure }] },
      { message: JSON.stringify({ upstream: { fault: already } }) },
      { message: unsure, alreadyProcessed: true },
      page,
      `<fault><text><![CDATA[${already}]]></text></fault>`,
      { message: unsure, page }
    ],
    { ...given, is: "IdempotencyConflict", statuses: [400] }
  ),
  // They do not where they repeat the status or deny such a request.
  ...each(
    [
      { message: "Conta bloqueada", error: "Conflict", statusCode: 422 },
      { message: "Conta bloqueada", duplicate: false }
    ],
    { ...given, is: "RequestRejected" }
  ),
  // A body that is too long to be read may say anything.
  ...each([{ message: "Conta bloqueada", trace: "x".repeat(40_000) }], {
    ...given,
    is: "OutcomeUnknown",
    statuses: [400]
  }),
  ...each([{ message: "Conta bloqueada", trace: "x".repeat(40_000) }], {
    ...declared,
    is: "RequestRejected",
    statuses: [400]
  })
]

const named = rows.map(
  (row) =>
    [
      (typeof row.words === "string" ? row.words : JSON.stringify(row.words)).slice(0, 80),
      row.of ?? "payNone",
      row.is,
      row
    ] as const
)

describe("the words of a refusal", () => {
  effect.each(named)(
    "%j of %s are %s",
    function* ([, of, is, { pasts: these = declaredPasts, statuses = [422], words }]) {
      for (const status of statuses) {
        for (const past of these) {
          const body =
            typeof words === "string" && words !== "" && !/^[<{[]|^null$|^404/.test(words) ? { message: words } : words
          assert.strictEqual((yield* refused(writes[of](past), status, body))._tag, is, `${status}, ${past}`)
        }
      }
    }
  )

  effect.each(["Saldo insuficiente", "Chave PIX não encontrada", "Duplicate withdrawal"])(
    "%s is read in each shape of a body",
    function* (message) {
      const tags = new Set<Tag>()
      for (const shape of shapes(message)) tags.add((yield* refused(payNone("made"), 422, shape))._tag)
      assert.strictEqual(tags.size, 1)
      assert.notInclude([...tags], "RequestRejected")
    }
  )

  effect("of the request that are echoed are not about an earlier request", function* () {
    const description = "Pagamento duplicado"
    const use: Use = (payments) => payments.requestWithdrawal({ ...keyedWithdrawal, description }, options("given"))
    const error = yield* refused(use, 422, { message: "Conta bloqueada", received: { description } })
    assert.strictEqual(error._tag, "RequestRejected")
  })

  effect("of a conflict have beside them the time that the service asks to wait, also of a 429", function* () {
    for (const status of [409, 422, 429]) {
      const error = yield* refused(payTo("made"), status, { message: "Idempotency key in use" }, { "retry-after": "7" })
      assert(error._tag === "IdempotencyConflict")
      assert.deepStrictEqual(error.retryAfter, Duration.seconds(7))
    }
  })

  effect(
    "of a 429 about duplication leave a call in doubt unknown, whatever a later attempt is answered",
    function* () {
      const { error, requests } = yield* errorOf(payTo("made"), [
        lostConnection,
        respond(429, { message: "Duplicate request" }),
        respond(422, { message: "Sem saldo" })
      ])
      assert.deepStrictEqual([error._tag, error.outcome, requests], ["OutcomeUnknown", "Unknown", 3])
    }
  )

  effect("of an ordinary 429 leave it a rate limit", function* () {
    for (const message of ["Saldo insuficiente", "Too many requests", already]) {
      const { error } = yield* errorOf(payTo("made"), respond(429, { message }))
      assert.deepStrictEqual([error._tag, error.outcome], ["RateLimited", "Rejected"])
    }
  })

  effect("are shown on one line, shortened, without the values of the request and the credentials", function* () {
    const message = `Chave maria@example.com recusada\r\n\u001B[31m para sk_live_0f9d2c7b ${"x ".repeat(300)}`
    const error = yield* refused(payTo("made"), 422, { message })
    assert.match("serviceMessage" in error ? (error.serviceMessage ?? "") : "", /^Chave \[redacted\] recusada.{0,180}$/)
    // oxlint-disable-next-line no-control-regex -- the test searches for control characters
    assert.notMatch(error.message, /[\u0000-\u001F]|sk_live/)
    const lookUp = yield* errorOf(
      (payments) => payments.getTransaction("order-of-maria"),
      respond(404, { message: "Transação order-of-maria inexistente", code: "order-of-maria" })
    )
    assert.deepInclude(lookUp.error, { serviceMessage: "Transação [redacted] inexistente" })
    assert.notProperty(lookUp.error, "serviceCode")
  })

  effect("have their code in the error and its message, unless the request holds it", function* () {
    for (const [use, status] of [
      [payTo("made"), 422],
      [payTo("made"), 409],
      [payTo("made"), 401],
      [payTo("Unknown"), 422],
      [payNone("made"), 422]
    ] as const) {
      const error = yield* refused(use, status, { message: "Valor abaixo do mínimo", code: "PIX-17" })
      assert.deepInclude(error, { serviceCode: "PIX-17" })
      assert.include(error.message, "PIX-17")
    }
    for (const code of ["wd_1", "maria", "52998224725"]) {
      assert.notProperty(yield* refused(payTo("made"), 422, { message: "Recusado", code }), "serviceCode")
    }
  })
})
