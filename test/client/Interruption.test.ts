/** A call that is interrupted: a caller who gets neither a result nor an error gets a report, if the write may have been executed. */
import { assert, describe } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer, Schedule } from "effect"
import { IdempotencyKey, Payments } from "effect-pix"
import { TestClock } from "effect/testing"
import { effect, live } from "../support/effect.ts"
import type { Service } from "../support/failing.ts"
import type { Call } from "../support/played.ts"
import { drawn } from "../support/seed.ts"
import { interruptAt } from "../support/interruptingScheduler.ts"
import { type Hook, watch, watching } from "../support/watched.ts"
import {
  createTransaction,
  getBalance,
  type OperationCall,
  record,
  requestWithdrawal,
  withdrawal
} from "../support/operations.ts"
import {
  lostConnection,
  paymentsOn,
  refusedConnection,
  type Reply,
  respond,
  type Script,
  scripted
} from "../support/Wire.ts"
import { oneAttempt } from "../support/policies.ts"

const paid = respond(201, record("wd_1"))

describe("a call that is interrupted", () => {
  const settings = { retryReads: Schedule.spaced("10 seconds"), retryWrites: Schedule.spaced("10 seconds") }
  const answered = { ...requestWithdrawal, run: Effect.andThen(requestWithdrawal.run, Effect.never) }
  type Called = Pick<OperationCall, "atStake" | "madeKey"> & { readonly run: Call }
  effect.each<readonly [string, Called, Reply, reports: number]>([
    ["while a withdrawal is under way is reported", requestWithdrawal, "silence", 1],
    ["while a charge is under way is reported", createTransaction, "silence", 1],
    ["before a write is sent again after a lost answer is reported", requestWithdrawal, lostConnection, 1],
    ["before a write is sent again after a 503 is reported", requestWithdrawal, respond(503), 1],
    ["before a write is sent again after a 429 is not reported", requestWithdrawal, respond(429), 0],
    ["before a write is sent that was not sent is not reported", requestWithdrawal, refusedConnection, 0],
    ["while a read is under way is not reported", getBalance, "silence", 0],
    ["after its answer is not reported", answered, paid, 0]
  ])("%s", function* ([, { atStake = "", madeKey = "", run }, reply, count]) {
    const { exit, lines, reports, sent } = yield* watch(run, { settings, interruptedAfter: "5 seconds" }, reply)
    assert.isTrue(Exit.hasInterrupts(exit) && !Exit.hasDies(exit) && !Exit.hasFails(exit))
    // A rate limit is logged whatever the result of the call.
    const about = lines.filter((line) => !line.includes("HTTP 429"))
    assert.deepStrictEqual([reports.length, about.length, sent.length], [count, count, 1])
    for (const report of reports) {
      assert.deepInclude(report, { idempotencyKey: madeKey, outcome: "Unknown", reason: "Interrupted", attempts: 1 })
      assert.match(report.fingerprint ?? "", /^[0-9a-f]{40}$/)
      assert.strictEqual(report.firstSentAt?.epochMilliseconds, 0)
    }
    for (const line of about) for (const part of ["Warn", atStake, madeKey]) assert.include(line, part)
  })

  effect.each<readonly [string, Hook]>([
    ["throws", () => assert.fail("the hook's own error")],
    ["dies", () => Effect.die(new Error("the hook's own error"))],
    ["interrupts itself", () => Effect.interrupt]
  ])("whose hook %s is logged all the same, and says that the hook failed", function* ([, hook]) {
    const watched = { hook, interruptedAfter: "1 second" } as const
    const { lines, reports } = yield* watch(requestWithdrawal.run, watched, "silence")
    assert.strictEqual(reports.length, 1)
    assert.include(lines[0], "wd_1")
    assert.include(lines[1], "onInterruptedWrite failed")
    assert.notInclude(lines.join("\n"), "own error")
  })

  effect("by a time limit of its caller waits ten seconds at most for a hook that hangs", function* () {
    const { policy, reports } = watching({}, () => Effect.never)
    const limited = Effect.exit(Effect.timeout(requestWithdrawal.run, "1 second"))
    const client = Layer.provide(paymentsOn(scripted("silence").layer), policy)
    const fiber = yield* Effect.forkChild(Effect.provide(limited, client))
    yield* TestClock.adjust("10999 millis")
    assert.isUndefined(fiber.pollUnsafe())
    assert.strictEqual(reports[0]?.idempotencyKey, "wd_1")
    yield* TestClock.adjust("1 millis")
    assert.isTrue(Exit.isFailure(yield* Fiber.join(fiber)))
  })
})

type Write = (payments: Service) => Effect.Effect<unknown, unknown>

describe("a write that is interrupted at any step of the run loop", () => {
  /** Interrupts `write` at each step. Returns the steps, and the log of those after which nobody else knows of the request. */
  const interruptEach = Effect.fnUntraced(function* (write: Write, ...script: Script) {
    const silent: Array<string> = []
    for (let step = 1; ; step++) {
      const { layer, sent } = scripted(...script)
      const { lines, logger, policy, reports } = watching(oneAttempt)
      const { received, wasInterrupted } = yield* Effect.flatMap(Payments, (payments) =>
        interruptAt(write(payments), step)
      ).pipe(Effect.provide([Layer.provide(paymentsOn(layer), policy), logger]))
      assert(received !== undefined)
      const isLost = Exit.isFailure(received) && Cause.hasInterruptsOnly(received.cause)
      assert.isAtMost(reports.length, isLost ? 1 : 0, `step ${step}`)
      if (isLost && sent.length > 0 && reports.length === 0) silent.push(lines.join("\n"))
      for (const { idempotencyKey } of reports)
        assert.strictEqual(idempotencyKey, sent[0]?.headers["idempotency-key"], `step ${step}`)
      if (!wasInterrupted) return { silent, steps: step - 1 }
    }
  })

  const withdraw: Write = (payments) => payments.requestWithdrawal(withdrawal)
  const key = IdempotencyKey.fromReference("payout", "invoice-42")
  const repeat: Write = (payments) =>
    IdempotencyKey.retry({ idempotencyKey: key, earlier: "None" }, Schedule.recurs(2), (options) =>
      payments.requestWithdrawal(withdrawal, options)
    )

  live.each(
    drawn<readonly [string, Write, Script, atMost: number, key: string]>([
      ["a withdrawal with an answer", withdraw, [paid], 0, "wd_1"],
      [
        "a withdrawal with a misfit",
        withdraw,
        [respond(201, { ...record("wd_1"), createdAt: "2026-02-30" })],
        0,
        "wd_1"
      ],
      ["a repetition with an answer", repeat, [respond(201, record(key))], 0, key],
      ["a repetition in doubt with an answer", repeat, [respond(503), respond(503), respond(201, record(key))], 0, key],
      ["a withdrawal that ends in doubt", withdraw, [respond(503)], 1, "wd_1"],
      ["a withdrawal that ends in a conflict", withdraw, [respond(409)], 1, "wd_1"],
      ["a repetition that ends in doubt", repeat, [respond(503)], 1, key]
    ])
  )(
    "%s reaches the caller or is reported: in doubt its key may be in the log alone, at one step",
    function* ([, write, script, atMost, key]) {
      const { silent, steps } = yield* interruptEach(write, ...script)
      assert.isAbove(steps, 10)
      assert.isAtMost(silent.length, atMost)
      for (const lines of silent) assert.include(lines, key)
    }
  )
})
