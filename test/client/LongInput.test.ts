/**
 * Texts from outside may be long. A regular expression that takes quadratic time would block the process for minutes.
 * The time limit ends such a test.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type CreateTransactionRequest, Payments } from "effect-pix"
import { charge } from "../support/operations.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"

const guard = 120_000
const long = (text: string) => text.repeat(500_000 / text.length)

const wrongFields: ReadonlyArray<readonly [path: string, Partial<CreateTransactionRequest>]> = [
  ...[":", ".", "1", "1.", "a:", "::1", " "].map((text) => ["ip", { ip: `${long(text)}x` }] as const),
  ["customer.email", { customer: { ...charge.customer, email: long("a@") } }],
  ["customer.email", { customer: { ...charge.customer, email: long("a") } }],
  ["customer.phone", { customer: { ...charge.customer, phone: `${long("1")}x` } }],
  ["currency", { currency: long("A") }]
]

describe("a text of half a million characters", () => {
  it.effect.each(wrongFields)(
    "is refused like any other that is wrong, as %s of a charge",
    ([path, fields]) =>
      Effect.gen(function* () {
        const { layer, sent } = scripted(respond(500))
        const error = yield* Effect.flatMap(Payments, (payments) =>
          Effect.flip(payments.createTransaction({ ...charge, ...fields }))
        ).pipe(Effect.provide(paymentsOn(layer)))
        assert(error._tag === "InvalidRequest")
        assert.deepStrictEqual(
          error.issues.map((issue) => issue.path),
          [path]
        )
        assert.strictEqual(sent.length, 0)
      }),
    guard
  )

  it.effect(
    "may be the path of a base URL",
    () =>
      Effect.gen(function* () {
        const { layer, sent } = scripted(respond(404))
        // The slashes at the end of the base URL were removed.
        const ending = "//////////x/api/Transaction/transactionByTransactionId/t".padStart(60, "/")
        const baseUrl = `https://gateway.example/${long("/")}x//`
        yield* Effect.flatMap(Payments, (payments) => Effect.exit(payments.getTransaction("t"))).pipe(
          Effect.provide(paymentsOn(layer, { baseUrl }))
        )
        const [request, ...rest] = sent
        assert.deepStrictEqual([request?.url.slice(-60), rest], [ending, []])
      }),
    guard
  )
})

describe("an IP address", () => {
  effect("of the payer is taken in its plain forms", function* () {
    const { layer, sent } = scripted(respond(422))
    const addresses = ["203.0.113.7", "2001:db8::1", "::", "::ffff:203.0.113.7", "FE80::A", "1:2:3:4:5:6:7:8"]
    const refused = ["", "localhost", "203.0.113", "203.0.113.7.9", "12ab", "::g", " ::1"]
    const payments = yield* Effect.provide(Effect.flatMap(Payments, Effect.succeed), paymentsOn(layer))
    for (const ip of addresses) {
      assert.strictEqual((yield* Effect.flip(payments.createTransaction({ ...charge, ip })))._tag, "RequestRejected")
    }
    for (const ip of refused) {
      assert.strictEqual((yield* Effect.flip(payments.createTransaction({ ...charge, ip })))._tag, "InvalidRequest")
    }
    assert.strictEqual(sent.length, addresses.length)
  })
})
