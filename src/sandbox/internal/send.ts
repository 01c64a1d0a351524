/**
 * Sends a webhook once, to an address or to a handler in this process, and returns how the attempt ended.
 */
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { settingError } from "../../contract/ConfigurationError.ts"
import { parseLocalUrl } from "../../internal/loopback.ts"
import type { WebhookTarget } from "../SandboxWebhook.ts"

/** How an attempt ended: with a status, or with the reason why there is none. */
interface Sent {
  readonly status?: number
  readonly error?: string
  /** The first kilobyte of the answer. */
  readonly answer: string
}

/** A target of webhooks. */
export interface Target {
  readonly name: string
  readonly send: (headers: Readonly<Record<string, string>>, body: string) => Effect.Effect<Sent>
}

const shownBytes = 1024

/** The beginning of a body. It is read for at most a second, since the status alone decides whether a webhook is taken. */
const beginning = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<string> =>
  response.stream.pipe(
    Stream.scan(
      () => new Uint8Array(),
      (read, chunk) => {
        const bytes = new Uint8Array(Math.min(read.length + chunk.length, shownBytes))
        bytes.set(read)
        bytes.set(chunk.subarray(0, bytes.length - read.length), read.length)
        return bytes
      }
    ),
    Stream.takeUntil((read) => read.length >= shownBytes),
    Stream.runLast,
    Effect.map(Option.getOrElse(() => new Uint8Array())),
    Effect.timeoutOrElse({ duration: "1 second", orElse: () => Effect.succeed(new Uint8Array()) }),
    Effect.map((bytes) => new TextDecoder().decode(bytes)),
    Effect.catchCause(() => Effect.succeed(""))
  )

/** How an attempt ended, whatever the target does. */
const outcomeOf = <E, R>(
  answer: Effect.Effect<HttpClientResponse.HttpClientResponse, E, R>
): Effect.Effect<Sent, never, R> =>
  answer.pipe(
    Effect.flatMap((response) =>
      Effect.map(beginning(response), (text) => ({ status: response.status, answer: text }))
    ),
    Effect.timeoutOrElse({
      duration: "10 seconds",
      orElse: (): Effect.Effect<Sent> => Effect.succeed({ error: "no answer within 10 seconds", answer: "" })
    }),
    Effect.catchCause((): Effect.Effect<Sent> =>
      Effect.succeed({ error: "the target could not be reached", answer: "" })
    )
  )

const toUrl = (url: URL): Target => ({
  name: url.href,
  send: (headers, body) =>
    outcomeOf(
      Effect.flatMap(HttpClient.HttpClient, (client) =>
        HttpClient.withScope(client).execute(
          HttpClientRequest.bodyText(HttpClientRequest.post(url, { headers }), body, "application/json")
        )
      )
    ).pipe(
      Effect.scoped,
      Effect.provide(FetchHttpClient.layer),
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.provideService(HttpClient.TracerDisabledWhen, constTrue)
    )
})

const address = "https://shop.example/webhooks/pix"

const toHandler = <E>(handler: (request: Request) => Promise<Response> | Effect.Effect<Response, E>): Target => ({
  name: "handler",
  send: (headers, body) =>
    outcomeOf(
      Effect.suspend(() => {
        const init = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body }
        const answer = handler(new Request(address, init))
        return Effect.map(Effect.isEffect(answer) ? answer : Effect.promise(() => answer), (response) =>
          HttpClientResponse.fromWeb(HttpClientRequest.post(address), response)
        )
      })
    )
})

/** Makes a target. It throws where an address is neither on this machine nor on an allowed host: a mistake in the settings. */
export const toTarget = (target: WebhookTarget, setting: string, allowedHosts: ReadonlyArray<string>): Target => {
  if (Predicate.isFunction(target)) return toHandler(target)
  const url = parseLocalUrl(target, allowedHosts)
  if (url !== undefined) return toUrl(url)
  throw settingError(
    setting,
    "must be a loopback address, as http://127.0.0.1:3000/webhooks, or one of an allowed host"
  )
}
