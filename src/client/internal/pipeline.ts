/**
 * How a call becomes attempts. The first runs straight; the rest is a cold path, entered only after a failure.
 *
 * What holds for a write: the same bytes and the same key on every attempt; once an attempt may have been executed the
 * outcome stays unknown until a readable success says otherwise; an interruption while a request may be under way is
 * reported.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constFalse } from "effect/Function"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import type * as Pull from "effect/Pull"
import * as Redacted from "effect/Redacted"
import type * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type * as Tracer from "effect/Tracer"
import type { ApiCredentials, Credentials } from "../Credentials.ts"
import { headerNames } from "../../contract/Endpoints.ts"
import { fingerprint } from "../../contract/IdempotencyKey.ts"
import { type Operation, type Outcome, OutcomeUnknown } from "../../contract/PaymentsError.ts"
import { PaymentsPolicy } from "../PaymentsPolicy.ts"
import { RefusalRules } from "../RefusalRules.ts"
import { attempt } from "./attempt.ts"
import { makeBucket } from "./budget.ts"
import { textsIn } from "./codec.ts"
import { personal } from "./mask.ts"
import { mayTryAgain } from "./retry.ts"
import { inSpan } from "../../internal/spans.ts"
import { metersOf } from "./telemetry.ts"
import type { Failed, Failure, Unanswered, Undecodable } from "./verdict.ts"

/** What an operation is, once for all its calls. */
export interface Route {
  readonly operation: Operation
  readonly method: "GET" | "POST"
  /** The path as the contract writes it, with its parameters unfilled. */
  readonly path: string
}

/** One logical call, prepared: everything about it is fixed but the credentials of an attempt. */
export interface Call<A, E> {
  /** Present for writes, and only for them. */
  readonly idempotencyKey: string | undefined
  /** An earlier call with this key may have been executed. */
  readonly earlier: boolean
  /** What follows the base URL: a path from its first slash, and the query. */
  readonly path: string
  /** The body as JSON; absent for reads. */
  readonly body: string | undefined
  readonly decode: (body: string, policy: PaymentsPolicy) => Result.Result<A, Undecodable>
  readonly toError: (failure: Failure) => E
}

/** Runs the calls of one route. */
export type Runner = <A, E extends Tagged>(call: Call<A, E>) => Effect.Effect<A, E>

export interface Dependencies {
  readonly client: HttpClient.HttpClient
  readonly credentials: Credentials["Service"]
  readonly origin: URL
}

/** A failed write that was sent, or may have been. */
const isMaybeExecuted = (verdict: Failed): verdict is Unanswered =>
  verdict._tag === "Unanswered" && verdict.sent === "Unknown"

/** An earlier call with the same key may have been executed. */
const unknownBefore: Unanswered = { _tag: "Unanswered", sent: "Unknown", reason: "EarlierUnknown" }

/** A write that may have been executed stays so, whatever a later attempt was answered. */
const settle = (last: Failed, maybe: Unanswered | undefined): Failed => {
  if (maybe === undefined) return last
  if (last._tag === "Unanswered") return last.sent === "Unknown" ? last : maybe
  const { retryAfter, serviceMessage, status } = last
  return { ...maybe, reason: "RefusedAfterUnknown", status, serviceMessage, retryAfter, issues: undefined }
}

/** How long `onInterruptedWrite` may take. */
const hookTimeout = Duration.seconds(10)

type ScheduleStep = (now: number, input: unknown) => Pull.Pull<[unknown, Duration.Duration], never, unknown>

interface Tagged {
  readonly _tag: string
  readonly message: string
  readonly outcome: Outcome
}

/**
 * The context that a transport runs in: no redirect is followed, since it would carry the credentials to another
 * host, and the stock span and trace headers stay out, since the spans are ours.
 */
const transportContext = (own: RequestInit | undefined) =>
  Context.make(FetchHttpClient.RequestInit, { ...own, redirect: "manual" }).pipe(
    Context.add(HttpClient.TracerDisabledWhen, () => true)
  )

const attributesOf = ({ method, path }: Route, origin: URL) => ({
  "http.request.method": method,
  "server.address": origin.hostname,
  "server.port": Number(origin.port) || (origin.protocol === "https:" ? 443 : 80),
  "url.scheme": origin.protocol.slice(0, -1),
  "url.template": `${origin.pathname.replace(/\/$/, "")}${path}`
})

