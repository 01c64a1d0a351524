/** The words of the sandbox's page: both languages have each of them, and they are true. */
import { assert, describe, test } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { Money, Payments } from "effect-pix"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { readdirSync, readFileSync } from "node:fs"
import { Operation } from "../../src/contract/Endpoints.ts"
import words from "../../src/panel/internal/assets/words.json" with { type: "json" }
import { named, names } from "../../src/sandbox/internal/plan.ts"
import { SandboxTransaction, SandboxWithdrawal } from "../../src/sandbox/SandboxLedger.ts"
import { SandboxWebhook } from "../../src/sandbox/SandboxWebhook.ts"
import { effect } from "../support/effect.ts"

const folder = new URL("../../src/panel/internal/assets/", import.meta.url)
const scripts = readdirSync(folder).filter((name) => name.endsWith(".js"))
const source = scripts.map((name) => readFileSync(new URL(name, folder), "utf8")).join("\n")
const isOperation = Schema.is(Operation)
/** Why a webhook was not answered: in the midst of a sentence. */
const errors = new Set(["the target could not be reached", "no answer within 10 seconds"])
const table: Readonly<Record<string, ReadonlyArray<string>>> = words

describe("the words of the page", () => {
  test("each has an English and a Portuguese text, with the same values", () => {
    const values = (text = "") => text.match(/\{\}/g)?.length ?? 0
    const wrong = Object.entries(table).filter(
      ([, texts]) => texts.length !== 2 || texts.includes("") || values(texts[0]) !== values(texts[1])
    )
    assert.deepStrictEqual(wrong, [])
    // These are the same word in both languages.
    const alike = Object.entries(table).filter(([, [english, portuguese]]) => english === portuguese)
    assert.deepStrictEqual(
      alike.map(([name]) => name),
      ["webhooks", "status", "webhook", "id", "email"]
    )
  })

  test("a label begins with a capital, or with a value or a number, in both languages", () => {
    const small = Object.entries(table).filter(
      ([name, texts]) => !errors.has(name) && texts.some((text) => !/^[\p{Lu}\d{+]/u.test(text))
    )
    assert.deepStrictEqual(small, [])
  })

  test("the page has a text for each state, operation, fault and step, and each text is used", () => {
    const states = [
      ...SandboxTransaction.fields.status.literals,
      ...SandboxWithdrawal.fields.status.literals,
      ...SandboxWebhook.fields.state.literals
    ]
    const ofRows = [
      ...SandboxTransaction.fields.status.literals.map((status) => `charge_${status}`),
      ...SandboxWithdrawal.fields.status.literals.map((status) => `payout_${status}`)
    ]
    const acts = [...source.matchAll(/(?:act|button|submit|tool)\(\s*"(\w+)"/g)].flatMap(([, name = ""]) => name)
    const ofActs = [...new Set(acts)]
      .filter((name) => !/^(?:markPaid|cancel|fail|refund|charge|withdraw|\w+Withdrawal)$/.test(name))
      .flatMap((name) => (name === "setOffline" ? [`did_${name}_true`, `did_${name}_false`] : [`did_${name}`]))
    const ofFaults = names.map((name) => `fault_${name}`)
    const given = [...source.matchAll(/\bword\(\s*"(\w+)"/g)].flatMap(([, name = ""]) => name)
    const needed = [...states, ...ofRows, ...ofActs, ...ofFaults, ...given]
    assert.deepStrictEqual(
      needed.filter((name) => !Object.hasOwn(table, name)),
      []
    )
    const isUsed = (name: string) =>
      needed.includes(name) ||
      isOperation(name) ||
      errors.has(name) ||
      [`"${name}"`, `${name.replace(/Note$/, "")}"`, `${name.replace(/_.*$/, "")}_\${`].some((text) =>
        source.includes(text)
      ) ||
      new RegExp(String.raw`\b${name}: `).test(source)
    assert.deepStrictEqual(
      Object.keys(table).filter((name) => !isUsed(name)),
      []
    )
    const offered = /"any ([\w ]+)"/.exec(source)?.[1]?.split(" ")
    assert.deepStrictEqual(offered?.toSorted(), Operation.literals.toSorted())
  })

  const inMemory = Layer.provide(
    Layer.fresh(Sandbox.layerPayments),
    Layer.succeed(SandboxOptions, { balance: 100_000 })
  )
  effect.each(names)("the page says what a client sees that meets %s", function* (name) {
    const { fields, make } = named(name)
    const end = yield* Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const payments = yield* Payments
      const planned = make({})
      yield* sandbox.fault("any", planned, { times: 1000 })
      const isOfCharge = "code" in planned
      const customer = { name: "Maria Silva", email: "maria@example.com" }
      const charge = payments.createTransaction({ amount: Money.centavos(2500), paymentMethod: "PIX", customer })
      const payout = payments.requestWithdrawal({ amount: Money.centavos(1000) })
      const told = <A, E extends { readonly _tag: string }>(call: Effect.Effect<A, E>) =>
        Effect.match(call, { onFailure: ({ _tag }): string => _tag, onSuccess: () => "success" })
      return yield* Sandbox.patiently(isOfCharge ? told(charge) : told(payout))
    }).pipe(Effect.provide(inMemory))
    const sees = table[`sees_${name}`] ?? table["sees_limit"] ?? []
    for (const sentence of sees) assert.include(sentence.toLowerCase().replace("sucesso", "success"), end.toLowerCase())
    for (const field of Object.keys(fields)) assert.property(table, `field_${field}`)
  })
})
