import { describe, expect, it } from "@effect/vitest"
import * as client from "effect-pix"
import * as payouts from "effect-pix/payouts"
import * as webhook from "effect-pix/webhook"

const { BrCode, EndToEndId, PixKey, TransactionStream, TransactionWait } = client
const { WebhookVerifier } = webhook

/** The classes of errors among what a module exports, by their identifiers. */
const identifiersOf = (exports: Readonly<Record<string, unknown>>) =>
  Object.entries(exports).flatMap(([name, value]) =>
    typeof value === "function" && value.prototype instanceof Error && "identifier" in value
      ? [[name, value.identifier]]
      : []
  )

describe("the identifier of an error's schema", () => {
  it("the identifier of an error's schema names this package, so that it is nobody else's in an OpenAPI document", () => {
    const modules = [
      client,
      payouts,
      webhook,
      WebhookVerifier,
      TransactionStream,
      TransactionWait,
      PixKey,
      BrCode,
      EndToEndId
    ]
    const found = modules.flatMap((module) => identifiersOf(module))

    expect(found.length).toBeGreaterThan(20)
    expect(found).toEqual(found.map(([name]) => [name, `effect-pix/${String(name)}`]))
  })

  it("an error of the database is one exported class for the queue and for the webhook", () => {
    const names = [...identifiersOf(payouts), ...identifiersOf(webhook)].map(([name]) => name)

    expect(names).toEqual(expect.arrayContaining(["DatabaseError", "ForeignTransaction"]))
    expect(payouts.DatabaseError).toBe(webhook.DatabaseError)
  })
})
