/**
 * A call from its first attempt to its end.
 *
 * Rules for a write: every attempt sends the same bytes and the same key. Once an attempt may have been executed, the
 * outcome stays unknown until there is a success that can be read, and nothing is sent under another client id, base URL
 * or company, since a key belongs to these, or after the horizon. An interruption while it may have been executed is
 * reported.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as ErrorReporter from "effect/ErrorReporter"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { invalidRequest } from "../../../contract/Options.ts"
import type { InvalidRequest, Outcome } from "../../../contract/PaymentsError.ts"
import { isUnclear } from "../../../contract/WriteOptions.ts"
import { isPastHorizon } from "../../../internal/horizon.ts"
import type { Sender } from "../../../internal/sender.ts"
import { errorType, log, withoutValues } from "../../../internal/spans.ts"
import { attempt, recordAttempt } from "./attempt.ts"
import type { Client } from "./client.ts"
import {
  attributesOfAttempt,
  attributesOfCall,
  attributesOfError,
  CallListener,
  lostReport,
  onLostExit,
  reportLost
} from "./report.ts"
import { makeRetry, type Retry } from "./retry.ts"
import type { Call, Failed, Prepared, Refused, Route, Unanswered } from "./state.ts"

interface Tagged extends ErrorReporter.Reportable {
  readonly _tag: string
  readonly message: string
  readonly outcome: Outcome
}

/** How a call ended. */
interface CallEnd {
  /** `Success`, the error's tag, `Interrupted` or `Defect`. */
  readonly result: string
  readonly outcome: Outcome | "Executed"
  /** Absent for a success. */
  readonly errorType?: string
}

/** An earlier call with the same key may have been executed. */
const earlierUnknown: Unanswered = { _tag: "Unanswered", sent: "Unknown", reason: "EarlierUnknown" }

/** How many writes in doubt a client remembers. */
const mostDoubts = 10_000

/** A key of one operation is another key for another one. */
const nameOf = ({ prepared, route }: Call) => `${route.endpoint.operation} ${prepared.idempotencyKey}`

/** Puts a call in doubt whose key is, by an earlier call of the client. Returns whether it was not in doubt by itself. */
const recall = (call: Call): boolean => {
  const { doubts } = call.client
  if (doubts.size === 0 || call.inDoubt !== undefined || !doubts.has(nameOf(call))) return false
  call.inDoubt = earlierUnknown
  call.fingerprint ??= doubts.get(nameOf(call))
  return true
}

/** Remembers the doubt with which a write ended, as the newest one. A success ends the doubt. */
const remember = (call: Call, { outcome }: CallEnd): void => {
  const { doubts } = call.client
  if (outcome === "Unknown" || (outcome === "Executed" && doubts.size > 0)) doubts.delete(nameOf(call))
  if (outcome !== "Unknown") return
  doubts.set(nameOf(call), call.fingerprint ?? call.sender?.fingerprint())
  const [oldest] = doubts.keys()
  if (doubts.size > mostDoubts && oldest !== undefined) doubts.delete(oldest)
}

/** Runs a prepared call. */
export const run = <A, E extends Tagged>(
  client: Client,
  route: Route,
  prepared: Prepared<A, E>
): Effect.Effect<A, E | InvalidRequest> =>
  Effect.withFiber((fiber): Effect.Effect<A, E | InvalidRequest> => {
    const found = client.settingsOf(fiber)
    if (Result.isFailure(found))
      return Effect.fail(invalidRequest(route.endpoint.operation, [found.failure], prepared.idempotencyKey))
    const settings = found.success
    const call: Call<A, E> = {
      client,
      route,
      prepared,
      settings,
      context: fiber.context,
      started: settings.monotonicMillis(),
      misfits: new Set(),
      attempts: 0,
      attemptStarted: 0,
      used: undefined,
      request: undefined,
      inDoubt: prepared.doubt === undefined ? undefined : earlierUnknown,
      sender: undefined,
      fingerprint: prepared.doubt?.fingerprint,
      firstSentAt: prepared.doubt?.firstSentAt,
      unclear: undefined,
      isReported: false,
      span: undefined,
      isOver: false
    }
    if (prepared.idempotencyKey !== undefined) Context.get(fiber.context, CallListener)(call)
    // The outermost combinator of the call: whatever is around it would be a step in which a paid withdrawal can be lost.
    return onLostExit(settings.isTraced ? inSpan(call) : attempts(call), (cause) =>
      Cause.hasFails(cause)
        ? Effect.failCause(cause)
        : Effect.andThen(endInterrupted(call, cause), Effect.failCause(cause))
    )
  })

