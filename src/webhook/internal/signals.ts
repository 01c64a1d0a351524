/**
 * The metrics of a webhook, and the attributes of its spans and log lines. They are names, statuses and counts. Spans have
 * a hash of a transaction's id, log lines may have the id. No text of a delivery or of the user's own errors is in them.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import { measureClock } from "../../durable/Now.ts"
import { measureRepeatedly, reportUntil } from "../../durable/Work.ts"
import { counter, gauge, setToNow, update } from "../../internal/metrics.ts"
import { maxNamedWords } from "../../internal/bounds.ts"
import { monotonicMillis } from "../../internal/monotonic.ts"
import type { NextWrite } from "../../internal/soleWriter.ts"
import { plainWord } from "../../contract/StatusWords.ts"
import type { GetTransactionError } from "../../contract/PaymentsError.ts"
import { countSinceLine, errorType, type Lines, log } from "../../internal/spans.ts"
import type { HandlerName, Unconfirmed } from "../WebhookEvent.ts"
import { digest } from "./row.ts"
import type { Store } from "./table.ts"

const deliveries = counter(
  "effect_pix_webhook_deliveries_total",
  "{delivery}",
  "Deliveries by the status of their answer, and why they were not taken"
)
const calls = counter(
  "effect_pix_webhook_handlers_total",
  "{call}",
  "Calls of your code by handler and result: Success, Early for an onWithdrawal whose payout is not known yet, Failure, or Dead for one that is not repeated; of onUnconfirmed by its reason"
)
const waiting = gauge(
  "effect_pix_webhook_waiting",
  "{delivery}",
  "Transactions and other deliveries that wait, by why: due, first, early, outage or failed"
)
const oldest = gauge("effect_pix_webhook_oldest_seconds", "s", "How long the oldest of them has been waiting, by why")
const unlisted = counter(
  "effect_pix_webhook_unlisted_total",
  "{lookup}",
  "Lookups whose status is neither known nor listed in GatewayFacts: only onStatus was called"
)
const untold = counter(
  "effect_pix_webhook_untold_total",
  "{status}",
  "Statuses that a check found, and that no delivery had told"
)
const lastDelivery = gauge(
  "effect_pix_webhook_last_delivery_seconds",
  "s",
  "When a delivery was taken last, in seconds since 1970"
)
const ends = counter(
  "effect_pix_webhook_ends_total",
  "{transaction}",
  "Transactions that a lookup said to be paid, refunded or closed, by the handler that is for it"
)
const endsCentavos = counter(
  "effect_pix_webhook_ends_centavos_total",
  "{centavo}",
  "The sum of the transactions that a lookup said to be paid, refunded or closed, by the handler that is for it"
)
const failedCentavos = counter(
  "effect_pix_webhook_failed_centavos_total",
  "{centavo}",
  "The sum of the transactions that your code did not take at its first call, by handler"
)
const measured = gauge(
  "effect_pix_webhook_measured_seconds",
  "s",
  "When the gauges were measured last, in seconds since 1970"
)

/** The attribute `webhook.transaction_id_hash`, by which the spans and lines of a transaction are found without its id. */
export const transactionHash = (transactionId: string): string => digest(transactionId.toLowerCase()).slice(0, 40)

/** How a call of the user's code ended. */
interface CallEnd {
  readonly result: "Success" | "Early" | "Failure" | "Dead"
  /** Why a delivery was not confirmed, of `onUnconfirmed`. */
  readonly reason?: string | undefined
  /** The kind of a failure. */
  readonly errorType?: string
}

/** Counts a call of the user's code. */
export const countCall = (handler: HandlerName, { errorType, reason, result }: CallEnd): Effect.Effect<void> =>
  update(calls, 1, { handler, result, reason, "error.type": errorType })

/** Why a delivery was not confirmed. */
export const reasonOf = (report: Unconfirmed): string => ("reason" in report ? report.reason : report._tag)

/** Counts a transaction whose end was handed out, also where no code is for it. */
export const countEnd = (handler: HandlerName, centavos: number): Effect.Effect<void> =>
  Effect.andThen(update(ends, 1, { handler }), update(endsCentavos, centavos, { handler }))

/** Counts a transaction that the user's code did not take at its first call. */
export const countFailed = (handler: HandlerName, centavos: number): Effect.Effect<void> =>
  update(failedCentavos, centavos, { handler })

/** Measures every minute, and soon after this process changed something, which rows wait in the store, also those that other processes recorded. Times are the database's. */
export const measures = Effect.fnUntraced(function* (
  webhook: string,
  store: Store,
  follow: Effect.Effect<NextWrite, never, Scope.Scope>,
  hasNews: Latch.Latch
) {
  const nextWrite = yield* follow
  const measure = Effect.gen(function* () {
    const ahead = yield* store.ahead
    yield* measureClock(ahead)
    // While the database is away, the other gauges have their last values, and this one is not updated.
    const markMeasured = setToNow(measured, { webhook }, ahead)
    const now = (yield* Clock.currentTimeMillis) + ahead
    const reasons = ["due", "first", "early", "outage", "failed"]
    const count = yield* store.letters.measure({ waiting, oldest }, ["webhook", webhook], now, reasons)
    yield* markMeasured
    // While nothing waits, the gauges change only after the next write.
    if (count === 0) yield* reportUntil(nextWrite, markMeasured)
  })
  return yield* measureRepeatedly("Webhook: counting", hasNews, measure)
}, Effect.scoped)

/** Why a delivery is refused, and the status of its answer. */
export interface Refusal {
  readonly status: number
  /** The attribute `error.type`: one of a few names. */
  readonly errorType: string
  /** The text for the log, without any text of the delivery. */
  readonly message: string
}

