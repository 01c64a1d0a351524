/**
 * One attempt: one request over the transport, in its span, judged.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { headerNames } from "../../../contract/Endpoints.ts"
import { withoutValues } from "../../../internal/spans.ts"
import type { ApiCredentials } from "../../Credentials.ts"
import { judgeAnswer, judgeFailure } from "./judge.ts"
import type { Call, Failed, Prepared } from "./state.ts"

interface Attempted<A> {
  readonly status: number | undefined
  readonly result: Result.Result<A, Failed>
}

const json = "application/json"

const headersOf = ({ apiKey, clientId }: ApiCredentials, { body, idempotencyKey }: Prepared<unknown, unknown>) => ({
  [headerNames.accept]: json,
  [headerNames.clientId]: clientId,
  [headerNames.apiKey]: Redacted.value(apiKey),
  ...(body !== undefined && { [headerNames.contentType]: json }),
  ...(idempotencyKey !== undefined && { [headerNames.idempotencyKey]: idempotencyKey })
})

const send = <A, E>(call: Call<A, E>, used: ApiCredentials): Effect.Effect<Attempted<A>> =>
  Effect.callback((resume) => {
    const { client, context, prepared, route, settings, started } = call
    const { attemptTimeout, clock, deadline, notAfter, policy, transport } = settings
    call.attempts++
    call.used = used
    call.isUnderWay = true
    route.meters.requests.updateUnsafe(1, context)
    const now = clock.currentTimeMillisUnsafe()
    const end = Math.min(now + attemptTimeout, started + deadline, notAfter)
    return transport.send(
      {
        origin: client.origin,
        method: route.endpoint.method,
        path: client.prefix + prepared.path,
        headers: headersOf(used, prepared),
        body: prepared.body,
        isLate: () => clock.currentTimeMillisUnsafe() > end
      },
      Math.max(0, end - now),
      policy.maxResponseBytes,
      {
        onAnswer: (status, headers, body) =>
          resume(Effect.succeed({ status, result: judgeAnswer(call, status, headers, body) })),
        onFailure: (failure) =>
          resume(Effect.succeed({ status: failure.head?.status, result: judgeFailure(call, failure) }))
      }
    )
  })

const typeOf = (failed: Failed): string => (failed._tag === "Refused" ? String(failed.status) : failed.reason)

/** Sends the request once. */
export const attempt = <A, E>(call: Call<A, E>, used: ApiCredentials): Effect.Effect<Result.Result<A, Failed>> => {
  const sent = send(call, used)
  const { client, route, settings } = call
  if (!settings.isTraced) return Effect.map(sent, ({ result }) => result)
  const { method, path } = route.endpoint
  const span = Effect.makeSpan(method, {
    kind: "client",
    ...(call.span !== undefined && { parent: call.span }),
    attributes: {
      "http.request.method": method,
      "url.template": client.prefix + path,
      ...client.attributes,
      ...(call.attempts > 0 && { "http.request.resend_count": call.attempts })
    }
  })
  return Effect.flatMap(span, (span) => {
    const end = (exit: Exit.Exit<unknown, unknown>) =>
      span.end(settings.clock.currentTimeNanosUnsafe(), withoutValues(exit))
    const judged = Effect.map(sent, ({ result, status }) => {
      if (status !== undefined) span.attribute("http.response.status_code", status)
      if (Result.isSuccess(result)) end(Exit.void)
      else {
        span.attribute("error.type", typeOf(result.failure))
        end(Exit.fail({ _tag: typeOf(result.failure) }))
      }
      return result
    })
    return Effect.onExit(judged, (exit) => (Exit.isSuccess(exit) ? Effect.void : Effect.sync(() => end(exit))))
  })
}
