import { assert, describe } from "@effect/vitest"
import { PaymentsPolicy } from "effect-pix"
import { Effect, Layer, Logger, Metric, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { makeBudget, OwnBudget } from "../../src/internal/retryBudget.ts"
import { balance } from "../support/operations.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"
import { type Call, type Script, pay, create, read, play, failureOf } from "../support/played.ts"
import { effect } from "../support/effect.ts"

/**
 * The vectors of smithy's standard retry strategy. The number of retries that the bucket still pays for shows how many
 * tokens it holds. A retry costs 14 tokens, a retry after a 429 costs 5, and a first success returns 1.
 */
describe("the retry budget", () => {
  const withCapacity = (capacity: number) =>
    PaymentsPolicy.make({
      retryBudget: { capacity, retryCost: 14, throttledRetryCost: 5, refund: 1 },
      retryReads: Schedule.recurs(2),
      retryWrites: Schedule.recurs(2)
    })

  /** Makes calls one after another on one client. Returns how many requests each of them sent. */
  const counts = Effect.fnUntraced(function* (policy: PaymentsPolicy, replies: Script, calls: ReadonlyArray<Call>) {
    const { layer, sent } = scripted(...replies)
    return yield* Effect.forEach(calls, (call) =>
      Effect.gen(function* () {
        const before = sent.length
        yield* Effect.exit(call)
        return sent.length - before
      })
    ).pipe(Effect.provide(Layer.provide(paymentsOn(layer), Layer.succeed(PaymentsPolicy, policy))))
  })

  const good = respond(200, balance)
  const bad = respond(500)
  const limited = respond(429)

  effect(
    "the retry budget of 500 pays for 35 retries at 14 each (500, 486, 472, ...), and then for none",
    function* () {
      const counted = yield* counts(
        withCapacity(500),
        [bad],
        Array.from({ length: 30 }, () => read)
      )
      assert.deepStrictEqual(
        counted.slice(0, 17),
        Array.from({ length: 17 }, () => 3)
      )
      assert.deepStrictEqual(counted.slice(17), [2, ...Array.from({ length: 12 }, () => 1)])
    }
  )

  effect("the retry budget of 500 is the default", function* () {
    const policy = PaymentsPolicy.make({ retryReads: Schedule.recurs(2) })
    const counted = yield* counts(
      policy,
      [bad],
      Array.from({ length: 20 }, () => read)
    )
    assert.strictEqual(
      counted.reduce((sum, count) => sum + count),
      20 + 35
    )
  })

  effect("the retry budget that starts at 14 pays once, at 20 once, at 28 twice, at 13 and at 0 never", function* () {
    for (const [capacity, requests] of [
      [14, 2],
      [20, 2],
      [28, 3],
      [13, 1],
      [0, 1]
    ] as const) {
      assert.deepStrictEqual(yield* counts(withCapacity(capacity), [bad], [read]), [requests])
    }
  })

  effect(
    "the retry budget gets the cost of the retry that succeeded back: 30, 16, 2, success 16, 2, success 16",
    function* () {
      const counted = yield* counts(withCapacity(30), [bad, bad, good, bad, good, bad], [read, read, read, read])
      assert.deepStrictEqual(counted, [3, 2, 2, 1])
    }
  )

  effect("the retry budget charges 5 for a retry after a 429, and gives 5 back", function* () {
    assert.deepStrictEqual(yield* counts(withCapacity(4), [limited], [read]), [1])
    assert.deepStrictEqual(yield* counts(withCapacity(9), [limited], [read, read]), [2, 1])
    assert.deepStrictEqual(
      yield* counts(withCapacity(5), [limited, good, limited, good, limited], [read, read, read, read]),
      [2, 2, 2, 1]
    )
  })

  effect("the retry budget gets back only the cost of a retry after a 429", function* () {
    // The bucket starts with 19. A retry leaves 5. The retry after a 429 takes these 5 and returns them: too few for
    // another retry.
    const counted = yield* counts(withCapacity(19), [bad, bad, limited, good, bad], [read, read, read])
    assert.deepStrictEqual(counted, [2, 2, 1])
  })

  effect("the retry budget gets 1 back for each first success, and never holds more than its capacity", function* () {
    const successes = (count: number) => Array.from({ length: count }, () => good)
    const reads = (count: number) => Array.from({ length: count }, () => read)
    // The bucket is empty. 13 successes are not enough for a retry, and the 14th is.
    const counted = yield* counts(
      withCapacity(14),
      [bad, bad, ...successes(13), bad, good, bad, bad, ...successes(50), bad],
      [...reads(1), ...reads(13), ...reads(1), ...reads(1), ...reads(1), ...reads(50), read, read]
    )
    assert.strictEqual(counted[0], 2)
    assert.deepStrictEqual(counted.slice(14, 17), [1, 1, 2])
    assert.deepStrictEqual(counted.slice(67), [2, 1])
  })

  effect("all operations of one client share a retry budget, and two clients do not", function* () {
    const policy = withCapacity(42)
    assert.deepStrictEqual(yield* counts(policy, [bad], [pay, read, create]), [3, 2, 1])
    assert.deepStrictEqual(yield* counts(policy, [bad], [create]), [3])
  })

  effect(
    "an unlimited retry budget pays for every retry, and leaves the limited one of the same client as it was",
    function* () {
      const unlimited = PaymentsPolicy.make({ retryBudget: "unlimited", retryReads: Schedule.recurs(2) })
      const readFreely = Effect.provideService(read, PaymentsPolicy, unlimited)
      // The limited budget is 14, which pays for one retry: neither the successes nor the retries changed that.
      const counted = yield* counts(
        withCapacity(14),
        [good, bad, good, bad],
        [readFreely, readFreely, ...Array.from({ length: 50 }, () => readFreely), read, read]
      )
      assert.deepStrictEqual(counted, [1, 2, ...Array.from({ length: 50 }, () => 3), 2, 1])
    }
  )

  effect("a spent retry budget does not change the error", function* () {
    const { result } = yield* play(pay, withCapacity(0), respond(503))
    const error = failureOf(result)
    assert.isTrue(error._tag === "OutcomeUnknown" && error.attempts === 1 && error.reason === "ServerError")
  })

  effect("a retry that the budget refuses is counted, and logged once a minute, not once a call", function* () {
    const { layer } = scripted(bad)
    const lines: Array<string> = []
    const snapshot = Effect.map(Metric.snapshot, (metrics) =>
      metrics
        .filter(({ id }) => id === "effect_pix_retries_refused")
        .map(({ attributes, state }) => [attributes?.["operation"], "count" in state && Number(state.count)])
    )
    yield* Effect.gen(function* () {
      for (let minute = 0; minute < 3; minute++) {
        yield* Effect.replicateEffect(Effect.exit(read), 5)
        yield* Effect.replicateEffect(Effect.exit(pay), 2)
        yield* TestClock.adjust("61 seconds")
      }
      assert.deepStrictEqual(yield* snapshot, [
        ["getBalance", 15],
        ["requestWithdrawal", 6]
      ])
    }).pipe(
      Effect.provideService(Metric.MetricRegistry, new Map()),
      Effect.provide(
        Layer.mergeAll(
          Layer.provide(paymentsOn(layer), Layer.succeed(PaymentsPolicy, withCapacity(0))),
          Logger.layer([Logger.make(({ message }) => lines.push(String(message)))])
        )
      )
    )
    assert.strictEqual(lines.filter((line) => line.startsWith("The retry budget is spent: getBalance")).length, 3)
  })

  effect("calls with a budget of their own take none of the others' tokens, and return none", function* () {
    const { layer, sent } = scripted(bad)
    const own = makeBudget()
    const counted = (call: Call) =>
      Effect.gen(function* () {
        const before = sent.length
        yield* Effect.exit(call)
        return sent.length - before
      })
    yield* Effect.gen(function* () {
      const other = Effect.provideService(counted(read), OwnBudget, own)
      assert.deepStrictEqual(yield* Effect.all([other, other]), [3, 1])
      assert.deepStrictEqual(yield* Effect.all([counted(read), counted(read)]), [3, 1])
    }).pipe(Effect.provide(Layer.provide(paymentsOn(layer), Layer.succeed(PaymentsPolicy, withCapacity(28)))))
  })
})
