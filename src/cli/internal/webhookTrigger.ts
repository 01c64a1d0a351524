/** What `effect-pix webhook trigger` does: one call, as the service would make it. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { codes, failed } from "./exit.ts"
import { writeJson, writeLine } from "./output.ts"
import { bodyOf } from "./raw.ts"
import { plain } from "./text.ts"

interface Input {
  readonly url: string
  readonly transaction: string
  readonly status: string
  readonly header: string
  readonly json: boolean
}

export const run = Effect.fnUntraced(function* ({ header, json, status, transaction, url }: Input) {
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    return yield* failed("The address is none of http or https.")
  }
  if (!/^[\w-]+$/.test(header)) return yield* failed("--secret-header is no name of a header.")
  const secret = yield* Effect.orElseSucceed(Config.option(Config.Redacted("PAYMENTS_WEBHOOK_SECRET")), () =>
    Option.none()
  )
  const request = HttpClientRequest.post(url).pipe(
    HttpClientRequest.bodyJsonUnsafe({ event: "transaction.updated", transactionId: transaction, status }),
    Option.isSome(secret) ? HttpClientRequest.setHeader(header, Redacted.value(secret.value)) : (same) => same
  )
  const { answer, code } = yield* HttpClient.execute(request).pipe(
    Effect.flatMap((response) => Effect.map(bodyOf(response), (body) => ({ code: response.status, answer: body }))),
    Effect.timeout("30 seconds"),
    // What the failure says may show the header.
    Effect.mapError(() => failed("The route did not answer.", codes.NoEffect)),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.provide(FetchHttpClient.layer)
  )
  yield* json
    ? writeJson({ status: code, answer })
    : writeLine(`HTTP ${code} ${plain(answer.slice(0, 1000))}`.trimEnd())
  if (code < 200 || code > 299) return yield* failed("The route did not take the webhook.", codes.Rejected)
})
