import { describe, expect, it } from "@effect/vitest"
import * as client from "effect-pix"
import * as payouts from "effect-pix/payouts"
import { WebhookVerifier } from "effect-pix/webhook"

const { BrCode, EndToEndId, PixKey, TransactionStream, TransactionWait } = client

/** The classes of errors among what a module exports, by their identifiers. */
const identifiersOf = (exports: Readonly<Record<string, unknown>>) =>
  Object.entries(exports).flatMap(([name, value]) =>
    typeof value === "function" && value.prototype instanceof Error && "identifier" in value
      ? [[name, value.identifier]]
      : []
  )

describe("the identifier of an error's schema", () => {
  it("the identifier of an error's schema names this package, so that it is nobody else's in an OpenAPI document", () => {
    const modules = [client, payouts, WebhookVerifier, TransactionStream, TransactionWait, PixKey, BrCode, EndToEndId]
    const found = modules.flatMap((module) => identifiersOf(module))

    expect(found.length).toBeGreaterThan(20)
    expect(found).toEqual(found.map(([name]) => [name, `effect-pix/${String(name)}`]))
  })
})
