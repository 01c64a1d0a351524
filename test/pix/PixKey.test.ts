import { inspect } from "node:util"
import { isValidPixKey } from "@brazilian-utils/brazilian-utils/is-valid-pix-key"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Equal, Formatter, Hash, HashSet, Inspectable, Logger, Option, Result, Schema } from "effect"
import * as PixKey from "../../src/pix/PixKey.ts"
import * as samples from "../support/samples.ts"
import { effect } from "../support/effect.ts"

const uuid = "123e4567-e12b-12d1-a456-426655440000"

type Type = PixKey.PixKeyType

/** Texts, and the keys that they are in the form of the directory. CPFs and CNPJs: see Document.test.ts. */
const accepted: ReadonlyArray<readonly [type: Type, input: string, key: string]> = [
  ["CPF", "529.982.247-25", "52998224725"],
  ["CPF", "11912345684", "11912345684"],
  ["CNPJ", "12.abc.345/01de-35", "12ABC34501DE35"],
  ["CNPJ", "11.222.333/0001-81", "11222333000181"],
  ["EMAIL", "  Fulano.Silva+pix@Example.COM\n", "fulano.silva+pix@example.com"],
  ["EMAIL", "a@localhost", "a@localhost"],
  ["EMAIL", "a..b@x.com", "a..b@x.com"],
  ["EMAIL", `${"a".repeat(65)}@example.com`, `${"a".repeat(65)}@example.com`],
  ["PHONE", "+5511912345684", "+5511912345684"],
  ["PHONE", "(11) 91234-5684", "+5511912345684"],
  ["PHONE", "+55 (11) 91234.5684", "+5511912345684"],
  ["PHONE", "11912345684", "+5511912345684"],
  ["PHONE", "+55 (0)11 91234-5684", "+5511912345684"],
  ["PHONE", "(+55) (0)11 91234-5684", "+5511912345684"],
  ["PHONE", "(0)11 91234-5684", "+5511912345684"],
  ["PHONE", "+55 55 99123-4567", "+5555991234567"],
  ["PHONE", "55 99123-4567", "+5555991234567"],
  ["PHONE", "+44 20 7946 0958", "+442079460958"],
  ["PHONE", "+123", "+123"],
  ["PHONE", "+1234567890123456", "+1234567890123456"],
  ["EVP", ` ${uuid.toUpperCase()} `, uuid],
  ["EVP", "bee05743-4291-4f3c-9259-595df1307ba1", "bee05743-4291-4f3c-9259-595df1307ba1"]
]

