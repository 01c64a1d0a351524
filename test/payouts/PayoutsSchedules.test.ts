import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, References, Schedule, Stream } from "effect"
import { type InvalidRequest, PaymentsPolicy, type WithdrawalRequest } from "effect-pix"
import { type PayoutEvent, Payouts } from "effect-pix/payouts"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { failures, item, make, makeModel, referencesOf, resultsOf, yields } from "../support/payouts.ts"
import { runs, seeded } from "../support/seed.ts"

/** Some 12 references, some of them twice, in a shuffled order. The description has the payout's reference. */
const batchOf = (random: ReturnType<typeof seeded>) => {
  const distinct = Array.from({ length: 4 + random.below(9) }, (_, n) => ({
    ...item(`invoice-${n}`, 1000 + random.below(5000)),
    description: `invoice-${n}`
  }))
  const repeated = distinct.filter(() => random.next() < 0.3).map((one) => Object.assign({}, one))
  const order = [...distinct, ...repeated].map((one) => ({ one, at: random.next() })).toSorted((a, b) => a.at - b.at)
  return { distinct, list: order.map(({ one }) => one) }
}

/** Runs a batch and interrupts it after a random number of steps, several times, and then runs it to its end. */
const torture = Effect.fnUntraced(function* (
  random: ReturnType<typeof seeded>,
  run: (calm: boolean) => Stream.Stream<PayoutEvent, InvalidRequest>
) {
  let interrupted = 0
  for (let round = 0; round < 8; round++) {
    const fiber = yield* Effect.forkChild(Stream.runDrain(run(false)))
    // Sometimes another process pays the same list.
    const other = random.next() < 0.3 ? yield* Effect.forkChild(Stream.runDrain(run(false))) : undefined
    yield* yields(random.below(30))
    yield* Fiber.interrupt(fiber)
    if (other !== undefined) yield* Fiber.interrupt(other)
    if (Exit.isFailure(yield* Fiber.await(fiber))) interrupted += 1
  }
  return { interrupted, last: yield* Stream.runCollect(run(true)) }
})

const quiet = Effect.provideService(References.MinimumLogLevel, "None")

describe("batches interrupted at random points and run again", () => {
  const modelled = runs(40, 250)
  it.effect(`pay each reference once, on a model of the gateway, in ${modelled} seeded schedules`, () =>
    Effect.gen(function* () {
      let interruptions = 0
      for (let seed = 1; seed <= modelled; seed++) {
        const random = seeded(seed)
        const { distinct, list } = batchOf(random)
        const payouts: Array<string> = []
        let calm = false
        const model = makeModel()
        const { stream } = make({
          ...model.operations,
          requestWithdrawal: Effect.fnUntraced(function* (request: WithdrawalRequest, options) {
            const key = options?.idempotencyKey ?? ""
            const fate = calm ? 0 : random.below(5)
            yield* yields(random.below(4))
            if (fate === 1) return yield* failures.down(key)
            if (fate === 2) return yield* failures.unknown(key)
            if (!model.ledger.has(key)) payouts.push(request.description ?? "")
            const record = yield* model.operations.requestWithdrawal(request, options)
            yield* yields(random.below(4))
            return fate === 3 ? yield* failures.unknown(key) : record
          })
        })
        const { interrupted, last } = yield* torture(random, (isLast) => {
          calm = isLast
          return stream(random.next() < 0.5 ? list : Stream.fromIterable(list), {
            concurrency: 1 + random.below(8),
            stopOn: random.next() < 0.5 ? [] : undefined
          })
        })
        interruptions += interrupted
        const results = resultsOf(last)
        assert.deepStrictEqual(
          results.map(({ index }) => index).toSorted((a, b) => a - b),
          list.map((_, index) => index),
          `seed ${seed}: each item has one result`
        )
        assert.deepStrictEqual(
          results.flatMap((result) => (result._tag === "Done" ? [result.reference] : [])).toSorted(),
          referencesOf(distinct).toSorted(),
          `seed ${seed}: each reference is done`
        )
        assert.deepStrictEqual(payouts.toSorted(), referencesOf(distinct).toSorted(), `seed ${seed}: one payout each`)
      }
      assert.isAbove(interruptions, 2 * modelled)
    }).pipe(quiet)
  )
})

describe("the retries of the policy", () => {
  it.effect("begin no attempt past the horizon of the key", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      yield* sandbox.fault("requestWithdrawal", Fault.resetAfter, { times: 9 })
      const fiber = yield* Effect.forkChild(Payouts.run([item("invoice-1", 1000)], { keyHorizon: "15 seconds" }))
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual((yield* Fiber.join(fiber)).unknown.length, 1)
      // At 0 and 10 seconds.
      assert.strictEqual((yield* sandbox.requests).length, 2)
    }).pipe(
      Effect.provide(
        Layer.mergeAll(
          Sandbox.layerPayments,
          PaymentsPolicy.layer({ deadline: "10 minutes", retryWrites: Schedule.spaced("10 seconds") })
        )
      ),
      Effect.provideService(SandboxOptions, { balance: 500_000 })
    )
  )
})
