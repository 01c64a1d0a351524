/**
 * A withdrawal is a success only if its record is not about another payee: the record's key, however it is written, is the
 * one that was asked for, or proves nothing.
 */
import { assert, describe } from "@effect/vitest"
import { Money, Payments, PixKey } from "effect-pix"
import { Effect, Fiber, Result } from "effect"
import { record } from "../support/operations.ts"
import { phrases } from "../support/phrases.ts"
import { reusedClient } from "../support/failing.ts"
import { respond } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"

const amount = Money.centavos(1000)
const uuid = "123e4567-e12b-12d1-a456-426655440000"

const { client, wire } = reusedClient()

/** The result of a withdrawal to a key, whose record holds this text. */
const paid = Effect.fnUntraced(function* (
  asked: PixKey.PixKey | undefined,
  pixKey: unknown,
  pixKeyType: unknown = asked?.type
) {
  wire.script(respond(201, { ...record("wd_1"), pixKey, pixKeyType }))
  const payments = yield* Payments
  return yield* Effect.result(payments.requestWithdrawal(asked === undefined ? { amount } : { amount, pixKey: asked }))
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
const silent = [...phrases("silentKeys"), "", " ", null, undefined, 11_144_477_735, { key: "x" }, []]

/** Other keys of each kind, as a service may write them. */
const others = phrases("otherKeys")

const asked = spellings.map(([key]) => key)

describe("a withdrawal answered with success", () => {
  effect.each(spellings)(
    "a withdrawal to %s is a success, however the record writes the key",
    client,
    function* ([key, texts]) {
      for (const text of texts) {
        for (const type of [key.type, "CPF", "ALIAS", undefined]) {
          assert.isTrue(Result.isSuccess(yield* paid(key, text, type)), text)
        }
      }
    }
  )

  effect("a withdrawal is a success if the record's key is absent, masked or no key", client, function* () {
    for (const key of asked) {
      for (const text of silent) {
        assert.isTrue(Result.isSuccess(yield* paid(key, text)), `${String(key)}: ${JSON.stringify(text)}`)
      }
    }
  })

  effect("a withdrawal to the registered key is a success, whatever key the record has", client, function* () {
    for (const text of [...others, ...silent]) assert.isTrue(Result.isSuccess(yield* paid(undefined, text)))
  })

  effect("a withdrawal to another payee has an unknown outcome, and its error holds neither key", client, function* () {
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

  effect(
    "a withdrawal to a key that only reads as the asked one by another kind is to another payee",
    client,
    function* () {
      assert.isTrue(Result.isFailure(yield* paid(PixKey.cpf("11912345684"), "+5511912345684")))
      assert.isTrue(Result.isFailure(yield* paid(PixKey.cpf("52998224725"), "maria@example.com")))
    }
  )

  effect("a withdrawal is compared with what was sent, also if the request is changed meanwhile", client, function* () {
    const request = { amount, pixKey: "maria@example.com", pixKeyType: "EMAIL" }
    wire.script(respond(201, { ...record("wd_1"), pixKey: "maria@example.com" }))
    const call = (yield* Payments).requestWithdrawal(request)
    const fiber = yield* Effect.forkChild(Effect.result(call), { startImmediately: true })
    request.pixKey = "joao@example.com"
    const result = yield* Fiber.join(fiber)
    assert.isTrue(Result.isSuccess(result))
  })
})
