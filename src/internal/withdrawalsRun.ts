/**
 * A run of payouts: its items judged in their order, sent with bounded concurrency, and told as events.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Balance, BalanceOptions } from "../Balance.ts"
import { fromReference, type WriteOptions } from "../IdempotencyKey.ts"
import { Centavos } from "../Money.ts"
import type { GetBalanceError, RequestWithdrawalError } from "../PaymentsError.ts"
import type { Withdrawal, WithdrawalRequest } from "../Withdrawal.ts"
import {
  type PayoutError,
  type PayoutEvent,
  type PayoutItem,
  type PayoutItems,
  type PayoutNotStarted,
  type PayoutOptions,
  type PayoutReport,
  type PayoutResult,
  PayoutSourceFailed,
  type RequestWithdrawals,
  type StreamWithdrawals
} from "../Withdrawals.ts"
import { makePlan, type Start } from "./withdrawalsPlan.ts"

/** The two operations that a run is made of. */
export interface PayoutOperations {
  readonly requestWithdrawal: (
    request: WithdrawalRequest,
    options?: WriteOptions
  ) => Effect.Effect<Withdrawal, RequestWithdrawalError>
  readonly getBalance: (options?: BalanceOptions) => Effect.Effect<Balance, GetBalanceError>
}

const Settings = Schema.Struct({
  concurrency: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  maxAmount: Schema.UndefinedOr(Centavos),
  maxTotal: Schema.UndefinedOr(Centavos)
})
const checkSettings = Schema.decodeUnknownSync(Settings)

const settingsOf = ({ concurrency = 4, kind = "payout", maxAmount, maxTotal, previous = [] }: PayoutOptions) => {
  // Both throw: settings that make no sense would spoil every item.
  const checked = checkSettings({ concurrency, maxAmount, maxTotal })
  fromReference(kind, "reference")
  return { ...checked, kind, previous }
}

const stopperOf = (stopOn: PayoutOptions["stopOn"] = ["Unknown", "InsufficientBalance"]) => {
  const isStop =
    typeof stopOn === "function"
      ? stopOn
      : (error: PayoutError) => stopOn.some((name) => name === error._tag || name === error.outcome)
  return (error: PayoutError) => error._tag === "AuthError" || isStop(error)
}

const reportOf = (events: ReadonlyArray<PayoutEvent>): PayoutReport => {
  const ordered = events.toSorted((a, b) => a.index - b.index)
  const only = <Tag extends PayoutResult["_tag"]>(tag: Tag) =>
    ordered.filter((event): event is Extract<PayoutResult, { readonly _tag: Tag }> => event._tag === tag)
  return {
    done: only("Done"),
    refused: only("Refused"),
    unknown: only("Unknown"),
    notStarted: only("NotStarted"),
    repeated: only("Repeated")
  }
}

/** Makes the two ways to run many payouts: told as they go, or as a report at the end. */
export const make = ({
  getBalance,
  requestWithdrawal
}: PayoutOperations): {
  readonly requestWithdrawals: RequestWithdrawals
  readonly streamWithdrawals: StreamWithdrawals
} => {
  const run = Effect.fnUntraced(function* <E, R>(items: PayoutItems<E, R>, options: PayoutOptions) {
    const settings = settingsOf(options)
    const isStop = stopperOf(options.stopOn)
    const plan = makePlan(settings)
    const input = Stream.isStream(items) ? items : [...items]
    const source: Stream.Stream<PayoutItem, E, R> = Array.isArray(input) ? Stream.fromIterable(input) : input
    let judge = plan.judge()
    let stopped: Pick<PayoutNotStarted, "reason" | "error"> | undefined
    if (options.checkBalance !== undefined && options.checkBalance !== false) {
      const balance = yield* Effect.result(getBalance(options.checkBalance === true ? {} : options.checkBalance))
      if (Result.isFailure(balance)) {
        stopped = { reason: "BalanceUnknown", error: balance.failure }
      } else {
        const { accBalance } = balance.success
        judge = Array.isArray(input) ? plan.judgeWhole(input, accBalance) : plan.judge(accBalance)
      }
    }

    const pay = ({ idempotencyKey, index, reference, request }: Start): Stream.Stream<PayoutEvent> => {
      const keyed = { index, reference, idempotencyKey }
      const { amount } = request
      const failed = (error: RequestWithdrawalError): PayoutEvent => {
        if (isStop(error)) stopped ??= { reason: "Stopped", error }
        return error.outcome === "Unknown"
          ? { _tag: "Unknown", ...keyed, amount, error }
          : { _tag: "Refused", ...keyed, error }
      }
      const unlessStopped = (step: Effect.Effect<PayoutEvent>): Stream.Stream<PayoutEvent> =>
        Stream.fromEffect(
          Effect.suspend(() =>
            stopped === undefined ? step : Effect.succeed({ _tag: "NotStarted", ...keyed, ...stopped })
          )
        )
      const send = Effect.match(requestWithdrawal(request, { idempotencyKey }), {
        onSuccess: (withdrawal): PayoutEvent => ({ _tag: "Done", ...keyed, amount, withdrawal }),
        onFailure: failed
      })
      return Stream.flatMap(unlessStopped(Effect.succeed({ _tag: "Started", ...keyed, amount })), (event) =>
        // It may have waited for its reader meanwhile, and another payout have stopped the run.
        event._tag === "Started" ? Stream.concat(Stream.succeed(event), unlessStopped(send)) : Stream.succeed(event)
      )
    }

    let failure: Cause.Cause<E> | undefined
    return source.pipe(
      Stream.zipWithIndex,
      Stream.map(([item, index]) => judge(item, index)),
      // What was started is finished first.
      Stream.catchCause((cause) => {
        failure = cause
        return Stream.empty
      }),
      Stream.flatMap((planned) => (planned._tag === "Start" ? pay(planned) : Stream.succeed(planned)), {
        concurrency: settings.concurrency
      }),
      Stream.concat(Stream.suspend(() => (failure === undefined ? Stream.empty : Stream.failCause(failure))))
    )
  })

  const streamWithdrawals: StreamWithdrawals = (items, options = {}) =>
    Stream.unwrap(Effect.suspend(() => run(items, options)))

  const reportWithdrawals = <E, R>(items: PayoutItems<E, R>, options?: PayoutOptions) =>
    Effect.suspend(() => {
      const events: Array<PayoutEvent> = []
      const read = Stream.runForEach(streamWithdrawals(items, options), (event) =>
        Effect.sync(() => events.push(event))
      )
      return Effect.mapBoth(read, {
        onSuccess: () => reportOf(events),
        onFailure: (error) => new PayoutSourceFailed({ error, report: reportOf(events) })
      })
    }).pipe(Effect.withSpan("Payments.requestWithdrawals"))

  function requestWithdrawals<R>(
    items: PayoutItems<never, R>,
    options?: PayoutOptions
  ): Effect.Effect<PayoutReport, never, R>
  function requestWithdrawals<E, R>(
    items: PayoutItems<E, R>,
    options?: PayoutOptions
  ): Effect.Effect<PayoutReport, PayoutSourceFailed<E>, R>
  function requestWithdrawals<E, R>(items: PayoutItems<E, R>, options?: PayoutOptions) {
    return reportWithdrawals(items, options)
  }

  return { requestWithdrawals, streamWithdrawals }
}
