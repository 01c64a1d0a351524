import { describe, expect, it } from "@effect/vitest"
import { Arbitrary, Effect, Logger, Schema } from "effect"
import * as client from "effect-pix"
import * as payouts from "effect-pix/payouts"
import * as sandbox from "effect-pix/sandbox"
import * as webhook from "effect-pix/webhook"
import { inspect } from "node:util"
import { effect } from "../support/effect.ts"

const { BrCode, PixKey, TransactionStream, TransactionWait } = client
const { WebhookVerifier } = webhook

/** The identifiers of the error classes that a module exports. */
const identifiersOf = (exports: Readonly<Record<string, unknown>>) =>
  Object.entries(exports).flatMap(([name, value]) =>
    typeof value === "function" && value.prototype instanceof Error && "identifier" in value
      ? [[name, value.identifier]]
      : []
  )

const modules = [client, payouts, webhook, sandbox, WebhookVerifier, TransactionStream, TransactionWait, PixKey, BrCode]

/** One error of each class of errors that is exported. */
const sampleErrors = Effect.forEach(
  modules
    .flatMap((exports): ReadonlyArray<unknown> => Object.values(exports))
    .filter(
      (value): value is Schema.Codec<Error> =>
        typeof value === "function" && value.prototype instanceof Error && Schema.isSchema(value)
    ),
  (errors) =>
    Effect.map(Arbitrary.sampleEffect(Arbitrary.schema(errors), { count: 1, seed: "errors" }), ([error]) => error)
)

describe("an error that is logged as a value", () => {
  effect("an error that is printed by console.log, as JSON or by a logger shows its message and its tag", function* () {
    const lines: Array<string> = []
    const logger = Logger.map(Logger.formatJson, (line) => {
      lines.push(line)
    })
    const errors = (yield* sampleErrors).filter((error) => error !== undefined)
    expect(errors.length).toBeGreaterThan(25)
    for (const error of errors) {
      const shown = { message: error.message, _tag: error.name.split("/").at(-1) }
      expect(error.message.length).toBeGreaterThan(10)
      expect(inspect(error, { breakLength: Infinity, maxStringLength: null })).toContain(
        inspect(error.message, { breakLength: Infinity })
      )
      expect(JSON.parse(JSON.stringify(error))).toMatchObject(shown)
      yield* Effect.provide(Effect.logError(error), Logger.layer([logger]))
      expect(JSON.parse(lines.pop() ?? "")).toMatchObject({ message: shown })
    }
  })
})

describe("the identifier of an error's schema", () => {
  it("the identifier of an error's schema names this package, so that it is unique in an OpenAPI document", () => {
    const found = modules.filter((module) => module !== sandbox).flatMap((module) => identifiersOf(module))

    expect(found.length).toBeGreaterThan(20)
    expect(found).toEqual(found.map(([name]) => [name, `effect-pix/${String(name)}`]))
  })

  it("an error of the database is one exported class for the queue and for the webhook", () => {
    const names = [...identifiersOf(payouts), ...identifiersOf(webhook)].map(([name]) => name)

    expect(names).toEqual(expect.arrayContaining(["DatabaseError", "ForeignTransaction"]))
    expect(payouts.DatabaseError).toBe(webhook.DatabaseError)
  })
})
