import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Result } from "effect"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { DynamicOptions, generate, parse, reveal, verified } from "../support/brCode.ts"

/** The code of a sandbox's charge; none where its merchant or its amount cannot be stated. */
const codeOf = (amount: number, name: string, city: string) => {
  const sandbox = Layer.provide(Sandbox.layer, Layer.succeed(SandboxOptions, { merchant: { name, city } }))
  const charged = Effect.provide(
    Sandbox.use(({ charge }) => charge(amount)),
    sandbox
  )
  return Option.flatMap(Exit.getSuccess(Effect.runSyncExit(charged)), ({ qrcode }) => Option.fromNullishOr(qrcode))
}

describe("the BR Code of a sandbox's charge", () => {
  it.prop("the code is what the manual says, and it has no problem", [DynamicOptions], ([options]) => {
    const { amount = 1, merchantCity, merchantName } = options
    const code = Option.getOrThrow(codeOf(amount, merchantName, merchantCity))
    const { url } = parse(code)
    assert.strictEqual(code, generate({ ...options, amount, url: reveal(url) ?? "" }))
    assert.isTrue(Result.isSuccess(verified(code)))
  })

  it("accents and spare space are dropped, and what a code cannot state is refused", () => {
    const code = codeOf(999_999_999_999, "  Açaí\u00a0&  Cia  nº 1 ", "São Luís")
    const { merchantCity, merchantName } = parse(Option.getOrThrow(code))
    assert.deepStrictEqual([merchantName, merchantCity], ["Acai & Cia no 1", "Sao Luis"])
    for (const name of ["   ", "Søren", "Loja 🛒", "a\u0007b", "N".repeat(26)])
      assert.isTrue(Option.isNone(codeOf(1, name, "Natal")))
    assert.isTrue(Option.isNone(codeOf(1, "Loja", "S".repeat(16))))
    assert.isTrue(Option.isNone(codeOf(1_000_000_000_000, "Loja", "Natal")))
  })
})
