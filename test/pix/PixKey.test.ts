import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Equal, Formatter, Hash, HashSet, Inspectable, Logger, Option, Result, Schema } from "effect"
import * as PixKey from "../../src/pix/PixKey.ts"
import * as samples from "../support/samples.ts"
import { effect } from "../support/effect.ts"

const uuid = "123e4567-e12b-12d1-a456-426655440000"

const accepted: ReadonlyArray<readonly [PixKey.PixKeyType, string, string]> = [
  ["CPF", "12345678909", "12345678909"],
  ["CPF", "529.982.247-25", "52998224725"],
  ["CPF", "11144477735", "11144477735"],
  ["CPF", "00000000191", "00000000191"],
  ["CNPJ", "12.ABC.345/01DE-35", "12ABC34501DE35"],
  ["CNPJ", "12abc34501de35", "12ABC34501DE35"],
  ["CNPJ", "6TS1HJ0S000170", "6TS1HJ0S000170"],
  ["CNPJ", "0A0A0A0A0A0A90", "0A0A0A0A0A0A90"],
  ["CNPJ", "A0000000000113", "A0000000000113"],
  ["CNPJ", "ZZZZZZZZZZZZ62", "ZZZZZZZZZZZZ62"],
  ["CNPJ", "11.222.333/0001-81", "11222333000181"],
  ["CNPJ", "00000000000191", "00000000000191"],
  ["CNPJ", "33000167000101", "33000167000101"],
  ["CNPJ", "60746948000112", "60746948000112"],
  ["EMAIL", "fulano@example.com", "fulano@example.com"],
  ["EMAIL", "  Fulano.Silva+pix@Example.COM\n", "fulano.silva+pix@example.com"],
  ["EMAIL", "a@localhost", "a@localhost"],
  ["EMAIL", "a..b@x.com", "a..b@x.com"],
  ["EMAIL", `${"a".repeat(65)}@example.com`, `${"a".repeat(65)}@example.com`],
  ["PHONE", "+5511912345684", "+5511912345684"],
  ["PHONE", "(11) 91234-5684", "+5511912345684"],
  ["PHONE", "+55 11 91234-5684", "+5511912345684"],
  ["PHONE", "+55 (11) 91234.5684", "+5511912345684"],
  ["PHONE", "11912345684", "+5511912345684"],
  ["PHONE", "+55 (0)11 91234-5684", "+5511912345684"],
  ["PHONE", "+55 (0) 11 91234-5684", "+5511912345684"],
  ["PHONE", "(+55) (0)11 91234-5684", "+5511912345684"],
  ["PHONE", "(0)11 91234-5684", "+5511912345684"],
  ["PHONE", "+55 55 99123-4567", "+5555991234567"],
  ["PHONE", "+44 20 7946 0958", "+442079460958"],
  ["PHONE", "55 99123-4567", "+5555991234567"],
  ["PHONE", "+1 202 555 0123", "+12025550123"],
  ["PHONE", "+123", "+123"],
  ["PHONE", "+1234567890123456", "+1234567890123456"],
  ["EVP", uuid, uuid],
  ["EVP", ` ${uuid.toUpperCase()} `, uuid],
  ["EVP", "bee05743-4291-4f3c-9259-595df1307ba1", "bee05743-4291-4f3c-9259-595df1307ba1"]
]

