import { assert, describe } from "@effect/vitest"
import { Payments } from "effect-pix"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Cause, Clock, Duration, Effect, Exit, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { calls, companyId } from "../support/operations.ts"
import * as Raw from "../support/rawReplies.ts"
import { effect, live } from "../support/effect.ts"

const payments = Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 1_000_000, companyId }))

const faults: Readonly<Record<string, Fault.Fault>> = {
  none: Fault.none,
  latency: Fault.latency("20 seconds"),
  "latency, executed": Fault.latency("5 minutes", { executed: true }),
  refuse: Fault.refuse,
  resetBefore: Fault.resetBefore,
  resetAfter: Fault.resetAfter,
  hangUpBefore: Raw.hangUpBefore,
  hangUpAfter: Raw.hangUpAfter,
  silence: Fault.silence(),
  "silence, executed": Fault.silence({ executed: true }),
  headersThenSilence: Raw.headersThenSilence,
  drip: Raw.drip("1 second"),
  truncated: Fault.truncated,
  truncatedByReset: Raw.truncatedByReset,
  "answer 503": Fault.answer(503),
  refusal: Fault.refusal(500, "Erro interno"),
  html: Fault.html(),
  empty: Fault.empty(),
  malformed: Raw.malformed(),
  retryAfter: Fault.retryAfter("40 seconds"),
  "retryAfter, a date": Raw.retryAfterDate("1 hour", 503),
  redirect: Fault.redirect("https://elsewhere.example/"),
  oversize: Raw.oversize(2_000_000),
  gzipBomb: Raw.gzipBomb(2_000_000, "memory"),
  forgetKey: Fault.forgetKey,
  otherKey: Raw.otherKey()
}

describe("a fault that waits for the test's clock", () => {
  const askingSlowly = (wrap: typeof Sandbox.patiently) =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => lines.push(String(message)))
      const sandbox = yield* Sandbox
      yield* sandbox.fault("getBalance", Fault.latency("1 second"))
      const asking = Effect.provide(
        wrap(Effect.flatMap(Payments, ({ getBalance }) => getBalance())),
        Logger.layer([logger])
      )
      const fiber = yield* Effect.forkChild(asking, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      return lines
    })

  effect(
    "a fault that waits for the test's clock is logged if nothing moves the clock, with the name of Sandbox.patiently",
    payments,
    function* () {
      const lines = yield* askingSlowly((effect) => effect)
      assert.lengthOf(lines, 1)
      assert.include(lines[0], "Sandbox.patiently")
    }
  )

  effect("a fault that waits in Sandbox.patiently is not logged", payments, function* () {
    assert.deepStrictEqual(yield* askingSlowly(Sandbox.patiently), [])
  })
})

describe("Sandbox.patiently", () => {
  describe.each(calls.map((call) => [call.operation, call.run] as const))("%s", (operation, ask) => {
    effect.each(Object.keys(faults))("ends under TestClock, though every request meets %s", payments, function* (name) {
      const sandbox = yield* Sandbox
      yield* sandbox.fault(operation, faults[name] ?? Fault.none, { times: Infinity })
      const exit = yield* Effect.exit(Sandbox.patiently(ask))
      if (Exit.isFailure(exit)) assert.isFalse(Cause.hasDies(exit.cause), Cause.pretty(exit.cause))
      assert.isBelow(yield* Clock.currentTimeMillis, Duration.toMillis("10 minutes"))
    })
  })

  effect("Sandbox.patiently returns the value of the effect, and fails with its error", function* () {
    assert.strictEqual(yield* Sandbox.patiently(Effect.as(Effect.sleep("3 days"), 7)), 7)
    assert.strictEqual(yield* Effect.flip(Sandbox.patiently(Effect.delay(Effect.fail("no"), "1 hour"))), "no")
  })

  effect("Sandbox.patiently moves the clock little further than the effect needs", function* () {
    yield* Sandbox.patiently(Effect.sleep("10 minutes"))
    const passed = yield* Clock.currentTimeMillis
    assert.isTrue(passed >= 600_000 && passed < 620_000, String(passed))
  })

  effect("Sandbox.patiently ends an effect that waits for nothing, and says so", function* () {
    const exit = yield* Effect.exit(Sandbox.patiently(Effect.never))
    assert.isTrue(Exit.isFailure(exit) && Cause.pretty(exit.cause).includes("waits for something that never comes"))
  })

  live("Sandbox.patiently is the effect itself under a live clock", function* () {
    assert.strictEqual(yield* Sandbox.patiently(Effect.as(Effect.sleep(1), 7)), 7)
  })
})
