import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Equal, Hash, HashSet, Inspectable, Option, Result, Schema } from "effect"
import * as PixKey from "../../src/pix/PixKey.ts"
import { renderings } from "../support/canary.ts"

const uuid = "123e4567-e12b-12d1-a456-426655440000"

type Type = PixKey.PixKeyType

/** The texts of a row of the tables. */
const texts = (row: string) => row.split("|")

/** Keys in the form of the directory, and the texts that are read as them. CPFs and CNPJs: see Document.test.ts. */
const accepted: ReadonlyArray<readonly [type: Type, key: string, row: string]> = [
  ["CPF", "52998224725", "529.982.247-25|52998224725"],
  ["CPF", "11912345684", "11912345684"],
  ["CNPJ", "12ABC34501DE35", "12.abc.345/01de-35|12ABC34501DE35"],
  ["EMAIL", "fulano.silva+pix@example.com", "  Fulano.Silva+pix@Example.COM\n"],
  ["EMAIL", "a@localhost", "a@localhost"],
  ["EMAIL", "a..b@x.com", "a..b@x.com"],
  ["EMAIL", `${"a".repeat(65)}@example.com`, `${"a".repeat(65)}@example.com`],
  ["PHONE", "+5511912345684", "+5511912345684|(11) 91234-5684|+55 (11) 91234.5684|11912345684|+55 (0)11 91234-5684"],
  ["PHONE", "+5511912345684", "(+55) (0)11 91234-5684|(0)11 91234-5684"],
  ["PHONE", "+5555991234567", "+55 55 99123-4567|55 99123-4567"],
  ["PHONE", "+442079460958", "+44 20 7946 0958"],
  ["PHONE", "+123", "+123"],
  ["PHONE", "+1234567890123456", "+1234567890123456"],
  ["EVP", uuid, ` ${uuid.toUpperCase()} |${uuid}`],
  // As a word processor, a chat and a right-to-left keyboard write it: other hyphens, thin spaces, marks that nobody sees.
  [
    "CPF",
    "52998224725",
    "\u202a529.982.247\u201125\u202c|529.982.247\u201325|\ufeff52998224725\u200b|529.982.247\u221225\u2009"
  ],
  ["CNPJ", "12ABC34501DE35", "12.abc.345/01de\u201035|12\u200d.ABC.345/01DE-35|\u206612ABC34501DE35\u2069"],
  [
    "EMAIL",
    "fulano@example.com",
    "\u200efulano@example.com\u200f|fulano\u00ad@example\u200b.com|\u00a0fulano@example.com\u2003"
  ],
  [
    "PHONE",
    "+5511912345684",
    "\u202d+55 11 91234\u20115684\u202c|(11)\u202f91234\u20135684|+55\u200911\u200991234\u22125684\u2060"
  ],
  ["EVP", uuid, `\u200b${uuid}\ufeff|${uuid.replaceAll("-", "\u2010")}|${uuid.replaceAll("-", "\ufe63")}`]
]

const noPhone = "is not a valid phone (+ and country code, or a Brazilian mobile number with its area code)"

