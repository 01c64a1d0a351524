/**
 * Batches of payouts for tests, and a gateway that pays once for each key.
 */
import { type Balance, IdempotencyKey, Money, type Payments, PixKey, type WithdrawalRequest } from "effect-pix"
import {
  AuthError,
  IdempotencyConflict,
  InsufficientBalance,
  OutcomeUnknown,
  RateLimited,
  RequestRejected,
  type RequestWithdrawalError,
  ServiceUnavailable
} from "../../src/contract/PaymentsError.ts"
import type { WriteOptions } from "../../src/contract/WriteOptions.ts"
import type { Withdrawal } from "../../src/contract/Withdrawal.ts"
import { type PayoutEvent, type PayoutItem, type PayoutReport, type PayoutResult, Payouts } from "effect-pix/payouts"
import { DateTime, Effect, Equal, Stream } from "effect"
import { mockPayments } from "./payments.ts"

/** The two ways to run, over the operations given. */
export const make = (operations: Partial<Payments["Service"]>) => {
  const layer = mockPayments(operations)
  return {
    run: <E = never>(items: Payouts.Items<E>, options?: Payouts.Options) =>
      Effect.provide(Payouts.run<E>(items, options), layer),
    stream: <E = never>(items: Payouts.Items<E>, options?: Payouts.Options) =>
      Stream.provide(Payouts.stream<E>(items, options), layer)
  }
}

export const item = (reference: string, amount = 1000): PayoutItem => ({
  reference,
  amount: Money.centavos(amount),
  pixKey: PixKey.email("maria@example.com")
})
export const items = (count: number) => Array.from({ length: count }, (_, index) => item(`invoice-${index}`))
export const keyOf = (reference: string) => IdempotencyKey.fromReference("payout", reference)
export const referencesOf = (results: ReadonlyArray<{ readonly reference: string }>) =>
  results.map(({ reference }) => reference)

export const yields = (count: number) =>
  Effect.forEach(Array.from({ length: count }), () => Effect.yieldNow, { discard: true })

export const resultsOf = (events: ReadonlyArray<PayoutEvent>) =>
  events.filter((event): event is PayoutResult => event._tag !== "Started")

type Reply = Effect.Effect<void, RequestWithdrawalError>
type Script = (reference: string, key: string) => Reply | undefined

const common = (idempotencyKey: string) =>
  ({ operation: "requestWithdrawal", attempts: 1, idempotencyKey, status: 422 }) as const
export const failures = {
  unknown: (key: string) =>
    new OutcomeUnknown({ ...common(key), outcome: "Unknown", reason: "Timeout", idempotencyKey: key }),
  conflict: (key: string) => new IdempotencyConflict({ ...common(key), outcome: "Unknown" }),
  poor: (key: string) => new InsufficientBalance({ ...common(key), outcome: "Rejected" }),
  auth: (key: string) => new AuthError({ ...common(key), outcome: "Rejected", status: 401 }),
  down: (key: string) => new ServiceUnavailable({ ...common(key), outcome: "NotSent", reason: "NoConnection" }),
  throttled: (key: string) => new RateLimited({ ...common(key), outcome: "Rejected", status: 429 }),
  redirected: (key: string) => new RequestRejected({ ...common(key), outcome: "Rejected", status: 308 }),
  refused: (key: string) => new RequestRejected({ ...common(key), outcome: "Rejected", serviceMessage: "Recusado" })
}

/** A gateway that pays once for each key. It shares no code with the client or the sandbox. */
export const makeModel = (options: { readonly balance?: string; readonly script?: Script } = {}) => {
  const ledger = new Map<string, { readonly request: WithdrawalRequest; readonly record: Withdrawal }>()
  const calls: Array<string> = []
  const earlier: Array<unknown> = []
  let balances = 0
  const book = (request: WithdrawalRequest, key: string): Reply =>
    Effect.suspend(() => {
      const held = ledger.get(key)
      if (held !== undefined)
        return Equal.equals(held.request, request) ? Effect.void : Effect.fail(failures.conflict(key))
      const record: Withdrawal = {
        id: ledger.size + 1,
        idempotencyKey: key,
        value: Money.toReais(request.amount),
        enTransaction: "Awaiting",
        createdAt: DateTime.makeUnsafe(0)
      }
      ledger.set(key, { request, record })
      return Effect.void
    })
  const operations = {
    getBalance: () =>
      Effect.sync((): Balance => {
        balances += 1
        return { id: 1, enBalanceStatus: "Released", accBalance: Money.reais(options.balance ?? "1000000") }
      }),
    requestWithdrawal: (request: WithdrawalRequest, given: WriteOptions = {}) =>
      Effect.suspend(() => {
        const { idempotencyKey = "" } = given
        calls.push(idempotencyKey)
        earlier.push(given.earlier)
        const scripted = options.script?.(request.description ?? "", idempotencyKey)
        return (scripted ?? book(request, idempotencyKey)).pipe(
          Effect.andThen(
            Effect.suspend(() => {
              const held = ledger.get(idempotencyKey)
              return held === undefined ? Effect.die("the script forgot to pay") : Effect.succeed(held.record)
            })
          )
        )
      })
  }
  return { ...make(operations), book, ledger, calls, earlier, balances: () => balances, operations }
}

/** A gateway that fails for some references. */
export const failing = (byReference: Record<string, (key: string) => RequestWithdrawalError>) => {
  const byKey = new Map(Object.entries(byReference).map(([reference, error]) => [keyOf(reference), error]))
  return (_: string, key: string) => {
    const error = byKey.get(key)
    return error === undefined ? undefined : Effect.fail(error(key))
  }
}

/** The time at which a test begins. */
export const start = DateTime.makeUnsafe(0)

/** The tags of a report, in the order of its items. */
export const tagsOf = (report: PayoutReport) =>
  [...report.done, ...report.refused, ...report.unknown, ...report.notStarted, ...report.repeated]
    .toSorted((a, b) => a.index - b.index)
    .map(({ _tag }) => _tag)
