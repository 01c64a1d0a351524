/**
 * One attempt: sends the prepared request, reads the answer within its time and its size, and says what became of it.
 */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import type * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Result from "effect/Result"
import type { FailureReason } from "../../contract/PaymentsError.ts"
import type { RefusalRules } from "../RefusalRules.ts"
import { judgeAnswer, unusable } from "./answer.ts"
import { readBody } from "./body.ts"
import type { Secret } from "./mask.ts"
import { withoutSecrets } from "./seen.ts"
import { judgeTransport, timedOut, unrecognised } from "./judge.ts"
import type { Failed, Unanswered, Undecodable } from "./verdict.ts"

export interface AttemptOptions<A> {
  readonly client: HttpClient.HttpClient
  readonly request: HttpClientRequest.HttpClientRequest
  readonly isWrite: boolean
  readonly decode: (body: string) => Result.Result<A, Undecodable>
  /** What must not be shown, should the service echo it. */
  readonly secrets: () => ReadonlyArray<Secret>
  readonly rules: RefusalRules
  readonly maxResponseBytes: number
  /** Told the status as soon as it is there. */
  readonly onStatus: (status: number) => void
  readonly timeout: Duration.Duration
}

const unreadOf = (error: { readonly _tag: string }): FailureReason =>
  error._tag === "BodyTooLarge" ? "TooLarge" : "Truncated"

/** Sends once. */
export const attempt = <A>(options: AttemptOptions<A>): Effect.Effect<A, Failed> =>
  Effect.withFiber((fiber) => {
    let response: HttpClientResponse.HttpClientResponse | undefined

    const refusal = (
      status: number,
      headers: Headers.Headers,
      body: { readonly text: string } | { readonly unread: FailureReason }
    ): Failed => {
      const { isWrite, rules, secrets } = options
      const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
      return judgeAnswer({ isWrite, rules, secrets, now }, status, headers, body)
    }

    const read = (received: HttpClientResponse.HttpClientResponse): Effect.Effect<A, Failed> => {
      response = received
      const { status } = received
      options.onStatus(status)
      const body = readBody(received, options.maxResponseBytes)
      if (status < 200 || status >= 300) {
        return Effect.matchEffect(body, {
          onSuccess: (text) => Effect.fail(refusal(status, received.headers, { text })),
          onFailure: (error) => Effect.fail(refusal(status, received.headers, { unread: unreadOf(error) }))
        })
      }
      return Effect.matchEffect(body, {
        onSuccess: (text) => {
          const decoded = options.decode(text)
          if (Result.isSuccess(decoded)) return Effect.succeed(decoded.success)
          const { issues, reason, seen = {} } = decoded.failure
          return Effect.fail(unusable(status, reason, { issues, seen: withoutSecrets(seen, options.secrets()) }))
        },
        onFailure: (error) => Effect.fail(unusable(status, unreadOf(error)))
      })
    }

    /** What is known when the body of the answer was not had: its status, if even that came. */
    const withoutBody = (verdict: Unanswered): Effect.Effect<never, Failed> => {
      if (response === undefined) return Effect.fail(verdict)
      const { headers, status } = response
      return Effect.fail(
        status >= 200 && status < 300 ? { ...verdict, status } : refusal(status, headers, { unread: verdict.reason })
      )
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