/** Texts that are no key of the kind, with what the error says of them. */
const refused: ReadonlyArray<readonly [type: Type, reason: string, row: string]> = [
  ["CPF", "is not a valid CPF (11 digits with check digits)", "12345678901|11111111111|+5511912345684|12ABC34501DE35|"],
  ["CNPJ", "is not a valid CNPJ (14 digits or letters, the last two check digits)", "12ABC34501DE36|52998224725|"],
  [
    "EMAIL",
    "is not a valid e-mail address (at most 77 characters)",
    "fulano|fulano@|ful%ano@example.com|ful ano@example.com|fulano@-example.com|fulano@example.com.|joão@example.com|" +
      // The Kelvin sign, which is a k in lower case.
      `fulano\u212a@example.com|${"a".repeat(66)}@example.com|`
  ],
  ["EMAIL", "has a sign that looks like a hyphen, and is none", "a\u2013b@x.com|a@x\u2011y.com|a\u2212b@x.com"],
  ["PHONE", noPhone, "5511912345684|+55 912345684|11144477735|1191234568|1113334444|00912345684|011912345684|"],
  ["PHONE", noPhone, "+0511912345684|+12|+12345678901234567|55+11912345684|+55 11 91234-568|+55 11 91234-56845"],
  ["PHONE", noPhone, "+55 11 1234-5684|+55 11 61234-5684|+55 10 91234-5684|+55 00 91234-5684|(20) 91234-5684"],
  ["PHONE", noPhone, "+55 011 91234-5684|+55 (011) 91234-5684|+55 11 (0)91234-5684|+55 0 11 91234-5684"],
  ["PHONE", noPhone, "+55 (0)15 11 91234-5684|(0xx11) 91234-5684|0 15 11 91234-5684|0055 11 91234-5684"],
  ["PHONE", noPhone, "+44 (0)20 7946 0958|+55 11 91234-5684 ramal 2"],
  [
    "PHONE",
    "is a landline (in Brazil only a mobile phone can be a key)",
    "+55 11 3234-5678|(47) 3234-5678|+55 (0)21 2345-6789|+551132345678"
  ],
  ["EVP", "is not a valid EVP (a UUID)", `${uuid.replaceAll("-", "")}|{${uuid}}|${uuid.replace("e", "g")}|${uuid}0|`]
]

/** A key of each kind, by what the module has for literals and for any text. */
const functions = {
  CPF: [PixKey.cpf, PixKey.cpfOption],
  CNPJ: [PixKey.cnpj, PixKey.cnpjOption],
  EMAIL: [PixKey.email, PixKey.emailOption],
  PHONE: [PixKey.phone, PixKey.phoneOption],
  EVP: [PixKey.evp, PixKey.evpOption]
} as const

const decode = Schema.decodeUnknownSync(PixKey.FromPair)

/** The texts that a log, an error or a snapshot may show of a value. */
const renderingsOf = (value: unknown): string =>
  [value, { value }, new Map([["key", value]]), new Error("failed", { cause: value }), Cause.fail(value)]
    .flatMap((shown) => [...Object.values(renderings(shown)), Inspectable.toStringUnknown(shown)])
    .join(Cause.pretty(Cause.die(value)))
    .toLowerCase()

const thrown = (run: () => unknown): unknown => {
  try {
    run()
  } catch (error) {
    return error
  }
  return assert.fail("was accepted")
}

const failureOf = (pixKey: string, type: string) => Option.getOrThrow(Result.getFailure(PixKey.fromPair(pixKey, type)))

