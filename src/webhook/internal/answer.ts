/**
 * The HTTP side of the webhook: reads the body, calls the verifier, records the delivery and answers. No answer has a body.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { DatabaseError } from "../../durable/Database.ts"
import { maxBodyBytes } from "../../internal/bounds.ts"
import { decoderOf } from "../../internal/charset.ts"
import { inSpan, type Lines, withoutValues } from "../../internal/spans.ts"
import type { DeliveryText } from "../WebhookOptions.ts"
import type { WebhookRefused, WebhookVerifier } from "../WebhookVerifier.ts"
import type { End } from "./edge.ts"
import { type HandlerFailed, isEarly } from "./handlers.ts"
import type { NotRead, Reading } from "./reader.ts"
import { makeAnswered, type Refusal } from "./signals.ts"

/** The attributes with an address, or with the route as it was declared. */
const addresses = /^(?:url|http)\.(?:full|path|route|target|url)$/

/** An address has a mark in place of its last segment; a route only where that is not a parameter such as `:secret`. */
const cleanValue = (name: string, value: unknown): unknown => {
  if (typeof value !== "string" || !addresses.test(name)) return value
  const isParameter = name === "http.route" && /\/[:*][^/]*$/.test(value)
  return isParameter ? value : value.replace(/\/[^/?#]+(?=\/*(?:[?#]|$))/, "/[redacted]")
}

/** From now on the span writes no secret. Its methods are replaced: its tracer calls them when the request has ended. */
const clean = (span: Tracer.Span): void => {
  const attribute = span.attribute.bind(span)
  const end = span.end.bind(span)
  Object.assign(span, {
    attribute: (name: string, value: unknown) => attribute(name, cleanValue(name, value)),
    end: (time: bigint, exit: Parameters<Tracer.Span["end"]>[1]) => end(time, withoutValues(exit))
  } satisfies Pick<Tracer.Span, "attribute" | "end">)
  for (const [name, value] of span.attributes) span.attribute(name, value)
}

/** Removes the last segment of the path from the server's spans around this effect. */
const withoutPathSecret = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    let span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
    while (span?._tag === "Span") {
      if (span.kind === "server") clean(span)
      span = Option.getOrUndefined(span.parent)
    }
    return effect
  })

export interface AnswerOptions {
  /** The webhook's name, for its signals. */
  readonly name: string
  /** The lines that were logged. */
  readonly lines: Lines
  readonly verifier: WebhookVerifier
  readonly read: (delivery: DeliveryText, eventId: string | undefined) => Result.Result<ReadonlyArray<Reading>, NotRead>
  /** Records the delivery, or processes it. */
  readonly accept: (body: string, readings: ReadonlyArray<Reading>) => Effect.Effect<End, DatabaseError | HandlerFailed>
}

/** A delivery is refused with this status. */
class NotTaken extends Data.TaggedError("NotTaken")<
  Refusal & { readonly headers?: Readonly<Record<string, string>> }
> {}

const tooLarge = () =>
  new NotTaken({
    status: 413,
    errorType: "TooLarge",
    message: `its body is larger than ${maxBodyBytes / 1024} KiB. Nothing of it is stored: check the open orders.`
  })
const unreadable = () =>
  new NotTaken({ status: 400, errorType: "Unreadable", message: "its body is not JSON, or does not fit `find`." })
const byReader = {
  TooMany: () => new NotTaken({ status: 413, errorType: "TooMany", message: "it is a list of more than 100." }),
  Unreadable: unreadable
}
const busy = (errorType: string, message: string) =>
  new NotTaken({ status: 503, headers: { "retry-after": "30" }, errorType, message })

const tooSlow = () => new NotTaken({ status: 408, errorType: "Timeout", message: "its body did not arrive in time." })

/** What a delivery that was not finished is answered with. */
const byEnd = {
  NotFinished: () => busy("NotFinished", "the lookup did not confirm it."),
  Refused: () => busy("Refused", "more ids arrive than may be looked up.")
}

