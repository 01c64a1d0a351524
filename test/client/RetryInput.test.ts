import { assert, describe } from "@effect/vitest"
import { type FailedAttempt, Payments, PaymentsPolicy } from "effect-pix"
import { Effect, Layer, Schedule } from "effect"
import { record, withdrawal } from "../support/operations.ts"
import { failureOf, pay, play, read } from "../support/played.ts"
import { lostConnection, paymentsOn, refusedConnection, type Reply, respond, scripted } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"

/** Pays under a schedule that continues while `again` is true for the failed attempt. */
const payWhile = (again: (attempt: FailedAttempt) => boolean, ...replies: readonly [Reply, ...ReadonlyArray<Reply>]) =>
  Effect.gen(function* () {
    const seen: Array<FailedAttempt> = []
    const retryWrites = Schedule.recurs(5).pipe(
      Schedule.setInputType<FailedAttempt>(),
      Schedule.while(({ input }) => {
        seen.push(input)
        return again(input)
      })
    )
    const { layer, sent } = scripted(...replies)
    const exit = yield* Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(withdrawal)).pipe(
      Effect.provide(Layer.provide(paymentsOn(layer), PaymentsPolicy.layer({ retryWrites }))),
      Effect.result
    )
    return { exit: exit._tag, requests: sent.length, seen }
  })

describe("a retry schedule of the user's own", () => {
  effect("a retry schedule may end at a status", function* () {
    const { exit, requests } = yield* payWhile(
      ({ status }) => status !== 503,
      respond(502),
      respond(503),
      respond(201, record("wd_1"))
    )
    assert.deepStrictEqual([exit, requests], ["Failure", 2])
  })

  effect("the input of a retry schedule is the failed attempt, and no more", function* () {
    const { exit, requests, seen } = yield* payWhile(
      () => true,
      respond(429),
      refusedConnection,
      lostConnection,
      respond(502),
      respond(201, record("wd_1"))
    )
    assert.deepStrictEqual([exit, requests], ["Success", 5])
    assert.deepStrictEqual(seen, [
      { outcome: "Rejected", status: 429, reason: undefined, retryAfter: undefined },
      { outcome: "NotSent", status: undefined, reason: "NoConnection", retryAfter: undefined },
      { outcome: "Unknown", status: undefined, reason: "ConnectionLost", retryAfter: undefined },
      { outcome: "Unknown", status: 502, reason: "ServerError", retryAfter: undefined }
    ])
  })

  effect("a retry schedule that throws ends the call with the error of its last attempt", function* () {
    const throws = Schedule.recurs(5).pipe(Schedule.while((): boolean => assert.fail("a schedule's own mistake")))
    const answers = [
      [pay, lostConnection, "OutcomeUnknown", "Unknown"],
      [pay, refusedConnection, "ServiceUnavailable", "NotSent"],
      [pay, respond(429), "RateLimited", "Rejected"],
      [read, respond(503), "ServiceUnavailable", "NoEffect"]
    ] as const
    for (const [call, reply, tag, outcome] of answers) {
      const { requests, result } = yield* play(call, { retryReads: throws, retryWrites: throws }, reply)
      const error = failureOf(result)
      assert.deepStrictEqual([error._tag, error.outcome, requests], [tag, outcome, 1])
    }
  })

  effect("a retry schedule that never answers ends with the deadline of the call", function* () {
    const hangs = Schedule.recurs(5).pipe(Schedule.while(() => Effect.never))
    const policy = { retryReads: hangs, retryWrites: hangs, deadline: "7 seconds" } as const
    const paid = yield* play(pay, policy, lostConnection)
    assert.deepStrictEqual([failureOf(paid.result)._tag, paid.requests, paid.took], ["OutcomeUnknown", 1, 7000])
    const readOnce = yield* play(read, policy, respond(503))
    assert.deepStrictEqual(
      [failureOf(readOnce.result)._tag, readOnce.requests, readOnce.took],
      ["ServiceUnavailable", 1, 7000]
    )
  })
})
