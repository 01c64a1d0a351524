/**
 * Many payouts: a list or a stream of withdrawals with business references, paid with bounded concurrency.
 *
 * The key of each payout is made from its reference (`IdempotencyKey.fromReference`), so that **running it again with
 * the same references repeats no payout**: after a crash, an interruption or a stop, run the whole list again. That
 * holds as long as the service remembers the keys; it does not document for how long.
 *
 * Every item of the input gets exactly one result:
 *
 * | result | money |
 * |---|---|
 * | `Done` | the service took the withdrawal on |
 * | `Refused` | nothing moved: refused by the service, found wrong before, or provably not sent |
 * | `Unknown` | may have moved. Run the same references again to learn it; never under another reference |
 * | `NotStarted` | nothing was sent: the run stopped before it, or a limit of the run kept it back |
 * | `Repeated` | an identical item with this reference came before; that one has the result |
 *
 * Gotchas:
 * - A stop lets what is under way finish. An interruption does not: the client logs each write that it cuts off, with
 *   its key, and tells `PaymentsPolicy.onInterruptedWrite`. The report is lost then; take `Payouts.stream` and store
 *   its events where you want to know what was started.
 * - The rest of the input is read after a stop too, to be listed as not started. Cut an endless stream yourself.
 * - A limit judges the list in its order and by its amounts, whether or not an earlier run has paid some of them. Give
 *   what earlier runs answered as `previous`, and what is done counts no more.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Payments } from "../client/Payments.ts"
import type { BalanceOptions } from "../contract/Balance.ts"
import { fromReference } from "../contract/IdempotencyKey.ts"
import type { RequestWithdrawalError } from "../contract/PaymentsError.ts"
import { Centavos } from "../pix/Money.ts"
import { makePlan, type Start } from "./internal/plan.ts"
import {
  type PayoutError,
  type PayoutEvent,
  type PayoutItem,
  type PayoutNotStarted,
  type PayoutReport,
  type PayoutResult,
  PayoutSourceFailed
} from "./Payout.ts"

/** Many payouts, in a list or in a stream. */
export type Items<E = never, R = never> = Iterable<PayoutItem> | Stream.Stream<PayoutItem, E, R>

/** How to pay many. An option that makes no sense, such as a concurrency of 0, is a defect. */
export interface Options {
  /** How many requests may be under way at the same time. Default 4. */
  readonly concurrency?: number | undefined
  /** The kind of the references, for `IdempotencyKey.fromReference`. Default `payout`. */
  readonly kind?: string | undefined
  /** The most that one payout may be, in centavos; what is above is not started. Default: no limit. */
  readonly maxAmount?: Centavos | undefined
  /**
   * The most that the run may start, in centavos, whatever becomes of it. At the first item that would go beyond, the
   * run stops. Default: no limit.
   */
  readonly maxTotal?: Centavos | undefined
  /**
   * Reads the balance once, before anything is sent: `true`, or whose balance. A list that it does not cover is not
   * started; a stream stops at the first item that its running sum does not cover. Default: no check.
   */
  readonly checkBalance?: boolean | BalanceOptions | undefined
  /**
   * At which failures nothing more is started: tags of errors or outcomes, or a predicate. Default
   * `["Unknown", "InsufficientBalance"]`. An `AuthError` always stops.
   */
  readonly stopOn?:
    | ReadonlyArray<PayoutError["_tag"] | PayoutError["outcome"]>
    | ((error: PayoutError) => boolean)
    | undefined
  /**
   * What earlier runs of the same references answered, as stored results or events. What is `Done` in it, under the
   * same key and for the same amount, is reported as it is: nothing is sent for it, and it counts towards no limit.
   */
  readonly previous?: Iterable<PayoutEvent> | undefined
}

const Settings = Schema.Struct({
  concurrency: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  maxAmount: Schema.UndefinedOr(Centavos),
  maxTotal: Schema.UndefinedOr(Centavos)
})
const checkSettings = Schema.decodeUnknownSync(Settings)

const settingsOf = ({ concurrency = 4, kind = "payout", maxAmount, maxTotal, previous = [] }: Options) => {
  // Both throw: settings that make no sense would spoil every item.
  const checked = checkSettings({ concurrency, maxAmount, maxTotal })
  fromReference(kind, "reference")
  return { ...checked, kind, previous }
}

const stopperOf = (stopOn: Options["stopOn"] = ["Unknown", "InsufficientBalance"]) => {
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

const steps = Effect.fnUntraced(function* <E, R>(items: Items<E, R>, options: Options) {
  const { getBalance, requestWithdrawal } = yield* Payments
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

/**
 * Pays many and tells each step as it comes. A slow reader slows the run down; a reader that goes away interrupts it,
 * with what is under way. It fails only as the stream of items fails, after everything that was started.
 */
export const stream = <E = never, R = never>(
  items: Items<E, R>,
  options: Options = {}
): Stream.Stream<PayoutEvent, E, R | Payments> => Stream.unwrap(Effect.suspend(() => steps(items, options)))

/** Pays many and answers the report at the end. Only a stream of items that can fail makes it fail. */
export function run<R = never>(
  items: Items<never, R>,
  options?: Options
): Effect.Effect<PayoutReport, never, R | Payments>
export function run<E, R = never>(
  items: Items<E, R>,
  options?: Options
): Effect.Effect<PayoutReport, PayoutSourceFailed<E>, R | Payments>
export function run<E, R>(items: Items<E, R>, options?: Options) {
  return Effect.suspend(() => {
    const events: Array<PayoutEvent> = []
    const read = Stream.runForEach(stream(items, options), (event) => Effect.sync(() => events.push(event)))
    return Effect.mapBoth(read, {
      onSuccess: () => reportOf(events),
      onFailure: (error) => new PayoutSourceFailed({ error, report: reportOf(events) })
    })
  }).pipe(Effect.withSpan("Payouts.run"))
}
