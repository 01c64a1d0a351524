import { assert, describe, it } from "@effect/vitest"
import { Credentials, IdempotencyKeyGen, Payments, type PaymentsError, type WriteOptions } from "effect-pix"
import { Duration, Effect, Layer, Redacted, Result, Schedule } from "effect"
import { charge, record, requestWithdrawal, withdrawal, writeNames } from "../support/operations.ts"
import { lostConnection, paymentsOn, refusedConnection, respond, scripted } from "../support/Wire.ts"
import { expectError, failing, reasonOf, type Script, type Service, statusOf } from "../support/failing.ts"
import { failureOf, pay, play } from "../support/played.ts"
import { impatient } from "../support/policies.ts"
import { effect } from "../support/effect.ts"

describe("an unknown outcome within one call", () => {
  const statuses = [301, 400, 401, 403, 404, 410, 422]

  effect.each(statuses)("the outcome stays unknown after a reset and then %i", function* (status) {
    for (const name of writeNames) {
      for (const body of ["", `{"message":"Saldo insuficiente"}`, `{"error":"idempotency key already used"}`]) {
        yield* expectError(name, [lostConnection, respond(status, body)], {
          tag: "OutcomeUnknown",
          outcome: "Unknown",
          attempts: 2,
          status,
          reason: "RefusedAfterUnknown"
        })
      }
    }
  })

  effect("the outcome stays unknown whatever came before: 500, 408, a defect, a rate limit in between", function* () {
    const scripts: ReadonlyArray<Script> = [
      [respond(500)],
      [respond(408)],
      [{ defect: new Error("boom") }],
      [lostConnection, respond(429)],
      [respond(429), lostConnection]
    ]
    for (const [first, ...more] of scripts) {
      yield* expectError("requestWithdrawal", [first, ...more, respond(422)], {
        tag: "OutcomeUnknown",
        outcome: "Unknown",
        attempts: 2 + more.length,
        status: 422,
        reason: "RefusedAfterUnknown"
      })
    }
  })

  it.effect("the outcome stays unknown when the last attempt provably was not sent", () =>
    expectError("requestWithdrawal", [lostConnection, refusedConnection], {
      tag: "OutcomeUnknown",
      outcome: "Unknown",
      attempts: 3,
      reason: "ConnectionLost"
    })
  )

  effect(
    "the outcome stays unknown when the last attempt was refused for its rate, and the error has its `retryAfter`",
    function* () {
      const { error } = yield* failing(
        requestWithdrawal.call,
        lostConnection,
        respond(429, "", { "retry-after": "3600" })
      )
      assert.strictEqual(error._tag, "OutcomeUnknown")
      if (error._tag !== "OutcomeUnknown") return
      assert.strictEqual(error.attempts, 2)
      assert.deepStrictEqual(error.retryAfter, Duration.seconds(3600))
    }
  )

  effect("a later refusal is a refusal if each earlier attempt was provably not sent or was refused", function* () {
    for (const first of [refusedConnection, respond(429), respond(425)]) {
      yield* expectError("requestWithdrawal", [first, respond(422, "não")], {
        tag: "RequestRejected",
        outcome: "Rejected",
        attempts: 2,
        status: 422
      })
    }
  })

  const repeated = [409, 425]

  effect.each(repeated)(
    "the outcome stays unknown after a reset and %i, which is repeated whatever its words",
    function* (status) {
      for (const name of writeNames) {
        for (const body of ["", `{"message":"Saldo insuficiente"}`, `{"error":"idempotency key already used"}`]) {
          for (const past of ["made", "given", "None"] as const) {
            const expected = { tag: "OutcomeUnknown", outcome: "Unknown", attempts: 3, status } as const
            const replies = [lostConnection, respond(status, body)] as const
            yield* expectError(name, replies, { ...expected, reason: "RefusedAfterUnknown" }, past)
          }
        }
      }
    }
  )

  effect.each(repeated)(
    "the outcome stays unknown until a repetition after %i gets a readable success",
    function* (status) {
      for (const first of [lostConnection, respond(503)]) {
        const { layer, sent } = scripted(first, respond(status), respond(201, record("wd_1")))
        const paid = yield* Effect.flatMap(Payments, requestWithdrawal.call).pipe(
          Effect.provide(Layer.provide(paymentsOn(layer), impatient))
        )
        assert.strictEqual(paid.idempotencyKey, "wd_1")
        assert.deepStrictEqual(
          sent.map(({ headers }) => headers["idempotency-key"]),
          ["wd_1", "wd_1", "wd_1"]
        )
        assert.deepStrictEqual(sent[2]?.bytes, sent[0]?.bytes)
      }
    }
  )

  effect("the outcome stays unknown if each repetition until the deadline is answered with 409", function* () {
    const policy = { retryWrites: Schedule.spaced("10 seconds"), deadline: "35 seconds" } as const
    const { at, result } = yield* play(pay, policy, lostConnection, respond(409))
    assert.deepStrictEqual([failureOf(result)._tag, at], ["OutcomeUnknown", [0, 10_000, 20_000, 30_000]])
  })

  effect("a 409 without an attempt in doubt is sent once", function* () {
    const conflict = { tag: "IdempotencyConflict", outcome: "Unknown", status: 409 } as const
    yield* expectError("requestWithdrawal", [respond(409)], { ...conflict, attempts: 1 })
    for (const first of [refusedConnection, respond(429)]) {
      yield* expectError("requestWithdrawal", [first, respond(409)], { ...conflict, attempts: 2 })
    }
  })
})

