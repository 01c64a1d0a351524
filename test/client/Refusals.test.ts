import { assert, describe } from "@effect/vitest"
import { Payments, type PaymentsError, PaymentsPolicy, type ServiceRefusal, type WriteOptions } from "effect-pix"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { charge, withdrawal } from "../support/operations.ts"
import { lostConnection, paymentsOn, type Reply, respond, scripted } from "../support/Wire.ts"
import { impatientSettings } from "../support/policies.ts"
import { effect } from "../support/effect.ts"

type Refusal = PaymentsPolicy["refusal"]

/** The error of a withdrawal that gets these answers. */
const refused = Effect.fnUntraced(function* (
  replies: readonly [Reply, ...ReadonlyArray<Reply>],
  { options, refusal }: { readonly options?: WriteOptions; readonly refusal?: Refusal } = {}
) {
  const { layer } = scripted(...replies)
  const policy = PaymentsPolicy.layer({ ...impatientSettings, refusal })
  const error: PaymentsError = yield* Effect.flip(
    Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(withdrawal, options))
  ).pipe(Effect.provide(Layer.provide(paymentsOn(layer), policy)))
  return error
})

const given: WriteOptions = { idempotencyKey: "payout_1" }
const tagOf = (status: number, body: unknown, more?: Parameters<typeof refused>[1]) =>
  Effect.map(refused([respond(status, body)], more), ({ _tag }) => _tag)

/** The phrases of a file, which has one in each line. */
const phrases = (name: string): ReadonlyArray<string> =>
  readFileSync(new URL(`words/${name}.txt`, import.meta.url), "utf8")
    .trim()
    .split("\n")

/** The phrases that are read as this error, of a key whose past was not declared. */
const readAs = (tag: PaymentsError["_tag"], name: string) =>
  Effect.filter(phrases(name), (message) =>
    Effect.map(tagOf(422, { message }, { options: given }), (found) => found === tag)
  )

const poor = "InsufficientBalance"

