import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Logger, Schedule } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { type OutcomeUnknown, PaymentsPolicy } from "effect-pix"
import { TestClock } from "effect/testing"
import { record, requestWithdrawal } from "../support/operations.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"

const { run: pay } = requestWithdrawal

/** Collects the reports of interrupted writes, and the lines of the log. */
const watching = (hook: (report: OutcomeUnknown) => Effect.Effect<void> = () => Effect.void) => {
  const reports: Array<OutcomeUnknown> = []
  const lines: Array<string> = []
  const policy = PaymentsPolicy.make({
    retryWrites: Schedule.recurs(0),
    onInterruptedWrite: (report) => {
      reports.push(report)
      return hook(report)
    }
  })
  const layer = Layer.merge(
    Layer.succeed(PaymentsPolicy, policy),
    Logger.layer([Logger.make(({ message }) => lines.push(String(message)))])
  )
  return { lines, reports, layer }
}

describe("a write that is interrupted", () => {
  effect(
    "a write that is interrupted after its answer arrived and before it is returned is reported with its key",
    function* () {
      const { layer, reports } = watching()
      let interrupt = (): void => assert.fail("nothing to interrupt")
      const answering = HttpClient.make((request) =>
        Effect.sync(() => {
          interrupt()
          return HttpClientResponse.fromWeb(request, Response.json(record("wd_1"), { status: 201 }))
        })
      )
      const client = paymentsOn(Layer.succeed(HttpClient.HttpClient, answering))
      const fiber = yield* Effect.forkChild(
        Effect.withFiber((fiber) => {
          interrupt = () => fiber.interruptUnsafe()
          return pay
        }).pipe(Effect.provide(Layer.merge(client, layer)))
      )
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.hasInterrupts(exit))
      assert.deepStrictEqual(
        reports.map(({ idempotencyKey, outcome, reason }) => [idempotencyKey, outcome, reason]),
        [["wd_1", "Unknown", "Interrupted"]]
      )
    }
  )

  effect(
    "a write that is interrupted while a misfit of its good answer is logged is reported with its key, once",
    function* () {
      const { layer, reports } = watching()
      const { layer: transport } = scripted(respond(201, { ...record("wd_1"), createdAt: "2026-02-30" }))
      let interrupt = (): void => assert.fail("nothing to interrupt")
      const logger = Logger.layer([
        Logger.make(({ message }) => {
          if (String(message).includes("does not fit")) interrupt()
        })
      ])
      const fiber = yield* Effect.forkChild(
        Effect.withFiber((fiber) => {
          interrupt = () => fiber.interruptUnsafe()
          return pay
        }).pipe(Effect.provide([paymentsOn(transport), layer, logger]))
      )
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.hasInterrupts(exit))
      assert.deepStrictEqual(
        reports.map(({ idempotencyKey, outcome, reason }) => [idempotencyKey, outcome, reason]),
        [["wd_1", "Unknown", "Interrupted"]]
      )
    }
  )

  effect(
    "a write that is interrupted at any moment was not sent, or returned its answer, or is reported",
    function* () {
      let returned = 0
      let reported = 0
      for (let moment = 0; moment < 60; moment++) {
        const { layer, reports } = watching()
        const { layer: transport, sent } = scripted(respond(201, record("wd_1")))
        const slowly = Layer.effect(
          HttpClient.HttpClient,
          Effect.map(
            HttpClient.HttpClient,
            HttpClient.transformResponse((answer) =>
              Effect.yieldNow.pipe(Effect.andThen(answer), Effect.tap(Effect.replicateEffect(Effect.yieldNow, 20)))
            )
          )
        ).pipe(Layer.provide(transport))
        const fiber = yield* Effect.forkChild(
          Effect.andThen(Effect.yieldNow, pay).pipe(Effect.provide(Layer.merge(paymentsOn(slowly), layer)))
        )
        for (let yields = 0; yields < moment; yields++) yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        const exit = yield* Fiber.await(fiber)
        if (Exit.isSuccess(exit)) returned++
        else if (reports.length === 1) reported++
        else assert.strictEqual(sent.length, 0, `interrupted after ${moment} steps: the key is lost`)
        assert.isFalse(Exit.isSuccess(exit) && reports.length > 0, "returned and reported")
      }
      assert.isAbove(returned, 0)
      assert.isAbove(reported, 0)
    }
  )

  const throwing: Readonly<Record<string, (report: OutcomeUnknown) => Effect.Effect<void>>> = {
    throws: () => assert.fail("the hook's own error"),
    dies: () => Effect.die(new Error("the hook's own error")),
    "interrupts itself": () => Effect.interrupt
  }
  effect.each(Object.entries(throwing))(
    "a write whose hook %s can still be interrupted, and is logged",
    function* ([, hook]) {
      const { layer, lines, reports } = watching(hook)
      const { layer: transport } = scripted("silence")
      const fiber = yield* Effect.forkChild(Effect.provide(pay, Layer.merge(paymentsOn(transport), layer)))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.hasInterrupts(exit) && !Exit.hasDies(exit) && !Exit.hasFails(exit))
      assert.strictEqual(reports.length, 1)
      assert.include(lines.join("\n"), "wd_1")
      assert.notInclude(lines.join("\n"), "own error")
    }
  )
})
