import { generatePixPayload } from "@brazilian-utils/brazilian-utils/generate-pix-payload"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as BrCode from "../../src/pix/BrCode.ts"
import * as Money from "../../src/pix/Money.ts"
import * as PixKey from "../../src/pix/PixKey.ts"
import {
  DynamicOptions,
  evp,
  generate,
  parse,
  plain,
  reveal,
  StaticOptions,
  text,
  toOptions,
  usual,
  vectors,
  verified
} from "../support/brCode.ts"

/** A URL of this length. */
const urlOf = (length: number) => `pix.example.com/${"u".repeat(length - 16)}`

describe("BrCode.generate", () => {
  it("generate makes the manuals' own examples", () => {
    const receiver = { merchantName: "Fulano de Tal", merchantCity: "BRASÍLIA" }
    assert.strictEqual(generate({ ...receiver, key: evp }), vectors.staticKey)
    const url = "pix.example.com/8b3da2f39a4140d1a91abd93113bd441"
    assert.strictEqual(generate({ ...receiver, url }), vectors.dynamicUrl)
  })

  it.prop(
    "generate makes codes that parse reads back and verify accepts",
    [Schema.Union([StaticOptions, DynamicOptions])],
    ([options]) => {
      const payload = generate(toOptions(options))
      const code = Result.getOrThrow(verified(payload))
      const defined = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
      assert.deepStrictEqual(plain(code), {
        ...usual,
        ...defined,
        ...("url" in options ? { kind: "dynamic", pointOfInitiation: "12" } : { kind: "static" })
      })
      assert.match(payload, /^[\x20-\x7e]+$/)
    }
  )

  it.prop("generate makes the same text as brazilian-utils from the same input", [StaticOptions], ([options]) => {
    const { additionalInfo, amount, txid, ...rest } = options
    const theirs = generatePixPayload({
      ...rest,
      ...(txid !== undefined && { txid }),
      ...(amount !== undefined && { amount: amount / 100 }),
      ...(additionalInfo !== undefined && { description: additionalInfo })
    })
    if (theirs !== null) assert.strictEqual(generate(toOptions(options)), theirs)
    // brazilian-utils refuses amounts whose float is not exact.
    else assert.isAbove(amount ?? 0, 100_000_000)
  })

  it.prop(
    "generate makes a code in which any single wrong character is noticed",
    [Schema.Union([StaticOptions, DynamicOptions]), text(/^[\x20-\x7e]$/)],
    ([options, wrong]) => {
      const payload = generate(toOptions(options))
      for (let at = 0; at < payload.length; at++) {
        // The checksum in lower case is the same checksum.
        const kept = payload.slice(at, at + 1)
        if (kept === wrong || (at >= payload.length - 4 && kept === wrong.toUpperCase())) continue
        assert.isTrue(Result.isFailure(verified(payload.slice(0, at) + wrong + payload.slice(at + 1))), `at ${at}`)
      }
    }
  )

  it("generate drops accents and spare space, and refuses what has no ASCII form", () => {
    const code = parse(generate({ key: evp, merchantName: "  Açaí\u00a0&  Cia  nº 1 ", merchantCity: "São Luís" }))
    assert.strictEqual(code.merchantName, "Acai & Cia no 1")
    assert.strictEqual(code.merchantCity, "Sao Luis")
    for (const merchantName of ["", "   ", "Søren", "商店", "Loja 🛒", "a\u0007b"]) {
      const refused = BrCode.generate({ key: evp, merchantName, merchantCity: "BRASILIA" })
      assert.isTrue(Result.isFailure(refused) && refused.failure.code === "field", merchantName)
    }
  })

  const fits: BrCode.GenerateOptions = {
    key: evp,
    merchantName: "N".repeat(25),
    merchantCity: "C".repeat(15),
    txid: "t".repeat(25),
    additionalInfo: "i".repeat(37),
    amount: Money.centavos(999_999_999_999)
  }
  const receiver = { merchantName: fits.merchantName, merchantCity: fits.merchantCity, amount: fits.amount }

  const longest = `${"k".repeat(65)}@example.com`

  it("generate accepts a PixKey of any kind, and the same key as text", () => {
    for (const key of [
      PixKey.cpf("529.982.247-25"),
      PixKey.cnpj("12.abc.345/01de-35"),
      PixKey.email("Fulano@Example.com"),
      PixKey.phone("(11) 91234-5684"),
      PixKey.phone("+1 202 555 0123"),
      PixKey.evp(evp)
    ]) {
      const payload = generate({ ...receiver, key })
      assert.strictEqual(reveal(parse(payload).key), PixKey.value(key))
      assert.strictEqual(generate({ ...receiver, key: PixKey.value(key) }), payload)
    }
  })

  it("generate accepts each field at its greatest length", () => {
    for (const options of [fits, { ...receiver, key: longest }, { ...receiver, url: urlOf(77) }]) {
      assert.isTrue(Result.isSuccess(verified(generate(options))))
    }
    assert.strictEqual(parse(generate(fits)).amount, 999_999_999_999)
  })

  it.each<readonly [string, BrCode.GenerateOptions]>([
    ["name", { ...fits, merchantName: "N".repeat(26) }],
    ["city", { ...fits, merchantCity: "C".repeat(16) }],
    ["txid", { ...fits, txid: "t".repeat(26) }],
    ["txid", { ...fits, txid: "" }],
    ["txid", { ...fits, txid: "Um-Id" }],
    ["additional information", { ...fits, additionalInfo: "i".repeat(38) }],
    ["additional information", { ...fits, key: longest, additionalInfo: "i" }],
    ["key", { ...receiver, key: `k${longest}` }],
    ["key", { ...receiver, key: "k".repeat(36) }],
    ["key", { ...receiver, key: "12345678901" }],
    ["key", { ...receiver, key: "5511912345684" }],
    ["key", { ...receiver, key: "+551132345678" }],
    ["key", { ...receiver, key: "529.982.247-25" }],
    ["key", { ...receiver, key: evp.toUpperCase() }],
    ["key", { ...receiver, key: "fulano" }],
    ["key", { ...receiver, key: "" }],
    ["key", { ...receiver, key: "chave aleatória" }],
    ["URL", { ...receiver, url: urlOf(78) }],
    ["URL", { ...receiver, url: "https://pix.example.com/a" }],
    ["URL", { ...receiver, url: "pix.example.com" }],
    ["URL", { ...receiver, url: "pix.example.com/a?b" }],
    ["URL", { ...receiver, url: "user@pix.example.com/a" }],
    ["URL", { ...receiver, url: "pix.example.com/a\nb" }],
    ["amount", { ...fits, amount: Money.centavos(0) }],
    ["amount", { ...fits, amount: Money.centavos(1_000_000_000_000) }]
  ])("generate refuses a wrong %s and does not shorten it", (words, options) => {
    const refused = BrCode.generate(options)
    assert.isTrue(Result.isFailure(refused))
    if (Result.isFailure(refused)) {
      assert.include(refused.failure.message, words)
      assert.strictEqual(refused.failure.code, words === "amount" ? "amount" : "field")
    }
  })

  it("generate refuses a URL together with a field that only a static code has", () => {
    const dynamic = { ...receiver, url: urlOf(40) }
    for (const refused of [
      // @ts-expect-error the types refuse it too
      BrCode.generate({ ...dynamic, key: evp }),
      // @ts-expect-error the types refuse it too
      BrCode.generate({ ...dynamic, txid: "abc" }),
      // @ts-expect-error the types refuse it too
      BrCode.generate({ ...dynamic, additionalInfo: "abc" }),
      // @ts-expect-error the types refuse it too
      BrCode.generate({ merchantName: "N", merchantCity: "C" })
    ]) {
      assert.isTrue(Result.isFailure(refused) && refused.failure.code === "field")
    }
  })
})