const errorType = (span: Tracer.Span) => (failed: Failed) =>
  Effect.sync(() => span.attribute("error.type", failed._tag === "Refused" ? String(failed.status) : failed.reason))

const json = "application/json"

/** The headers of a request: those of a read, and of a write the kind of its body and its key. */
const headersOf = ({ apiKey, clientId }: ApiCredentials, idempotencyKey: string | undefined) =>
  Headers.fromRecordUnsafe({
    [headerNames.accept]: json,
    [headerNames.clientId]: clientId,
    [headerNames.apiKey]: Redacted.value(apiKey),
    ...(idempotencyKey === undefined
      ? {}
      : { [headerNames.contentType]: json, [headerNames.idempotencyKey]: idempotencyKey })
  })

/** Builds the runner of calls of one client: they share its bucket of retries. */
export const make = Effect.fnUntraced(function* ({ client, credentials, origin }: Dependencies) {
  const builtIn = yield* Effect.context<never>()
  const bucket = makeBucket()
  const base = `${origin.origin}${origin.pathname.replace(/\/+$/, "")}`
  const transport = transportContext(Context.getOrUndefined(builtIn, FetchHttpClient.RequestInit))

  return (route: Route) => {
    const meters = metersOf(route.operation)
    const operationSpan = { kind: "internal", attributes: { "payments.operation": route.operation } } as const
    const httpAttributes = attributesOf(route, origin)

    const run = <A, E extends Tagged>(call: Call<A, E>, span: Tracer.Span | undefined) =>
      Effect.withFiber<A, E>((fiber) => {
        const key = call.idempotencyKey
        const clock = fiber.getRef(Clock.Clock)
        // A call's own policy, else the one that the layer was built with, else the default.
        const policy = Context.getOrUndefined(fiber.context, PaymentsPolicy) ?? Context.get(builtIn, PaymentsPolicy)
        const rules = Context.getOrUndefined(fiber.context, RefusalRules) ?? Context.get(builtIn, RefusalRules)
        const init = Context.getOrUndefined(fiber.context, FetchHttpClient.RequestInit)
        const callTransport = init === undefined ? transport : transportContext(init)
        const attemptTimeout = Duration.toMillis(policy.attemptTimeout)
        const deadline = Duration.toMillis(policy.deadline)
        const started = clock.currentTimeMillisUnsafe()
        const elapsed = () => clock.currentTimeMillisUnsafe() - started

        let attempts = 0
        let underWay = false
        let reloaded = false
        let paid: "first" | "retried" | "throttled" = "first"
        let maybe: Unanswered | undefined = call.earlier ? unknownBefore : undefined
        // Whose key the attempt that may have been executed was sent under: another client's key is another key.
        let payer: string | undefined
        let step: ScheduleStep | undefined

        const url = `${base}${call.path}`
        // Made once, so that every attempt sends the same bytes.
        const body = call.body === undefined ? HttpBody.empty : HttpBody.text(call.body, json)
        const personalData = () => (call.body === undefined ? [] : textsIn(call.body))
        const request = (used: ApiCredentials) =>
          HttpClientRequest.makeWith(route.method, url, UrlParams.empty, Option.none(), headersOf(used, key), body)

        const send = (used: ApiCredentials, httpSpan: Tracer.Span | undefined) =>
          Effect.provideContext(
            attempt({
              client,
              request: request(used),
              isWrite: key !== undefined,
              decode: (body) => call.decode(body, policy),
              secrets: () => [
                ...[used.clientId, Redacted.value(used.apiKey), key ?? ""].map(personal),
                ...personalData()
              ],
              rules,
              maxResponseBytes: policy.maxResponseBytes,
              onStatus: (status) => httpSpan?.attribute("http.response.status_code", status),
              timeout: Duration.millis(Math.max(0, Math.min(attemptTimeout, deadline - elapsed())))
            }),
            callTransport
          )

        const once = (last?: Failed): Effect.Effect<A, E> =>
          Effect.flatMap(credentials.current, (used) => {
            if (last !== undefined && payer !== undefined && payer !== used.clientId) return giveUp(last)
            if (maybe !== undefined) payer ??= used.clientId
            const attributes =
              attempts === 0 ? httpAttributes : { ...httpAttributes, "http.request.resend_count": attempts }
            attempts++
            underWay = true
            meters.requests.updateUnsafe(1, fiber.context)
            return Effect.matchEffect(
              inSpan(route.method, { kind: "client", attributes }, (httpSpan) =>
                httpSpan === undefined
                  ? send(used, undefined)
                  : Effect.tapError(send(used, httpSpan), errorType(httpSpan))
              ),
              {
                onSuccess: (value) => {
                  underWay = false
                  bucket.succeeded(policy.retryBudget, paid)
                  meters.success.updateUnsafe(1, fiber.context)
                  return Effect.succeed(value)
                },
                onFailure: (failed) => {
                  underWay = false
                  return afterFailure(failed, used)
                }
              }
            )
          })

        const giveUp = (last: Failed): Effect.Effect<never, E> => {
          const error = call.toError({ attempts, idempotencyKey: key, verdict: settle(last, maybe), rules })
          meters.failure(error._tag, error.outcome).updateUnsafe(1, fiber.context)
          span?.attribute("error.type", error._tag)
          span?.attribute("payments.outcome", error.outcome)
          return error.outcome === "Unknown"
            ? Effect.andThen(Effect.logWarning(`${error._tag}: ${error.message}`), Effect.fail(error))
            : Effect.fail(error)
        }

        const afterFailure = Effect.fnUntraced(function* (last: Failed, used: ApiCredentials) {
          if (key !== undefined && isMaybeExecuted(last)) {
            maybe = last
            payer = used.clientId
          }
          if (last._tag === "Refused" && last.status === 401 && !reloaded) {
            reloaded = true
            const left = Duration.millis(Math.max(0, deadline - elapsed()))
            const others = yield* Effect.timeoutOption(credentials.reload(used), left)
            if (Option.getOrElse(others, constFalse) && elapsed() < deadline) return yield* once(last)
          }
          const again = mayTryAgain(last, key === undefined ? "read" : policy.writes, maybe !== undefined)
          if (again === "no") return yield* giveUp(last)
          step ??= yield* Schedule.toStep(key === undefined ? policy.retryReads : policy.retryWrites)
          const planned = yield* Effect.option(step(clock.currentTimeMillisUnsafe(), last))
          if (Option.isNone(planned)) return yield* giveUp(last)
          const asked = last.retryAfter ?? Duration.zero
          const wait = Duration.max(planned.value[1], asked)
          if (
            Duration.toMillis(asked) > Duration.toMillis(policy.maxRetryAfter) ||
            elapsed() + Duration.toMillis(wait) >= deadline ||
            !bucket.take(policy.retryBudget, again === "throttled")
          ) {
            return yield* giveUp(last)
          }
          paid = again === "throttled" ? "throttled" : "retried"
          meters.retries.updateUnsafe(1, fiber.context)
          yield* Effect.logDebug(`${route.operation}: attempt ${attempts} failed, trying again`)
          yield* Effect.sleep(wait)
          return yield* once(last)
        })

        const reportInterruption = Effect.suspend(() => {
          if (key === undefined || !(underWay || maybe !== undefined)) return Effect.void
          const report = new OutcomeUnknown({
            operation: route.operation,
            attempts,
            idempotencyKey: key,
            outcome: "Unknown",
            reason: "Interrupted"
          })
          meters.failure(report._tag, report.outcome).updateUnsafe(1, fiber.context)
          span?.attribute("payments.outcome", report.outcome)
          return Effect.andThen(
            Effect.logWarning(`${report._tag}: ${report.message}`),
            // An interruption waits for this: a hook that hangs must not hold it for ever.
            Effect.timeoutOption(Effect.interruptible(policy.onInterruptedWrite(report)), hookTimeout)
          )
        })

        if (key !== undefined) span?.attribute("payments.idempotency_key_hash", fingerprint(key))
        const measured = Effect.ensuring(
          once(),
          Effect.sync(() => {
            span?.attribute("payments.attempts", attempts)
            meters.duration.updateUnsafe(elapsed(), fiber.context)
          })
        )
        return key === undefined ? measured : Effect.onInterrupt(measured, () => reportInterruption)
      })

    return <A, E extends Tagged>(call: Call<A, E>): Effect.Effect<A, E> =>
      inSpan(`Payments.${route.operation}`, operationSpan, (span) => run(call, span))
  }
})
