import { formatCnpj } from "@brazilian-utils/brazilian-utils/format-cnpj"
import { formatCpf } from "@brazilian-utils/brazilian-utils/format-cpf"
import { isValidCnpj } from "@brazilian-utils/brazilian-utils/is-valid-cnpj"
import { isValidCpf } from "@brazilian-utils/brazilian-utils/is-valid-cpf"
import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import * as Document from "../../src/pix/Document.ts"
import * as samples from "../support/samples.ts"

const validCpfs = ["12345678909", "52998224725", "11144477735", "00000000191", "11912345684"]
const validCnpjs = [
  "12ABC34501DE35",
  "6TS1HJ0S000170",
  "0A0A0A0A0A0A90",
  "A0000000000113",
  "ZZZZZZZZZZZZ62",
  "11222333000181",
  "00000000000191",
  "33000167000101",
  "60746948000112"
]
const repeated = (length: number) => Array.from("0123456789", (digit) => digit.repeat(length))

const badCpfs = [
  "12345678901", // the example of Bacen's DICT definition: its check digits are wrong
  "52998224726",
  "5299822472",
  "529982247255",
  "191",
  "",
  "5299822472a",
  "52998224725a",
  "+52998224725",
  "529_982_247_25",
  "٥٢٩٩٨٢٢٤٧٢٥",
  ...repeated(11)
]
const badCnpjs = [
  "12ABC34501DE36",
  "12ABC34501DE3A",
  "12ABC34501DE3",
  "12ABC34501DE355",
  "11222333000182",
  "A00000000001ı3",
  "12_ABC_345_01DE_35",
  "",
  ...repeated(14)
]

const refuses = (run: () => unknown, secret: string): void => {
  try {
    run()
  } catch (error) {
    assert.isTrue(Schema.isSchemaError(error))
    if (secret !== "") assert.notInclude(String(error), secret)
    if (secret !== "") assert.notInclude(JSON.stringify(error), secret)
    return
  }
  assert.fail("was accepted")
}

const mod11 = (character: string) => (character.charCodeAt(0) - 48) % 11

/** Every text that differs from the given one in exactly one character. */
const corruptions = (text: string, characters: string) =>
  Array.from(text).flatMap((original, at) =>
    Array.from(characters)
      .filter((character) => character !== original)
      .map((character) => ({ at, original, character, text: text.slice(0, at) + character + text.slice(at + 1) }))
  )

/** The text with each of some characters put in at each place. */
const punctuated = (text: string) =>
  Array.from({ length: text.length + 1 }, (_, at) => at).flatMap((at) =>
    Array.from(" ./-_,\n", (mark) => text.slice(0, at) + mark + text.slice(at))
  )

