/**
 * One attempt of a call: sends one request over the transport, in a span, and judges the answer.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Tracer from "effect/Tracer"
import { headerNames } from "../../../contract/Endpoints.ts"
import { errorType, withoutValues } from "../../../internal/spans.ts"
import { startTimer, stopTimer } from "../../../internal/timer.ts"
import type { Sent } from "../../../internal/transport.ts"
import type { ApiCredentials } from "../../Credentials.ts"
import { judgeAnswer, judgeFailure } from "./judge.ts"
import { headerOf } from "./judgeRefusal.ts"
import { type Call, type Failed, type Prepared, sendUntil } from "./state.ts"

interface Attempted<A> {
  readonly status: number | undefined
  readonly result: Result.Result<A, Failed>
}

const json = "application/json"

const headersOf = (
  { apiKey, clientId }: ApiCredentials,
  { body, idempotencyKey }: Prepared<unknown, unknown>,
  span: Tracer.Span | undefined
) => {
  const headers: Record<string, string> = span === undefined ? {} : { ...HttpTraceContext.toHeaders(span) }
  headers[headerNames.accept] = json
  headers[headerNames.clientId] = clientId
  headers[headerNames.apiKey] = Redacted.value(apiKey)
  if (body !== undefined) headers[headerNames.contentType] = json
  if (idempotencyKey !== undefined) headers[headerNames.idempotencyKey] = idempotencyKey
  // A framework's fetch, or a proxy, may keep answers: a payment would never be seen.
  else headers[headerNames.cacheControl] = "no-store"
  return headers
}

const platformClock = Context.get(Context.empty(), Clock.Clock)

const expire = (sent: Sent): void => sent.expire()

/** Limits the time of a request, by the clock of the call. Returns the function that stops the timer. */
const startTimeout = ({ context, settings }: Call, millis: number, sent: Sent): (() => void) => {
  if (settings.clock === platformClock) {
    const timer = startTimer(millis, expire, sent)
    return () => stopTimer(timer)
  }
  const late = Effect.delay(
    Effect.sync(() => sent.expire()),
    Duration.millis(millis)
  )
  const fiber = Effect.runForkWith(context)(late)
  return () => fiber.interruptUnsafe()
}

/** A request of which nothing is known yet. */
const anyRequest = { mayHaveLeft: () => true }

/** The last `Date` that was read: all answers of one second have the same. */
let lastDate = { text: "", millis: Number.NaN }

const writtenAt = (text: string): number => {
  if (lastDate.text !== text) {
    lastDate = {
      text,
      millis: Option.match(DateTime.make(text), { onNone: () => Number.NaN, onSome: DateTime.toEpochMillis })
    }
  }
  return lastDate.millis
}

/**
 * By how many seconds the program's clock is ahead of the one that wrote a `Date`, between the moments at which the request was sent
 * and answered: 0 where a header in whole seconds shows no difference.
 */
const offsetOf = (date: string | undefined, sentAt: number, answeredAt: number): number | undefined => {
  const written = date === undefined ? Number.NaN : writtenAt(date)
  if (Number.isNaN(written)) return undefined
  return Math.max(0, sentAt - written - 999) / 1000 + Math.min(0, answeredAt - written) / 1000
}

const send = <A, E>(call: Call<A, E>, used: ApiCredentials, span?: Tracer.Span): Effect.Effect<Attempted<A>> =>
  Effect.callback((resume) => {
    const { client, context, prepared, route, settings, started } = call
    const { attemptTimeout, clock, deadline, isTracePropagated, monotonicMillis, policy, transport } = settings
    call.attempts++
    call.used = used
    call.request = anyRequest
    const now = monotonicMillis()
    const wallNow = clock.currentTimeMillisUnsafe()
    call.attemptStarted = now
    call.firstSentAt ??= wallNow
    const wallEnd = sendUntil(call)
    const timeout = Math.ceil(Math.min(attemptTimeout, started + deadline - now, wallEnd - wallNow))
    let isOver = false
    let stop: (() => void) | undefined
    const end = (attempted: Attempted<A>) => {
      isOver = true
      stop?.()
      resume(Effect.succeed(attempted))
    }
    const sent = transport.send(
      {
        origin: client.origin,
        method: route.endpoint.method,
        path: client.prefix + prepared.path,
        headers: headersOf(used, prepared, isTracePropagated ? span : undefined),
        body: prepared.body,
        isLate: () => monotonicMillis() - now > timeout || clock.currentTimeMillisUnsafe() > wallEnd,
        context
      },
      policy.maxResponseBytes,
      {
        onAnswer: (status, headers, body) => {
          const offset = offsetOf(headerOf(headers, "date"), wallNow, clock.currentTimeMillisUnsafe())
          if (offset !== undefined) client.meters.recordClockOffset(offset, context)
          end({ status, result: judgeAnswer(call, status, headers, body) })
        },
        onFailure: (failure) => end({ status: failure.head?.status, result: judgeFailure(call, failure) })
      }
    )
    call.request = sent
    if (!isOver) stop = startTimeout(call, Math.max(0, timeout), sent)
    return Effect.suspend(() => {
      stop?.()
      return sent.cancel
    })
  })

/** Records the duration of the current attempt. */
export const recordAttempt = (call: Call, status: number | undefined, errorType: string | undefined): void => {
  const { attemptStarted, client, context, route, settings } = call
  const seconds = (settings.monotonicMillis() - attemptStarted) / 1000
  client.meters.recordAttempt(seconds, context, route.endpoint.operation, status, errorType)
}

/** Sends the request once. */
export const attempt = <A, E>(call: Call<A, E>, used: ApiCredentials): Effect.Effect<Result.Result<A, Failed>> =>
  Effect.map(call.settings.isTraced ? sendInSpan(call, used) : send(call, used), ({ result, status }) => {
    recordAttempt(call, status, Result.isFailure(result) ? errorType(result.failure) : undefined)
    return result
  })

const sendInSpan = <A, E>(call: Call<A, E>, used: ApiCredentials): Effect.Effect<Attempted<A>> => {
  const { client, route, settings } = call
  const { method, path } = route.endpoint
  const template = client.prefix + path
  const span = Effect.makeSpan(`${method} ${template}`, {
    kind: "client",
    ...(call.span !== undefined && { parent: call.span }),
    attributes: {
      "http.request.method": method,
      "url.template": template,
      "server.address": client.server.address,
      "server.port": client.server.port,
      "url.scheme": client.server.scheme,
      ...(call.attempts > 0 && { "http.request.resend_count": call.attempts })
    }
  })
  return Effect.flatMap(span, (span) => {
    const end = (exit: Exit.Exit<unknown, unknown>) =>
      span.end(settings.clock.currentTimeNanosUnsafe(), withoutValues(exit))
    const judged = Effect.map(send(call, used, span), (attempted) => {
      const { result, status } = attempted
      if (status !== undefined) span.attribute("http.response.status_code", status)
      if (Result.isSuccess(result)) end(Exit.void)
      else {
        const { retryAfter } = result.failure
        span.attribute("error.type", errorType(result.failure))
        if (retryAfter !== undefined) span.attribute("payments.retry_after", Duration.toSeconds(retryAfter))
        end(Exit.fail({ _tag: errorType(result.failure) }))
      }
      return attempted
    })
    return Effect.onExit(judged, (exit) => (Exit.isSuccess(exit) ? Effect.void : Effect.sync(() => end(exit))))
  })
}