describe("a write whose earlier call may have been executed", () => {
  const again = { idempotencyKey: "payout_1", earlier: "Unknown" } as const
  const created = (payments: Service) => payments.createTransaction(charge, again)
  const paid = (payments: Service) => payments.requestWithdrawal(withdrawal, again)

  const outcomes = Effect.fnUntraced(function* (use: typeof created | typeof paid, ...replies: Script) {
    const { error, sent } = yield* failing<unknown, PaymentsError>(use, ...replies)
    assert.strictEqual(error.idempotencyKey, "payout_1")
    return [error._tag, error.outcome, reasonOf(error), statusOf(error), sent.length]
  })

  effect(
    "a write whose earlier call may have been executed has an unknown outcome after every kind of refusal",
    function* () {
      const refusals: ReadonlyArray<readonly [number, unknown]> = [
        [400, ""],
        [400, { message: "Nenhuma chave PIX cadastrada" }],
        [422, { message: "Saldo insuficiente" }],
        [422, { message: "O valor mínimo para saque é de R$ 10,00" }],
        [401, ""],
        [403, ""],
        [404, ""],
        [422, ""],
        [307, ""]
      ]
      for (const use of [created, paid]) {
        for (const [status, body] of refusals) {
          assert.deepStrictEqual(
            yield* outcomes(use, respond(status, body)),
            ["OutcomeUnknown", "Unknown", "RefusedAfterUnknown", status, 1],
            `${status} ${JSON.stringify(body)}`
          )
        }
        for (const status of [409, 425, 429]) {
          assert.deepStrictEqual(yield* outcomes(use, respond(status)), [
            "OutcomeUnknown",
            "Unknown",
            "RefusedAfterUnknown",
            status,
            3
          ])
        }
      }
    }
  )

  effect(
    "a write whose earlier call may have been executed stays unknown when this call sends nothing, and says so",
    function* () {
      for (const use of [created, paid]) {
        assert.deepStrictEqual(yield* outcomes(use, refusedConnection), [
          "OutcomeUnknown",
          "Unknown",
          "EarlierUnknown",
          undefined,
          3
        ])
      }
      const { error } = yield* failing<unknown, PaymentsError>(paid, refusedConnection)
      assert.include(
        error.message,
        "this call sent nothing, but the result of an earlier call with the same key is not known"
      )
    }
  )

  effect(
    "a write whose earlier call may have been executed succeeds after an answer with a readable success",
    function* () {
      const { layer } = scripted(respond(201, record("payout_1")))
      const withdrawal = yield* Effect.provide(Effect.flatMap(Payments, paid), paymentsOn(layer))
      assert.strictEqual(withdrawal.idempotencyKey, "payout_1")
    }
  )

  effect("a write whose earlier call may have been executed is repeated after 409, whatever its words", function* () {
    const { layer, sent } = scripted(respond(409), respond(201, record("payout_1")))
    yield* Effect.provide(Effect.flatMap(Payments, paid), Layer.provide(paymentsOn(layer), impatient))
    assert.strictEqual(sent.length, 2)
  })

  effect(
    "a write whose earlier call may have been executed needs the key of that call: without it the write fails with InvalidRequest, and nothing is sent",
    function* () {
      for (const options of [{ earlier: "Unknown" }, { ...again, earlier: "Rejected" }]) {
        const given = options as typeof again // a caller without types may pass it
        const { error, sent } = yield* failing<unknown, PaymentsError>(
          (payments) => payments.requestWithdrawal(withdrawal, given),
          respond(201, record("payout_1"))
        )
        assert.deepStrictEqual([error._tag, sent.length], ["InvalidRequest", 0])
        assert.include(error.message, "earlier")
      }
    }
  )
})

describe("credentials of another client", () => {
  /** Returns the first credentials once, and then always those of `clientId`. */
  const changing = (clientId: string) => {
    let reads = 0
    const next = () => ({ clientId: reads++ === 0 ? "first" : clientId, apiKey: Redacted.make("key") })
    return Layer.succeed(Credentials, { current: Effect.sync(next), reload: () => Effect.succeed(true) })
  }
  const asked = Effect.fnUntraced(function* (clientId: string, options: WriteOptions, ...replies: Script) {
    const { layer, sent } = scripted(...replies)
    const payments = Payments.layer({ baseUrl: "https://gateway.example" }).pipe(
      Layer.provide([layer, changing(clientId), IdempotencyKeyGen.layerSequential, impatient])
    )
    const pay = Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(withdrawal, options))
    const result = yield* Effect.result(Effect.provide(pay, payments))
    return [Result.isSuccess(result) ? "Success" : result.failure._tag, sent.length]
  })
  const ok = respond(201, record("k"))
  const key = { idempotencyKey: "k" } as const

  effect(
    "a write that may have been executed is not resent with credentials of another client, for which its key is another key",
    function* () {
      assert.deepStrictEqual(yield* asked("second", key, lostConnection, ok), ["OutcomeUnknown", 1])
      assert.deepStrictEqual(yield* asked("second", { ...key, earlier: "Unknown" }, respond(401), ok), [
        "OutcomeUnknown",
        1
      ])
    }
  )

  effect("a write that was refused or not sent is resent with credentials of another client", function* () {
    for (const first of [respond(401), respond(429), refusedConnection]) {
      assert.deepStrictEqual(yield* asked("second", key, first, ok), ["Success", 2])
    }
  })

  effect("a write that may have been executed is resent with other credentials of the same client", function* () {
    assert.deepStrictEqual(yield* asked("first", key, lostConnection, ok), ["Success", 2])
    assert.deepStrictEqual(yield* asked("first", { ...key, earlier: "Unknown" }, respond(401), ok), ["Success", 2])
  })
})
