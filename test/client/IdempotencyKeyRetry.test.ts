import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import { Cause, Data, type Duration, Effect, Layer, Schedule } from "effect"
import { IdempotencyKey, Payments, PaymentsPolicy } from "effect-pix"
import { OutcomeUnknown, RequestRejected, type RequestWithdrawalError } from "../../src/contract/PaymentsError.ts"
import { underTestClock } from "../support/played.ts"
import { withdrawal } from "../support/operations.ts"
import { lostConnection, paymentsOn, refusedConnection, type Reply, respond, scripted } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"

const key = IdempotencyKey.fromReference("payout", "invoice-42")
const common = { operation: "requestWithdrawal", attempts: 1, idempotencyKey: key } as const
const unknown = new OutcomeUnknown({ ...common, outcome: "Unknown", reason: "Timeout" })
const rejected = new RequestRejected({ ...common, outcome: "Rejected", status: 422 })

class Failure extends Data.TaggedError("Failure")<{ readonly outcome?: string }> {}

/** Withdraws at a gateway with these replies. Each call sends one request. */
const withdraw = Effect.fnUntraced(function* (
  replies: readonly [Reply, ...ReadonlyArray<Reply>],
  schedule: Schedule.Schedule<unknown, RequestWithdrawalError | Cause.TimeoutError>,
  limit: Duration.Input = "1 hour"
) {
  const { layer, sent } = scripted(...replies)
  const program = Effect.flatMap(Payments, (payments) =>
    IdempotencyKey.retry(key, schedule, (options) =>
      Effect.timeout(payments.requestWithdrawal(withdrawal, options), limit)
    )
  )
  const policy = Layer.succeed(PaymentsPolicy, PaymentsPolicy.once)
  const error = yield* underTestClock(Effect.flip(program)).pipe(
    Effect.provide(Layer.provide(paymentsOn(layer), policy))
  )
  return { error, keys: sent.map(({ headers }) => headers["idempotency-key"]) }
})

/** Returns the options of each attempt if the attempts end like this, and the error of the retry. */
const attempts = Effect.fnUntraced(function* <E>(...exits: ReadonlyArray<Effect.Effect<never, E>>) {
  const given: Array<IdempotencyKey.WriteOptions> = []
  const error = yield* Effect.flip(
    IdempotencyKey.retry(key, Schedule.recurs(exits.length - 1), (options) => {
      given.push(options)
      return exits[given.length - 1] ?? Effect.die("it was tried more often than it failed")
    })
  )
  return { error, given }
})

const first = { idempotencyKey: key }
const inDoubt = { idempotencyKey: key, earlier: "Unknown" }
const afterUnknown = { ...inDoubt, after: unknown }

