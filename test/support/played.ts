/** Runs calls against a script of replies under the test's clock, and returns the results and the times of the requests. */
import { type Payments, type PaymentsError, PaymentsPolicy } from "effect-pix"
import { Effect, Fiber, Layer, Random, Result } from "effect"
import { TestClock } from "effect/testing"
import { createTransaction, getBalance, requestWithdrawal } from "./operations.ts"
import { paymentsOn, type Script, scripted } from "./Wire.ts"

export type { Script } from "./Wire.ts"
export type Call = Effect.Effect<unknown, PaymentsError, Payments>

export const pay = requestWithdrawal.run
export const create = createTransaction.run
export const read = getBalance.run

/** Replaces every random number with this one. */
export const always = (part: number) =>
  Effect.provideService(Random.Random, { nextDoubleUnsafe: () => part, nextIntUnsafe: () => 0 })

/** Runs an effect while the test's clock moves on by an hour. */
export const underTestClock = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* TestClock.adjust("1 hour")
    return yield* Fiber.join(fiber)
  })

/** Runs a call against the replies. Returns its result, when each request was sent, and how long the call took. */
export const play = Effect.fnUntraced(function* (call: Call, policy: Partial<PaymentsPolicy>, ...replies: Script) {
  const { layer, sent } = scripted(...replies)
  const start = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const [result, end] = yield* underTestClock(
    Effect.all([Effect.result(call), Effect.clockWith((clock) => clock.currentTimeMillis)])
  ).pipe(Effect.provide(Layer.provide(paymentsOn(layer), PaymentsPolicy.layer(policy))))
  return { result, requests: sent.length, at: sent.map((one) => one.at - start), took: end - start, sent }
})

export const failureOf = (result: Result.Result<unknown, PaymentsError>): PaymentsError => {
  if (Result.isSuccess(result)) throw new Error("it succeeded")
  return result.failure
}