const refused: ReadonlyArray<readonly [PixKey.PixKeyType, string]> = [
  ["CPF", "12345678901"],
  ["CPF", "11111111111"],
  ["CPF", "+5511912345684"],
  ["CPF", "12ABC34501DE35"],
  ["CNPJ", "00000000000000"],
  ["CNPJ", "12ABC34501DE36"],
  ["CNPJ", "52998224725"],
  ["EMAIL", "fulano"],
  ["EMAIL", "fulano@"],
  ["EMAIL", "ful%ano@example.com"],
  ["EMAIL", "ful ano@example.com"],
  ["EMAIL", "fulano@-example.com"],
  ["EMAIL", "fulano@example.com."],
  ["EMAIL", "joão@example.com"],
  ["EMAIL", "fulano\u212a@example.com"], // the Kelvin sign, a k in lower case
  ["EMAIL", `${"a".repeat(66)}@example.com`],
  ["PHONE", "5511912345684"],
  ["PHONE", "+55 11 91234-568"],
  ["PHONE", "+55 11 91234-56845"],
  ["PHONE", "+55 11 1234-5684"],
  ["PHONE", "+55 11 61234-5684"],
  ["PHONE", "+55 10 91234-5684"],
  ["PHONE", "+55 20 91234-5684"],
  ["PHONE", "+55 00 91234-5684"],
  ["PHONE", "+55 011 91234-5684"],
  ["PHONE", "+55 (011) 91234-5684"],
  ["PHONE", "+55 11 (0)91234-5684"],
  ["PHONE", "+55 0 11 91234-5684"],
  ["PHONE", "+55 015 11 91234-5684"],
  ["PHONE", "+55 (0)15 11 91234-5684"],
  ["PHONE", "(0xx11) 91234-5684"],
  ["PHONE", "0 15 11 91234-5684"],
  ["PHONE", "0055 11 91234-5684"],
  ["PHONE", "+55 912345684"],
  ["PHONE", "+55"],
  ["PHONE", "+44 (0)20 7946 0958"],
  ["PHONE", "912345684"],
  ["PHONE", "11144477735"],
  ["PHONE", "1191234568"],
  ["PHONE", "1113334444"],
  ["PHONE", "(20) 91234-5684"],
  ["PHONE", "00912345684"],
  ["PHONE", "011912345684"],
  ["PHONE", "+0511912345684"],
  ["PHONE", "+12"],
  ["PHONE", "+12345678901234567"],
  ["PHONE", "+55 11 91234-5684 ramal 2"],
  ["PHONE", "55+11912345684"],
  ["EVP", uuid.replaceAll("-", "")],
  ["EVP", `{${uuid}}`],
  ["EVP", uuid.replace("e", "g")],
  ["EVP", `${uuid}0`],
  ...PixKey.PixKeyType.literals.map((type) => [type, ""] as const)
]

const constructors = {
  CPF: PixKey.cpf,
  CNPJ: PixKey.cnpj,
  EMAIL: PixKey.email,
  PHONE: PixKey.phone,
  EVP: PixKey.evp
}

const options = {
  CPF: PixKey.cpfOption,
  CNPJ: PixKey.cnpjOption,
  EMAIL: PixKey.emailOption,
  PHONE: PixKey.phoneOption,
  EVP: PixKey.evpOption
}

const decode = Schema.decodeUnknownSync(PixKey.FromPair)
const encode = Schema.encodeSync(PixKey.FromPair)

/** All texts that a log, an error or a snapshot may show of a value. */
const renderings = (value: unknown): ReadonlyArray<string> =>
  [value, { value }, [value], new Map([["key", value]]), new Error("failed", { cause: value })].flatMap((shown) => [
    String(shown),
    JSON.stringify(shown),
    inspect(shown),
    inspect(shown, { customInspect: false, showHidden: true, depth: 10 }),
    inspect(shown, { showHidden: true, getters: true, depth: 10 }),
    Formatter.format(shown),
    Formatter.format(shown, { space: 2, ignoreToString: true }),
    Formatter.formatJson(shown),
    Inspectable.toStringUnknown(shown),
    JSON.stringify(Inspectable.toJson(shown)) ?? "",
    Cause.pretty(Cause.fail(shown)),
    Cause.pretty(Cause.die(shown)),
    inspect(Cause.fail(shown)),
    JSON.stringify(Cause.fail(shown))
  ])

const assertHidden = (value: unknown, secrets: ReadonlyArray<string>) => {
  const shown = renderings(value).join("\n").toLowerCase()
  for (const secret of secrets) assert.notInclude(shown, secret.toLowerCase())
}

const thrown = (run: () => unknown): unknown => {
  try {
    run()
  } catch (error) {
    return error
  }
  return assert.fail("was accepted")
}

