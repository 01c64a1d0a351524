import { assert, describe } from "@effect/vitest"
import { Credentials, IdempotencyKeyGen, type OutcomeUnknown, Payments, PaymentsPolicy } from "effect-pix"
import type { Duration } from "effect"
import { Deferred, Effect, Exit, Fiber, Layer, Logger, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { record } from "../support/operations.ts"
import { lostConnection, paymentsOn, refusedConnection, respond, scripted } from "../support/Wire.ts"
import { type Call, pay, create, read, underTestClock } from "../support/played.ts"
import { effect } from "../support/effect.ts"

describe("an interrupted write", () => {
  /** Interrupts a call after `after`. Returns the reports of the hook and the lines of the log. */
  const interrupting = Effect.fnUntraced(function* (
    call: Call,
    after: Duration.Input,
    payments: Layer.Layer<Payments, unknown>
  ) {
    const reports: Array<OutcomeUnknown> = []
    const lines: Array<readonly [string, string]> = []
    const logger = Logger.make(({ logLevel, message }) => lines.push([logLevel, String(message)]))
    const policy = PaymentsPolicy.make({
      retryWrites: Schedule.spaced("10 seconds"),
      retryReads: Schedule.spaced("10 seconds"),
      onInterruptedWrite: (report) => Effect.sync(() => reports.push(report))
    })
    yield* Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(call)
      yield* TestClock.adjust(after)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
    }).pipe(
      Effect.provideService(PaymentsPolicy, policy),
      Effect.provide(Layer.merge(payments, Logger.layer([logger])))
    )
    return { reports, lines }
  })

  effect(
    "an interrupted write whose request is under way is reported with its key, to the hook and to the log",
    function* () {
      for (const [call, key, at] of [
        [pay, "wd_1", "MONEY MAY HAVE MOVED"],
        [create, "tx_1", "THE CHARGE MAY EXIST"]
      ] as const) {
        const { layer } = scripted("silence")
        const { lines, reports } = yield* interrupting(call, "1 second", paymentsOn(layer))
        assert.deepStrictEqual(
          reports.map(({ attempts, idempotencyKey, outcome, reason }) => [idempotencyKey, outcome, reason, attempts]),
          [[key, "Unknown", "Interrupted", 1]]
        )
        assert.deepStrictEqual(
          lines.map(([level]) => level),
          ["Warn"]
        )
        assert.include(lines[0]?.[1], key)
        assert.include(lines[0]?.[1], at)
      }
    }
  )

  effect(
    "an interrupted write that waits for its next attempt is reported if an earlier one may have been executed",
    function* () {
      for (const reply of [lostConnection, respond(503)]) {
        const { layer, sent } = scripted(reply)
        const { reports } = yield* interrupting(pay, "5 seconds", paymentsOn(layer))
        assert.deepStrictEqual([reports.map(({ attempts }) => attempts), sent.length], [[1], 1])
      }
    }
  )

  effect(
    "an interrupted write that waits after a refusal, or after an attempt that was not sent, is not reported",
    function* () {
      for (const reply of [respond(429), refusedConnection]) {
        const { layer, sent } = scripted(reply)
        const { lines, reports } = yield* interrupting(pay, "5 seconds", paymentsOn(layer))
        assert.deepStrictEqual([reports, sent.length], [[], 1])
        // A rate limit is logged whatever the result of the call.
        assert.deepStrictEqual(
          lines.filter(([, line]) => !line.includes("HTTP 429")),
          []
        )
      }
    }
  )

  effect("an interrupted write that has not sent anything yet is not reported", function* () {
    const { layer, sent } = scripted("silence")
    const waiting = Layer.succeed(Credentials, { current: Effect.never, reload: () => Effect.succeed(false) })
    const payments = Payments.layer({ baseUrl: "https://gateway.example" }).pipe(
      Layer.provide([layer, waiting, IdempotencyKeyGen.layerSequential])
    )
    const { lines, reports } = yield* interrupting(pay, "5 seconds", payments)
    assert.deepStrictEqual([reports, lines, sent.length], [[], [], 0])
  })

  effect("an interrupted read is not reported", function* () {
    const { layer, sent } = scripted("silence")
    const { lines, reports } = yield* interrupting(read, "5 seconds", paymentsOn(layer))
    assert.deepStrictEqual([reports, lines, sent.length], [[], [], 1])
  })

  effect("a write that its caller's timeout interrupts is reported too", function* () {
    const { layer } = scripted("silence")
    const reported = yield* Deferred.make<OutcomeUnknown>()
    const policy = PaymentsPolicy.make({
      onInterruptedWrite: (report) => Effect.asVoid(Deferred.succeed(reported, report))
    })
    yield* underTestClock(Effect.exit(Effect.timeout(pay, "1 second"))).pipe(
      Effect.provideService(PaymentsPolicy, policy),
      Effect.provide(Layer.merge(paymentsOn(layer), Logger.layer([])))
    )
    assert.strictEqual((yield* Deferred.await(reported)).idempotencyKey, "wd_1")
  })

  effect("an interrupted write waits at most ten seconds for a hook that hangs", function* () {
    const { layer } = scripted("silence")
    const started = yield* Deferred.make<void>()
    const policy = PaymentsPolicy.make({
      onInterruptedWrite: () => Effect.andThen(Deferred.succeed(started, undefined), Effect.never)
    })
    const fiber = yield* Effect.forkChild(
      pay.pipe(
        Effect.timeout("1 second"),
        Effect.provideService(PaymentsPolicy, policy),
        Effect.provide(Layer.merge(paymentsOn(layer), Logger.layer([])))
      )
    )
    yield* TestClock.adjust("1 second")
    yield* Deferred.await(started)
    yield* TestClock.adjust("10 seconds")
    assert.strictEqual((yield* Effect.flip(Fiber.join(fiber)))._tag, "TimeoutError")
  })

  effect("an interrupted write that has its answer already reports nothing", function* () {
    const { layer } = scripted(respond(201, record("wd_1")))
    const { reports } = yield* interrupting(Effect.andThen(pay, Effect.never), "1 second", paymentsOn(layer))
    assert.deepStrictEqual(reports, [])
  })
})
