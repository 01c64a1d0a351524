/** CPFs and CNPJs, also against cpf-cnpj-validator, which shares no code with the library that we use. */
import { assert, describe, it } from "@effect/vitest"
import * as other from "cpf-cnpj-validator"
import { Option, Schema } from "effect"
import * as Document from "../../src/pix/Document.ts"
import * as samples from "../support/samples.ts"

/** The texts of a row of the tables. */
const texts = (row: string) => row.split("|")

/** What is the same for both kinds. */
const kinds = [
  {
    name: "CPF",
    make: Document.cpf,
    option: Document.cpfOption,
    schema: Schema.revealCodec(Document.Cpf),
    sample: samples.cpf,
    // The other library refuses this one valid CPF, since it is a common example.
    theirs: (text: string) => text === "12345678909" || other.cpf.isValid(text, true),
    theirFormat: other.cpf.format,
    read: [
      ["52998224725", "52998224725|529.982.247-25| 529 982 247 25 |529982247-25|\u00a0529.982.247-25\n"],
      ["12345678909", "12345678909|123.456.789-09"],
      ["00000000191", "00000000191|000.000.001-91"]
    ],
    // The first is the example of Bacen's DICT definition: its check digits are wrong.
    bad: texts(
      "12345678901|52998224726|5299822472|529982247255|191|5299822472a|52998224725a|+52998224725|529_982_247_25|" +
        "٥٢٩٩٨٢٢٤٧٢٥||00000000000|11111111111"
    )
  },
  {
    name: "CNPJ",
    make: Document.cnpj,
    option: Document.cnpjOption,
    schema: Schema.revealCodec(Document.Cnpj),
    sample: samples.cnpj,
    theirs: (text: string) => other.cnpj.isValid(text, true),
    theirFormat: other.cnpj.format,
    read: [
      ["12ABC34501DE35", "12ABC34501DE35|12abc34501de35|12.ABC.345/01DE-35|12.abc.345/01de-35| 12 ABC 345 01DE 35 "],
      ["11222333000181", "11222333000181|11.222.333/0001-81"],
      ["6TS1HJ0S000170", "6ts1hj0s000170"],
      ["ZZZZZZZZZZZZ62", "ZZZZZZZZZZZZ62"],
      ["00000000000191", "00000000000191"]
    ],
    // "ſ".toUpperCase() is "S", and "ı".toUpperCase() is "I".
    bad: texts(
      "12ABC34501DE36|12ABC34501DE3A|12ABC34501DE3|12ABC34501DE355|11222333000182|A00000000001ı3|12_ABC_345_01DE_35|" +
        "6tſ1hj0s000170|6tſ1hj0ſ000170||00000000000000|11111111111111"
    )
  }
] as const

describe.each(kinds)("$name", ({ bad, make, name, option, read, sample, schema, theirFormat, theirs }) => {
  const decode = Schema.decodeUnknownSync(schema)
  const isRead = (text: string) => Option.isSome<string>(option(text))

  it.each<readonly [document: string, row: string]>(read)(
    "the document %s is read from each of %j",
    (document, row) => {
      for (const text of texts(row)) {
        assert.strictEqual<string>(make(text), document)
        assert.deepStrictEqual<Option.Option<string>>(option(text), Option.some(document))
        assert.strictEqual<string>(decode(text), document)
      }
    }
  )

  it.each(bad)("the text %j is refused without being quoted", (text) => {
    assert.deepStrictEqual(option(text), Option.none())
    for (const run of [make, decode, (given: string) => decode(given, { reportInput: true })])
      try {
        run(text)
        assert.fail("was accepted")
      } catch (error) {
        assert.instanceOf(error, Schema.SchemaError)
        assert.include(String(error), `Expected a valid ${name}`)
        if (text !== "") assert.notInclude(`${String(error)}${JSON.stringify(error)}`, text)
      }
  })

  it("the document is a string on the wire and in JSON, and only its plain form in memory", () => {
    const [[plain, row]] = read
    const given = texts(row)[1]
    const json = Schema.toCodecJson(Schema.toType(schema))
    assert.strictEqual(Schema.encodeUnknownSync(schema)(decode(given)), plain)
    assert.strictEqual(Schema.encodeUnknownSync(json)(decode(given)), plain)
    assert.strictEqual<unknown>(Schema.decodeUnknownSync(json)(given), plain)
    assert.throws(() => Schema.decodeUnknownSync(Schema.toType(schema))(given))
    for (const value of [52998224725, null, undefined, {}]) assert.throws(() => decode(value))
    const described = Schema.toJsonSchemaDocument(schema).schema
    assert.deepInclude(described, { type: "string", title: name === "CPF" ? "Cpf" : "Cnpj" })
    assert.include(JSON.stringify(described), `A ${name}: `)
  })

  it.prop("another library reads the same documents, and writes them in the same way", [sample], ([document]) => {
    assert.strictEqual(Document.format(document), theirFormat(document))
    assert.strictEqual<string>(make(Document.format(document).toLowerCase()), document)
    for (let suffix = 0; suffix < 100; suffix++) {
      const text = document.slice(0, -2) + String(suffix).padStart(2, "0")
      assert.strictEqual(isRead(text), theirs(text), text)
    }
  })
})

