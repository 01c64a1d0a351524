/**
 * A withdrawal is a success only if its record is not about another payee: the record's key, however it is written, is the
 * one that was asked for, or proves nothing.
 */
import { assert, describe } from "@effect/vitest"
import { Money, Payments, PixKey } from "effect-pix"
import { Effect, Fiber, Result } from "effect"
import { record } from "../support/operations.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"

const amount = Money.centavos(1000)
const uuid = "123e4567-e12b-12d1-a456-426655440000"

/** The result of a withdrawal to a key, whose record holds this text. */
const paid = (asked: PixKey.PixKey | undefined, pixKey: unknown, pixKeyType: unknown = asked?.type) =>
  Effect.gen(function* () {
    const { layer } = scripted(respond(201, { ...record("wd_1"), pixKey, pixKeyType }))
    const request = asked === undefined ? { amount } : { amount, pixKey: asked }
    return yield* Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(request)).pipe(
      Effect.result,
      Effect.provide(paymentsOn(layer))
    )
  })

/** The texts as which a service may write a key: each of a list is the key that was asked for. */
const spellings: ReadonlyArray<readonly [asked: PixKey.PixKey, texts: ReadonlyArray<string>]> = [
  [
    PixKey.phone("+5511912345684"),
    ["+5511912345684", "5511912345684", "11912345684", "(11) 91234-5684", "+55 (11) 91234-5684", "+55 11 91234 5684"]
  ],
  [PixKey.phone("+5511912345684"), ["55 11 91234-5684", "11 91234.5684", "011912345684", "tel:+5511912345684"]],
  [PixKey.phone("+12025550123"), ["+12025550123", "12025550123", "+1 202 555-0123", "+1 (202) 555 0123"]],
  // Eleven digits that are a Brazilian mobile number too.
  [PixKey.phone("+13955550123"), ["13955550123", "+1 395 555 0123"]],
  [PixKey.cpf("529.982.247-25"), ["52998224725", "529.982.247-25", " 529 982 247 25 ", "CPF 529.982.247-25"]],
  // A CPF that is a mobile number too, and one whose zeros may be left out.
  [PixKey.cpf("11912345684"), ["11912345684", "119.123.456-84"]],
  [PixKey.cpf("00000000191"), ["191", "00000000191", "000.000.001-91"]],
  [PixKey.cnpj("11222333000181"), ["11222333000181", "11.222.333/0001-81", "11222333/0001-81"]],
  [PixKey.cnpj("00000000000191"), ["191", "00.000.000/0001-91"]],
  [PixKey.cnpj("12ABC34501DE35"), ["12ABC34501DE35", "12abc34501de35", "12.abc.345/01de-35"]],
  [
    PixKey.email("maria.silva+pix@example.com"),
    [
      "maria.silva+pix@example.com",
      "Maria.Silva+PIX@Example.COM",
      " MARIA.SILVA+PIX@EXAMPLE.COM",
      "<maria.silva+pix@example.com>"
    ]
  ],
  [
    PixKey.evp(uuid),
    [uuid, uuid.toUpperCase(), uuid.replaceAll("-", ""), uuid.replaceAll("-", "").toUpperCase(), `{${uuid}}`]
  ],
  [PixKey.evp(uuid), [` ${uuid} `, `urn:uuid:${uuid}`]]
]

/** Texts that prove nothing: masked, empty, or no key. */
const silent: ReadonlyArray<unknown> = [
  "",
  " ",
  "***",
  "***.982.247-**",
  "***.444.777-**",
  "j***@example.com",
  "j*@example.com",
  "jo....o@example.com",

  "+55 ** *****-0000",
  "(21) 9****-0000",
  "joxxxx@example.com",
  "jo\u2022\u2022\u2022@example.com",
  "j___o@example.com",

  "aaaaaaaa-****-****-****-************",
  "j\u2026@example.com",
  "XXX.444.777-XX",
  "j##o@example.com",
  "registered",
  "-",
  "chave cadastrada",
  "4321",
  "joao",
  "n/a",
  null,
  undefined,
  11_144_477_735,
  { key: "x" },
  []
]

/** Other keys of each kind, as a service may write them. */
const others: ReadonlyArray<string> = [
  "joao@example.com",
  "JOAO@EXAMPLE.COM",
  "maria@example.org",
  "111.444.777-35",
  "11144477735",
  "(21) 98765-4321",
  "+5521987654321",
  "5521987654321",
  "21987654321",
  "+351912345678",
  "11.444.777/0001-61",
  "11444777000161",

  "6f1b9a3e-2f7c-4f0e-9d53-0c5a7e1b2d44",
  "6F1B9A3E2F7C4F0E9D530C5A7E1B2D44",
  "{6F1B9A3E-2F7C-4F0E-9D53-0C5A7E1B2D44}"
]

const asked = spellings.map(([key]) => key)

describe("a withdrawal answered with success", () => {
  effect.each(spellings)(
    "a withdrawal to %s is a success, however the record writes the key",
    function* ([key, texts]) {
      for (const text of texts) {
        for (const type of [key.type, "CPF", "ALIAS", undefined]) {
          assert.isTrue(Result.isSuccess(yield* paid(key, text, type)), text)
        }
      }
    }
  )

  effect("a withdrawal is a success if the record's key is absent, masked or no key", function* () {
    for (const key of asked) {
      for (const text of silent)
        assert.isTrue(Result.isSuccess(yield* paid(key, text)), `${String(key)}: ${String(text)}`)
    }
  })

  effect("a withdrawal to the registered key is a success, whatever key the record has", function* () {
    for (const text of [...others, ...silent]) assert.isTrue(Result.isSuccess(yield* paid(undefined, text)))
  })

  effect("a withdrawal to another payee has an unknown outcome, and its error holds neither key", function* () {
    for (const key of asked) {
      for (const text of others) {
        const error = Result.getOrThrow(Result.flip(yield* paid(key, text)))
        assert(error._tag === "OutcomeUnknown", `${String(key)}: ${text}`)
        assert.strictEqual(error.reason, "NotAsAsked")
        assert.deepStrictEqual(error.issues, [
          { path: "pixKey", problem: "is another key than the one that was asked for" }
        ])
        assert.deepStrictEqual({ ...error.seen }, { id: "55", value: "10", status: "Awaiting" })
        for (const secret of [text, PixKey.value(key)]) assert.notInclude(JSON.stringify(error), secret)
      }
    }
  })

  effect("a withdrawal to a key that only reads as the asked one by another kind is to another payee", function* () {
    assert.isTrue(Result.isFailure(yield* paid(PixKey.cpf("11912345684"), "+5511912345684")))
    assert.isTrue(Result.isFailure(yield* paid(PixKey.cpf("52998224725"), "maria@example.com")))
  })

  effect("a withdrawal is compared with what was sent, also if the request is changed meanwhile", function* () {
    const request = { amount, pixKey: "maria@example.com", pixKeyType: "EMAIL" }
    const { layer } = scripted(respond(201, { ...record("wd_1"), pixKey: "maria@example.com" }))
    const result = yield* Effect.gen(function* () {
      const payments = yield* Payments
      const call = payments.requestWithdrawal(request)
      const fiber = yield* Effect.forkChild(Effect.result(call), { startImmediately: true })
      request.pixKey = "joao@example.com"
      return yield* Fiber.join(fiber)
    }).pipe(Effect.provide(paymentsOn(layer)))
    assert.isTrue(Result.isSuccess(result))
  })
})