const inSpan = <A, E extends Tagged>(call: Call<A, E>) => {
  const { operation } = call.route.endpoint
  const options = { kind: "internal", attributes: attributesOfCall(call) } as const
  return Effect.flatMap(Effect.makeSpan(`Payments.${operation}`, options), (span) => {
    call.span = span
    return attempts(call)
  })
}

const attempts = Effect.fnUntraced(function* <A, E extends Tagged>(call: Call<A, E>) {
  const { client, settings } = call
  const { operation } = call.route.endpoint
  let retry: Retry | undefined
  if (recall(call)) {
    const line = `${operation} was called with earlier: "None", and an earlier call with its key may have been executed. It counts as "Unknown".`
    yield* log("Warn", line, attributesOfCall(call), call.span)
  }
  for (;;) {
    const used = yield* client.credentials.current
    const sender = client.senderWith(used)
    const withheld = withholdingReason(call, sender)
    if (withheld !== undefined) return yield* giveUp(call, notSentBecause(withheld, call.inDoubt))
    if (call.inDoubt !== undefined) call.fingerprint ??= sender.fingerprint()
    call.sender = sender
    const result = yield* attempt(call, used)
    if (Result.isSuccess(result)) {
      settings.budget.refund(settings.policy.retryBudget, retry?.cost() ?? "first")
      end(call, Exit.void, { result: "Success", outcome: "Executed" })
      if (call.misfits.size > 0) yield* reportMisfits(call)
      return result.success
    }
    const last = result.failure
    storeDoubt(call, last)
    errorAfter(call, last)
    if (last._tag === "Refused" && last.status === 429) yield* reportRateLimit(call, last)
    retry ??= makeRetry(call)
    if (!(yield* retry.next(last, used))) return yield* giveUp(call, last)
  }
})

const reportMisfits = (call: Call) => {
  const { client, context, misfits, route, settings, span } = call
  const attributes = { ...attributesOfCall(call), "payments.outcome": "Executed" }
  const { operation } = route.endpoint
  return client.reportMisfits(misfits, { attributes, context, now: settings.monotonicMillis(), operation, span })
}

/** Ends the request, and stores the doubt in which it leaves a write. */
const storeDoubt = (call: Call, last: Failed): void => {
  call.request = undefined
  if (call.prepared.idempotencyKey === undefined || last._tag === "Refused" || last.sent === "NotSent") return
  call.inDoubt = { ...last, seen: last.seen ?? call.inDoubt?.seen }
  call.fingerprint ??= call.sender?.fingerprint()
}

/** Why a write must not be sent now. */
const withholdingReason = (call: Call, sender: Sender): "OtherClientId" | "PastHorizon" | undefined => {
  const { fingerprint, firstSentAt, inDoubt, settings } = call
  const { clock, horizon, senderCheck } = settings
  if (!senderCheck(sender) || (fingerprint !== undefined && fingerprint !== sender.fingerprint()))
    return "OtherClientId"
  // Of a key without a known first request, the caller said that it may be sent.
  return inDoubt !== undefined &&
    firstSentAt !== undefined &&
    isPastHorizon(firstSentAt, clock.currentTimeMillisUnsafe(), horizon)
    ? "PastHorizon"
    : undefined
}

const notSentBecause = (reason: Unanswered["reason"], inDoubt: Unanswered | undefined): Unanswered =>
  inDoubt === undefined
    ? { _tag: "Unanswered", sent: "NotSent", reason }
    : { _tag: "Unanswered", sent: "Unknown", reason, seen: inDoubt.seen }

const reportRateLimit = (call: Call, refused: Refused) => {
  const { client, settings, span } = call
  const wait =
    refused.retryAfter === undefined
      ? "It does not say for how long"
      : `It asks to wait ${Math.ceil(Duration.toSeconds(refused.retryAfter))} second(s)`
  const line = `The service takes no more requests now (HTTP 429). ${wait}.`
  return client.report("429", settings.monotonicMillis(), line, {
    attributes: attributesOfAttempt(call, refused),
    span
  })
}

/**
 * The failure of the whole call: the outcome of a write that may have been executed stays unknown, whatever the answer
 * to a later attempt.
 */
const failureOfCall = (last: Failed, inDoubt: Unanswered | undefined): Failed => {
  if (inDoubt === undefined) return last
  if (last._tag === "Unanswered")
    return last.sent === "Unknown" ? { ...last, seen: last.seen ?? inDoubt.seen } : inDoubt
  const { retryAfter, serviceCode, serviceMessage, status } = last
  return {
    ...inDoubt,
    reason: "RefusedAfterUnknown",
    status,
    serviceMessage,
    serviceCode,
    retryAfter,
    issues: undefined
  }
}

const isWithheld = (last: Failed) =>
  last._tag === "Unanswered" && (last.reason === "OtherClientId" || last.reason === "PastHorizon")

