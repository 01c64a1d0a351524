import { assert, describe, it } from "@effect/vitest"
import { Option, Result } from "effect"
import * as Money from "../../src/pix/Money.ts"
import { writeBrCode } from "../../src/sandbox/internal/brCode.ts"
import { DynamicOptions, generate, parse, vectors, verified } from "../support/brCode.ts"

const merchant = { name: "Fulano de Tal", city: "BRASÍLIA" }
const url = "pix.example.com/8b3da2f39a4140d1a91abd93113bd441"

describe("the BR Code of a sandbox's charge", () => {
  it("the code is the manual's own example for the same URL", () => {
    assert.deepStrictEqual(writeBrCode({ merchant, url, amount: undefined }), Result.succeed(vectors.dynamicUrl))
  })

  it.prop("the code is what the manual says, and it has no problem", [DynamicOptions], ([options]) => {
    const { amount, merchantCity, merchantName } = options
    const written = writeBrCode({
      merchant: { name: merchantName, city: merchantCity },
      url: options.url,
      amount: amount === undefined ? undefined : Money.centavos(amount)
    })
    assert.deepStrictEqual(written, Result.succeed(generate(options)))
    assert.isTrue(Result.isSuccess(Result.flatMap(written, verified)))
  })

  it("accents and spare space are dropped, and what a code cannot state is refused", () => {
    const write = (name: string, amount = 1, city = "São Luís") =>
      writeBrCode({ merchant: { name, city }, url, amount: Money.centavos(amount) })
    const { merchantCity, merchantName } = parse(Result.getOrThrow(write("  Açaí\u00a0&  Cia  nº 1 ", 999_999_999_999)))
    assert.deepStrictEqual([merchantName, merchantCity], ["Acai & Cia no 1", "Sao Luis"])
    const codeOf = (...args: Parameters<typeof write>) => Result.getFailure(write(...args)).pipe(Option.getOrThrow).code
    for (const name of ["   ", "Søren", "Loja 🛒", "a\u0007b", "N".repeat(26)])
      assert.strictEqual(codeOf(name), "field")
    assert.strictEqual(codeOf("Loja", 1, "S".repeat(16)), "field")
    for (const amount of [0, 1_000_000_000_000]) assert.strictEqual(codeOf("Loja", amount), "amount")
  })
})
