/**
 * The options of a run, with their defaults; or what is wrong with them.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { BalanceOptions } from "../../contract/Balance.ts"
import { checkOptions } from "../../contract/CallChecks.ts"
import { fromReferenceOption } from "../../contract/IdempotencyKey.ts"
import * as Check from "../../contract/Settings.ts"
import { Centavos } from "../../pix/Money.ts"
import { type PayoutError, PayoutEvent, type PayoutItem, PayoutReport } from "../Payout.ts"

/** Many payouts, in a list or in a stream. */
export type Items<E = never, R = never> = Iterable<PayoutItem> | Stream.Stream<PayoutItem, E, R>

/** How to pay many. An option that makes no sense, such as a concurrency of 0, is an `InvalidRequest`. */
export interface Options {
  /** How many requests may be under way at the same time. Default 4. */
  readonly concurrency?: number | undefined
  /**
   * The kind of the references, for `IdempotencyKey.fromReference`. Keep it for ever: the same reference with another
   * kind is another payout to the service. Default `payout`, as in `PayoutQueue`.
   */
  readonly kind?: string | undefined
  /** The largest amount of one payout, in centavos; a payout above it is not started. Default: no limit. */
  readonly maxAmount?: Centavos | undefined
  /**
   * The largest sum of the payouts that the run may start, in centavos, whatever their results. At the first item that
   * would exceed it, the run stops. Default: no limit.
   */
  readonly maxTotal?: Centavos | undefined
  /**
   * Reads the balance once, before anything is sent: `true`, or whose balance. A list that it does not cover is not
   * started; a stream stops at the first item that its running sum does not cover. Default: no check.
   */
  readonly checkBalance?: boolean | BalanceOptions | undefined
  /**
   * The failures after which nothing more is started: tags of errors or outcomes, or a predicate (if it throws, the run
   * stops). An `AuthError` and a redirect always stop the run, since they concern the `Setup`. Default: every `Unknown`, and
   * every failure that the next payout would have as well, since it concerns the `Setup`, the `Service` or the `Balance`.
   */
  readonly stopOn?:
    | ReadonlyArray<PayoutError["_tag"] | PayoutError["outcome"]>
    | ((error: PayoutError) => boolean)
    | undefined
  /**
   * The report of an earlier run, or the events or results of all earlier runs, in any order; events of other references do
   * not matter. They have one `kind`, that of this run. Default: none.
   *
   * - A payout that is `Done` is reported as it is: nothing is sent for it, and it counts towards no limit.
   * - A payout that is `Unknown`, or `Started` without a result, stays `Unknown` until the service says that it is done.
   * - An item whose amount or content differs from the payout that is done or unknown is refused with `ReferenceConflict`;
   *   so is an item that is done or unknown under another key than that of this run.
   */
  readonly previous?: Iterable<PayoutEvent> | PayoutReport | undefined
  /** Sends no payout that is unknown in `previous`, and reports it as it was. Default false. */
  readonly hold?: boolean | undefined
  /**
   * How long after its first attempt an unknown payout may be sent again. It has to be shorter than the time for which the
   * service remembers keys, which it does not document. A payout that is older, or has no time, is held and reported.
   * Default 12 hours.
   */
  readonly keyHorizon?: Duration.Input | undefined
}

/** Whether the next item would fail alike, or a person should see the failure before more is sent. */
const isStopByDefault = ({ concerns, outcome }: PayoutError): boolean => outcome === "Unknown" || concerns !== "Request"

const stopperOf = (stopOn: Options["stopOn"]) => {
  if (stopOn === undefined) return isStopByDefault
  const isStop =
    typeof stopOn === "function"
      ? stopOn
      : (error: PayoutError) => stopOn.some((name) => name === error._tag || name === error.outcome)
  return (error: PayoutError) =>
    error.concerns === "Setup" ||
    // After a predicate that throws, a stop is safe.
    Result.getOrElse(
      Result.try(() => isStop(error)),
      () => true
    )
}

const isEvent = Schema.is(PayoutEvent)
const isReport = Schema.is(PayoutReport)

/** The events of earlier runs, or `undefined` where `previous` is something else. */
const eventsOf = (previous: NonNullable<Options["previous"]>): ReadonlyArray<PayoutEvent> | undefined => {
  if (isReport(previous)) return Object.values({ ...previous }).flat()
  // A caller without types may give anything, and reading it may throw.
  const events = Result.getOrUndefined(Result.try(() => [...previous]))
  return events?.every(isEvent) === true ? events : undefined
}

const isLimit = Schema.is(Schema.UndefinedOr(Centavos))

/** Checks the items and the options, also those of a caller without types. */
export const settingsOf = (items: unknown, given: Options) =>
  checkOptions("requestWithdrawal", given, (options) => {
    const { checkBalance, concurrency = 4, hold = false, keyHorizon = "12 hours", kind = "payout", stopOn } = options
    const previous = eventsOf(options.previous ?? [])
    const { checked } = Check
    const limit = (setting: "maxAmount" | "maxTotal") =>
      checked(setting, options[setting], isLimit(options[setting]), "must be a whole number of centavos")
    const isList = Stream.isStream(items) || Predicate.isIterable(items)
    return {
      items: checked("items", undefined, isList, "must be a list or a stream of payouts"),
      concurrency: Check.count("concurrency", concurrency),
      kind: checked(
        "kind",
        kind,
        Option.isSome(fromReferenceOption(kind, "reference")),
        "must be 1 to 32 letters, digits or hyphens"
      ),
      maxAmount: limit("maxAmount"),
      maxTotal: limit("maxTotal"),
      /** The balance to check, if any. */
      checkBalance: checked(
        "checkBalance",
        checkBalance === true ? {} : checkBalance === false ? undefined : checkBalance,
        checkBalance === undefined || typeof checkBalance === "boolean" || Predicate.isObject(checkBalance),
        "must be true, false, or whose balance"
      ),
      isStop: checked(
        "stopOn",
        stopperOf(stopOn),
        stopOn === undefined || typeof stopOn === "function" || Array.isArray(stopOn),
        "must be a list of tags and outcomes, or a function"
      ),
      hold: checked("hold", hold, typeof hold === "boolean", "must be true or false"),
      /** In milliseconds. */
      keyHorizon: Check.millis("keyHorizon", keyHorizon),
      previous: checked(
        "previous",
        previous ?? [],
        previous !== undefined,
        "must be the report, the events or the results of earlier runs"
      )
    }
  })

/** The options of a run, checked. */
export type Settings = Effect.Success<ReturnType<typeof settingsOf>>
