/**
 * One attempt: sends the prepared request, reads the answer within its time and its size, and says what became of it.
 * An attempt never fails; what went wrong is a value.
 */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import type * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Result from "effect/Result"
import type { RequestIssue, Seen } from "../../contract/PaymentsError.ts"
import type { RefusalRules } from "../RefusalRules.ts"
import { readBody } from "./body.ts"
import { causeOf } from "./refusalCause.ts"
import { withoutSecrets } from "./seen.ts"
import { displayMessage, readServiceMessage } from "./serviceMessage.ts"
import { judgeTransport, timedOut, unrecognised } from "./judge.ts"
import type { Failed, Unanswered } from "./verdict.ts"

/** A 2xx that is not to be relied on. */
export interface Undecodable {
  readonly reason: "Unreadable" | "KeyMismatch" | "NotAsAsked" | "UnsoundBrCode"
  readonly issues: ReadonlyArray<RequestIssue>
  readonly seen?: Seen
}

export interface AttemptOptions<A> {
  readonly client: HttpClient.HttpClient
  readonly request: HttpClientRequest.HttpClientRequest
  readonly isWrite: boolean
  readonly decode: (body: string) => Result.Result<A, Undecodable>
  /** What must not be shown, should the service echo it. */
  readonly secrets: () => ReadonlyArray<string>
  readonly rules: RefusalRules
  readonly maxResponseBytes: number
  /** Told the status as soon as it is there. */
  readonly onStatus: (status: number) => void
  readonly timeout: Duration.Duration
}

/** Reads `Retry-After` in both its forms (RFC 9110, section 10.2.3); anything else in it counts as absent. */
const retryAfterOf = (headers: Headers.Headers, now: number): Duration.Duration | undefined => {
  const value = headers["retry-after"]
  if (value === undefined) return undefined
  const parsed = Headers.parseRetryAfter(value)
  return Result.isSuccess(parsed) ? Headers.retryAfterDelay(parsed.success, now) : undefined
}

const serverFailure = (status: number, isWrite: boolean): Unanswered | undefined => {
  const unknown = { _tag: "Unanswered", sent: "Unknown", status } as const
  // No final status at all (101 unasked, 000): node:http lets it through.
  if (status < 200) return { ...unknown, reason: "Unreadable", transient: false }
  if (status === 408) return { ...unknown, reason: "Timeout", transient: true }
  // 303 says that the request was acted upon and where to read the result (RFC 9110, section 15.4.4).
  if (status === 303 && isWrite) return { ...unknown, reason: "Redirect", transient: false }
  if (status < 500) return undefined
  return { ...unknown, reason: "ServerError", transient: status === 500 || (status >= 502 && status <= 504) }
}

const unreadable = (
  status: number,
  reason: Unanswered["reason"],
  transient: boolean,
  issues?: ReadonlyArray<RequestIssue>,
  seen?: Seen
): Unanswered => ({
  issues,
  seen,
  _tag: "Unanswered",
  sent: "Unknown",
  reason,
  transient,
  status
})

/** Sends once. */
export const attempt = <A>(options: AttemptOptions<A>): Effect.Effect<A, Failed> =>
  Effect.withFiber((fiber) => {
    let response: HttpClientResponse.HttpClientResponse | undefined

    const refusal = (status: number, headers: Headers.Headers, body: string): Failed => {
      const { code, words } = readServiceMessage(body, headers["content-type"])
      const said = displayMessage(words, options.secrets())
      const heard = {
        serviceMessage: said === "" ? undefined : said,
        retryAfter: retryAfterOf(headers, fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())
      }
      const failure = serverFailure(status, options.isWrite)
      if (failure !== undefined) return { ...failure, ...heard }
      const cause = causeOf(options.rules, code === undefined ? words : `${words} ${code}`)
      const isNoPixKey =
        cause === "NoPixKey" || (cause === undefined && options.rules.noPixKeyStatuses.includes(status))
      return { _tag: "Refused", status, cause, isNoPixKey, ...heard }
    }

    const read = (received: HttpClientResponse.HttpClientResponse): Effect.Effect<A, Failed> => {
      response = received
      const { status } = received
      options.onStatus(status)
      const body = readBody(received, options.maxResponseBytes)
      // The status says enough: a body that cannot be read leaves a refusal without words.
      if (status < 200 || status >= 300) {
        return Effect.matchEffect(body, {
          onSuccess: (text) => Effect.fail(refusal(status, received.headers, text)),
          onFailure: () => Effect.fail(refusal(status, received.headers, ""))
        })
      }
      return Effect.matchEffect(body, {
        onSuccess: (text) => {
          const decoded = options.decode(text)
          if (Result.isSuccess(decoded)) return Effect.succeed(decoded.success)
          const { issues, reason, seen = {} } = decoded.failure
          return Effect.fail(unreadable(status, reason, false, issues, withoutSecrets(seen, options.secrets())))
        },
        onFailure: (error) =>
          Effect.fail(
            error._tag === "BodyTooLarge"
              ? unreadable(status, "TooLarge", false)
              : unreadable(status, "Truncated", true)
          )
      })
    }

    /** What is known when the body of the answer was not had: its status, if even that came. */
    const withoutBody = (verdict: Unanswered): Effect.Effect<never, Failed> => {
      if (response === undefined) return Effect.fail(verdict)
      const { headers, status } = response
      return Effect.fail(status >= 200 && status < 300 ? { ...verdict, status } : refusal(status, headers, ""))
    }

    return options.client.execute(options.request).pipe(
      Effect.matchEffect({
        onSuccess: read,
        onFailure: (error) =>
          // A client that its owner filters by status fails with the answer inside.
          error.reason._tag === "StatusCodeError" ? read(error.reason.response) : Effect.fail(judgeTransport(error))
      }),
      // A defect of the transport, or of its body's stream: a cause that is not known here.
      Effect.catchDefect(() => withoutBody(unrecognised)),
      Effect.timeoutOrElse({ duration: options.timeout, orElse: () => withoutBody(timedOut) })
    )
  })
