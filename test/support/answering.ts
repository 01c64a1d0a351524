/** A mock of `Payments` whose withdrawals wait until the test answers them. */
import { Deferred, Effect, Queue } from "effect"
import { Money, type WithdrawalRequest } from "effect-pix"
import { type RequestWithdrawalError, RequestRejected } from "../../src/contract/PaymentsError.ts"
import type { WriteOptions } from "../../src/contract/WriteOptions.ts"
import type { Withdrawal } from "../../src/contract/Withdrawal.ts"
import { mockPayments } from "./payments.ts"

interface Call {
  readonly key: string
  readonly earlier: string | undefined
  readonly answer: Deferred.Deferred<Withdrawal, RequestWithdrawalError>
}

export const answered = (idempotencyKey: string) =>
  ({ operation: "requestWithdrawal", attempts: 1, idempotencyKey, outcome: "Rejected" }) as const
export const refusal = (key: string) => new RequestRejected({ ...answered(key), status: 422 })
export const record = (key: string): Withdrawal => ({
  id: 7,
  idempotencyKey: key,
  value: Money.toReais(Money.centavos(1000)),
  enTransaction: "Awaiting"
})

export const makeService = Effect.gen(function* () {
  const calls = yield* Queue.unbounded<Call>()
  const all: Array<Call> = []
  const requestWithdrawal = (_: WithdrawalRequest, { earlier, idempotencyKey = "" }: WriteOptions = {}) =>
    Effect.gen(function* () {
      const answer = yield* Deferred.make<Withdrawal, RequestWithdrawalError>()
      const call = { key: idempotencyKey, earlier, answer }
      all.push(call)
      yield* Queue.offer(calls, call)
      return yield* Deferred.await(answer)
    })
  /** Refuses the open calls: when a worker under `TestClock` ends, it would wait for them. */
  const end = Effect.suspend(() => Effect.forEach(all, ({ answer, key }) => Deferred.fail(answer, refusal(key))))
  return { calls, end, layer: mockPayments({ requestWithdrawal }) }
})
