/** The requests of the doctor: reads, built from the contract's own values, with raw answers. */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { ApiCredentials } from "../../../client/Credentials.ts"
import { type Endpoint, headerNames } from "../../../contract/Endpoints.ts"
import { type Answer as TextAnswer, NoAnswer, send } from "../http.ts"
import { type Findings, places } from "./findings.ts"

export interface Answer extends TextAnswer {
  /** `undefined` if the text is not JSON. */
  readonly json: unknown
}

type Parts = { readonly [Part in "params" | "query"]?: Readonly<Record<string, string>> }

/** Sends a request to an endpoint. */
export type Ask = (endpoint: Endpoint, parts?: Parts) => Effect.Effect<Answer | NoAnswer>

const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** Makes an `Ask` with these credentials. */
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
    return Effect.match(send(request), {
      onFailure: identity,
      onSuccess: (answer) => ({ ...answer, json: Option.getOrUndefined(parse(answer.text)) })
    })
  }

/** Whether an answer is the documented success: this status, as JSON. */
export const checkSuccess = (findings: Findings, name: string, answer: Answer | NoAnswer): answer is Answer => {
  if (answer instanceof NoAnswer) {
    findings.add("wrong", `${name} is answered`, places.operations, answer.problem)
    return false
  }
  const { json, status, text, type } = answer
  findings.expect(status === 200, `${name} is answered with 200`, places.operations, `HTTP ${status}`)
  if (status < 200 || status > 299) return false
  const isJson = /^application\/(?:[\w.+-]+\+)?json/i.test(type)
  const seen = text.trim() === "" ? "an empty answer" : isJson ? "a text that is none" : "another content type"
  findings.expect(isJson && json !== undefined, `${name} is answered with JSON`, places.operations, seen)
  return json !== undefined
}