describe("PixKey.make", () => {
  it("keys of the five kinds are converted to the directory's form", () => {
    for (const [type, input, expected] of accepted) {
      const key = constructors[type](input)
      assert.strictEqual(PixKey.value(key), expected)
      assert.strictEqual(key.type, type)
      assert.isTrue(Equal.equals(Result.getOrThrow(PixKey.make(type, input)), key))
      assert.isTrue(Equal.equals(Option.getOrThrow(options[type](input)), key))
      assert.isTrue(Equal.equals(Result.getOrThrow(PixKey.fromPair(input, type)), key))
      assert.deepStrictEqual(PixKey.toPair(key), { pixKey: expected, pixKeyType: type })
    }
  })

  it("make refuses a text that is not of the kind, with one typed error that does not show it", () => {
    for (const [type, input] of refused) {
      const error = thrown(() => constructors[type](input))
      assert.instanceOf(error, Schema.SchemaError)
      const made = Option.getOrThrow(Result.getFailure(PixKey.make(type, input)))
      assert.instanceOf(made, PixKey.InvalidPixKey)
      assert.strictEqual(made.type, type)
      assert.match(made.message, /^The PIX key is not a valid /)
      assert.strictEqual(error.message, made.message)
      assert.deepStrictEqual(options[type](input), Option.none())
      const unread = thrown(() => decode({ pixKey: input, pixKeyType: type }))
      const reported = thrown(() =>
        Schema.decodeUnknownSync(PixKey.FromPair)({ pixKey: input, pixKeyType: type }, { reportInput: true })
      )
      if (input.length <= 3) continue // too short to be distinguished from other text
      assertHidden(error, [input])
      assertHidden(unread, [input])
      assert.notInclude(String(reported), input)
    }
  })

  it("make reports a landline in Brazil as a landline, with and without its country code", () => {
    for (const landline of ["+55 11 3234-5678", "(47) 3234-5678", "+55 (0)21 2345-6789", "+551132345678"]) {
      const { reason } = Option.getOrThrow(Result.getFailure(PixKey.make("PHONE", landline)))
      assert.strictEqual(reason, "is a landline (in Brazil only a mobile phone can be a key)")
    }
  })

  it("make accepts exactly the area codes that exist, with and without their country code", () => {
    const taken = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, "0")).filter((area) => {
      const [with55, without] = [`+55${area}987654321`, `${area}987654321`].map((text) =>
        Option.isSome(PixKey.phoneOption(text))
      )
      assert.strictEqual(with55, without, area)
      return with55
    })
    assert.strictEqual(
      taken.join(" "),
      "11 12 13 14 15 16 17 18 19 21 22 24 27 28 31 32 33 34 35 37 38 41 42 43 44 45 46 47 48 49 51 53 54 55 61 62 63 64 65 66 67 68 69 71 73 74 75 77 79 81 82 83 84 85 86 87 88 89 91 92 93 94 95 96 97 98 99"
    )
  })

  it("make says what is wrong with a key", () => {
    const problemOf = (pixKey: string, type: string) =>
      Option.getOrThrow(Result.getFailure(PixKey.fromPair(pixKey, type))).reason
    assert.strictEqual(problemOf("52998224726", "CPF"), "is not a valid CPF (11 digits with check digits)")
    assert.strictEqual(problemOf("52998224725", "cpf"), "has a type that is not one of CPF, CNPJ, EMAIL, PHONE, EVP")
  })

  it("make does not show a key that was given for a type", () => {
    const error = Option.getOrThrow(Result.getFailure(PixKey.fromPair("CPF", "52998224725")))
    assert.isUndefined(error.type)
    assertHidden(error, ["52998224725"])
    assertHidden(
      thrown(() => decode({ pixKey: "CPF", pixKeyType: "52998224725" })),
      ["52998224725"]
    )
  })

  it("the kind of a key is never guessed: 11912345684 is a CPF and a phone", () => {
    const cpf = PixKey.cpf("11912345684")
    const phone = PixKey.phone("11912345684")
    assert.deepStrictEqual(PixKey.toPair(cpf), { pixKey: "11912345684", pixKeyType: "CPF" })
    assert.deepStrictEqual(PixKey.toPair(phone), { pixKey: "+5511912345684", pixKeyType: "PHONE" })
    assert.isFalse(Equal.equals(cpf, phone))
  })

  it.prop("keys of all kinds do not change when they are read again", [samples.pixKey], ([key]) => {
    const { pixKey, pixKeyType } = PixKey.toPair(key)
    const again = Result.getOrThrow(PixKey.fromPair(pixKey, pixKeyType))
    assert.strictEqual(PixKey.value(again), pixKey)
    assert.isTrue(Equal.equals(again, key))
    assert.strictEqual(Hash.hash(again), Hash.hash(key))
  })
})

