import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Logger, Schema } from "effect"
import * as client from "effect-pix"
import * as payouts from "effect-pix/payouts"
import * as sandbox from "effect-pix/sandbox"
import * as webhook from "effect-pix/webhook"
import { inspect } from "node:util"
import { effect } from "../support/effect.ts"

const { BrCode, OrderCharge, PixKey, Reconcile, TransactionStream, TransactionWait } = client
const libraries = [
  client,
  payouts,
  webhook,
  webhook.WebhookVerifier,
  TransactionStream,
  TransactionWait,
  OrderCharge,
  Reconcile,
  PixKey,
  BrCode
]

interface Exported {
  readonly name: string
  readonly errors: Schema.Codec<Error> & { readonly identifier: string }
}

const isErrors = (value: unknown): value is Exported["errors"] =>
  typeof value === "function" && value.prototype instanceof Error && Schema.isSchema(value)

/** The classes of errors that are exported. */
const exportedBy = (modules: ReadonlyArray<object>): ReadonlyArray<Exported> => {
  const entries = modules.flatMap((exports) => Object.entries<unknown>({ ...exports }))
  return [...new Map(entries)].flatMap(([name, errors]) => (isErrors(errors) ? [{ name, errors }] : []))
}

describe("an exported error", () => {
  effect.each(exportedBy([...libraries, sandbox]))(
    "$name shows its message and its tag, however it is printed",
    function* ({ errors }) {
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
      const [error] = yield* Arbitrary.sampleEffect(Arbitrary.schema(errors), { count: 1, seed: "errors" })
      assert(error !== undefined && error.message.length > 10)
      const shown = { message: error.message, _tag: error.name.split("/").at(-1) }
      const printed = inspect(error, { breakLength: Infinity, maxStringLength: null })
      assert.include(printed, inspect(error.message, { breakLength: Infinity }))
      assert.deepInclude(JSON.parse(JSON.stringify(error)), shown)
      yield* Effect.provide(Effect.logError(error), Logger.layer([logger]))
      assert.deepInclude(JSON.parse(lines[0] ?? "").message, shown)
    }
  )

  it("its identifier names this package, so that it is unique in an OpenAPI document", () => {
    const found = exportedBy(libraries)
    assert.isAbove(found.length, 20)
    for (const { errors, name } of found) assert.strictEqual(errors.identifier, `effect-pix/${name}`)
  })
})