/** Texts that are no key of the kind, with what the error says of them. */
const refused: ReadonlyArray<readonly [type: Type, words: string, inputs: ReadonlyArray<string>]> = [
  ["CPF", "CPF (11 digits with check digits)", ["12345678901", "11111111111", "+5511912345684", "12ABC34501DE35", ""]],
  [
    "CNPJ",
    "CNPJ (14 digits or letters, the last two check digits)",
    ["00000000000000", "12ABC34501DE36", "52998224725", ""]
  ],
  [
    "EMAIL",
    "e-mail address (at most 77 characters)",
    [
      ..."fulano fulano@ ful%ano@example.com fulano@-example.com fulano@example.com. joão@example.com".split(" "),
      "ful ano@example.com",
      // The Kelvin sign, a k in lower case.
      "fulano\u212a@example.com",
      `${"a".repeat(66)}@example.com`,
      ""
    ]
  ],
  [
    "PHONE",
    "phone (+ and country code, or a Brazilian mobile number with its area code)",
    [
      ..."5511912345684 +55 912345684 11144477735 1191234568 1113334444 00912345684 011912345684".split(" "),
      ..."+0511912345684 +12 +12345678901234567 55+11912345684".split(" "),
      "+55 11 91234-568",
      "+55 11 91234-56845",
      "+55 11 1234-5684",
      "+55 11 61234-5684",
      "+55 912345684",
      "+55 10 91234-5684",
      "+55 00 91234-5684",
      "+55 011 91234-5684",
      "+55 (011) 91234-5684",
      "(20) 91234-5684",
      "+55 11 (0)91234-5684",
      "+55 0 11 91234-5684",
      "+55 015 11 91234-5684",
      "+55 (0)15 11 91234-5684",
      "(0xx11) 91234-5684",
      "0 15 11 91234-5684",
      "0055 11 91234-5684",
      "+44 (0)20 7946 0958",
      "+55 11 91234-5684 ramal 2",
      ""
    ]
  ],
  ["EVP", "EVP (a UUID)", [uuid.replaceAll("-", ""), `{${uuid}}`, uuid.replace("e", "g"), `${uuid}0`, ""]]
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

/** All texts that a log, an error or a snapshot may show of a value. */
const renderings = (value: unknown): string =>
  [value, { value }, [value], new Map([["key", value]]), new Error("failed", { cause: value })]
    .flatMap((shown) => [
      String(shown),
      JSON.stringify(shown),
      inspect(shown),
      inspect(shown, { customInspect: false, showHidden: true, getters: true, depth: 10 }),
      Formatter.format(shown),
      Formatter.format(shown, { space: 2, ignoreToString: true }),
      Formatter.formatJson(shown),
      Inspectable.toStringUnknown(shown),
      JSON.stringify(Inspectable.toJson(shown)),
      Cause.pretty(Cause.fail(shown)),
      Cause.pretty(Cause.die(shown)),
      inspect(Cause.fail(shown)),
      JSON.stringify(Cause.fail(shown))
    ])
    .join("\n")
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
  it.each(accepted)("%s of %j is the key %s, and is shown nowhere", (type, input, value) => {
    const [literal, option] = functions[type]
    const key = literal(input)
    assert.isTrue(PixKey.isPixKey(key))
    assert.deepStrictEqual([key.type, PixKey.value(key)], [type, value])
    assert.deepStrictEqual(PixKey.toPair(key), { pixKey: value, pixKeyType: type })
    const others = [Result.getOrThrow(PixKey.make(type, input)), Option.getOrThrow(option(input))]
    for (const other of [...others, decode({ pixKey: input, pixKeyType: type })]) {
      assert.isTrue(Equal.equals(other, key))
      assert.strictEqual(Hash.hash(other), Hash.hash(key))
    }
    if (value === "+123") return
    assert.notInclude(renderings(key), value.toLowerCase())
    assert.notInclude(renderings(key), input.trim().toLowerCase())
  })

  it.each(refused)("a text that is no %s is refused with these words, and not shown: %s", (type, words, inputs) => {
    const [literal, option] = functions[type]
    for (const input of inputs) {
      const made = failureOf(input, type)
      assert.instanceOf(made, PixKey.InvalidPixKey)
      assert.deepStrictEqual([made.type, made.message], [type, `The PIX key is not a valid ${words}`], input)
      const error = thrown(() => literal(input))
      assert.instanceOf(error, Schema.SchemaError)
      assert.strictEqual(error.message, made.message)
      assert.deepStrictEqual(option(input), Option.none())
      const pair = { pixKey: input, pixKeyType: type }
      const unread = [{}, { reportInput: true }].map((options) => thrown(() => decode(pair, options)))
      // Shorter ones are part of other words.
      if (input.length > 3)
        assert.notInclude([error, ...unread.map(String)].map(renderings).join(), input.toLowerCase())
    }
  })

  it.each(["+55 11 3234-5678", "(47) 3234-5678", "+55 (0)21 2345-6789", "+551132345678"])(
    "the landline %s is refused as a landline",
    (landline) => {
      assert.strictEqual(
        failureOf(landline, "PHONE").reason,
        "is a landline (in Brazil only a mobile phone can be a key)"
      )
    }
  )

  it("a phone has one of the area codes that exist, with and without the code of the country", () => {
    const areas = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, "0")).filter((area) => {
      const [with55, without] = [`+55${area}987654321`, `${area}987654321`].map((text) =>
        Option.isSome(PixKey.phoneOption(text))
      )
      assert.strictEqual(with55, without, area)
      return with55
    })
    assert.strictEqual(
      areas.join(" "),
      "11 12 13 14 15 16 17 18 19 21 22 24 27 28 31 32 33 34 35 37 38 41 42 43 44 45 46 47 48 49 51 53 54 55 61 62 63 64 65 66 67 68 69 71 73 74 75 77 79 81 82 83 84 85 86 87 88 89 91 92 93 94 95 96 97 98 99"
    )
  })

  it("a key that was given in place of a kind is not shown, and the error lists the kinds", () => {
    const error = failureOf("CPF", "52998224725")
    assert.strictEqual(error.reason, "has a type that is not one of CPF, CNPJ, EMAIL, PHONE, EVP")
    assert.isUndefined(error.type)
    const unread = thrown(() => decode({ pixKey: "CPF", pixKeyType: "52998224725" }))
    assert.notInclude(renderings(error) + renderings(unread), "52998224725")
    // @ts-expect-error a value that is not a text
    assert.strictEqual(failureOf(52_998_224_725, "CPF").reason, "is not a text")
  })

  it("the kind of a key is never guessed: 11912345684 is a CPF and a phone", () => {
    assert.isTrue(isValidPixKey("11912345684"))
    assert.isFalse(Equal.equals(PixKey.cpf("11912345684"), PixKey.phone("11912345684")))
  })

  it("two keys are equal if kind and key are equal", () => {
    const [one, same, other] = ["52998224725", "529.982.247-25", "12345678909"].map(PixKey.cpf)
    const areEqual = Schema.toEquivalence(PixKey.PixKey)
    assert(one && same && other)
    assert.deepStrictEqual([areEqual(one, same), areEqual(one, other)], [true, false])
    assert.isFalse(Equal.equals<unknown, unknown>(one, "52998224725"))
    assert.strictEqual(HashSet.size(HashSet.make(one, same, other)), 2)
  })

  it.prop(
    "any key is a key again, is one for brazilian-utils, and is masked in every rendering",
    [samples.pixKey],
    ([key]) => {
      const { pixKey, pixKeyType } = PixKey.toPair(key)
      const again = Result.getOrThrow(PixKey.fromPair(pixKey, pixKeyType))
      assert.strictEqual(PixKey.value(again), pixKey)
      assert.isTrue(Equal.equals(again, key))
      assert.notInclude(renderings(key), pixKey.toLowerCase())
      // brazilian-utils accepts only Brazilian phones, and no name that ends with a point or has two points in a row.
      const isTheirs = key.type === "PHONE" ? pixKey.startsWith("+55") : !/^\.|\.\.|\.@/.test(pixKey)
      if (isTheirs) assert.isTrue(isValidPixKey(pixKey), key.type)
    }
  )
})