describe("IdempotencyKey.retry", () => {
  effect("a refusal after lost answers becomes an Unknown, whatever its status and its words", function* () {
    for (const refusal of [respond(422, { message: "Chave Pix inválida" }), respond(401), respond(429), respond(400)]) {
      const replies = [lostConnection, lostConnection, lostConnection, refusal] as const
      const { error, keys } = yield* withdraw(replies, Schedule.recurs(3))
      assert.strictEqual(error._tag, "OutcomeUnknown")
      assert.deepStrictEqual(keys, [key, key, key, key])
    }
  })

  effect("an attempt that sends nothing after one that may have been executed ends in an Unknown", function* () {
    const { error, keys } = yield* withdraw([lostConnection, refusedConnection], Schedule.recurs(2))
    assert.deepStrictEqual([error._tag, keys.length], ["OutcomeUnknown", 3])
  })

  effect("a request that a time limit of the caller cut off may have been executed", function* () {
    const { error } = yield* withdraw(
      ["silence", respond(422, { message: "Recusado" })],
      Schedule.recurs(1),
      "1 second"
    )
    assert.strictEqual(error._tag, "OutcomeUnknown")
  })

  effect(
    "a failure that proves nothing about a request that was cut off does not replace the error of that request",
    function* () {
      const limit = new Failure({})
      const cutOff = Effect.fail(limit)
      for (const outcome of ["NotSent", "Rejected"] as const) {
        const { error } = yield* attempts<Failure>(cutOff, Effect.fail(new Failure({ outcome })))
        assert.strictEqual(error, limit)
      }
      const unknown = Effect.fail(new Failure({ outcome: "Unknown" }))
      const { error } = yield* attempts<Failure>(unknown, cutOff, Effect.fail(new Failure({ outcome: "NotSent" })))
      assert.strictEqual(error.outcome, "Unknown")
    }
  )

  effect("a refusal stays a refusal if no earlier attempt may have been executed", function* () {
    const replies = [refusedConnection, respond(429), respond(422, { message: "Recusado" })] as const
    const { error, keys } = yield* withdraw(replies, Schedule.recurs(2))
    assert.deepStrictEqual([error._tag, keys], ["RequestRejected", [key, key, key]])
  })

  effect.each(["NotSent", "Rejected", "NoEffect"])(
    "an attempt that failed with the outcome %s is not in doubt",
    function* (outcome) {
      const failed = Effect.fail(new Failure({ outcome }))
      assert.deepStrictEqual((yield* attempts(failed, failed)).given, [first, first])
    }
  )

  effect.each<readonly [string, unknown]>([
    ["the outcome Unknown", new Failure({ outcome: "Unknown" })],
    ["no outcome", new Failure({})],
    ["an outcome that is none", new Failure({ outcome: "Perhaps" })],
    ["a plain text", "failed"]
  ])("an attempt that failed with %s is in doubt", function* ([, error]) {
    const harmless = Effect.fail<unknown>(rejected)
    const { given } = yield* attempts(harmless, Effect.fail(error), harmless, harmless)
    assert.deepStrictEqual(given, [first, first, inDoubt, inDoubt])
  })

  effect(
    "an attempt is in doubt if one of its failures, or an interruption among them, leaves it in doubt",
    function* () {
      const harmless = Effect.fail<unknown>(rejected)
      const both = Effect.failCause(Cause.combine(Cause.fail<unknown>(rejected), Cause.fail<unknown>(unknown)))
      const cutOff = Effect.failCause(Cause.combine(Cause.fail<unknown>(rejected), Cause.interrupt(1)))
      const parallel = yield* attempts(both, harmless)
      assert.deepStrictEqual([parallel.given, parallel.error], [[first, afterUnknown], unknown])
      assert.deepStrictEqual((yield* attempts(cutOff, harmless)).given, [first, inDoubt])
    }
  )

  effect("the last Unknown replaces a later error with another outcome", function* () {
    const earlier = new OutcomeUnknown({ ...common, outcome: "Unknown", reason: "ConnectionLost" })
    const replaced = yield* attempts<unknown>(Effect.fail(earlier), Effect.fail(unknown), Effect.fail(new Failure({})))
    assert.strictEqual(replaced.error, unknown)
    const failingSchedule = Schedule.recurs(5).pipe(Schedule.tap(() => Effect.fail("the schedule failed" as const)))
    const error = yield* Effect.flip(IdempotencyKey.retry(key, failingSchedule, () => Effect.fail(unknown)))
    assert.strictEqual(error, unknown)
  })

  effect("the schedule sees each error and decides which are tried again", function* () {
    const schedule = Schedule.recurs(5).pipe(
      Schedule.setInputType<OutcomeUnknown | RequestRejected>(),
      Schedule.while(({ input }) => input.outcome === "Unknown")
    )
    let count = 0
    const error = yield* Effect.flip(
      IdempotencyKey.retry(key, schedule, () => Effect.suspend(() => Effect.fail(count++ < 2 ? unknown : rejected)))
    )
    assert.deepStrictEqual([error, count], [unknown, 3])
  })

  effect("a success ends a retry, and a defect is not tried again", function* () {
    const given: Array<IdempotencyKey.WriteOptions> = []
    const paid = yield* IdempotencyKey.retry(key, Schedule.recurs(5), (options) => {
      given.push(options)
      return given.length === 1 ? Effect.fail(unknown) : Effect.succeed("paid")
    })
    assert.deepStrictEqual([paid, given], ["paid", [first, afterUnknown]])
    let count = 0
    const broken = IdempotencyKey.retry(key, Schedule.recurs(5), () => {
      count++
      return Effect.die("broken")
    })
    assert.strictEqual((yield* Effect.exit(broken))._tag, "Failure")
    assert.strictEqual(count, 1)
  })

  effect("each run of a retry starts with no doubt", function* () {
    const given: Array<IdempotencyKey.WriteOptions> = []
    const program = IdempotencyKey.retry(key, Schedule.recurs(1), (options) => {
      given.push(options)
      return Effect.fail(unknown)
    })
    yield* Effect.exit(program)
    yield* Effect.exit(program)
    assert.deepStrictEqual(given, [first, afterUnknown, first, afterUnknown])
  })

  it("the errors and the requirements are those of the write and of the schedule", () => {
    const program = Effect.gen(function* () {
      const payments = yield* Payments
      return yield* IdempotencyKey.retry(key, Schedule.recurs(1), (options) => {
        expectTypeOf(options).toEqualTypeOf<IdempotencyKey.WriteOptions>()
        return payments.requestWithdrawal(withdrawal, options)
      })
    })
    expectTypeOf<Effect.Error<typeof program>>().toEqualTypeOf<RequestWithdrawalError>()
    expectTypeOf<Effect.Services<typeof program>>().toEqualTypeOf<Payments>()
  })
})