describe("the equality of PixKey", () => {
  it("two keys are equal if kind and key are equal", () => {
    assert.isTrue(Equal.equals(PixKey.cpf("529.982.247-25"), PixKey.cpf("52998224725")))
    assert.isFalse(Equal.equals(PixKey.cpf("52998224725"), PixKey.cpf("12345678909")))
    assert.isFalse(Equal.equals<unknown, unknown>(PixKey.cpf("52998224725"), "52998224725"))
    const set = HashSet.make(PixKey.cpf("52998224725"), PixKey.cpf("529.982.247-25"), PixKey.cpf("12345678909"))
    assert.strictEqual(HashSet.size(set), 2)
    assert.isTrue(Schema.toEquivalence(PixKey.PixKey)(PixKey.evp(uuid), PixKey.evp(uuid.toUpperCase())))
    assert.isFalse(Schema.toEquivalence(PixKey.PixKey)(PixKey.cpf("52998224725"), PixKey.cpf("12345678909")))
  })
})

describe("the masking of PixKey", () => {
  it("a masked key of each kind shows the part by which people recognise it", () => {
    for (const [key, mask] of [
      [PixKey.cpf("52998224725"), "***.982.247-**"],
      [PixKey.cnpj("12abc34501de35"), "**.ABC.345/01DE-**"],
      [PixKey.email("fulano@example.com"), "f***@e***"],
      [PixKey.phone("(11) 91234-5684"), "+55 ** *****-5684"],
      [PixKey.phone("(47) 99234-5678"), "+55 ** *****-5678"],
      [PixKey.phone("+12025550123"), "+***123"],
      [PixKey.phone("+123"), "+***3"],
      [PixKey.evp(uuid), "123e4567-****-****-****-************"]
    ] as const) {
      assert.strictEqual(key.masked, mask)
      assert.strictEqual(String(key), `${key.type} ${mask}`)
      assert.strictEqual(JSON.stringify({ key }), JSON.stringify({ key: `${key.type} ${mask}` }))
      assert.include(inspect({ key }), mask)
    }
  })

  it("a key is masked in every rendering", () => {
    for (const [type, input, value] of accepted) {
      if (value !== "+123") assertHidden(constructors[type](input), [input.trim(), value])
    }
  })

  it.prop("any key is masked in every rendering", [samples.pixKey], ([key]) => {
    assertHidden(key, [PixKey.value(key)])
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
    assert.strictEqual(lines.length, 3)
    for (const line of lines) {
      assert.include(line, "f***@e***")
      assert.notInclude(line, "fulano")
    }
    const error = thrown(() =>
      Schema.decodeUnknownSync(Schema.Struct({ a: Schema.Int }))({ a: key }, { reportInput: true })
    )
    assert.notInclude(`${String(error)}${inspect(error)}`, "fulano")
  })
})

describe("PixKey.FromPair", () => {
  it("FromPair is strict in both fields and sends the directory's form", () => {
    const key = decode({ pixKey: "(11) 91234-5684", pixKeyType: "PHONE" })
    assert.isTrue(PixKey.isPixKey(key))
    assert.deepStrictEqual(encode(key), { pixKey: "+5511912345684", pixKeyType: "PHONE" })
    for (const bad of [
      { pixKey: "maria#7", pixKeyType: "ALIAS" },
      { pixKey: "52998224725", pixKeyType: "cpf" },
      { pixKey: 52998224725, pixKeyType: "CPF" },
      { pixKey: "52998224725" },
      "52998224725"
    ]) {
      assert.throws(() => decode(bad))
    }
  })

  it("FromPair is the JSON form of a key in memory, in plain text", () => {
    const json = Schema.toCodecJson(PixKey.PixKey)
    const stored = Schema.encodeSync(json)(PixKey.cpf("529.982.247-25"))
    assert.deepStrictEqual(stored, { pixKey: "52998224725", pixKeyType: "CPF" })
    assert.isTrue(Equal.equals(Schema.decodeUnknownSync(json)(stored), PixKey.cpf("52998224725")))
    assert.throws(() => Schema.decodeUnknownSync(json)({ pixKey: "52998224726", pixKeyType: "CPF" }))
  })

  it("FromPair is documented as two strings, the kinds by name", () => {
    const { schema } = Schema.toJsonSchemaDocument(PixKey.FromPair)
    assert.include(JSON.stringify(schema), `"CPF","CNPJ","EMAIL","PHONE","EVP"`)
  })
})
