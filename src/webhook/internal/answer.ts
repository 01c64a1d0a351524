/**
 * The HTTP side of the webhook: bounds the body, asks the verifier, records the delivery and answers. No answer has a body.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Duration from "effect/Duration"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { DatabaseError } from "../../durable/Database.ts"
import type { Hint } from "../WebhookHint.ts"
import type { WebhookVerifier } from "../WebhookVerifier.ts"
import type { HandlerFailed } from "./handlers.ts"
import type { Reading } from "./reader.ts"

export interface AnswerOptions<P, M> {
  readonly verifier: WebhookVerifier
  readonly maxBodyBytes: number
  readonly bodyTimeout: Duration.Input
  readonly read: (body: string) => Option.Option<Reading<P, M>>
  /** Whether the delivery is recorded, and inside a request finished. If not, the service may send it again. */
  readonly accept: (body: string, hint: Hint) => Effect.Effect<boolean, DatabaseError | HandlerFailed>
}

/** A delivery that is not taken, and the status that says so. */
class NotTaken extends Data.TaggedError("NotTaken")<{
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}> {}

const tooLarge = () => new NotTaken({ status: 413 })
const unreadable = () => new NotTaken({ status: 400 })
const busy = () => new NotTaken({ status: 503, headers: { "retry-after": "30" } })

const pathOf = (address: string): string => address.replace(/^[a-z][\w+.-]*:\/\/[^/?#]*/i, "").replace(/[?#].*/s, "")

const readBody = (request: HttpServerRequest.HttpServerRequest, limit: number) =>
  Number(request.headers["content-length"] ?? 0) > limit
    ? tooLarge()
    : Stream.mkUint8Array(
        Stream.limitBytes(Stream.mapError(request.stream, unreadable), limit, () => Stream.fail(tooLarge()))
      )

const decoder = new TextDecoder("utf-8", { fatal: true })

/** The answer to the request in context. */
export const makeAnswer = <P, M>(options: AnswerOptions<P, M>) => {
  const take = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    if (request.method !== "POST") return yield* new NotTaken({ status: 405, headers: { allow: "POST" } })
    const body = yield* readBody(request, options.maxBodyBytes).pipe(
      Effect.timeoutOrElse({ duration: options.bodyTimeout, orElse: () => new NotTaken({ status: 408 }) })
    )
    const { headers, remoteAddress } = request
    const delivery = { headers, body, remoteAddress, path: pathOf(request.originalUrl) }
    yield* options.verifier.verify(delivery).pipe(
      Effect.tapError((refused) => Effect.logDebug(refused.message)),
      Effect.mapError(() => new NotTaken({ status: 401 }))
    )
    const text = yield* Effect.fromResult(Result.try({ try: () => decoder.decode(body), catch: unreadable }))
    const reading = yield* Effect.mapError(Effect.fromOption(options.read(text)), unreadable)
    const accepted = yield* options.accept(text, reading.hint).pipe(
      Effect.tapError((failed) =>
        failed._tag === "HandlerFailed"
          ? Effect.logError(`Webhook: ${failed.handler} failed`)
          : failed.reason === "Busy"
            ? Effect.logDebug("Webhook: another request works on this transaction")
            : Effect.logError(failed.message)
      ),
      Effect.mapError(busy)
    )
    return accepted ? HttpServerResponse.empty({ status: 200 }) : yield* busy()
  })
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const answer = Effect.catchCause(take(request), (cause) => {
      const { headers, status } = Option.getOrElse(Cause.findErrorOption(cause), busy)
      const response = Effect.succeed(HttpServerResponse.empty({ status, headers }))
      // A step that was interrupted by itself, as where the user's pool is closed, is no request that was taken back.
      return Cause.hasFails(cause)
        ? response
        : Effect.andThen(Effect.logError("Webhook: a delivery could not be taken"), response)
    })
    return yield* options.verifier.secretInPath === true ? HttpMiddleware.withLoggerDisabled(answer) : answer
  })
}