describe("a PixKey", () => {
  it.each(accepted)("a %s is the key %s, read from each of %j, and is shown nowhere", (type, value, row) => {
    const [literal, option] = functions[type]
    for (const input of texts(row)) {
      const key = literal(input)
      assert.isTrue(Schema.is(PixKey.PixKey)(key))
      assert.deepStrictEqual([key.type, PixKey.value(key)], [type, value])
      assert.deepStrictEqual(PixKey.toPair(key), { pixKey: value, pixKeyType: type })
      const others = [Result.getOrThrow(PixKey.make(type, input)), Option.getOrThrow(option(input))]
      for (const other of [...others, decode({ pixKey: input, pixKeyType: type })]) {
        assert.isTrue(Equal.equals(other, key))
        assert.strictEqual(Hash.hash(other), Hash.hash(key))
      }
      // The mask of a short number shows most of it.
      if (value === "+123") continue
      assert.notInclude(renderingsOf(key), value.toLowerCase())
      assert.notInclude(renderingsOf(key), input.trim().toLowerCase())
    }
  })

  it.each(refused)("a text is no %s since it %s, and is not shown: %j", (type, reason, row) => {
    const [literal, option] = functions[type]
    for (const input of texts(row)) {
      const made = failureOf(input, type)
      assert.instanceOf(made, PixKey.InvalidPixKey)
      assert.deepStrictEqual([made.type, made.message], [type, `The PIX key ${reason}`], input)
      const error = thrown(() => literal(input))
      assert.instanceOf(error, Schema.SchemaError)
      assert.strictEqual(error.message, made.message)
      assert.deepStrictEqual(option(input), Option.none())
      const unread = thrown(() => decode({ pixKey: input, pixKeyType: type }, { reportInput: true }))
      // Shorter ones are part of other words.
      if (input.length > 3) assert.notInclude(renderingsOf(error) + renderingsOf(String(unread)), input.toLowerCase())
    }
  })

  it("a key that was given in place of a kind is not shown, and the error lists the kinds", () => {
    const error = failureOf("CPF", "52998224725")
    assert.strictEqual(error.reason, "has a type that is not one of CPF, CNPJ, EMAIL, PHONE, EVP")
    assert.isUndefined(error.type)
    const unread = thrown(() => decode({ pixKey: "CPF", pixKeyType: "52998224725" }))
    assert.notInclude(renderingsOf(error) + renderingsOf(unread), "52998224725")
    // @ts-expect-error a text is no key
    assert.throws(() => PixKey.value("52998224725"), "The value is no PIX key")
    // @ts-expect-error a value that is not a text
    assert.strictEqual(failureOf(52_998_224_725, "CPF").reason, "is not a text")
  })

  it("two keys are equal if kind and key are equal, and 11912345684 is a CPF and a phone", () => {
    const [one, same, other] = [PixKey.cpf("11912345684"), PixKey.cpf("119.123.456-84"), PixKey.cpf("12345678909")]
    assert.isFalse(Equal.equals(one, PixKey.phone("11912345684")))
    assert.isFalse(Equal.equals<unknown, unknown>(one, "11912345684"))
    assert.strictEqual(HashSet.size(HashSet.make(one, same, other)), 2)
  })
})

it.each([
  ["CPF", "52998224725", "***.982.247-**"],
  ["CNPJ", "12abc34501de35", "**.ABC.345/01DE-**"],
  ["EMAIL", "fulano@example.com", "f***@e***"],
  ["PHONE", "(11) 91234-5684", "+55 ** *****-5684"],
  ["PHONE", "+12025550123", "+***123"],
  ["PHONE", "+1234567890123456", "+***3456"],
  ["PHONE", "+123", "+***3"],
  ["EVP", uuid, "123e4567-****-****-****-************"]
] as const)("a %s such as %s is masked as %s, the part by which people recognise it", (type, input, mask) => {
  const [literal] = functions[type]
  const key = literal(input)
  assert.deepStrictEqual([key.masked, String(key)], [mask, `${key.type} ${mask}`])
  assert.strictEqual(JSON.stringify({ key }), JSON.stringify({ key: `${key.type} ${mask}` }))
  assert.include(inspect({ key }), mask)
  const unread = thrown(() => Schema.decodeUnknownSync(Schema.Int)(key, { reportInput: true }))
  assert.notInclude(renderingsOf(unread), PixKey.value(key).toLowerCase())
})

it("PixKey.FromPair is strict in both fields, and writes the form of the directory", () => {
  const key = decode({ pixKey: "(11) 91234-5684", pixKeyType: "PHONE" })
  const pair = { pixKey: "+5511912345684", pixKeyType: "PHONE" }
  const json = Schema.toCodecJson(PixKey.PixKey)
  assert.deepStrictEqual(Schema.encodeSync(PixKey.FromPair)(key), pair)
  assert.deepStrictEqual(Schema.encodeSync(json)(key), pair)
  assert.isTrue(Equal.equals(Schema.decodeUnknownSync(json)(pair), key))
  for (const bad of [
    { pixKey: "maria#7", pixKeyType: "ALIAS" },
    { pixKey: "52998224725", pixKeyType: "cpf" },
    { pixKey: 52998224725, pixKeyType: "CPF" },
    { pixKey: "52998224725" },
    "52998224725"
  ]) {
    assert.throws(() => decode(bad))
    assert.throws(() => Schema.decodeUnknownSync(json)(bad))
  }
  const { schema } = Schema.toJsonSchemaDocument(PixKey.FromPair)
  assert.include(JSON.stringify(schema), `"CPF","CNPJ","EMAIL","PHONE","EVP"`)
})
