import { assert, describe } from "@effect/vitest"
import type { PaymentsError } from "effect-pix"
import { Duration, Effect } from "effect"
import { keyedWithdrawal, requestWithdrawal, withdrawal, writeNames } from "../support/operations.ts"
import { lostConnection, respond } from "../support/Wire.ts"
import { expectError, failing, isSound, optionsOf, type Past, type Service, statusOf } from "../support/failing.ts"
import { effect } from "../support/effect.ts"

describe("the words of a refused withdrawal", () => {
  const refusedWith = (
    status: number,
    body: unknown,
    request: Parameters<Service["requestWithdrawal"]>[0] = withdrawal,
    past: Past = "made"
  ) =>
    Effect.map(
      failing(
        (payments) => payments.requestWithdrawal(request, optionsOf("requestWithdrawal", past)),
        respond(status, body)
      ),
      ({ error, sent }) => {
        assert.strictEqual(sent.length, 1)
        assert.strictEqual(statusOf(error), status)
        isSound(error, "requestWithdrawal")
        return error
      }
    )

  /** A message in each of the common shapes of an error body. */
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
        "Duplicate withdrawal",
        "Operação duplicada"
      ]
    ]
  ]

  /** Ways to say "asked before" without words about idempotency or duplication. */
  const askedBefore = [
    "Já existe um pagamento com esta referência",
    "Saque já foi solicitado",
    "Transaction already exists",
    "Requisição em processamento",
    "Saque em andamento",
    "Saque já solicitado",
    "Transação já processada",
    "Request in flight"
  ]

  const each = words.flatMap(([tag, messages]) => messages.map((message) => [message, tag] as const))

  effect.each(each)("the words %j are read as %s, whatever the past of the key", function* ([message, tag]) {
    const pasts = ["made", "given", "None"] as const
    for (const [at, shape] of shapes(message).entries()) {
      const error = yield* refusedWith(422, shape, withdrawal, pasts[at % pasts.length])
      assert.strictEqual(error._tag, tag, JSON.stringify(shape))
    }
    for (const past of pasts) {
      for (const status of [400, 422]) {
        assert.strictEqual((yield* refusedWith(status, { message }, withdrawal, past))._tag, tag)
      }
    }
  })

  effect.each(askedBefore)("the words %j are a conflict only for a key of undeclared past", function* (message) {
    const statuses = [400, 403, 422]
    for (const [at, shape] of shapes(message).entries()) {
      const error = yield* refusedWith(statuses[at % statuses.length] ?? 422, shape, keyedWithdrawal, "given")
      assert.strictEqual(error._tag, "IdempotencyConflict", JSON.stringify(shape))
    }
    for (const status of statuses) {
      for (const past of ["made", "None"] as const) {
        const error = yield* refusedWith(status, { message }, keyedWithdrawal, past)
        assert.strictEqual(error._tag, status === 403 ? "AuthError" : "RequestRejected")
      }
    }
  })

  effect("the words decide for a charge as for a withdrawal", function* () {
    const conflict = { tag: "IdempotencyConflict", outcome: "Unknown", attempts: 1, status: 422 } as const
    const rejected = { tag: "RequestRejected", outcome: "Rejected", attempts: 1, status: 422 } as const
    for (const name of writeNames) {
      const said = respond(422, { message: "Pedido já recebido" })
      yield* expectError(name, [said], conflict, "given")
      yield* expectError(name, [said], rejected, "made")
      yield* expectError(name, [said], rejected, "None")
      const duplicate = respond(422, { message: "Duplicate request" })
      for (const past of ["made", "given", "None"] as const) yield* expectError(name, [duplicate], conflict, past)
    }
  })

  effect("the words beside a message name the cause if the message itself names none", function* () {
    const error = yield* refusedWith(422, { message: "O saque não foi feito", observacao: "Saldo insuficiente" })
    assert.strictEqual(error._tag, "InsufficientBalance")
  })

  effect("a 409 is a conflict whatever its words", function* () {
    for (const message of ["Conta bloqueada", "Saldo insuficiente", "Nenhuma chave PIX cadastrada", "Moeda inválida"]) {
      for (const past of ["made", "given", "None"] as const) {
        for (const request of [withdrawal, keyedWithdrawal]) {
          assert.strictEqual((yield* refusedWith(409, { message }, request, past))._tag, "IdempotencyConflict")
        }
      }
    }
  })

  effect("the words about duplication make a 403 and a 429 a conflict, and change nothing of a 401", function* () {
    for (const message of ["Idempotency-Key already used", "Requisição duplicada", "DUPLICATE_REQUEST"]) {
      for (const past of ["made", "given", "None"] as const) {
        for (const status of [403, 429]) {
          assert.strictEqual((yield* refusedWith(status, { message }, withdrawal, past))._tag, "IdempotencyConflict")
        }
        assert.strictEqual((yield* refusedWith(401, { message }, withdrawal, past))._tag, "AuthError")
      }
    }
    for (const message of ["Saldo insuficiente", "Too many requests", "Saque já solicitado"]) {
      const { error } = yield* failing(requestWithdrawal.call, respond(429, { message }))
      assert.deepStrictEqual([error._tag, error.outcome], ["RateLimited", "Rejected"])
    }
  })

  effect("the time that the service asks to wait is a field of the conflict, also of a 429", function* () {
    for (const status of [409, 422, 429]) {
      const reply = respond(status, { message: "Idempotency key in use" }, { "retry-after": "7" })
      const { error, sent } = yield* failing(requestWithdrawal.call, reply)
      assert(error._tag === "IdempotencyConflict")
      assert.deepStrictEqual(error.retryAfter, Duration.seconds(7))
      assert.include(error.message, "in 7 second(s)")
      assert.strictEqual(sent.length, 1)
    }
  })

  effect("the conflict of a 429 stays unknown whatever the answer to a later attempt is", function* () {
    // A 429 after an attempt in doubt is repeated, also with these words.
    const script = [
      lostConnection,
      respond(429, { message: "Duplicate request" }),
      respond(422, { message: "Sem saldo" })
    ]
    const { error, sent } = yield* failing(requestWithdrawal.call, script[0] ?? lostConnection, ...script.slice(1))
    assert.deepStrictEqual([error._tag, error.outcome, sent.length], ["OutcomeUnknown", "Unknown", 3])
  })

  effect("the words about an earlier request are found anywhere in the body", function* () {
    const said = "Saque já solicitado"
    const page = `<html><head><title>Erro 400</title><style>${"x".repeat(20_000)}</style></head><body><p>${said}</p></body></html>`
    const bodies: ReadonlyArray<unknown> = [
      { title: said, detail: "Não foi possível concluir." },
      { title: said, detail: "Saldo insuficiente" },
      { error: said, message: "Não foi possível" },
      { message: "Não foi possível", reason: said },
      { message: "Não foi possível", info: { texts: [{ text: said }] } },
      { code: "E1", errors: [{ code: "DUPLICATE_REQUEST", message: "Não foi possível" }] },
      { message: JSON.stringify({ upstream: { fault: said } }) },
      { message: "Não foi possível", alreadyProcessed: true },
      page,
      `<fault><text><![CDATA[${said}]]></text></fault>`,
      { message: "Não foi possível", page }
    ]
    for (const body of bodies) {
      assert.strictEqual(
        (yield* refusedWith(400, body, keyedWithdrawal, "given"))._tag,
        "IdempotencyConflict",
        JSON.stringify(body)
      )
    }
  })

  effect(
    "the words are not about an earlier request if they echo the request, repeat the status or deny such a request",
    function* () {
      const description = "Pagamento duplicado"
      const bodies: ReadonlyArray<unknown> = [
        { message: "Conta bloqueada", received: { description } },
        { message: "Conta bloqueada", error: "Conflict", statusCode: 422 },
        { message: "Conta bloqueada", duplicate: false }
      ]
      for (const body of bodies) {
        const error = yield* refusedWith(422, body, { ...keyedWithdrawal, description }, "given")
        assert.strictEqual(error._tag, "RequestRejected", JSON.stringify(body))
      }
    }
  )

  effect("the words of a body that is too long to be read count as unknown", function* () {
    const body = { message: "Conta bloqueada", trace: "x".repeat(40_000) }
    const given = yield* refusedWith(400, body, keyedWithdrawal, "given")
    assert.deepStrictEqual([given._tag, given.outcome], ["OutcomeUnknown", "Unknown"])
    assert.strictEqual((yield* refusedWith(400, body, keyedWithdrawal, "made"))._tag, "RequestRejected")
  })

  effect("the words of a redirect are ignored, since nothing was executed", function* () {
    for (const status of [301, 307, 308]) {
      for (const message of ["Saque já solicitado", "Saldo insuficiente"]) {
        assert.strictEqual((yield* refusedWith(status, { message }))._tag, "RequestRejected")
      }
    }
  })

  effect(
    "the words name the cause whatever the status of the refusal, except those that speak for themselves",
    function* () {
      const body = { message: "Saldo insuficiente" }
      for (const status of [402, 404, 412, 418]) {
        assert.strictEqual((yield* refusedWith(status, body))._tag, "InsufficientBalance")
      }
      for (const status of [401, 403]) assert.strictEqual((yield* refusedWith(status, body))._tag, "AuthError")
    }
  )

  effect("the words of a charge name no cause that only a withdrawal has", function* () {
    for (const message of ["Saldo insuficiente", "Nenhuma chave PIX cadastrada", "Valor abaixo do mínimo"]) {
      yield* expectError("createTransaction", [respond(422, { message })], {
        tag: "RequestRejected",
        outcome: "Rejected",
        attempts: 1,
        status: 422
      })
    }
  })

  effect(
    "a 400 or 404 without words for a withdrawal without a PIX key is NoPixKey, the documented cause",
    function* () {
      const silent = ["", "{}", "null", "[]", `{"message":""}`, `{"message":"Bad Request"}`, `{"code":400}`]
      for (const past of ["made", "given", "None"] as const) {
        for (const body of silent) {
          for (const status of [400, 404]) {
            assert.strictEqual(
              (yield* refusedWith(status, body, withdrawal, past))._tag,
              "NoPixKey",
              `${status} ${body}`
            )
            assert.strictEqual((yield* refusedWith(status, body, keyedWithdrawal, past))._tag, "RequestRejected")
          }
          assert.strictEqual((yield* refusedWith(409, body, withdrawal, past))._tag, "IdempotencyConflict", body)
          for (const status of [402, 405, 410, 412, 418]) {
            assert.strictEqual((yield* refusedWith(status, body, withdrawal, past))._tag, "RequestRejected")
          }
        }
      }
    }
  )

  effect("a page with 400 or 404 is not NoPixKey, since something else than the service answered", function* () {
    for (const page of ["<html><title>404 Not Found</title></html>", "<h1>Bad Request</h1>", "404 Not Found"]) {
      for (const status of [400, 404]) {
        assert.strictEqual((yield* refusedWith(status, page))._tag, "RequestRejected", page)
      }
    }
  })

  effect("a refusal whose words name another cause is not NoPixKey", function* () {
    const others = [
      "Conta bloqueada",
      "Account suspended",
      "Limite diário de saques atingido",
      "Moeda inválida",
      "Invalid metadata",
      "Sistema em manutenção",
      "Bloqueado por suspeita de fraude",
      "Withdrawals are disabled for this company",
      "The request was denied due to a risk rule",
      "Não foi possível"
    ]
    for (const message of others) {
      for (const status of [400, 404, 422]) {
        assert.strictEqual((yield* refusedWith(status, { message }))._tag, "RequestRejected", message)
      }
    }
  })

  effect("the words never mean NoPixKey if the request named a PIX key", function* () {
    for (const message of ["Não foi possível", "Chave PIX não encontrada", "Nenhuma chave PIX cadastrada"]) {
      for (const status of [400, 404, 422]) {
        assert.strictEqual((yield* refusedWith(status, { message }, keyedWithdrawal))._tag, "RequestRejected", message)
      }
    }
  })

  effect("the words are shown shortened, on one line, without the values of the request", function* () {
    const body = {
      message: `Chave maria@example.com recusada\r\n\u001B[31m para sk_live_0f9d2c7b ${"x ".repeat(300)}`
    }
    const error = yield* refusedWith(422, body, keyedWithdrawal)
    const said = "serviceMessage" in error ? (error.serviceMessage ?? "") : ""
    assert.match(said, /^Chave \[redacted\] recusada/)
    assert.isAtMost(said.length, 200)
    // oxlint-disable-next-line no-control-regex -- the test searches for control characters
    assert.notMatch(error.message, /[\u0000-\u001F]/)
    assert.notInclude(JSON.stringify(error), "sk_live")
  })

  effect("the code of a refusal is shown if the request does not hold it", function* () {
    for (const [status, past] of [
      [422, "made"],
      [409, "made"],
      [401, "made"],
      [422, "Unknown"]
    ] as const) {
      const error = yield* refusedWith(status, { message: "Recusado", code: "PIX-17" }, keyedWithdrawal, past)
      assert.strictEqual("serviceCode" in error && error.serviceCode, "PIX-17")
      assert.include(error.message, "(code PIX-17)")
    }
    const small = yield* refusedWith(422, { message: "Valor abaixo do mínimo", code: "MIN" })
    assert.strictEqual("serviceCode" in small && small.serviceCode, "MIN")
    for (const code of ["wd_1", "maria", "52998224725"]) {
      const error = yield* refusedWith(422, { message: "Recusado", code }, keyedWithdrawal)
      assert.notProperty(error, "serviceCode", code)
    }
  })

  effect("the id of a lookup is masked in the words of the service", function* () {
    const id = "order-of-maria"
    const { error } = yield* failing(
      (payments) => payments.getTransaction(id),
      respond(404, { message: `Transação ${id} inexistente`, code: "order-of-maria" })
    )
    assert.strictEqual("serviceMessage" in error && error.serviceMessage, "Transação [redacted] inexistente")
    assert.notProperty(error, "serviceCode")
  })
})
