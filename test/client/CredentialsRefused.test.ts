import { assert, describe } from "@effect/vitest"
import { CredentialsReload, Credentials, IdempotencyKeyGen, Payments, PaymentsPolicy } from "effect-pix"
import { Effect, Layer, Redacted, Ref } from "effect"
import { record } from "../support/operations.ts"
import { respond, scripted } from "../support/Wire.ts"
import { pay, read, underTestClock, play, failureOf } from "../support/played.ts"
import { effect } from "../support/effect.ts"

describe("a 401", () => {
  effect("a 401 reloads the credentials and repeats the call once, with the same key and the same bytes", function* () {
    const loads = yield* Ref.make(0)
    const load = Effect.map(
      Ref.updateAndGet(loads, (count) => count + 1),
      (count) => ({ clientId: "client", apiKey: Redacted.make(`key-${count}`) })
    )
    const payments = (layer: ReturnType<typeof scripted>["layer"]) =>
      Payments.layer({ baseUrl: "https://gateway.example" }).pipe(
        Layer.provide([layer, CredentialsReload.layer({ load }), IdempotencyKeyGen.layerSequential])
      )
    const rotated = scripted(respond(401), respond(201, record("wd_1")))
    const paid = yield* Effect.provide(pay, payments(rotated.layer))
    assert.strictEqual(paid.idempotencyKey, "wd_1")
    assert.deepStrictEqual(
      rotated.sent.map(({ headers }) => [headers["x-api-key"], headers["idempotency-key"]]),
      [
        ["key-1", "wd_1"],
        ["key-2", "wd_1"]
      ]
    )
    assert.deepStrictEqual(rotated.sent[1]?.bytes, rotated.sent[0]?.bytes)

    const revoked = scripted(respond(401))
    const error = yield* Effect.flip(pay).pipe(Effect.provide(payments(revoked.layer)))
    assert.deepStrictEqual([error._tag, error.attempts, revoked.sent.length], ["AuthError", 2, 2])
  })

  effect(
    "a 401 that the policy calls Unknown reloads the credentials, and is repeated only if the policy allows it",
    function* () {
      for (const [writes, sends] of [
        ["same-key", 2],
        ["never", 1]
      ] as const) {
        let loads = 0
        const load = Effect.sync(() => ({ clientId: "client", apiKey: Redacted.make(`key-${++loads}`) }))
        const { layer, sent } = scripted(respond(401))
        const payments = Payments.layer({ baseUrl: "https://gateway.example", companyId: 7 }).pipe(
          Layer.provide([layer, CredentialsReload.layer({ load }), IdempotencyKeyGen.layerSequential])
        )
        const policy = PaymentsPolicy.make({ writes, refusal: () => "Unknown" })
        const error = yield* Effect.flip(pay).pipe(
          Effect.provideService(PaymentsPolicy, policy),
          Effect.provide(payments)
        )
        assert.deepStrictEqual([error._tag, sent.length, loads], ["OutcomeUnknown", sends, 2])
      }
    }
  )

  effect("a 401 sends nothing past the deadline, however long the reload takes", function* () {
    const reloads = ["10 minutes", "90 seconds"] as const
    for (const reload of [Effect.never, ...reloads.map((time) => Effect.as(Effect.sleep(time), true))]) {
      const { layer, sent } = scripted(respond(401))
      const credentials = { clientId: "client", apiKey: Redacted.make("key") }
      const slow = Layer.succeed(Credentials, { current: Effect.succeed(credentials), reload: () => reload })
      const payments = Payments.layer({ baseUrl: "https://gateway.example" }).pipe(
        Layer.provide([layer, slow, IdempotencyKeyGen.layerSequential])
      )
      const error = yield* underTestClock(Effect.flip(pay)).pipe(Effect.provide(payments))
      assert.deepStrictEqual([error._tag, error.outcome, sent.length], ["AuthError", "Rejected", 1])
    }
  })

  effect("a 401 is not repeated if the credentials are fixed, and a 403 never is", function* () {
    for (const status of [401, 403]) {
      for (const call of [read, pay]) {
        const { requests, result } = yield* play(call, {}, respond(status))
        assert.deepStrictEqual([failureOf(result)._tag, requests], ["AuthError", 1])
      }
    }
  })
})