describe("the words of a refusal", () => {
  effect("at least 90 % of the ways to say that a request was made before are recognised", function* () {
    const all = phrases("askedBefore")
    const found = yield* readAs("IdempotencyConflict", "askedBefore")
    assert.isAtLeast(found.length / all.length, 0.9, `missed: ${all.filter((one) => !found.includes(one)).join("; ")}`)
  })

  effect("at most 5 % of the other refusals are read as an earlier request", function* () {
    for (const name of ["ordinary", "deadlines", "insufficientBalance", "noPixKey", "belowMinimum"]) {
      const wrong = yield* readAs("IdempotencyConflict", name)
      assert.isAtMost(wrong.length / phrases(name).length, 0.05, wrong.join("; "))
    }
  })

  effect.each([
    ["InsufficientBalance", "insufficientBalance"],
    ["NoPixKey", "noPixKey"],
    ["BelowMinimum", "belowMinimum"]
  ] as const)("the words name %s in at least 90 %% of the ways to say it", function* ([tag, name]) {
    const found = yield* readAs(tag, name)
    assert.isAtLeast(found.length / phrases(name).length, 0.9)
  })

  effect("the words name no cause if a sentence is about something else too", function* () {
    for (const name of ["noCause", "ordinary", "deadlines"]) {
      for (const message of phrases(name)) {
        assert.strictEqual(yield* tagOf(422, { message }), "RequestRejected", message)
      }
    }
  })

  effect("the words that name a cause are found in a text of their own, whatever other texts say", function* () {
    assert.strictEqual(yield* tagOf(422, { message: "Saque recusado", code: "INSUFFICIENT_FUNDS" }), poor)
    assert.strictEqual(yield* tagOf(422, { message: "Conta 12 da agência 4: erro", info: "Sem saldo" }), poor)
    assert.strictEqual(yield* tagOf(422, { message: "Limite excedido.\nSaldo insuficiente" }), "RequestRejected")
  })

  effect("the words that say that time ran out behind the service leave the outcome of a write unknown", function* () {
    const all = phrases("timeOut")
    for (const [at, message] of all.entries()) {
      const status = [400, 403, 404, 422, 429][at % 5] ?? 400
      const error = yield* refused([respond(status, { message })])
      assert.strictEqual(error.outcome, "Unknown", message)
      assert.deepStrictEqual([error._tag, error.attempts], ["OutcomeUnknown", 1])
      assert(error._tag === "OutcomeUnknown")
      assert.deepStrictEqual([error.reason, error.status], ["UnderWay", status])
    }
    // It may have been executed: a later refusal proves nothing.
    assert.strictEqual((yield* refused([respond(401, { message: "Gateway timeout" })]))._tag, "AuthError")
    assert.strictEqual(yield* tagOf(409, { message: "Gateway timeout" }), "IdempotencyConflict")
  })

  effect("the words about a deadline, a schedule or a token that expired are those of a refusal", function* () {
    for (const message of phrases("deadlines")) {
      assert.strictEqual((yield* refused([respond(400, { message })])).outcome, "Rejected", message)
    }
  })

  effect(
    "words about other documents, accounts and limits mean neither an earlier request nor a cause of a withdrawal",
    function* () {
      for (const message of [
        "CPF already registered to another customer",
        "E-mail já cadastrado",
        "O documento informado já está vinculado a outra conta",
        "Cash-outs are not allowed for legal entities",
        "The Name must have at least 2 words",
        "Idempotency-Key header is required",
        "The request was denied due to a risk rule"
      ]) {
        for (const status of [400, 404, 422]) {
          assert.strictEqual(yield* tagOf(status, { message }, { options: given }), "RequestRejected", message)
        }
      }
    }
  )

  effect(
    "the words about an idempotency key say that it is missing or malformed, or that it was used before",
    function* () {
      const none: WriteOptions = { ...given, earlier: "None" }
      for (const options of [{}, none]) {
        for (const message of [
          "Idempotency key must be unique",
          "A chave de idempotência deve ser única",
          "A chave de idempotência informada já foi utilizada",
          "Invalid Idempotency-Key, it was already used",
          "The idempotency key must not be reused"
        ]) {
          assert.strictEqual(yield* tagOf(422, { message }, { options }), "IdempotencyConflict", message)
        }
        for (const message of [
          "Idempotency-Key must be a UUID",
          "Chave de idempotência inválida",
          "Missing Idempotency-Key header",
          "O cabeçalho Idempotency-Key deve ser informado"
        ]) {
          assert.strictEqual(yield* tagOf(422, { message }, { options }), "RequestRejected", message)
        }
      }
    }
  )

  effect("words about a minimum mean BelowMinimum only if they are about an amount", function* () {
    for (const message of ["must be at least 1000", "at least 10 reais", "Mínimo de R$ 10,00", "at least 1.000,00"]) {
      assert.strictEqual(yield* tagOf(422, { message }), "BelowMinimum", message)
    }
    assert.strictEqual(yield* tagOf(422, { message: "at least 12 characters" }), "RequestRejected")
  })

  effect("the words of a hostile refusal of any length are read to their end", function* () {
    const units = ["pix", "pix ", "idempot", "ja nao ", "em de ", "error while ", "saldo de ", "conta is ", "valor "]
    for (const unit of [...units, "request a ", "same a ", "key a ", "aA", "é ", "<a", "&amp;", "{"]) {
      for (const size of [8192, 16_384, 32_768]) {
        const body = unit.repeat(size / unit.length)
        assert.include(["IdempotencyConflict", "RequestRejected"], (yield* refused([respond(422, body)], {}))._tag)
      }
    }
  })
})

