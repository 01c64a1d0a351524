/**
 * A call from its first attempt to its end.
 *
 * What holds for a write: the same bytes and the same key on every attempt. Once an attempt may have been executed, the
 * outcome stays unknown until there is a success that can be read, and nothing is sent under another client id: keys belong
 * to a client id. An interruption while it may have been executed is reported.
 */
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ErrorReporter from "effect/ErrorReporter"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import { fingerprint } from "../../../contract/IdempotencyKey.ts"
import { type InvalidRequest, type Outcome, OutcomeUnknown } from "../../../contract/PaymentsError.ts"
import { log, withoutValues } from "../../../internal/spans.ts"
import { attempt } from "./attempt.ts"
import type { Client } from "./client.ts"
import { invalid } from "./error.ts"
import { makeRetry, type Retry } from "./retry.ts"
import type { Call, Failed, Prepared, Route, Unanswered } from "./state.ts"
import { calls } from "./telemetry.ts"

interface Tagged extends ErrorReporter.Reportable {
  readonly _tag: string
  readonly message: string
  readonly outcome: Outcome
}

/** An earlier call with the same key may have been executed. */
const earlierUnknown: Unanswered = { _tag: "Unanswered", sent: "Unknown", reason: "EarlierUnknown" }

/** How long `onInterruptedWrite` may take. */
const hookTimeout = Duration.seconds(10)

/** Runs a prepared call. */
export const run = <A, E extends Tagged>(
  client: Client,
  route: Route,
  prepared: Prepared<A, E>
): Effect.Effect<A, E | InvalidRequest> =>
  Effect.withFiber((fiber): Effect.Effect<A, E | InvalidRequest> => {
    const found = client.settingsOf(fiber)
    if (Result.isFailure(found)) {
      return Effect.fail(invalid(route.endpoint.operation, found.failure, prepared.idempotencyKey))
    }
    const settings = found.success
    const call: Call<A, E> = {
      client,
      route,
      prepared,
      settings,
      context: fiber.context,
      started: settings.clock.currentTimeMillisUnsafe(),
      misfits: new Set(),
      attempts: 0,
      used: undefined,
      isUnderWay: false,
      inDoubt: prepared.past === "Unknown" ? earlierUnknown : undefined,
      clientIdInDoubt: undefined,
      span: undefined,
      isOver: false
    }
    const attempted = Effect.uninterruptibleMask((restore) =>
      Effect.onExit(restore(attempts(call)), (exit) =>
        Exit.isSuccess(exit) || call.isOver ? Effect.void : endInterrupted(call, exit.cause)
      )
    )
    return settings.isTraced ? inSpan(call, attempted) : attempted
  })

const inSpan = <A, E>(call: Call<A, E>, effect: Effect.Effect<A, E>) => {
  const { idempotencyKey } = call.prepared
  const { operation } = call.route.endpoint
  const attributes = {
    "payments.operation": operation,
    ...(idempotencyKey !== undefined && { "payments.idempotency_key_hash": fingerprint(idempotencyKey) })
  }
  return Effect.flatMap(Effect.makeSpan(`Payments.${operation}`, { kind: "internal", attributes }), (span) => {
    call.span = span
    return effect
  })
}

const attempts = Effect.fnUntraced(function* <A, E extends Tagged>(call: Call<A, E>) {
  const { client, route, settings } = call
  let retry: Retry | undefined
  let last: Failed | undefined
  for (;;) {
    const used = yield* client.credentials.current
    if (last !== undefined && call.clientIdInDoubt !== undefined && call.clientIdInDoubt !== used.clientId) {
      return yield* giveUp(call, last)
    }
    if (call.inDoubt !== undefined) call.clientIdInDoubt ??= used.clientId
    const result = yield* attempt(call, used)
    if (Result.isSuccess(result)) {
      client.budget.refund(settings.policy.retryBudget, retry?.cost() ?? "first")
      route.meters.success.updateUnsafe(1, call.context)
      end(call, Exit.void)
      if (call.misfits.size > 0) yield* client.reportMisfits(route.endpoint.operation, call.misfits)
      return result.success
    }
    last = result.failure
    call.isUnderWay = false
    if (call.prepared.idempotencyKey !== undefined && last._tag === "Unanswered" && last.sent === "Unknown") {
      call.inDoubt = last
      call.clientIdInDoubt = used.clientId
    }
    retry ??= makeRetry(call)
    if (!(yield* retry.next(last, used))) return yield* giveUp(call, last)
  }
})

/** The failure of the whole call: a write that may have been executed stays in doubt, whatever a later attempt was answered. */
const failureOfCall = (last: Failed, inDoubt: Unanswered | undefined): Failed => {
  if (inDoubt === undefined) return last
  if (last._tag === "Unanswered") return last.sent === "Unknown" ? last : inDoubt
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

const giveUp = <A, E extends Tagged>(call: Call<A, E>, last: Failed): Effect.Effect<never, E> => {
  const error = call.prepared.toError(call, failureOfCall(last, call.inDoubt))
  endFailed(call, error, Exit.fail(error))
  return error.outcome === "Unknown" ? Effect.andThen(logFailed(call, error), Effect.fail(error)) : Effect.fail(error)
}

/** Ends a call that was interrupted or failed with a defect. No error is returned, so the key of a write is reported. */
const endInterrupted = <A, E>(call: Call<A, E>, cause: Cause.Cause<E>): Effect.Effect<unknown> => {
  const exit = Exit.failCause(cause)
  const { idempotencyKey } = call.prepared
  if (idempotencyKey === undefined || !(call.isUnderWay || call.inDoubt !== undefined)) {
    end(call, exit)
    return Effect.void
  }
  const report = new OutcomeUnknown({
    operation: call.route.endpoint.operation,
    attempts: call.attempts,
    idempotencyKey,
    outcome: "Unknown",
    reason: "Interrupted"
  })
  endFailed(call, report, exit)
  const hook = Effect.suspend(() => call.settings.policy.onInterruptedWrite(report))
  return logFailed(call, report).pipe(
    // An interruption waits for this: a hook that hangs must not hold it for ever.
    Effect.andThen(Effect.timeoutOption(Effect.interruptible(hook), hookTimeout)),
    Effect.catchCause(() =>
      log("Warn", "onInterruptedWrite failed. The line above holds the key.", attributesOf(report), call.span)
    )
  )
}

const attributesOf = (error: Tagged) => ({ ...error[ErrorReporter.attributes] })

const logFailed = (call: Call, error: Tagged) =>
  log("Warn", `${error._tag}: ${error.message}`, attributesOf(error), call.span)

const endFailed = (call: Call, error: Tagged, exit: Exit.Exit<unknown, unknown>): void => {
  const labels = { operation: call.route.endpoint.operation, result: error._tag, outcome: error.outcome }
  Metric.withAttributes(calls, labels).updateUnsafe(1, call.context)
  call.span?.attribute("error.type", error._tag)
  call.span?.attribute("payments.outcome", error.outcome)
  end(call, exit)
}

const end = (call: Call, exit: Exit.Exit<unknown, unknown>): void => {
  const { clock } = call.settings
  call.isOver = true
  call.route.meters.duration.updateUnsafe(clock.currentTimeMillisUnsafe() - call.started, call.context)
  call.span?.attribute("payments.attempts", call.attempts)
  call.span?.end(clock.currentTimeNanosUnsafe(), withoutValues(exit))
}
