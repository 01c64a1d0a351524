import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Money from "../../src/pix/Money.ts"
import { writeBrCode } from "../../src/sandbox/internal/brCode.ts"
import { DynamicOptions, generate, parse, vectors, verified } from "../support/brCode.ts"

const merchant = { name: "Fulano de Tal", city: "BRASÍLIA" }
const url = "pix.example.com/8b3da2f39a4140d1a91abd93113bd441"

describe("the BR Code of a sandbox's charge", () => {
  it("the code is the manual's own example for the same URL", () => {
    assert.deepStrictEqual(writeBrCode({ merchant, url, amount: undefined }), Result.succeed(vectors.dynamicUrl))
  })

  it.prop("the code is what the manual says, and verify accepts it", [DynamicOptions], ([options]) => {
    const { amount, merchantCity, merchantName } = options
    const written = writeBrCode({
      merchant: { name: merchantName, city: merchantCity },
      url: options.url,
      amount: amount === undefined ? undefined : Money.centavos(amount)
    })
    assert.deepStrictEqual(written, Result.succeed(generate(options)))
    assert.isTrue(Result.isSuccess(Result.flatMap(written, verified)))
  })

  it("accents and spare space are dropped, and a name without an ASCII form is refused", () => {
    const nameOf = (name: string) =>
      Result.map(writeBrCode({ merchant: { name, city: "São Luís" }, url, amount: undefined }), (payload) => {
        const { merchantCity, merchantName } = parse(payload)
        return [merchantName, merchantCity]
      })
    assert.deepStrictEqual(nameOf("  Açaí\u00a0&  Cia  nº 1 "), Result.succeed(["Acai & Cia no 1", "Sao Luis"]))
    for (const name of ["", "   ", "Søren", "商店", "Loja 🛒", "a\u0007b", "N".repeat(26)]) {
      const refused = nameOf(name)
      assert.isTrue(Result.isFailure(refused) && refused.failure.code === "field", name)
    }
  })

  it("an amount that a code cannot state is refused", () => {
    for (const amount of [0, 1_000_000_000_000]) {
      const refused = writeBrCode({ merchant, url, amount: Money.centavos(amount) })
      assert.isTrue(Result.isFailure(refused) && refused.failure.code === "amount")
    }
    assert.isTrue(Result.isSuccess(writeBrCode({ merchant, url, amount: Money.centavos(999_999_999_999) })))
  })
})
