/**
 * Tests the text that an editor shows for each public name. A namespace shows the docstring of the `declare module` in
 * its file, which is the file's head; a call of a function that is an interface shows the docstring of the call
 * signature.
 */
import { assert, describe, expect, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { type Hover, readHovers } from "./support/hovers.ts"

const hovers = readHovers()
const namesOf = (wrong: (hover: Hover) => boolean) => hovers.filter(wrong).map(({ name }) => name)

describe("the hover of a public name", () => {
  it("the hover of every export, member of a namespace, operation of a service and field of options has documentation", () => {
    assert.isAbove(hovers.length, 500)
    for (const name of ["effect-pix Money", "effect-pix Payments createTransaction()", "effect-pix/sandbox Fault"]) {
      expect(hovers.map((hover) => hover.name)).toContain(name)
    }
    expect(namesOf(({ text }) => text.trim() === "")).toEqual([])
  })

  it("the hover refers to no head of a module, no section of another document, and no file that is not in the package", () => {
    expect(namesOf(({ text }) => /\bhead of\b|service interface|\bsections? \d/i.test(text))).toEqual([])
    const { files } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly files: ReadonlyArray<string> }
    expect(files).toContain("docs")
    expect(namesOf(({ text }) => /`(?!docs\/)[\w/.]+\.(?:ts|md)`/.test(text))).toEqual([])
  })

  it("the hover says whether an amount is in centavos or in reais", () => {
    const amounts = hovers.filter(({ type }) => /Centavos|Reais/.test(type))
    assert.isAbove(amounts.length, 40)
    expect(amounts.filter(({ text }) => !/centavos|reais|R\$/i.test(text)).map(({ name }) => name)).toEqual([])
  })

  it("the hover says that an effect can fail, and how", () => {
    const failing = hovers.filter(({ error }) => error !== undefined && error !== "never")
    assert.isAbove(failing.length, 50)
    expect(failing.filter(({ text }) => !/\bfail|refuse|wrong|`[A-Z]\w+`/i.test(text)).map(({ name }) => name)).toEqual(
      []
    )
  })

  it.each([
    ["Payments createTransaction()", ["InvalidRequest", "AuthError", "RequestRejected", "IdempotencyConflict"]],
    ["Payments requestWithdrawal", ["BelowMinimum", "NoPixKey", "InsufficientBalance", "OutcomeUnknown"]],
    ["Payments getTransaction", ["TransactionNotFound", "UnexpectedResponse", "ServiceUnavailable"]],
    ["Payments layerFetch", ["PAYMENTS_BASE_URL", "PAYMENTS_CLIENT_ID", "PAYMENTS_API_KEY", "PAYMENTS_COMPANY_ID"]],
    ["TransactionWait final", ["deadline"]],
    ["PixTransactionRequest", ["customer.externalRef"]]
  ])("the hover of %s names %j", (name, words) => {
    const text = hovers.find((hover) => hover.name === `effect-pix ${name}`)?.text
    for (const word of words) assert.include(text, `\`${word}\``)
  })

  it("the hover shows a report by its name, and not the structure of its results", () => {
    const types = (name: string) => hovers.find((hover) => hover.name === `effect-pix/payouts ${name}`)?.type
    expect(types("Payouts run")).toContain("Effect<PayoutReport, ")
    expect(types("Payouts stream")).toContain("Stream<PayoutStatus, ")
  })
})