const cpf = Document.cpf("52998224725")
const cnpj = Document.cnpj("12ABC34501DE35")

it.each([
  [cpf, "CPF", "529.982.247-25", "***.982.247-**"],
  [cnpj, "CNPJ", "12.ABC.345/01DE-35", "**.ABC.345/01DE-**"]
] as const)("the document %s is a %s that is written %s and masked as %s", (document, type, format, mask) => {
  assert.deepStrictEqual(Document.of(document), { number: document, type })
  assert.deepStrictEqual([Document.format(document), Document.mask(document)], [format, mask])
})

describe("Document.matches", () => {
  const rows: ReadonlyArray<readonly [document: Document.Cpf | Document.Cnpj, matches: boolean | undefined, string]> = [
    [cpf, true, "52998224725|529.982.247-25| 529 982 247 25 |AAA.982.247-AA|***982247**|5299*******|*******4725"],
    [cpf, false, "11144477735|52998224726|6**********|***.982.248-**|12ABC34501DE35|12.***.***/01DE-**"],
    [cpf, undefined, "|  |***********|***.***.***-25|529********|***4725|****982247**|UNKNOWN|529*982-247"],
    [cnpj, true, "12ABC34501DE35|12.abc.345/01de-35|12.ABC.345/01DE-AA|**ABC3********|**.***.***/01DE-**"],
    [cnpj, false, "11222333000181|12.ABC.345/01DE-34|**B***********|52998224725|***.982.247-**"],
    [cnpj, undefined, "**************|************35|12ABC***|UNKNOWN||1*2.***.345/01DE"]
  ]
  it.each(rows)("%s matches (%s) each of %j", (document, expected, row) => {
    for (const text of texts(row)) assert.strictEqual(Document.matches(text, document), expected, text)
  })

  it("a value that is absent or no text is compared with no document", () => {
    assert.isUndefined(Document.matches(undefined, cpf))
    // @ts-expect-error a number
    assert.isUndefined(Document.matches(52_998_224_725, cpf))
  })

  /** The text with every place but those shown hidden, and its punctuation kept. */
  const hide = (text: string, shown: ReadonlyArray<number>, mask: string) => {
    let place = -1
    return text.replaceAll(/[\dA-Z]/g, (character) => (shown.includes(++place) ? character : mask))
  }
  const Mask = Schema.Literals(["*", "x", "X", "#", "•", "?", "_", "🔒", "٣"])

  it.prop(
    "a document matches what a mask shows of it if that is four characters or more, and no document with another one",
    [Schema.Literals(["CPF", "CNPJ"]), samples.cpf, samples.cnpj, Schema.Array(Schema.Natural), Mask],
    ([kind, one, two, places, mask]) => {
      const document = kind === "CPF" ? one : two
      const shown = [...new Set(places.map((place) => place % document.length))]
      for (const text of [document, Document.format(document)]) {
        // Masks are written with X, so an X that is shown is not counted.
        const expected = shown.filter((at) => document[at] !== "X").length >= 4 ? true : undefined
        assert.strictEqual(Document.matches(hide(text, shown, mask), document), expected, text)
      }
      for (const at of shown) {
        const other = document.slice(0, at) + (document[at] === "1" ? "2" : "1") + document.slice(at + 1)
        assert.isFalse(Document.matches(hide(other, shown, mask), document))
      }
    }
  )
})
