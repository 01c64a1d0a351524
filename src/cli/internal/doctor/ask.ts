/** The doctor's requests: reads, by the contract's own values, whose answers are kept as they came. */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { ApiCredentials } from "../../../client/Credentials.ts"
import { type Endpoint, headerNames } from "../../../contract/Endpoints.ts"
import { bodyOf } from "../raw.ts"

export interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
  /** `undefined` where the text is no JSON. */
  readonly json: unknown
}

const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

export type Ask = (
  endpoint: Endpoint,
  parts?: { readonly params?: Readonly<Record<string, string>>; readonly query?: Readonly<Record<string, string>> }
) => Effect.Effect<Answer | undefined>

/** Asks with these credentials; no answer is `undefined`. */
export const makeAsk =
  (baseUrl: string, { apiKey, clientId }: ApiCredentials): Ask =>
  ({ path }, { params = {}, query = {} } = {}) => {
    const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))
    const request = HttpClientRequest.get(`${baseUrl.trim().replace(/(?<!\/)\/+$/, "")}${filled}`).pipe(
      HttpClientRequest.setUrlParams(query),
      HttpClientRequest.setHeaders({
        [headerNames.accept]: "application/json",
        [headerNames.clientId]: clientId,
        [headerNames.apiKey]: Redacted.value(apiKey)
      })
    )
    return HttpClient.execute(request).pipe(
      Effect.flatMap((response) =>
        Effect.map(bodyOf(response), (text) => ({
          status: response.status,
          type: response.headers["content-type"] ?? "",
          text,
          json: Option.getOrUndefined(parse(text))
        }))
      ),
      Effect.timeout("30 seconds"),
      // What a failure of the transport says may show a header.
      Effect.orElseSucceed(() => undefined),
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
      Effect.provide(FetchHttpClient.layer)
    )
  }
