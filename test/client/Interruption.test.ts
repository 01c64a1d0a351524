/** A call that is interrupted: a caller who gets neither a result nor an error gets a report, if the write may have been executed. */
import { assert, describe } from "@effect/vitest"
import { Cause, type Duration, Effect, Exit, Fiber, Layer, Logger, Schedule } from "effect"
import {
  Credentials,
  IdempotencyKey,
  IdempotencyKeyGen,
  type OutcomeUnknown,
  Payments,
  PaymentsPolicy
} from "effect-pix"
import { TestClock } from "effect/testing"
import { effect, live } from "../support/effect.ts"
import { interruptAt } from "../support/interruptingScheduler.ts"
import {
  charge,
  createTransaction,
  created,
  getBalance,
  record,
  requestWithdrawal,
  withdrawal
} from "../support/operations.ts"
import { lostConnection, paymentsOn, refusedConnection, respond, type Script, scripted } from "../support/Wire.ts"

type Hook = (report: OutcomeUnknown) => Effect.Effect<void>

/** Collects the reports of interrupted writes, and the lines of the log. */
const watching = (settings: Partial<PaymentsPolicy>, hook: Hook = () => Effect.void) => {
  const reports: Array<OutcomeUnknown> = []
  const lines: Array<string> = []
  const policy = PaymentsPolicy.make({
    ...settings,
    onInterruptedWrite: (report) => {
      reports.push(report)
      return hook(report)
    }
  })
  const logger = Logger.make(({ logLevel, message }) => lines.push(`${logLevel} ${String(message)}`))
  return { lines, reports, layer: Layer.merge(Layer.succeed(PaymentsPolicy, policy), Logger.layer([logger])) }
}

const pay = requestWithdrawal.run
const everyTenSeconds = { retryReads: Schedule.spaced("10 seconds"), retryWrites: Schedule.spaced("10 seconds") }
const paidAlready = respond(201, record("wd_1"))

