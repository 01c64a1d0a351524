import { assert, describe, it } from "@effect/vitest"
import { Payments, type PaymentsError, RefusalRules } from "effect-pix"
import { Effect, Layer } from "effect"
import { paymentsOn, payout, respond, scripted } from "../support/Wire.ts"
import { expectError, failing, isSound, keyed, type Service, statusOf, writes } from "../support/failing.ts"

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

  it.effect.each(each)("the words %j are read as %s", ([message, tag]) =>
    Effect.gen(function* () {
      for (const status of [400, 409, 422]) {
        for (const shape of shapes(message)) {
          const error = yield* refusedWith(status, shape)
          assert.strictEqual(error._tag, tag, JSON.stringify(shape))
        }
      }
    })
  )

  it.effect("the words beside a message are read where the message itself names no cause, and only there", () =>
    Effect.gen(function* () {
      const beside = (message: string) => ({ message, observacao: "Saldo insuficiente" })
      const unnamed = yield* refusedWith(422, beside("O saque não foi feito"))
      assert.strictEqual(unnamed._tag, "InsufficientBalance")
      const named = yield* refusedWith(422, beside("Valor abaixo do mínimo permitido"))
      assert.strictEqual(named._tag, "BelowMinimum")
    })
  )

  it.effect(
    "the words of a 409 that name no cause of the table leave it a conflict, and a 409 that names one is that",
    () =>
      Effect.gen(function* () {
        for (const message of ["Conta bloqueada", "Limite diário atingido", "Não foi possível", "Moeda inválida"]) {
          for (const request of [payout, keyed]) {
            assert.strictEqual((yield* refusedWith(409, { message }, request))._tag, "IdempotencyConflict", message)
          }
        }
        const named = (yield* refusedWith(409, { message: "Saldo insuficiente" }))._tag
        assert.strictEqual(named, "InsufficientBalance")
      })
  )

  it.effect("the words about the idempotency key make a 403 a conflict, and change nothing of a 401 or a 429", () =>
    Effect.gen(function* () {
      const message = "Idempotency-Key already used"
      assert.strictEqual((yield* refusedWith(403, { message }))._tag, "IdempotencyConflict")
      assert.strictEqual((yield* refusedWith(401, { message }))._tag, "AuthError")
      for (const words of [message, "Saldo insuficiente"]) {
        const { error } = yield* failing(writes.requestWithdrawal, respond(429, { message: words }))
        assert.deepStrictEqual([error._tag, error.outcome], ["RateLimited", "Rejected"])
      }
    })
  )

  it.effect("the words tell of an earlier request wherever they stand in the body", () =>
    Effect.gen(function* () {
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
        { message: "Não foi possível", page }
      ]
      for (const body of bodies) {
        assert.strictEqual((yield* refusedWith(400, body, keyed))._tag, "IdempotencyConflict", JSON.stringify(body))
      }
    })
  )

  it.effect("the words tell of no earlier request where they echo the request, repeat the status or deny it", () =>
    Effect.gen(function* () {
      const description = "Pagamento duplicado"
      const bodies: ReadonlyArray<unknown> = [
        { message: "Conta bloqueada", received: { description } },
        { message: "Conta bloqueada", error: "Conflict", statusCode: 422 },
        { message: "Conta bloqueada", duplicate: false }
      ]
      for (const body of bodies) {
        const error = yield* refusedWith(422, body, { ...keyed, description })
        assert.strictEqual(error._tag, "RequestRejected", JSON.stringify(body))
      }
      const short = { message: "Saldo insuficiente", error: "Conflict", statusCode: 409 }
      assert.strictEqual((yield* refusedWith(409, short, keyed))._tag, "InsufficientBalance")
    })
  )

  it.effect("the words that are too many to be read are not known", () =>
    Effect.gen(function* () {
      const error = yield* refusedWith(400, { message: "Conta bloqueada", trace: "x".repeat(40_000) }, keyed)
      assert.deepStrictEqual([error._tag, error.outcome], ["OutcomeUnknown", "Unknown"])
    })
  )

  it.effect("the words of a redirect are not looked at: nothing was done", () =>
    Effect.gen(function* () {
      for (const status of [301, 307, 308]) {
        for (const message of ["Saque já solicitado", "Saldo insuficiente"]) {
          assert.strictEqual((yield* refusedWith(status, { message }))._tag, "RequestRejected")
        }
      }
    })
  )

  it.effect("the words name the cause whatever the status of the refusal, except those that speak for themselves", () =>
    Effect.gen(function* () {
      const body = { message: "Saldo insuficiente" }
      for (const status of [402, 404, 412, 418]) {
        assert.strictEqual((yield* refusedWith(status, body))._tag, "InsufficientBalance")
      }
      for (const status of [401, 403]) assert.strictEqual((yield* refusedWith(status, body))._tag, "AuthError")
    })
  )

  it.effect("the words of a charge name no cause that only a withdrawal has", () =>
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

  it.effect("the words say whether a key was used before, is in flight, or which of both is not clear", () =>
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

  it.effect("where no words name a cause, 400 and 404 without a key stand for the documented one", () =>
    Effect.gen(function* () {
      const silent = ["", "{}", "null", "[]", `{"message":""}`, `{"message":"Bad Request"}`, "Não foi possível"]
      for (const body of silent) {
        for (const status of [400, 404]) {
          assert.strictEqual((yield* refusedWith(status, body))._tag, "NoPixKey", `${status} ${body}`)
        }
        assert.strictEqual((yield* refusedWith(409, body))._tag, "IdempotencyConflict", body)
        for (const status of [402, 405, 410, 412, 418]) {
          assert.strictEqual((yield* refusedWith(status, body))._tag, "RequestRejected", `${status} ${body}`)
        }
      }
    })
  )

  it.effect("the words that name another cause are no missing key", () =>
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

  it.effect("the words cannot mean a missing key when the request named one", () =>
    Effect.gen(function* () {
      for (const message of ["Não foi possível", "Chave PIX não encontrada", "Nenhuma chave PIX cadastrada"]) {
        for (const status of [400, 404, 422]) {
          assert.strictEqual((yield* refusedWith(status, { message }, keyed))._tag, "RequestRejected", message)
        }
      }
    })
  )

  it.effect("the words are read by the user's own rules, of the layer or of the call", () =>
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
      assert.strictEqual(yield* ask(400, ""), "RequestRejected")
      assert.strictEqual(yield* ask(422, "Saldo insuficiente"), "RequestRejected")
    })
  )

  it.effect("the words are shown cut, on one line, without what the request held", () =>
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