const sinceLastLine = (lines: Lines, key: string) =>
  Effect.map(monotonicMillis, (now) => countSinceLine(lines, key, now))

const moreOf = (count: number) => (count === 1 ? "" : ` ${count - 1} more since the last such line.`)

export type LookupSignals = ReturnType<typeof makeLookupSignals>

/** What lookups say that a person should know: each line once a minute. */
export const makeLookupSignals = (webhook: string, lines: Lines) => {
  const words = new Set<string>()
  return {
    /** A lookup failed, and is repeated. Without an error, the service said nothing within these milliseconds. */
    logOutage: Effect.fnUntraced(function* (error: GetTransactionError | undefined, millis: number) {
      const type = error === undefined ? "Timeout" : errorType(error)
      const count = yield* sinceLastLine(lines, `outage ${type}`)
      if (count === undefined) return
      const what =
        type === "Timeout" ? `a lookup got no answer in ${millis / 1000} seconds` : `a lookup failed (${type})`
      yield* log("Warn", `Webhook: ${what}, and is repeated.${moreOf(count)}`, {
        "webhook.name": webhook,
        "error.type": type,
        "webhook.lookups": count
      })
    }),

    /** Counts a status that was handed out because of a check alone. `handler`: that of the status, if it has one. */
    countUntold: Effect.fnUntraced(function* (handler: HandlerName = "onStatus") {
      yield* update(untold, 1, { webhook, handler })
      const count = yield* sinceLastLine(lines, "untold")
      if (count === undefined) return
      yield* log("Info", `Webhook: a check found a status that no delivery had told.${moreOf(count)}`, {
        "webhook.name": webhook,
        "webhook.handler": handler,
        "webhook.lookups": count
      })
    }),

    /** Counts a lookup whose status no table has: the status is handed out to `onStatus` alone. */
    countUnlisted: Effect.fnUntraced(function* (text: string) {
      const word = plainWord(text)
      if (word !== undefined && words.size < maxNamedWords) words.add(word)
      const status = word !== undefined && words.has(word) ? word : "other"
      yield* update(unlisted, 1, { webhook, "payments.status": status })
      const count = yield* sinceLastLine(lines, `unlisted ${status}`)
      if (count === undefined) return
      yield* log(
        "Warn",
        `Webhook: a lookup says "${status}", which is not listed, so only onStatus was called. If your gateway means paid by it, list it: GatewayFacts.layer({ statuses: { charge: { paid: ["${status}"] } } })`,
        { "webhook.name": webhook, "payments.status": status, "webhook.lookups": count }
      )
    })
  }
}

/** The reports that no stranger can cause at will: each has lines of its own. */
const ownLines: ReadonlySet<string> = new Set(["LookupFailed", "OtherAmount", "OtherTransaction", "WentBack"])

/** Logs the reports that no code of the user's takes: those that anybody can cause are one line a minute. */
export const makeUnconfirmed = (webhook: string, lines: Lines) =>
  Effect.fnUntraced(function* (report: Unconfirmed) {
    const { _tag, id } = report
    const reason = "reason" in report ? report.reason : undefined
    const error = "error" in report ? report.error : undefined
    const key = reason !== undefined && ownLines.has(reason) ? reason : "any"
    const count = yield* sinceLastLine(lines, `unconfirmed ${key}`)
    if (count === undefined) return
    const what = reason === undefined ? _tag : `${_tag} (${reason})`
    yield* log("Warn", `Webhook: could not be confirmed: ${what}${count === 1 ? "" : `.${moreOf(count)}`}`, {
      "webhook.name": webhook,
      "webhook.id": id,
      "webhook.outcome": "Unconfirmed",
      "webhook.transaction_id_hash": "transactionId" in report ? transactionHash(report.transactionId) : undefined,
      "webhook.reports": count,
      "error.type": error === undefined ? (reason ?? _tag) : errorType(error)
    })
  })

/** Logs once a minute that the bound of first lookups holds. */
export const makeHeld = (webhook: string, perSecond: number, lines: Lines) =>
  Effect.gen(function* () {
    const count = yield* sinceLastLine(lines, "held")
    if (count === undefined) return
    yield* log(
      "Warn",
      `Webhook: lookups wait, since more ids arrived than firstLookupsPerSecond allows, ${perSecond} a second: if they are your own charges, give isKnown, or raise it`,
      { "webhook.name": webhook, "webhook.waits": "first", "webhook.lookups": count }
    )
  })

/** Counts the answers of a webhook, and logs why deliveries are refused: at most once a minute for each reason. */
export const makeAnswered = (webhook: string, lines: Lines) =>
  Effect.fnUntraced(function* (status: number, refusal?: Refusal) {
    const labels = { webhook, "http.response.status_code": String(status), "error.type": refusal?.errorType }
    yield* update(deliveries, 1, labels)
    if (status === 200) yield* setToNow(lastDelivery, { webhook })
    if (refusal === undefined) return
    const { errorType, message } = refusal
    // It was reported to the user's code.
    if (errorType === "NotFinished") return yield* Effect.logDebug(message)
    const count = yield* sinceLastLine(lines, `${status} ${errorType}`)
    if (count === undefined) return
    yield* log(
      status === 503 ? "Error" : "Warn",
      `Webhook: a delivery was answered with ${status}: ${message}${moreOf(count)}`,
      {
        "webhook.name": webhook,
        "webhook.outcome": "Refused",
        "http.response.status_code": status,
        "error.type": errorType,
        "webhook.refused": count
      }
    )
  })
