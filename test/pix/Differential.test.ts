/**
 * Compares our results with those of other libraries and with real codes: cpf-cnpj-validator, which shares no code with
 * the library that we use; brazilian-utils, which infers the kind of a key; and codes from the answers of gateways.
 */
import { isValidPixKey } from "@brazilian-utils/brazilian-utils/is-valid-pix-key"
import { assert, describe, it } from "@effect/vitest"
import { cnpj, cpf } from "cpf-cnpj-validator"
import { Option, Redacted, Result, Schema } from "effect"
import * as BrCode from "../../src/pix/BrCode.ts"
import * as Document from "../../src/pix/Document.ts"
import * as PixKey from "../../src/pix/PixKey.ts"
import { answered, broken, placeholders } from "../support/brCodes.ts"
import * as samples from "../support/samples.ts"

const text = (pattern: RegExp) => Schema.String.check(Schema.isPattern(pattern))
const suffixes = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, "0"))

// The only CPF with right check digits that cpf-cnpj-validator refuses, since it is a common example.
const theirExample = "12345678909"

const accepts = (type: PixKey.PixKeyType, input: string) => Result.isSuccess(PixKey.make(type, input))

describe("CPF, against cpf-cnpj-validator", () => {
  it.prop("both libraries accept the same one of all hundred check digits", [text(/^\d{9}$/)], ([base]) => {
    for (const suffix of suffixes) {
      const document = base + suffix
      if (document === theirExample) continue
      const theirs = cpf.isValid(document, true)
      assert.strictEqual(Option.isSome(Document.cpfOption(document)), theirs, document)
      assert.strictEqual(accepts("CPF", document), theirs, document)
    }
  })

  it.prop("both libraries format a document in the same way", [samples.cpf], ([document]) => {
    assert.strictEqual(Document.format(document), cpf.format(document))
    assert.isTrue(document === theirExample || cpf.isValid(Document.format(document), true))
  })

  it("a document that the other library generates is read, bare and with punctuation", () => {
    for (let n = 0; n < 200; n++) {
      const bare = cpf.generate()
      assert.deepStrictEqual(Document.cpfOption(cpf.format(bare)), Document.cpfOption(bare))
      assert.strictEqual<string>(PixKey.value(PixKey.cpf(cpf.format(bare))), bare)
    }
  })

  it("both libraries refuse one digit eleven times", () => {
    for (let digit = 0; digit < 10; digit++) {
      const document = String(digit).repeat(11)
      assert.isFalse(cpf.isValid(document))
      assert.isFalse(accepts("CPF", document))
    }
  })
})

describe("CNPJ with letters, against cpf-cnpj-validator", () => {
  it.prop(
    "both libraries accept the same one of all hundred check digits",
    [text(/^(\d{12}|[0-9A-Z]{12})$/)],
    ([base]) => {
      for (const suffix of suffixes) {
        const document = base + suffix
        const theirs = cnpj.isValid(document, true)
        assert.strictEqual(Option.isSome(Document.cnpjOption(document)), theirs, document)
        assert.strictEqual(accepts("CNPJ", document), theirs, document)
      }
    }
  )

  it.prop("both libraries format a document in the same way", [samples.cnpj], ([document]) => {
    assert.strictEqual(Document.format(document), cnpj.format(document))
    assert.isTrue(cnpj.isValid(Document.format(document), true))
  })

  it("a document that the other library generates is read, bare and with punctuation, in either case", () => {
    for (let n = 0; n < 200; n++) {
      const bare = cnpj.generate()
      assert.strictEqual<string>(Document.cnpj(bare), bare)
      assert.strictEqual<string>(Document.cnpj(cnpj.format(bare).toLowerCase()), bare)
      assert.strictEqual<string>(PixKey.value(PixKey.cnpj(cnpj.format(bare))), bare)
    }
  })
})

describe("keys, against brazilian-utils, which guesses their kind", () => {
  it.prop("every key of this library is a key for brazilian-utils", [samples.pixKey], ([key]) => {
    const value = PixKey.value(key)
    // brazilian-utils accepts only Brazilian phones, and no name that ends with a point or has two points in a row.
    // DICT accepts both.
    if (key.type === "PHONE" ? !value.startsWith("+55") : /^\.|\.\.|\.@/.test(value)) return
    assert.isTrue(isValidPixKey(value), key.type)
  })

  it("eleven digits are one key for brazilian-utils and two for us", () => {
    const both = "11912345684"
    assert.isTrue(isValidPixKey(both))
    assert.strictEqual(String(PixKey.cpf(both)), "CPF ***.123.456-**")
    assert.strictEqual(PixKey.value(PixKey.phone(both)), "+5511912345684")
  })
})

const reveal = (code: BrCode.BrCode) =>
  Object.fromEntries(
    Object.entries(code).map(([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value) : value])
  )

describe("BR Codes, against what gateways write", () => {
  it.each(Object.entries(answered))("parse reads %s", (_, { payload, says }) => {
    const code = Result.getOrThrow(BrCode.parse(payload))
    // The URL of a developer's gateway is on localhost.
    assert.strictEqual(code.problems.length, payload.includes("localhost:5001") ? 1 : 0)
    const read = reveal(code)
    const names = ["kind", "merchantName", "merchantCity", "postalCode", "amount", "txid", "key", "url"]
    assert.deepStrictEqual(
      Object.fromEntries(names.filter((name) => read[name] !== undefined).map((name) => [name, read[name]])),
      says
    )
    assert.strictEqual(BrCode.crc(payload.slice(0, -4)), payload.slice(-4))
  })

  it.each(Object.entries(placeholders))(
    "parse reads %s and reports that its checksum is a placeholder",
    (_, payload) => {
      const code = Result.getOrThrow(BrCode.parse(payload))
      assert.deepStrictEqual(
        code.problems.map(({ code }) => code),
        ["crc"]
      )
      assert.isDefined(code.key)
    }
  )

  it.each(Object.entries(broken))("parse refuses %s", (_, payload) => {
    const refused = BrCode.parse(payload)
    assert.isTrue(Result.isFailure(refused) && refused.failure.code === "tlv")
  })
})
