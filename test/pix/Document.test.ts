/** CPFs and CNPJs, also against cpf-cnpj-validator, which shares no code with the library that we use. */
import { formatCnpj } from "@brazilian-utils/brazilian-utils/format-cnpj"
import { formatCpf } from "@brazilian-utils/brazilian-utils/format-cpf"
import { isValidCnpj } from "@brazilian-utils/brazilian-utils/is-valid-cnpj"
import { isValidCpf } from "@brazilian-utils/brazilian-utils/is-valid-cpf"
import { assert, describe, it } from "@effect/vitest"
import * as other from "cpf-cnpj-validator"
import { Option, Schema } from "effect"
import * as Document from "../../src/pix/Document.ts"
import * as samples from "../support/samples.ts"

const digits = "0123456789"
const repeated = (length: number) => Array.from(digits, (digit) => digit.repeat(length))

/** What is the same for both kinds. The other library refuses one valid CPF, since it is a common example. */
const kinds = [
  {
    name: "CPF",
    make: Document.cpf,
    option: Document.cpfOption,
    schema: Schema.revealCodec(Document.Cpf),
    sample: samples.cpf,
    base: /^\d{9}$/,
    isValid: isValidCpf,
    write: formatCpf,
    theirs: (text: string) => text === "12345678909" || other.cpf.isValid(text, true),
    theirFormat: other.cpf.format,
    valid: "12345678909 52998224725 11144477735 00000000191 11912345684".split(" "),
    written: [
      ["529.982.247-25", "52998224725"],
      [" 529 982 247 25 ", "52998224725"],
      ["529982247-25", "52998224725"],
      ["\u00a0529.982.247-25\n", "52998224725"]
    ],
    // The first is the example of Bacen's DICT definition: its check digits are wrong.
    bad: [
      ..."12345678901 52998224726 5299822472 529982247255 191 5299822472a 52998224725a +52998224725".split(" "),
      ..."529_982_247_25 ٥٢٩٩٨٢٢٤٧٢٥".split(" "),
      "",
      ...repeated(11)
    ]
  },
  {
    name: "CNPJ",
    make: Document.cnpj,
    option: Document.cnpjOption,
    schema: Schema.revealCodec(Document.Cnpj),
    sample: samples.cnpj,
    base: /^(\d{12}|[0-9A-Z]{12})$/,
    isValid: (text: string) => isValidCnpj(text, { version: 2 }),
    write: (text: string) => formatCnpj(text, { version: 2 }),
    theirs: (text: string) => other.cnpj.isValid(text, true),
    theirFormat: other.cnpj.format,
    valid: [
      ..."12ABC34501DE35 6TS1HJ0S000170 0A0A0A0A0A0A90 A0000000000113 ZZZZZZZZZZZZ62 11222333000181".split(" "),
      ..."00000000000191 33000167000101 60746948000112".split(" ")
    ],
    written: [
      ["12.ABC.345/01DE-35", "12ABC34501DE35"],
      ["12.abc.345/01de-35", "12ABC34501DE35"],
      [" 12 ABC 345 01DE 35 ", "12ABC34501DE35"],
      ["6ts1hj0s000170", "6TS1HJ0S000170"]
    ],
    // "ſ".toUpperCase() is "S", and "ı".toUpperCase() is "I".
    bad: [
      ..."12ABC34501DE36 12ABC34501DE3A 12ABC34501DE3 12ABC34501DE355 11222333000182 A00000000001ı3".split(" "),
      ..."12_ABC_345_01DE_35 6tſ1hj0s000170 6tſ1hj0ſ000170".split(" "),
      "",
      ...repeated(14)
    ]
  }
] as const

/** Every text that differs from the given one in exactly one character. */
const corruptions = (text: string, characters: string) =>
  Array.from(text).flatMap((original, at) =>
    Array.from(characters)
      .filter((character) => character !== original)
      .map((character) => ({ at, original, character, text: text.slice(0, at) + character + text.slice(at + 1) }))
  )