describe("a call that is interrupted", () => {
  /** Interrupts a call after a time. */
  const interrupted = Effect.fnUntraced(function* (
    call: Effect.Effect<unknown, unknown, Payments>,
    after: Duration.Input,
    payments: Layer.Layer<Payments, unknown>,
    hook?: Hook
  ) {
    const watched = watching(everyTenSeconds, hook)
    const fiber = yield* Effect.forkChild(Effect.provide(call, Layer.merge(payments, watched.layer)))
    yield* TestClock.adjust(after)
    yield* Fiber.interrupt(fiber)
    const exit = yield* Fiber.await(fiber)
    assert.isTrue(Exit.hasInterrupts(exit) && !Exit.hasDies(exit) && !Exit.hasFails(exit))
    return watched
  })

  effect.each([
    ["while a withdrawal is under way is reported", pay, "1 second", "silence", "wd_1", "MONEY MAY HAVE MOVED"],
    [
      "while a charge is under way is reported",
      createTransaction.run,
      "1 second",
      "silence",
      "tx_1",
      "THE CHARGE MAY EXIST"
    ],
    ["before a write is sent again after a lost answer is reported", pay, "5 seconds", lostConnection, "wd_1", "MONEY"],
    ["before a write is sent again after a 503 is reported", pay, "5 seconds", respond(503), "wd_1", "MONEY"],
    ["before a write is sent again after a 429 is not reported", pay, "5 seconds", respond(429), undefined, ""],
    ["before a write is sent that was not sent is not reported", pay, "5 seconds", refusedConnection, undefined, ""],
    ["while a read is under way is not reported", getBalance.run, "5 seconds", "silence", undefined, ""],
    ["after its answer is not reported", Effect.andThen(pay, Effect.never), "1 second", paidAlready, undefined, ""]
  ] as const)("%s", function* ([, call, after, reply, key, stake]) {
    const { layer, sent } = scripted(reply)
    const { lines, reports } = yield* interrupted(call, after, paymentsOn(layer))
    assert.deepStrictEqual(
      reports.map(({ attempts, idempotencyKey, outcome, reason }) => [idempotencyKey, outcome, reason, attempts]),
      key === undefined ? [] : [[key, "Unknown", "Interrupted", 1]]
    )
    // A rate limit is logged whatever the result of the call.
    const about = lines.filter((line) => !line.includes("HTTP 429"))
    assert.strictEqual(about.length, reports.length)
    for (const line of about) for (const part of ["Warn", stake, key ?? ""]) assert.include(line, part)
    assert.strictEqual(sent.length, 1)
  })

  effect("before it has credentials is not reported, and sends nothing", function* () {
    const { layer, sent } = scripted("silence")
    const waiting = Layer.succeed(Credentials, { current: Effect.never, reload: () => Effect.succeed(false) })
    const payments = Payments.layer({ baseUrl: "https://gateway.example" }).pipe(
      Layer.provide([layer, waiting, IdempotencyKeyGen.layerSequential])
    )
    const { lines, reports } = yield* interrupted(pay, "5 seconds", payments)
    assert.deepStrictEqual([reports, lines, sent.length], [[], [], 0])
  })

  effect.each<readonly [string, Hook]>([
    ["throws", () => assert.fail("the hook's own error")],
    ["dies", () => Effect.die(new Error("the hook's own error"))],
    ["interrupts itself", () => Effect.interrupt]
  ])("whose hook %s is logged all the same, and says that the hook failed", function* ([, hook]) {
    const { lines, reports } = yield* interrupted(pay, "1 second", paymentsOn(scripted("silence").layer), hook)
    assert.strictEqual(reports.length, 1)
    assert.include(lines[0], "wd_1")
    assert.include(lines[1], "onInterruptedWrite failed")
    assert.notInclude(lines.join("\n"), "own error")
  })

  effect(
    "by a time limit of its caller is reported, and waits ten seconds at most for a hook that hangs",
    function* () {
      const { layer, reports } = watching({}, () => Effect.never)
      const limited = Effect.exit(Effect.timeout(pay, "1 second"))
      const fiber = yield* Effect.forkChild(
        Effect.provide(limited, Layer.merge(paymentsOn(scripted("silence").layer), layer))
      )
      yield* TestClock.adjust("10999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      assert.strictEqual(reports[0]?.idempotencyKey, "wd_1")
      yield* TestClock.adjust("1 millis")
      assert.isTrue(Exit.isFailure(yield* Fiber.join(fiber)))
    }
  )
})

type Write = (payments: Payments["Service"]) => Effect.Effect<unknown, unknown>

describe("a write that is interrupted at any step of the run loop", () => {
  /** Interrupts `write` at each step. Returns the steps, and those after which nobody but the log knows of the request. */
  const interruptEach = Effect.fnUntraced(function* (write: Write, ...script: Script) {
    const silent: Array<{ readonly step: number; readonly lines: ReadonlyArray<string> }> = []
    for (let step = 1; ; step++) {
      const { layer, sent } = scripted(...script)
      const watched = watching(PaymentsPolicy.once)
      const { received, wasInterrupted } = yield* Effect.flatMap(Payments, (payments) =>
        interruptAt(write(payments), step)
      ).pipe(Effect.provide(Layer.merge(paymentsOn(layer), watched.layer)))
      assert(received !== undefined)
      const { lines, reports } = watched
      const isLost = Exit.isFailure(received) && Cause.hasInterruptsOnly(received.cause)
      assert.isAtMost(reports.length, isLost ? 1 : 0, `step ${step}`)
      if (isLost && sent.length > 0 && reports.length === 0) silent.push({ step, lines })
      for (const { idempotencyKey } of reports) {
        assert.strictEqual(idempotencyKey, sent[0]?.headers["idempotency-key"], `step ${step}`)
      }
      if (!wasInterrupted) return { silent, steps: step - 1 }
    }
  })

  const withdraw: Write = (payments) => payments.requestWithdrawal(withdrawal)
  const create: Write = (payments) => payments.createTransaction(charge)
  const key = IdempotencyKey.fromReference("payout", "invoice-42")
  const repeat: Write = (payments) =>
    IdempotencyKey.retry(key, Schedule.recurs(2), (options) => payments.requestWithdrawal(withdrawal, options))

  live.each<readonly [string, Write, Script]>([
    ["a withdrawal with an answer", withdraw, [paidAlready]],
    ["a withdrawal with a misfit", withdraw, [respond(201, { ...record("wd_1"), createdAt: "2026-02-30" })]],
    ["a charge with an answer", create, [respond(200, created)]],
    ["a repetition with an answer", repeat, [respond(201, record(key))]],
    ["a repetition in doubt with an answer", repeat, [respond(503), respond(503), respond(201, record(key))]]
  ])("%s reaches the caller or is reported", function* ([, write, script]) {
    const { silent, steps } = yield* interruptEach(write, ...script)
    assert.isAbove(steps, 10)
    assert.deepStrictEqual(silent, [])
  })

  live.each<readonly [string, Write, Script, string]>([
    ["a withdrawal", withdraw, [respond(503)], "wd_1"],
    ["a withdrawal with a conflict", withdraw, [respond(409)], "wd_1"],
    ["a repetition", repeat, [respond(503)], key]
  ])(
    "%s that ends in doubt is silent in one step at most, and its key is in the log then",
    function* ([, write, script, key]) {
      const { silent, steps } = yield* interruptEach(write, ...script)
      assert.isAbove(steps, 10)
      assert.isAtMost(silent.length, 1)
      for (const { lines } of silent) assert.include(lines.join("\n"), key)
    }
  )
})