describe("a masked PixKey", () => {
  it.each([
    [PixKey.cpf("52998224725"), "***.982.247-**"],
    [PixKey.cnpj("12abc34501de35"), "**.ABC.345/01DE-**"],
    [PixKey.email("fulano@example.com"), "f***@e***"],
    [PixKey.phone("(11) 91234-5684"), "+55 ** *****-5684"],
    [PixKey.phone("+12025550123"), "+***123"],
    [PixKey.phone("+442079460958"), "+***958"],
    [PixKey.phone("+1234567890123456"), "+***3456"],
    [PixKey.phone("+123"), "+***3"],
    [PixKey.evp(uuid), "123e4567-****-****-****-************"]
  ])("%s shows the part by which people recognise it", (key, mask) => {
    assert.deepStrictEqual([key.masked, String(key)], [mask, `${key.type} ${mask}`])
    assert.strictEqual(JSON.stringify({ key }), JSON.stringify({ key: `${key.type} ${mask}` }))
    assert.include(inspect({ key }), mask)
  })

  effect("a key is masked in logs and in the errors of other schemas", function* () {
    const lines: Array<string> = []
    const key = PixKey.email("fulano@example.com")
    const loggers = [Logger.formatSimple, Logger.formatLogFmt, Logger.formatJson].map((logger) =>
      Logger.map(logger, (line) => lines.push(line))
    )
    yield* Effect.logInfo("paying", key, { key }).pipe(
      Effect.annotateLogs({ key }),
      Effect.provide(Logger.layer(loggers))
    )
    assert.strictEqual(lines.filter((line) => line.includes("f***@e***")).length, 3)
    const error = thrown(() => Schema.decodeUnknownSync(Schema.Int)(key, { reportInput: true }))
    assert.notInclude(`${lines.join()}${String(error)}${inspect(error)}`, "fulano")
  })
})

describe("PixKey.FromPair", () => {
  it("is strict in both fields, and writes the form of the directory", () => {
    const key = decode({ pixKey: "(11) 91234-5684", pixKeyType: "PHONE" })
    const pair = { pixKey: "+5511912345684", pixKeyType: "PHONE" }
    const json = Schema.toCodecJson(PixKey.PixKey)
    assert.deepStrictEqual(Schema.encodeSync(PixKey.FromPair)(key), pair)
    assert.deepStrictEqual(Schema.encodeSync(json)(key), pair)
    assert.isTrue(Equal.equals(Schema.decodeUnknownSync(json)(pair), key))
    for (const bad of [
      { pixKey: "maria#7", pixKeyType: "ALIAS" },
      { pixKey: "52998224725", pixKeyType: "cpf" },
      { pixKey: "52998224726", pixKeyType: "CPF" },
      { pixKey: 52998224725, pixKeyType: "CPF" },
      { pixKey: "52998224725" },
      "52998224725"
    ]) {
      assert.throws(() => decode(bad))
      assert.throws(() => Schema.decodeUnknownSync(json)(bad))
    }
    assert.include(
      JSON.stringify(Schema.toJsonSchemaDocument(PixKey.FromPair).schema),
      `"CPF","CNPJ","EMAIL","PHONE","EVP"`
    )
  })
})