describe.each(kinds)("a $name", ({ bad, base, isValid, make, name, option, sample, schema, ...kind }) => {
  const decode = Schema.decodeUnknownSync(schema)
  const isRead = (text: string) => Option.getOrUndefined<string>(option(text)) !== undefined

  it("is read with or without punctuation and spaces", () => {
    const same = kind.valid.flatMap((text) =>
      [text, text.toLowerCase(), kind.write(text)].map((given) => [given, text])
    )
    for (const [given = "", text] of [...same, ...kind.written]) {
      assert.strictEqual<string>(make(given), text ?? "")
      assert.deepStrictEqual<Option.Option<string>>(option(given), Option.some(text ?? ""))
      assert.strictEqual<string>(decode(given), text ?? "")
    }
  })

  it.each(bad)("%j is refused without being quoted", (text) => {
    assert.deepStrictEqual(option(text), Option.none())
    for (const run of [
      () => make(text),
      () => decode(text),
      () => Schema.decodeUnknownSync(schema)(text, { reportInput: true })
    ])
      try {
        run()
        assert.fail("was accepted")
      } catch (error) {
        assert.instanceOf(error, Schema.SchemaError)
        assert.include(String(error), `Expected a valid ${name}`)
        if (text !== "") assert.notInclude(`${String(error)}${JSON.stringify(error)}`, text)
      }
  })

  it("is a string on the wire and in JSON, and only its plain form in memory", () => {
    const [[given, plain]] = kind.written
    const json = Schema.toCodecJson(Schema.toType(schema))
    assert.strictEqual(Schema.encodeUnknownSync(schema)(decode(given)), plain)
    assert.strictEqual(Schema.encodeUnknownSync(json)(decode(given)), plain)
    assert.strictEqual<unknown>(Schema.decodeUnknownSync(json)(given), plain)
    assert.throws(() => Schema.decodeUnknownSync(Schema.toType(schema))(given))
    for (const value of [52998224725, null, undefined, {}]) assert.throws(() => decode(value))
    assert.deepInclude(Schema.toJsonSchemaDocument(schema).schema, {
      type: "string",
      title: name === "CPF" ? "Cpf" : "Cnpj"
    })
    assert.include(JSON.stringify(Schema.toJsonSchemaDocument(schema).schema), `A ${name}: `)
  })

  it.prop(
    "it is valid for other libraries, and reading or formatting it again changes nothing",
    [sample],
    ([document]) => {
      assert.isTrue(isValid(document) && kind.theirs(document))
      assert.strictEqual<string>(make(document.toLowerCase()), document)
      assert.strictEqual<string>(make(Document.format(document).toLowerCase()), document)
      assert.strictEqual(Document.format(document), kind.theirFormat(document))
    }
  )

  it.prop("it is read with punctuation wherever brazilian-utils reads it", [sample], ([document]) => {
    for (let at = 0; at <= document.length; at++) {
      for (const mark of " ./-_,\n") {
        const text = document.slice(0, at) + mark + document.slice(at)
        assert.strictEqual(isRead(text), isValid(text), text)
      }
    }
  })

  it.prop(
    "of all hundred check digits the same one is right for cpf-cnpj-validator",
    [Schema.String.check(Schema.isPattern(base))],
    ([start]) => {
      for (let suffix = 0; suffix < 100; suffix++) {
        const text = start + String(suffix).padStart(2, "0")
        assert.strictEqual(isRead(text), kind.theirs(text), text)
      }
    }
  )
})

describe("the check digits", () => {
  it.prop("they show one wrong digit of a CPF, unless its first check digit is 0", [samples.cpf], ([document]) => {
    for (const { at, text } of corruptions(document, digits)) {
      if (Option.isNone(Document.cpfOption(text))) continue
      assert.strictEqual(document[9], "0")
      // The first digit has no weight in the second check digit; the sixth leaves both where both are 0.
      assert.include(document[10] === "0" ? [0, 5] : [0], at)
    }
  })

  it.prop(
    "they show one wrong character of a CNPJ, unless both are 0 or the characters are equal modulo 11",
    [samples.cnpj],
    ([document]) => {
      const mod11 = (character: string) => (character.charCodeAt(0) - 48) % 11
      for (const { at, character, original, text } of corruptions(document, `${digits}ABCDEFGHIJKLMNOPQRSTUVWXYZ`)) {
        const accepted = Option.isSome(Document.cnpjOption(text))
        if (at < 12 && mod11(character) === mod11(original) && !/^(\d)\1+$/.test(text)) assert.isTrue(accepted)
        else if (accepted) {
          assert.strictEqual(document.slice(12), "00")
          assert.include([0, 4, 8], at)
        }
      }
    }
  )

  it("they do not show each wrong character: these pairs are all accepted", () => {
    for (const text of "10485468107 00485468107 90385827300 90385627300".split(" "))
      assert.isTrue(Option.isSome(Document.cpfOption(text)), text)
    for (const text of "62ABC34501DE03 A2ABC34501DE03 L2ABC34501DE03 W2ABC34501DE03 51364670651900 71364670651900".split(
      " "
    ))
      assert.isTrue(Option.isSome(Document.cnpjOption(text)), text)
  })
})