const byFailure = (failed: DatabaseError | HandlerFailed) => {
  if (failed._tag === "DatabaseError") return busy(failed.reason, failed.message)
  return isEarly(failed) ? byEnd.NotFinished() : busy("HandlerFailed", `${failed.handler} failed.`)
}

const byRefusal = ({ message, reason }: WebhookRefused) =>
  reason === "NoSecret" ? busy(reason, message) : new NotTaken({ status: 401, errorType: reason, message })

/** Seen, and not documented: the id of an event, which the gateway may deliver more than once. */
const eventIdHeader = "x-webhook-event-id"

const pathOf = (address: string): string => address.replace(/^[a-z][\w+.-]*:\/\/[^/?#]*/i, "").replace(/[?#].*/s, "")

const readBody = (request: HttpServerRequest.HttpServerRequest) =>
  Number(request.headers["content-length"] ?? 0) > maxBodyBytes
    ? tooLarge()
    : Stream.mkUint8Array(
        Stream.limitBytes(Stream.mapError(request.stream, unreadable), maxBodyBytes, () => Stream.fail(tooLarge()))
      )

const utf8 = new TextDecoder()

/**
 * The text of a body in its declared charset, or in UTF-8. What cannot be read so are no names and ids, which are ASCII: they are
 * found all the same.
 */
const textOf = (body: Uint8Array, type: string | undefined): string => (decoderOf(type) ?? utf8).decode(body)

const deliveryText = (text: string, type: string | undefined, address: string): DeliveryText => ({
  text,
  type: (type ?? "").replace(/;.*/s, "").trim().toLowerCase(),
  query: new URLSearchParams(/\?([^#]*)/.exec(address)?.[1])
})

const broken = () => busy("Defect", "it could not be processed.")

/** The answer to the request in context. */
export const makeAnswer = (options: AnswerOptions) => {
  const answered = makeAnswered(options.name, options.lines)
  const take = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    if (request.method !== "POST") {
      const refusal = { status: 405, errorType: "NotPost", message: "it is not a POST." }
      return yield* new NotTaken({ ...refusal, headers: { allow: "POST" } })
    }
    const body = yield* readBody(request).pipe(Effect.timeoutOrElse({ duration: "10 seconds", orElse: tooSlow }))
    const { headers, remoteAddress } = request
    const delivery = { headers, body, remoteAddress, path: pathOf(request.originalUrl) }
    yield* Effect.mapError(options.verifier(delivery), byRefusal)
    const type = headers["content-type"]
    const text = textOf(body, type)
    const read = options.read(deliveryText(text, type, request.originalUrl), headers[eventIdHeader])
    const readings = yield* Effect.mapError(Effect.fromResult(read), (why) => byReader[why]())
    const end = yield* Effect.mapError(options.accept(text, readings), byFailure)
    if (end !== "Finished") return yield* byEnd[end]()
    yield* answered(200)
    return HttpServerResponse.empty({ status: 200 })
  })
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const answer = inSpan(
      "Webhook.answer",
      { kind: "internal", attributes: { "webhook.name": options.name } },
      (span) =>
        Effect.catchCause(take(request), (cause) => {
          // An interruption of a step, such as by the end of the user's connection pool, is answered too.
          const refusal = Option.getOrElse(Cause.findErrorOption(cause), broken)
          const { errorType, headers, status } = refusal
          span?.attribute("error.type", errorType)
          return Effect.as(answered(status, refusal), HttpServerResponse.empty({ status, headers }))
        }).pipe(Effect.tap(({ status }) => Effect.sync(() => span?.attribute("http.response.status_code", status))))
    )
    return yield* options.verifier.secretInPath === true
      ? HttpMiddleware.withLoggerDisabled(withoutPathSecret(answer))
      : answer
  })
}
