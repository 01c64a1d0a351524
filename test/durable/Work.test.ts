import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Fiber, References } from "effect"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import { TestClock } from "effect/testing"
import { mapDatabaseError } from "../../src/durable/Database.ts"
import { orTryAgain, repeatedly, TryAgain } from "../../src/durable/Work.ts"
import { effect } from "../support/effect.ts"
import { wrongClock } from "../support/exported.ts"
import { makeWarnings } from "../support/payoutQueue.ts"

describe("orTryAgain", () => {
  effect("makes a later try of a defect and of another fiber's interruption, and logs neither's text", function* () {
    const { layer, lines } = makeWarnings((line, { fiber, logLevel }) => {
      const of = fiber.getRef(References.CurrentLogAnnotations)
      const [name, frame = ""] = String(of["exception.stacktrace"]).split("\n")
      return [logLevel, line, of["error.type"], of["test.row"], name, frame.trim().slice(0, 3)].join(", ")
    })
    const reasonOf = (step: Effect.Effect<void, TryAgain>) =>
      Effect.map(Effect.flip(orTryAgain("Jobs", { "test.row": "a" })(step)), ({ reason }) => reason)
    const joined = Effect.flatMap(Effect.forkChild(Effect.interrupt), Fiber.join)
    const defects = [Effect.die(new TypeError("maria is at home")), Effect.die("maria")]
    const steps = [...defects, joined, new TryAgain({ reason: "NotYet" })]
    const reasons = yield* Effect.provide(Effect.forEach(steps, reasonOf), layer)
    assert.deepStrictEqual(reasons, ["Defect", "Defect", "Interrupted", "NotYet"])
    assert.deepStrictEqual(lines, [
      "Error, Jobs: a handler died (TypeError), TypeError, a, TypeError, at ",
      "Error, Jobs: a handler died (Defect), Defect, a, string, ",
      "Warn, Jobs: a step was interrupted, it is tried again, Interrupted, a, undefined, "
    ])
  })
})

describe("a failure of the database that a person has to end", () => {
  effect("is an error in the log, once a minute", function* () {
    const { layer, lines } = makeWarnings((line, { logLevel }) => `${logLevel} ${line}`)
    const full = new UnknownError({ cause: { code: "SQLITE_FULL" }, message: "query", operation: "query" })
    const failing = mapDatabaseError("submit")(Effect.fail(new SqlError({ reason: full })))
    const world = { ahead: 0 }
    const clock = wrongClock(yield* Clock.Clock, world)
    const fail = Effect.provideService(Effect.provide(Effect.ignore(failing), layer), Clock.Clock, clock)
    yield* TestClock.adjust("1 hour")
    for (const seconds of [0, 59, 1]) {
      yield* fail
      yield* TestClock.adjust(seconds * 1000)
    }
    assert.lengthOf(lines, 1)
    assert.match(lines[0] ?? "", /^Error The database fails: the disk of the database is full\. Free space on it\./)
    // A clock that was set back makes no silence.
    world.ahead = -7_200_000
    yield* fail
    assert.lengthOf(lines, 2)
  })
})

describe("repeatedly", () => {
  effect("goes on after a failure, a defect or an interruption, each after its interval", function* () {
    const ends = [Effect.fail("no"), Effect.die("no"), Effect.interrupt, Effect.void]
    let runs = 0
    yield* Effect.forkScoped(
      repeatedly(
        "test",
        "10 seconds",
        Effect.suspend(() => ends[runs++] ?? Effect.never)
      )
    )
    for (const expected of [1, 2, 3, 4, 5]) {
      yield* TestClock.adjust(expected === 1 ? 0 : "10 seconds")
      assert.strictEqual(runs, expected)
    }
  })
})