const cpf = Document.cpf("52998224725")
const cnpj = Document.cnpj("12ABC34501DE35")

describe("what is made of a document", () => {
  it.each([
    [cpf, "CPF", "529.982.247-25", "***.982.247-**"],
    [Document.cpf("00000000191"), "CPF", "000.000.001-91", "***.000.001-**"],
    [cnpj, "CNPJ", "12.ABC.345/01DE-35", "**.ABC.345/01DE-**"],
    [Document.cnpj("11222333000181"), "CNPJ", "11.222.333/0001-81", "**.222.333/0001-**"]
  ] as const)("%s is a %s that is written %s and masked as %s", (document, type, format, mask) => {
    assert.deepStrictEqual(Document.of(document), { number: document, type })
    assert.deepStrictEqual([Document.format(document), Document.mask(document)], [format, mask])
  })
})

describe("Document.matches", () => {
  /** The text with every place but those hidden, its punctuation kept. */
  const hide = (text: string, shown: ReadonlyArray<number>, by: string) => {
    let place = -1
    return text.replaceAll(/[\dA-Z]/g, (character) => (shown.includes(++place) ? character : by))
  }

  const rows: ReadonlyArray<
    readonly [
      document: Document.Cpf | Document.Cnpj,
      matches: boolean | undefined,
      texts: ReadonlyArray<string | undefined>
    ]
  > = [
    [
      cpf,
      true,
      [
        "52998224725",
        "529.982.247-25",
        " 529 982 247 25 ",
        "AAA.982.247-AA",
        "***982247**",
        "5299*******",
        "*******4725"
      ]
    ],
    [
      cpf,
      false,
      [
        "11144477735",
        "111.444.777-35",
        "52998224726",
        "6**********",
        "***.982.248-**",
        "12ABC34501DE35",
        "12.***.***/01DE-**"
      ]
    ],
    [
      cpf,
      undefined,
      [
        undefined,
        "",
        "  ",
        "***********",
        "***.***.***-25",
        "529********",
        "***4725",
        "****982247**",
        "UNKNOWN",
        "529*982-247"
      ]
    ],
    [
      cnpj,
      true,
      ["12ABC34501DE35", "12.abc.345/01de-35", "12.ABC.345/01DE-AA", "**ABC3********", "**.***.***/01DE-**"]
    ],
    [cnpj, false, ["11222333000181", "12.ABC.345/01DE-34", "**B***********", "52998224725", "***.982.247-**"]],
    [cnpj, undefined, ["**************", "************35", "12ABC***", "UNKNOWN", "", "1*2.***.345/01DE"]]
  ]
  it.each(rows)("%s matches (%s): %j", (document, expected, texts) => {
    for (const text of texts) assert.strictEqual(Document.matches(text, document), expected, text)
  })

  it("a value that is not a text counts as absent", () => {
    // @ts-expect-error a number
    assert.isUndefined(Document.matches(52_998_224_725, cpf))
  })

  it.each(["*", "x", "X", "#", "•", "?", "_", "🔒", "٣"])(
    "a mask may be written with %s, which no document has",
    (by) => {
      assert.isTrue(Document.matches(hide("529.982.247-25", [3, 4, 5, 6], by), cpf))
      assert.isTrue(Document.matches(hide("12.ABC.345/01DE-35", [2, 3, 4, 5], by), cnpj))
    }
  )

  it.prop(
    "a document matches what a mask shows of it if that is four characters or more, and no document with another one",
    [Schema.Literals(["CPF", "CNPJ"]), samples.cpf, samples.cnpj, Schema.Array(Schema.Natural)],
    ([kind, one, two, places]) => {
      const document = kind === "CPF" ? one : two
      const shown = [...new Set(places.map((place) => place % document.length))]
      for (const text of [document, Document.format(document)]) {
        // Masks are written with X, so an X that is shown is not counted.
        const expected = shown.filter((at) => document[at] !== "X").length >= 4 ? true : undefined
        assert.strictEqual(Document.matches(hide(text, shown, "*"), document), expected, text)
      }
      for (const at of shown) {
        const other = document.slice(0, at) + (document[at] === "1" ? "2" : "1") + document.slice(at + 1)
        assert.isFalse(Document.matches(hide(other, shown, "*"), document))
      }
    }
  )
})
