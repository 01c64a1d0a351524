import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { delayInterrupt, orTryAgain, repeatedly, TryAgain } from "../../src/durable/Work.ts"
import { effect } from "../support/effect.ts"

describe("orTryAgain", () => {
  effect("makes a later try of a defect and of another fiber's interruption, and logs neither's text", function* () {
    const lines: Array<string> = []
    const attributes: Array<Record<string, unknown>> = []
    const logger = Logger.make(({ cause, fiber, message }) => {
      lines.push(`${String(message)} ${String(cause)}`)
      attributes.push({ ...fiber.getRef(References.CurrentLogAnnotations) })
    })
    const reasonOf = (step: Effect.Effect<void, TryAgain>) =>
      Effect.map(Effect.flip(orTryAgain("Jobs", { "test.row": "a" })(step)), ({ reason }) => reason)
    const joined = Effect.flatMap(Effect.forkChild(Effect.interrupt), Fiber.join)
    const steps = [Effect.die(new TypeError("maria@example.com")), joined, new TryAgain({ reason: "NotYet" })]
    const reasons = yield* Effect.provide(Effect.forEach(steps, reasonOf), Logger.layer([logger]))
    assert.deepStrictEqual(reasons, ["Defect", "Interrupted", "NotYet"])
    assert.lengthOf(lines, 2)
    assert.include(lines[0], "Jobs: a handler died (TypeError)")
    assert.include(lines[1], "Jobs: a step was interrupted, it is tried again")
    assert.notInclude(lines.join("\n"), "maria")
    assert.deepStrictEqual(
      attributes.map((line) => [
        line["error.type"],
        line["test.row"],
        /^\w+\n +at /.exec(String(line["exception.stacktrace"]))?.[0]
      ]),
      [
        ["TypeError", "a", "TypeError\n    at "],
        ["Interrupted", "a", undefined]
      ]
    )
  })
})

describe("repeatedly", () => {
  effect("repeatedly continues after a failure, a defect or an interruption", function* () {
    let runs = 0
    const once = Effect.suspend(() => {
      runs += 1
      return runs === 1 ? Effect.fail("no") : runs === 2 ? Effect.die("no") : Effect.interrupt
    })
    yield* Effect.forkScoped(repeatedly("test", "10 seconds", once))
    yield* TestClock.adjust("35 seconds")
    assert.strictEqual(runs, 4)
  })

  effect("repeatedly logs a lasting failure as a warning once a minute", function* () {
    const levels: Array<string> = []
    const logger = Logger.layer([Logger.make(({ logLevel }) => levels.push(logLevel))])
    yield* Effect.forkScoped(
      repeatedly("test", "10 seconds", Effect.fail("no")).pipe(
        Effect.provide(logger),
        Effect.provideService(References.MinimumLogLevel, "All")
      )
    )
    yield* TestClock.adjust("125 seconds")
    assert.strictEqual(levels.length, 13)
    assert.strictEqual(levels.filter((level) => level === "Warn").length, 3)
  })
})

describe("delayInterrupt", () => {
  const begin = (takes: "3 seconds" | "1 hour") =>
    Effect.gen(function* () {
      let ended: "done" | "cut off" | undefined
      const job = Effect.sleep(takes).pipe(
        Effect.andThen(Effect.sync(() => (ended = "done"))),
        Effect.onInterrupt(() => Effect.sync(() => (ended = "cut off")))
      )
      const fiber = yield* Effect.forkChild(delayInterrupt("5 seconds")(job))
      yield* Effect.yieldNow
      yield* TestClock.adjust("1 second")
      const stop = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(stop)
      return ended
    })

  effect("an effect that ends soon is finished when its caller is interrupted", function* () {
    assert.strictEqual(yield* begin("3 seconds"), "done")
  })

  effect("an effect that does not end soon is interrupted", function* () {
    assert.strictEqual(yield* begin("1 hour"), "cut off")
  })
})