describe("Document.Cpf", () => {
  it("Cpf accepts valid numbers, with or without punctuation and spaces", () => {
    for (const text of validCpfs) {
      assert.strictEqual(Document.cpf(text), text)
      assert.strictEqual(Document.cpf(formatCpf(text)), text)
    }
    for (const written of ["529.982.247-25", " 529 982 247 25 ", "529982247-25", "\u00a0529.982.247-25\n"]) {
      assert.strictEqual(Document.cpf(written), "52998224725")
    }
  })

  it("Cpf refuses a text that is not a CPF, also repeated digits, without quoting it", () => {
    for (const bad of badCpfs) {
      refuses(() => Document.cpf(bad), bad)
      refuses(() => Schema.decodeUnknownSync(Document.Cpf)(bad), bad)
      refuses(() => Schema.decodeUnknownSync(Document.Cpf)(bad, { reportInput: true }), bad)
      assert.deepStrictEqual(Document.cpfOption(bad), Option.none())
    }
    for (const bad of [52998224725, null, undefined, {}]) {
      assert.throws(() => Schema.decodeUnknownSync(Document.Cpf)(bad))
    }
  })

  it("a Cpf is a string on the wire", () => {
    const codec = Schema.Struct({ cpf: Document.Cpf })
    const value = Schema.decodeSync(codec)({ cpf: "529.982.247-25" })
    assert.deepStrictEqual(Schema.encodeSync(codec)(value), { cpf: "52998224725" })
    assert.deepStrictEqual(Schema.encodeSync(Schema.toCodecJson(Schema.toType(codec)))(value), { cpf: "52998224725" })
    assert.deepStrictEqual(
      Schema.decodeUnknownSync(Schema.toCodecJson(Schema.toType(codec)))({ cpf: "529.982.247-25" }),
      value
    )
    assert.include(JSON.stringify(Schema.toJsonSchemaDocument(Document.Cpf).schema), `"type":"string"`)
    assert.throws(() => Schema.decodeUnknownSync(Schema.toType(Document.Cpf))("529.982.247-25"))
  })

  it.prop(
    "brazilian-utils accepts every document of this library, and reading it again changes nothing",
    [samples.cpf],
    ([document]) => {
      assert.isTrue(isValidCpf(document))
      assert.match(document, /^\d{11}$/)
      assert.strictEqual(Document.cpf(document), document)
      assert.strictEqual(Document.cpf(Document.format(document)), document)
    }
  )

  it.prop("a document is read with punctuation wherever brazilian-utils reads it", [samples.cpf], ([document]) => {
    for (const text of punctuated(document)) {
      assert.strictEqual(Option.isSome(Document.cpfOption(text)), isValidCpf(text))
    }
  })

  it.prop("a CPF with one wrong digit is refused, unless its first check digit is 0", [samples.cpf], ([document]) => {
    for (const { at, text } of corruptions(document, "0123456789")) {
      if (Option.isSome(Document.cpfOption(text))) {
        assert.strictEqual(document[9], "0")
        // The first digit has no weight in the second check digit; the sixth leaves both where both are 0.
        assert.include(document[10] === "0" ? [0, 5] : [0], at)
      }
    }
  })

  it("a CPF with one wrong digit may be accepted if its first check digit is 0", () => {
    for (const [right, wrong] of [
      ["10485468107", "00485468107"],
      ["90385827300", "90385627300"]
    ] as const) {
      assert.isTrue(Option.isSome(Document.cpfOption(right)))
      assert.isTrue(Option.isSome(Document.cpfOption(wrong)))
    }
  })
})

