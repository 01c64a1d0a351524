import { assert, describe, it } from "@effect/vitest"
import { Payments, type PaymentsError, RefusalRules, type WriteOptions } from "effect-pix"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { charge, withdrawal } from "../support/operations.ts"
import { lostConnection, paymentsOn, type Reply, respond, scripted } from "../support/Wire.ts"
import { impatient } from "../support/policies.ts"

type Rules = Parameters<typeof RefusalRules.make>[0]

/** The error of a withdrawal that gets these answers. */
const refused = Effect.fnUntraced(function* (
  replies: readonly [Reply, ...ReadonlyArray<Reply>],
  { options, rules = {} }: { readonly options?: WriteOptions; readonly rules?: Rules } = {}
) {
  const { layer } = scripted(...replies)
  const error: PaymentsError = yield* Effect.flip(
    Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(withdrawal, options))
  ).pipe(Effect.provide(Layer.provide(paymentsOn(layer), [impatient, RefusalRules.layer(rules)])))
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

describe("the words of a refusal", () => {
  it.effect("at least 90 % of the ways to say that a request was made before are recognised", () =>
    Effect.gen(function* () {
      const all = phrases("askedBefore")
      const found = yield* readAs("IdempotencyConflict", "askedBefore")
      assert.isAtLeast(
        found.length / all.length,
        0.9,
        `missed: ${all.filter((one) => !found.includes(one)).join("; ")}`
      )
    })
  )

  it.effect("at most 5 % of the other refusals are read as an earlier request", () =>
    Effect.gen(function* () {
      for (const name of ["ordinary", "insufficientBalance", "noPixKey", "belowMinimum"]) {
        const wrong = yield* readAs("IdempotencyConflict", name)
        assert.isAtMost(wrong.length / phrases(name).length, 0.05, wrong.join("; "))
      }
    })
  )

  it.effect.each([
    ["InsufficientBalance", "insufficientBalance"],
    ["NoPixKey", "noPixKey"],
    ["BelowMinimum", "belowMinimum"]
  ] as const)("the words name %s in at least 90 %% of the ways to say it", ([tag, name]) =>
    Effect.gen(function* () {
      const found = yield* readAs(tag, name)
      assert.isAtLeast(found.length / phrases(name).length, 0.9)
    })
  )

  it.effect(
    "words about other documents, accounts and limits mean neither an earlier request nor a cause of a withdrawal",
    () =>
      Effect.gen(function* () {
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
      })
  )

  it.effect("the words about an idempotency key say that it is missing or malformed, or that it was used before", () =>
    Effect.gen(function* () {
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
    })
  )

  it.effect("words about a minimum mean BelowMinimum only if they are about an amount", () =>
    Effect.gen(function* () {
      for (const message of ["must be at least 1000", "at least 10 reais", "Mínimo de R$ 10,00", "at least 1.000,00"]) {
        assert.strictEqual(yield* tagOf(422, { message }), "BelowMinimum", message)
      }
      assert.strictEqual(yield* tagOf(422, { message: "at least 12 characters" }), "RequestRejected")
    })
  )

  it.effect("the words of a hostile refusal of any length are read to their end", () =>
    Effect.gen(function* () {
      const units = ["pix", "pix ", "idempot", "ja nao ", "em de ", "error while ", "saldo de ", "conta is ", "valor "]
      for (const unit of [...units, "request a ", "same a ", "key a ", "aA", "é ", "<a", "&amp;", "{"]) {
        for (const size of [8192, 16_384, 32_768]) {
          const body = unit.repeat(size / unit.length)
          assert.include(["IdempotencyConflict", "RequestRejected"], (yield* refused([respond(422, body)], {}))._tag)
        }
      }
    })
  )
})

describe("RefusalRules", () => {
  const rules: Rules = {
    rules: [
      { cause: "InsufficientBalance", words: /\be-1042\b|carteira vazia/ },
      { cause: "IdempotencyConflict", words: /\bdup-\d+\b/g },
      { cause: "RequestRejected", words: /conta ja encerrada/ },
      { cause: "RequestRejected", words: /limite/ },
      { cause: "BelowMinimum", words: /limite/ }
    ]
  }
  const read = (status: number, body: unknown, options: WriteOptions = given) => tagOf(status, body, { options, rules })

  it.effect(
    "RefusalRules of the user decide before the defaults, in their order, whatever the status of a refusal",
    () =>
      Effect.gen(function* () {
        for (const status of [400, 403, 404, 409, 410, 422]) {
          assert.strictEqual(yield* read(status, { message: "Erro E-1042" }), "InsufficientBalance")
          assert.strictEqual(yield* read(status, { message: "A Carteira está: CARTEIRA VAZÍA" }), "InsufficientBalance")
          assert.strictEqual(yield* read(status, { message: "Erro DUP-17" }), "IdempotencyConflict")
          // The defaults read it as an earlier request.
          assert.strictEqual(
            yield* read(status, { message: "Conta já encerrada; pedido duplicado" }),
            "RequestRejected"
          )
          assert.strictEqual(yield* read(status, { message: "Limite" }), "RequestRejected")
        }
        assert.strictEqual(yield* read(422, { message: "Saldo insuficiente" }), "InsufficientBalance")
        assert.strictEqual(yield* read(422, { message: "Pedido duplicado" }), "IdempotencyConflict")
      })
  )

  it.effect("RefusalRules are tested on the separate words of a code, and on words outside of the message", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* read(400, { message: "Erro", code: "CARTEIRA_VAZIA" }), "InsufficientBalance")
      assert.strictEqual(yield* read(400, { info: { note: "carteira vazia" } }), "InsufficientBalance")
      assert.strictEqual(yield* read(400, { info: { note: "Limite" } }), "RequestRejected")
    })
  )

  it.effect("RefusalRules with an expression that throws leave the outcome unknown", () =>
    Effect.gen(function* () {
      const throwing = Object.assign(/never/, { [Symbol.search]: () => assert.fail("the expression's own error") })
      for (const words of [throwing, Object.freeze(/erro/g)]) {
        const rules: Rules = { rules: [{ cause: "RequestRejected", words }] }
        for (const status of [400, 403, 409, 422]) {
          const error = yield* refused([respond(status, { message: "Erro" })], { rules })
          assert.deepStrictEqual([error._tag, error.outcome], ["IdempotencyConflict", "Unknown"])
        }
      }
    })
  )

  it.effect("RefusalRules with a sticky expression are refused before anything is sent", () =>
    Effect.gen(function* () {
      const rules: Rules = { rules: [{ cause: "IdempotencyConflict", words: /dup/y }] }
      const error = yield* refused([respond(422, { message: "Erro dup" })], { rules })
      assert.deepStrictEqual([error._tag, error.outcome], ["InvalidRequest", "NotSent"])
      assert.include(error.message, "RefusalRules.rules")
    })
  )

  it.effect("RefusalRules change no 401, no 429 and no redirect", () =>
    Effect.gen(function* () {
      for (const message of ["Erro E-1042", "Erro DUP-17"]) {
        assert.strictEqual(yield* read(401, { message }), "AuthError")
        assert.strictEqual(yield* read(429, { message }), "RateLimited")
        assert.strictEqual(yield* read(307, { message }), "RequestRejected")
      }
    })
  )

  it.effect("RefusalRules change no outcome after an attempt that may have been executed", () =>
    Effect.gen(function* () {
      for (const message of ["Erro E-1042", "Conta já encerrada"]) {
        const refusal = respond(422, { message })
        for (const error of [
          yield* refused([lostConnection, refusal], { rules, options: given }),
          yield* refused([refusal], { rules, options: { ...given, earlier: "Unknown" } })
        ]) {
          assert.deepStrictEqual([error._tag, error.outcome], ["OutcomeUnknown", "Unknown"])
        }
      }
    })
  )

  it.effect("RefusalRules name no cause of a charge that only a withdrawal has", () =>
    Effect.gen(function* () {
      const { layer } = scripted(respond(409, { message: "Erro E-1042" }))
      const error = yield* Effect.flip(Effect.flatMap(Payments, (payments) => payments.createTransaction(charge))).pipe(
        Effect.provideService(RefusalRules, RefusalRules.make(rules)),
        Effect.provide(paymentsOn(layer))
      )
      assert.strictEqual(error._tag, "RequestRejected")
    })
  )

  it.effect("RefusalRules define the statuses that mean NoPixKey if there are no words", () =>
    Effect.gen(function* () {
      const others: Rules = { noPixKeyStatuses: [418] }
      for (const [status, body, tag] of [
        [418, "", "NoPixKey"],
        [418, { message: "Conta bloqueada" }, "RequestRejected"],
        [400, "", "RequestRejected"],
        [422, { message: "Saldo insuficiente" }, "InsufficientBalance"]
      ] as const) {
        assert.strictEqual(yield* tagOf(status, body, { rules: others }), tag)
      }
    })
  )
})
