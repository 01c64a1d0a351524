/**
 * Interrupts a write at each single step of Effect's run loop. A caller who gets neither a result nor an error must get a
 * report, if the request was sent.
 */
import { assert, describe } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Logger, Schedule } from "effect"
import { IdempotencyKey, type OutcomeUnknown, Payments, PaymentsPolicy } from "effect-pix"
import { interruptAt } from "../support/interruptingScheduler.ts"
import { created, record, withdrawal, charge } from "../support/operations.ts"
import type { Script } from "../support/played.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"
import { live } from "../support/effect.ts"

type Write = (payments: Payments["Service"]) => Effect.Effect<unknown, unknown>

/** Interrupts `write` at each step. Returns the steps, and those after which nobody but the log knows of the request. */
const interruptEach = Effect.fnUntraced(function* (write: Write, ...script: Script) {
  const silent: Array<{ readonly step: number; readonly lines: ReadonlyArray<string> }> = []
  for (let step = 1; ; step++) {
    const { layer, sent } = scripted(...script)
    const reports: Array<OutcomeUnknown> = []
    const lines: Array<string> = []
    const policy = PaymentsPolicy.make({
      ...PaymentsPolicy.once,
      onInterruptedWrite: (report) => Effect.sync(() => reports.push(report))
    })
    const { received, wasInterrupted } = yield* Effect.flatMap(Payments, (payments) =>
      interruptAt(write(payments), step)
    ).pipe(
      Effect.provideService(PaymentsPolicy, policy),
      Effect.provide(
        Layer.merge(paymentsOn(layer), Logger.layer([Logger.make(({ message }) => lines.push(String(message)))]))
      )
    )
    assert(received !== undefined)
    const isLost = Exit.isFailure(received) && Cause.hasInterruptsOnly(received.cause)
    assert.isAtMost(reports.length, 1, `step ${step}`)
    if (!isLost) assert.deepStrictEqual(reports, [], `step ${step}`)
    if (isLost && sent.length > 0 && reports.length === 0) silent.push({ step, lines })
    for (const { idempotencyKey } of reports) {
      assert.strictEqual(idempotencyKey, sent[0]?.headers["idempotency-key"], `step ${step}`)
    }
    if (!wasInterrupted) return { silent, steps: step - 1 }
  }
})

const pay: Write = (payments) => payments.requestWithdrawal(withdrawal)
const key = IdempotencyKey.fromReference("payout", "invoice-42")
const repeat: Write = (payments) =>
  IdempotencyKey.retry(key, Schedule.recurs(2), (options) => payments.requestWithdrawal(withdrawal, options))

describe("a write that is interrupted at any step of the run loop", () => {
  live.each<readonly [string, Write, Script]>([
    ["a withdrawal with an answer", pay, [respond(201, record("wd_1"))]],
    ["a charge with an answer", (payments) => payments.createTransaction(charge), [respond(200, created)]],
    ["a repetition with an answer", repeat, [respond(201, record(key))]],
    ["a repetition in doubt with an answer", repeat, [respond(503), respond(503), respond(201, record(key))]]
  ])("%s reaches the caller or is reported", function* ([, write, script]) {
    const { silent, steps } = yield* interruptEach(write, ...script)
    assert.isAbove(steps, 10)
    assert.deepStrictEqual(silent, [])
  })

  live.each<readonly [string, Write, Script, string]>([
    ["a withdrawal", pay, [respond(503)], "wd_1"],
    ["a withdrawal with a conflict", pay, [respond(409)], "wd_1"],
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