describe("PaymentsPolicy.refusal", () => {
  const refusal: Refusal = ({ code, words }) => {
    if (code === "E-1042" || /carteira vazia/.test(words)) return "InsufficientBalance"
    if (/\bdup-\d+\b/.test(words)) return "IdempotencyConflict"
    return /conta ja encerrada/.test(words) ? "RequestRejected" : undefined
  }
  const none: WriteOptions = { ...given, earlier: "None" }
  const read = (status: number, body: unknown, options: WriteOptions = given) =>
    tagOf(status, body, { options, refusal })

  effect("a cause of the user's policy decides before the words, whatever the status of a refusal", function* () {
    for (const status of [400, 403, 404, 410, 422]) {
      assert.strictEqual(yield* read(status, { message: "Erro", code: "E-1042" }), "InsufficientBalance")
      assert.strictEqual(yield* read(status, { message: "A Carteira está: CARTEIRA VAZÍA" }), "InsufficientBalance")
      assert.strictEqual(yield* read(status, { message: "Erro DUP-17" }), "IdempotencyConflict")
      // The client reads it as an earlier request.
      assert.strictEqual(yield* read(status, { message: "Conta já encerrada; pedido já pago" }), "RequestRejected")
    }
    assert.strictEqual(yield* read(422, { message: "Saldo insuficiente" }), "InsufficientBalance")
    assert.strictEqual(yield* read(422, { message: "Pedido duplicado" }), "IdempotencyConflict")
  })

  effect(
    "a cause of the user's policy counts for what may be about an earlier request only if there was none",
    function* () {
      const poor: Refusal = () => "InsufficientBalance"
      const doubtful = [
        [409, "Erro", "IdempotencyConflict"],
        [422, "Pedido duplicado", "IdempotencyConflict"],
        [429, "Idempotency-Key already used", "IdempotencyConflict"],
        [400, "Timeout no PSP", "OutcomeUnknown"]
      ] as const
      for (const [status, message, tag] of doubtful) {
        for (const options of [{}, given]) {
          assert.strictEqual(yield* tagOf(status, { message }, { options, refusal: poor }), tag)
        }
        const declared = yield* tagOf(status, { message }, { options: none, refusal: poor })
        assert.strictEqual(declared, "InsufficientBalance")
      }
    }
  )

  effect("a cause of the user's policy changes no 401, no 429 and no redirect", function* () {
    for (const message of ["Carteira vazia", "Erro DUP-17"]) {
      for (const options of [{}, given, none]) {
        assert.strictEqual(yield* read(401, { message }, options), "AuthError")
        assert.strictEqual(yield* read(429, { message }, options), "RateLimited")
        assert.strictEqual(yield* read(307, { message }, options), "RequestRejected")
      }
    }
  })

  effect(
    "the policy's Unknown leaves the outcome of every refusal unknown, and the call is not repeated",
    function* () {
      for (const status of [301, 307, 400, 401, 403, 404, 409, 422, 425, 429]) {
        for (const options of [{}, given, none]) {
          const error = yield* refused([respond(status, { message: "Erro" })], { options, refusal: () => "Unknown" })
          assert(error._tag === "OutcomeUnknown", `${status} ${error._tag}`)
          assert.deepStrictEqual([error.reason, error.status, error.attempts], ["RefusalUnknown", status, 1])
        }
      }
    }
  )

  effect(
    "the policy's refusal leaves the outcome unknown if it throws, and is ignored if it answers anything else",
    function* () {
      const throwing: Refusal = () => assert.fail("the user's own error")
      for (const status of [400, 401, 403, 409, 422]) {
        const error = yield* refused([respond(status, { message: "Erro" })], { refusal: throwing })
        assert.deepStrictEqual([error._tag, error.outcome], ["OutcomeUnknown", "Unknown"])
        assert.notInclude(JSON.stringify(error), "own error")
      }
      for (const other of [null, true, "Poor", "toString", {}, Promise.resolve("Unknown")]) {
        const answers: unknown = () => other
        // A caller without types.
        const error = yield* refused([respond(422, { message: "Sem saldo" })], { refusal: answers as Refusal })
        assert.strictEqual(error._tag, "InsufficientBalance")
      }
    }
  )

  effect(
    "a cause of the user's policy replaces what an undeclared past makes of a page, of silence and of words",
    function* () {
      const page = "<html><body><h1>Requisi&ccedil;&atilde;o j&aacute; processada</h1></body></html>"
      const silent = { message: "null" }
      const words = { message: "Pedido em processamento" }
      for (const body of [page, silent, words]) {
        assert.strictEqual(yield* tagOf(422, body, { options: given }), "IdempotencyConflict")
        const named = yield* tagOf(422, body, { options: given, refusal: () => "BelowMinimum" })
        assert.strictEqual(named, "BelowMinimum")
        const unknown = yield* tagOf(422, body, { options: none, refusal: () => "Unknown" })
        assert.strictEqual(unknown, "OutcomeUnknown")
        assert.notStrictEqual(yield* tagOf(422, body, { options: none }), "IdempotencyConflict")
      }
    }
  )

  effect("the policy's refusal is given what the service said, without what the request said", function* () {
    const said: Array<ServiceRefusal> = []
    const note: Refusal = (refusal) => void said.push(refusal)
    const body = {
      message: "Carteira\nvazia",
      code: "CARTEIRA_VAZIA",
      key: "payout_1",
      info: { note: "ALREADY_PAID" }
    }
    yield* refused([respond(403, body)], { options: given, refusal: note })
    yield* refused([respond(404, "")], { refusal: note })
    assert.deepStrictEqual(
      said.map(({ code, message, operation, status }) => ({ operation, status, message, code })),
      [
        { operation: "requestWithdrawal", status: 403, message: "Carteira\nvazia", code: "CARTEIRA_VAZIA" },
        { operation: "requestWithdrawal", status: 404, message: "", code: undefined }
      ]
    )
    const [first, second] = said
    assert.match(first?.words ?? "", /carteira vazia[^]*already paid/)
    assert.notInclude(first?.words, "payout_1")
    assert.strictEqual(second?.words, "")
  })

  effect(
    "the policy's refusal is not asked about a write that is in doubt, about a read or about a failure",
    function* () {
      let asked = 0
      const refusal: Refusal = () => (asked++, "InsufficientBalance")
      const no = respond(422, { message: "Carteira vazia" })
      for (const error of [
        yield* refused([lostConnection, no], { refusal, options: given }),
        yield* refused([no], { refusal, options: { ...given, earlier: "Unknown" } }),
        yield* refused([respond(503)], { refusal }),
        yield* refused([respond(424)], { refusal })
      ]) {
        assert.deepStrictEqual([error._tag, error.outcome], ["OutcomeUnknown", "Unknown"])
      }
      const { layer } = scripted(respond(422))
      const lookUp = Effect.flip(Effect.flatMap(Payments, (payments) => payments.getTransaction("id")))
      yield* Effect.provide(lookUp, Layer.provide(paymentsOn(layer), PaymentsPolicy.layer({ refusal })))
      assert.strictEqual(asked, 0)
    }
  )

  effect("the policy's refusal names no cause that the request cannot have", function* () {
    const { layer } = scripted(respond(422, { message: "Carteira vazia" }))
    const error = yield* Effect.flip(Effect.flatMap(Payments, (payments) => payments.createTransaction(charge))).pipe(
      Effect.provideService(PaymentsPolicy, PaymentsPolicy.make({ refusal })),
      Effect.provide(paymentsOn(layer))
    )
    assert.strictEqual(error._tag, "RequestRejected")
  })

  effect("the policy's refusal replaces the statuses that mean NoPixKey if there are no words", function* () {
    const refusal: Refusal = ({ status, words }) =>
      words === "" ? (status === 418 ? "NoPixKey" : "RequestRejected") : undefined
    for (const [status, body, tag] of [
      [418, "", "NoPixKey"],
      [418, { message: "Conta bloqueada" }, "RequestRejected"],
      [400, "", "RequestRejected"],
      [422, { message: "Saldo insuficiente" }, "InsufficientBalance"]
    ] as const) {
      assert.strictEqual(yield* tagOf(status, body, { refusal }), tag)
    }
  })
})