/** The error of the call, if it ends after this failure. A doubt in it is known from now on, whatever ends the call. */
const errorAfter = <A, E extends Tagged>(call: Call<A, E>, last: Failed): E => {
  // Another call with the key may have ended in doubt meanwhile.
  recall(call)
  const error = call.prepared.toError(call, failureOfCall(last, call.inDoubt))
  if (isUnclear(error)) call.unclear = error
  return error
}

const giveUp = <A, E extends Tagged>(call: Call<A, E>, last: Failed): Effect.Effect<never, E> => {
  const error = errorAfter(call, last)
  if (last._tag === "Refused") {
    const tagInDoubt = call.inDoubt && call.prepared.toError(call, last)._tag
    call.settings.onRefused({ tagInDoubt, digest: last.digest })
  }
  endFailed(call, error, Exit.fail(error))
  // The earlier call has already logged a warning about its unknown outcome; and a caller of this library stores it, and logs it itself.
  const isKnown =
    (call.prepared.doubt !== undefined && !isWithheld(last)) || call.settings.notAfter !== Number.POSITIVE_INFINITY
  const level = isKnown ? "Debug" : "Warn"
  if (error.outcome === "Unknown") {
    // The key of a charge is made of its order. That of a withdrawal may stand nowhere else, so each has its line.
    const isLimited = !isKnown && call.route.endpoint.operation === "createTransaction"
    const told = isLimited ? reportFailedWrite(call, error) : logFailed(call, error, level)
    return Effect.andThen(told, Effect.fail(error))
  }
  return isToldOf(call, last) ? Effect.andThen(reportFailedWrite(call, error), Effect.fail(error)) : Effect.fail(error)
}

/** Whether a write that was not executed has a line: a 429 has one of its own, and so have the payouts of a queue. */
const isToldOf = ({ prepared, settings }: Call, last: Failed) =>
  prepared.idempotencyKey !== undefined && last.status !== 429 && settings.notAfter === Number.POSITIVE_INFINITY

/** A shop that can create no charge hears of it without metrics. */
const reportFailedWrite = (call: Call, error: Tagged) => {
  const { client, route, settings, span } = call
  const { operation } = route.endpoint
  const type = errorType(error)
  const line =
    error.outcome === "Unknown"
      ? `${error._tag}: ${error.message}`
      : `${operation} failed (${type}), and was not executed. ${error.message}`
  const attributes = attributesOfError(call, error)
  return client.report(`${operation} ${type}`, settings.monotonicMillis(), line, { attributes, span })
}

/**
 * Ends a call that was interrupted or failed with a defect, or whose result did not reach the caller. No error is returned,
 * so the key of a write is reported.
 */
const endInterrupted = <A, E>(call: Call<A, E>, cause: Cause.Cause<E>): Effect.Effect<unknown> => {
  const exit = Exit.failCause(cause)
  const report = lostReport(call)
  const result = Cause.hasInterruptsOnly(cause) ? "Interrupted" : "Defect"
  if (call.request !== undefined && !call.isOver)
    recordAttempt(call, undefined, report === undefined ? result : "Interrupted")
  if (report === undefined) {
    end(call, exit, { result, outcome: "NoEffect", errorType: result })
    return Effect.void
  }
  call.unclear = report
  endFailed(call, report, exit)
  if (call.isReported) return logFailed(call, report, "Debug")
  call.isReported = true
  return reportLost(report, call.settings.policy, call, call.span)
}

const logFailed = (call: Call, error: Tagged, level: "Debug" | "Warn" = "Warn") =>
  log(level, `${error._tag}: ${error.message}`, attributesOfError(call, error), call.span)

const endFailed = (call: Call, error: Tagged, exit: Exit.Exit<unknown, unknown>): void => {
  end(call, exit, { result: error._tag, outcome: error.outcome, errorType: errorType(error) })
}

const end = (call: Call, exit: Exit.Exit<unknown, unknown>, ended: CallEnd): void => {
  const { client, context, prepared, route, settings, span, started } = call
  remember(call, ended)
  // An interruption may come after the end and before the result is returned.
  if (call.isOver) return
  call.isOver = true
  const seconds = (settings.monotonicMillis() - started) / 1000
  const { errorType, outcome, result } = ended
  const { operation } = route.endpoint
  client.meters.recordCall(seconds, context, operation, result, outcome, errorType)
  if (prepared.asked?.amount !== undefined && errorType !== undefined)
    client.meters.countFailed(prepared.asked.amount, context, operation, outcome, errorType)
  if (span === undefined) return
  span.attribute("payments.attempts", call.attempts)
  span.attribute("payments.outcome", outcome)
  if (errorType !== undefined) {
    span.attribute("payments.error", result)
    span.attribute("error.type", errorType)
  }
  span.end(settings.clock.currentTimeNanosUnsafe(), withoutValues(exit))
}
