/** Checks of the service as a whole: that it answers, whom it lets in, and how it refuses. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { ApiCredentials } from "../../../client/Credentials.ts"
import { getTransaction, listTransactions } from "../../../contract/Endpoints.ts"
import { type Answer, type Ask, makeAsk } from "./ask.ts"
import { type Findings, places } from "./findings.ts"

const isJson = ({ type }: Answer) => /^application\/(?:[\w.+-]+\+)?json/i.test(type)

/** The documented success: this status, as JSON. */
export const isSuccess = (findings: Findings, name: string, answer: Answer | undefined): answer is Answer => {
  if (answer === undefined) {
    findings.tell("wrong", `${name} is answered`, places.operations, "no answer within 30 seconds")
    return false
  }
  const { json, status } = answer
  findings.expect(status === 200, `${name} is answered with 200`, places.operations, `HTTP ${status}`)
  if (status < 200 || status > 299) return false
  const type = isJson(answer) ? "a text that is none" : "another content type"
  findings.expect(isJson(answer) && json !== undefined, `${name} is answered with JSON`, places.operations, type)
  return json !== undefined
}

/** Whether the service answers and lets us in; without that nothing else can be seen. */
export const checkAccess = Effect.fnUntraced(function* (findings: Findings, ask: Ask) {
  const answer = yield* ask(listTransactions, { query: { page: "1", pageSize: "1" } })
  if (answer === undefined) {
    findings.tell("wrong", "The service answers at PAYMENTS_BASE_URL", places.settings, "no answer within 30 seconds")
    return false
  }
  findings.tell("holds", "The service answers at PAYMENTS_BASE_URL", places.settings)
  const { status } = answer
  const isRedirect = status >= 300 && status < 400
  findings.expect(
    !isRedirect,
    "PAYMENTS_BASE_URL is the service's own address",
    places.settings,
    "it redirects elsewhere"
  )
  const isDenied = status === 401 || status === 403
  findings.expect(!isDenied, "The credentials are accepted", places.settings, `HTTP ${status}`)
  return !isRedirect && !isDenied
})

const hasWords = ({ json, text }: Answer): boolean => {
  if (!Predicate.isObject(json)) return text.trim() !== ""
  return ["message", "error", "errors", "detail", "title"].some((name) => Object.hasOwn(json, name))
}

/** The id that nobody has. */
const nobody = "00000000-0000-4000-8000-000000000000"

/** How it refuses, as far as reads show it. */
export const checkRefusals = Effect.fnUntraced(function* (
  findings: Findings,
  ask: Ask,
  { baseUrl, credentials }: { readonly baseUrl: string; readonly credentials: ApiCredentials }
) {
  const missing = yield* ask(getTransaction, { params: { transactionId: nobody } })
  const what = "An unknown transaction is answered with 404"
  findings.expect(
    missing?.status === 404,
    what,
    places.refusals,
    missing === undefined ? "no answer" : `HTTP ${missing.status}`
  )
  const other = makeAsk(baseUrl, { ...credentials, apiKey: Redacted.make("a-wrong-key-of-effect-pix-doctor") })
  const denied = yield* other(listTransactions, { query: { page: "1", pageSize: "1" } })
  findings.expect(
    denied?.status === 401 || denied?.status === 403,
    "A wrong key is answered with 401 or 403",
    places.refusals,
    denied === undefined ? "no answer" : `HTTP ${denied.status}`
  )
  const refusals = [missing, denied].filter((answer) => answer !== undefined && answer.status >= 400)
  if (refusals.length === 0) return
  findings.expect(
    refusals.every((answer) => answer !== undefined && hasWords(answer)),
    "A refusal says why: message, error, errors, detail or title in JSON, or text",
    places.refusals,
    "it has no words that are known"
  )
})