describe("Document.Cnpj", () => {
  it("Cnpj accepts numeric and alphanumeric numbers, in either case, with or without punctuation and spaces", () => {
    for (const text of validCnpjs) {
      assert.strictEqual(Document.cnpj(text), text)
      assert.strictEqual(Document.cnpj(text.toLowerCase()), text)
      assert.strictEqual(Document.cnpj(formatCnpj(text, { version: 2 })), text)
    }
    for (const written of ["12.ABC.345/01DE-35", "12.abc.345/01de-35", " 12 ABC 345 01DE 35 "]) {
      assert.strictEqual(Document.cnpj(written), "12ABC34501DE35")
    }
  })

  it("Cnpj refuses a text that is not a CNPJ, also repeated digits, without quoting it", () => {
    for (const bad of badCnpjs) {
      refuses(() => Document.cnpj(bad), bad)
      refuses(() => Schema.decodeUnknownSync(Document.Cnpj)(bad), bad)
      assert.deepStrictEqual(Document.cnpjOption(bad), Option.none())
    }
  })

  it("Cnpj refuses letters of other alphabets", () => {
    // "ſ".toUpperCase() is "S", and "ı".toUpperCase() is "I".
    assert.isTrue(Option.isSome(Document.cnpjOption("6ts1hj0s000170")))
    assert.isTrue(Option.isNone(Document.cnpjOption("6tſ1hj0s000170")))
    assert.isTrue(Option.isNone(Document.cnpjOption("6tſ1hj0ſ000170")))
  })

  it.prop(
    "brazilian-utils accepts every document of this library, and reading it again changes nothing",
    [samples.cnpj],
    ([document]) => {
      assert.isTrue(isValidCnpj(document, { version: 2 }))
      assert.match(document, /^[\dA-Z]{12}\d{2}$/)
      assert.strictEqual(Document.cnpj(document.toLowerCase()), document)
      assert.strictEqual(Document.cnpj(Document.format(document).toLowerCase()), document)
    }
  )

  it.prop("a document is read with punctuation wherever brazilian-utils reads it", [samples.cnpj], ([document]) => {
    for (const text of punctuated(document)) {
      assert.strictEqual(Option.isSome(Document.cnpjOption(text)), isValidCnpj(text, { version: 2 }))
    }
  })

  it.prop(
    "a CNPJ with one wrong character is refused, unless both check digits are 0 or the two characters are equal modulo 11",
    [samples.cnpj],
    ([document]) => {
      for (const { at, character, original, text } of corruptions(document, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
        const alike = at < 12 && mod11(character) === mod11(original)
        const accepted = Option.isSome(Document.cnpjOption(text))
        if (alike && !/^(\d)\1+$/.test(text)) assert.isTrue(accepted)
        else if (accepted) {
          assert.strictEqual(document.slice(12), "00")
          assert.include([0, 4, 8], at)
        }
      }
    }
  )
})

describe("Document.Cnpj and the limits of check digits", () => {
  it("a wrong character that no check digit detects is accepted in a CNPJ: it is worth 11, 22 or 33 more, or both check digits are 0", () => {
    for (const text of ["62ABC34501DE03", "A2ABC34501DE03", "L2ABC34501DE03", "W2ABC34501DE03"]) {
      assert.isTrue(Option.isSome(Document.cnpjOption(text)))
    }
    for (const text of ["51364670651900", "71364670651900", "51364670851900"]) {
      assert.isTrue(Option.isSome(Document.cnpjOption(text)))
    }
  })
})

describe("Document.of", () => {
  it("Document.of returns the number and the type for a charge", () => {
    assert.deepStrictEqual(Document.of(Document.cpf("529.982.247-25")), { number: "52998224725", type: "CPF" })
    assert.deepStrictEqual(Document.of(Document.cnpj("12.abc.345/01de-35")), { number: "12ABC34501DE35", type: "CNPJ" })
  })
})

describe("Document.format and Document.mask", () => {
  it("format writes the usual punctuation", () => {
    assert.strictEqual(Document.format(Document.cpf("00000000191")), "000.000.001-91")
    assert.strictEqual(Document.format(Document.cnpj("11222333000181")), "11.222.333/0001-81")
    assert.strictEqual(Document.format(Document.cnpj("12abc34501de35")), "12.ABC.345/01DE-35")
  })

  it("mask hides the first group and the check digits", () => {
    assert.strictEqual(Document.mask(Document.cpf("52998224725")), "***.982.247-**")
    assert.strictEqual(Document.mask(Document.cnpj("11222333000181")), "**.222.333/0001-**")
    assert.strictEqual(Document.mask(Document.cnpj("12ABC34501DE35")), "**.ABC.345/01DE-**")
  })
})

/** The text with every place but those hidden, its punctuation kept. */
const hide = (text: string, shown: ReadonlyArray<number>, by: string) => {
  let place = -1
  return text.replaceAll(/[\dA-Z]/g, (character) => (shown.includes(++place) ? character : by))
}

/** Another character that the document may have in that place. */
const otherThan = (document: string, at: number) => {
  const other = document[at] === "1" ? "2" : "1"
  return document.slice(0, at) + other + document.slice(at + 1)
}

describe("Document.matches", () => {
  const cpf = Document.cpf("52998224725")
  const cnpj = Document.cnpj("12ABC34501DE35")

  it("a document in full matches itself, however it is written, and no other", () => {
    for (const text of ["52998224725", "529.982.247-25", " 529 982 247 25 "]) {
      assert.isTrue(Document.matches(text, cpf))
    }
    for (const text of ["12ABC34501DE35", "12.abc.345/01de-35"]) assert.isTrue(Document.matches(text, cnpj))
    for (const text of ["11144477735", "111.444.777-35", "52998224726"]) assert.isFalse(Document.matches(text, cpf))
    for (const text of ["11222333000181", "12.ABC.345/01DE-34"]) assert.isFalse(Document.matches(text, cnpj))
  })

  it.prop(
    "a mask matches its document, and a shown character that differs is another document, whatever hides the rest",
    [samples.cpf, samples.cnpj],
    ([cpf, cnpj]) => {
      for (const document of [cpf, cnpj]) {
        const end = document.length
        const masks = [
          [3, 4, 5, 6, 7, 8],
          [0, 1, 2, end - 2, end - 1],
          [end - 4, end - 3, end - 2, end - 1]
        ]
        for (const shown of masks) {
          for (const by of ["*", "X", "•"]) {
            // Masks are written with X, so an X that is shown is not counted.
            const isEnough = shown.filter((at) => document[at] !== "X").length >= 4
            for (const write of [String, Document.format]) {
              const masked = hide(write(document), shown, by)
              assert.strictEqual(Document.matches(masked, document), isEnough ? true : undefined, masked)
              for (const at of shown) {
                const other = hide(otherThan(document, at), shown, by)
                assert.isFalse(Document.matches(other, document), other)
              }
            }
          }
        }
      }
    }
  )

  it("Document.matches accepts the mask that Document.mask writes, and no mask of another document", () => {
    for (const text of validCpfs) {
      assert.strictEqual(Document.matches(Document.mask(Document.cpf(text)), cpf), text === cpf, text)
    }
    for (const text of validCnpjs) {
      assert.strictEqual(Document.matches(Document.mask(Document.cnpj(text)), cnpj), text === cnpj, text)
    }
  })

  it("a CPF never matches a CNPJ, in full or masked with its punctuation", () => {
    for (const text of ["11222333000181", "**.222.333/0001-**", "**.***.***/****-**"]) {
      assert.isFalse(Document.matches(text, cpf), text)
    }
    for (const text of ["52998224725", "***.982.247-**", "***.***.***-**"]) {
      assert.isFalse(Document.matches(text, cnpj), text)
    }
  })

  it("`matches` is undefined for a document that is absent, shows fewer than four characters, or has another length", () => {
    for (const text of [
      undefined,
      "",
      "  ",
      "***********",
      "***.***.***-25",
      "529********",
      "***4725",
      "****982247**"
    ]) {
      assert.isUndefined(Document.matches(text, cpf), text)
    }
    for (const text of ["**************", "************35", "12ABC***", "UNKNOWN"]) {
      assert.isUndefined(Document.matches(text, cnpj), text)
    }
    // @ts-expect-error a value that is not a text counts as absent
    assert.isUndefined(Document.matches(52_998_224_725, cpf))
  })

  it("a mask may be written with any character that the document cannot have", () => {
    for (const by of ["*", "x", "X", "#", "•", "?", "_", "🔒", "٣"]) {
      assert.isTrue(Document.matches(hide("529.982.247-25", [3, 4, 5, 6], by), cpf), by)
      assert.isTrue(Document.matches(hide("12.ABC.345/01DE-35", [2, 3, 4, 5], by), cnpj), by)
    }
  })

  it("a letter in the place of a digit is hidden: in a CPF, and in the check digits of a CNPJ", () => {
    assert.isTrue(Document.matches("AAA.982.247-AA", cpf))
    assert.isTrue(Document.matches("12.ABC.345/01DE-AA", cnpj))
  })

  it("a single shown character that differs is enough for another document", () => {
    assert.isFalse(Document.matches("6**********", cpf))
    assert.isFalse(Document.matches("**B***********", cnpj))
  })
})
