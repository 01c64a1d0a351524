import { assert, describe, it } from "@effect/vitest"
import { type FailedAttempt, Payments, PaymentsPolicy } from "effect-pix"
import { Effect, Layer, Schedule } from "effect"
import { lostConnection, paymentsOn, payout, record, type Reply, respond, scripted } from "../support/Wire.ts"

/** Pays by a schedule that gives up at what `isOver` says of an attempt. */
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
    const exit = yield* Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(payout)).pipe(
      Effect.provide(Layer.provide(paymentsOn(layer), PaymentsPolicy.layer({ retryWrites }))),
      Effect.result
    )
    return { exit: exit._tag, requests: sent.length, seen }
  })

describe("a retry schedule of the user's own", () => {
  it.effect("a retry schedule may end at a status", () =>
    Effect.gen(function* () {
      const { exit, requests } = yield* payWhile(
        ({ status }) => status !== 503,
        respond(502),
        respond(503),
        respond(201, record("wd_1"))
      )
      assert.deepStrictEqual([exit, requests], ["Failure", 2])
    })
  )

  it.effect("a retry schedule is given what became of the attempt, and no more", () =>
    Effect.gen(function* () {
      const { exit, requests, seen } = yield* payWhile(
        () => true,
        lostConnection,
        respond(502),
        respond(201, record("wd_1"))
      )
      assert.deepStrictEqual([exit, requests], ["Success", 3])
      assert.deepStrictEqual(seen, [
        { outcome: "Unknown", status: undefined, reason: "ConnectionLost", retryAfter: undefined },
        { outcome: "Unknown", status: 502, reason: "ServerError", retryAfter: undefined }
      ])
    })
  )
})
