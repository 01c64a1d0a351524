import { assert, describe, it, vi } from "@effect/vitest"
import { RefusalRules } from "effect-pix"
import { causeOf } from "../../src/client/internal/words/refusalCause.ts"
import { belowMinimum, conflicts, insufficientBalance, noPixKey, ordinary } from "./refusals.ts"

const read = (words: string) => causeOf(RefusalRules.defaults, words)

const isConflict = (words: string) =>
  ["IdempotencyKeyInFlight", "IdempotencyKeyReused", "Conflict"].includes(read(words) ?? "")

const otherwise = (phrases: ReadonlyArray<string>, isRead: (words: string) => boolean) =>
  phrases.filter((words) => !isRead(words)).map((words) => `${words}: ${read(words)}`)

/** The same, as a gateway may write it. */
const spelled = (phrases: ReadonlyArray<string>) =>
  phrases.flatMap((words) => [
    words,
    // In capitals a `camelCase` code is a single word.
    ...(/[a-z][A-Z]/.test(words) ? [] : [words.toUpperCase()]),
    words.normalize("NFD"),
    words.normalize("NFKD").replaceAll(/\p{Mn}/gu, ""),
    `Erro 4001: ${words}.`,
    `Bad Request; ${words}`
  ])

describe("RefusalRules", () => {
  it("the words of a refusal are a conflict in every wording that says asked before or under way", () => {
    assert.isAtLeast(conflicts.length, 150)
    assert.deepStrictEqual(otherwise(spelled(conflicts), isConflict), [])
  })

  it("the words of an ordinary refusal are no conflict", () => {
    assert.isAtLeast(ordinary.length, 150)
    assert.deepStrictEqual(
      otherwise(spelled(ordinary), (words) => !isConflict(words)),
      []
    )
  })

  it.each([
    ["InsufficientBalance", insufficientBalance],
    ["NoPixKey", noPixKey],
    ["BelowMinimum", belowMinimum]
  ] as const)("the words of a refusal are %s in every wording of it", (cause, phrases) => {
    assert.deepStrictEqual(
      otherwise(spelled(phrases), (words) => read(words) === cause),
      []
    )
  })

  it("the words of a refusal are held against a user's own phrases and expressions before the defaults", () => {
    const rules = RefusalRules.make({
      rules: [
        { cause: "InsufficientBalance", words: ["carteira ... vazia|#"], except: ["carteira ~ digital"] },
        { cause: "IdempotencyKeyReused", words: /\bdup-\d+\b/ },
        ...RefusalRules.defaults.rules
      ]
    })
    assert.strictEqual(causeOf(rules, "A Carteira está VAZIA"), "InsufficientBalance")
    assert.strictEqual(causeOf(rules, "CARTEIRA_42"), "InsufficientBalance")
    assert.isUndefined(causeOf(rules, "Carteira digital vazia"))
    assert.isUndefined(causeOf(rules, "Carteira. Cesta vazia"))
    assert.strictEqual(causeOf(rules, "Erro DUP-17"), "IdempotencyKeyReused")
    assert.strictEqual(causeOf(rules, "Saldo insuficiente"), "InsufficientBalance")
  })

  it("the words of a refusal are read in a number of steps that grows with their length and no faster", () => {
    const count = (text: string) => {
      const spies = [vi.spyOn(String.prototype, "startsWith"), vi.spyOn(Set.prototype, "has")]
      causeOf(RefusalRules.defaults, text)
      const steps = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0)
      for (const spy of spies) spy.mockRestore()
      return steps
    }
    const units =
      "ja nao ,em de ,nao de a ,error ,error while ,saldo de ,chave pix nao de ,conta is ,valor ,another ,x ,a,A,aA,.,é ,: "
    for (const unit of units.split(",")) {
      const half = count(unit.repeat(2000 / unit.length))
      const whole = count(unit.repeat(4000 / unit.length))
      assert.isAtMost(whole, 2.1 * half + 1000, `${half} steps for half of "${unit}"`)
      assert.isAtMost(whole, 4000 * 1000, unit)
    }
  })
})
