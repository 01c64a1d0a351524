/**
 * Answers a request: checks the rules of every request in one order, and runs the handlers of `PaymentsApi`. Every refusal
 * has a body. A defect is logged and answered.
 */
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type { ApiCredentials } from "../../client/Credentials.ts"
import * as Endpoints from "../../contract/Endpoints.ts"
import type { Settings } from "../SandboxOptions.ts"
import { type Concerns, Exchange, layer as handlers, lookup } from "./handlers.ts"
import { digest } from "./ids.ts"
import type { Ledger } from "./ledger.ts"
import type { Key } from "./once.ts"
import * as Refusal from "../Refusal.ts"
import type { Matched } from "./requests.ts"

/** A request that arrived, with the ledger and the time to answer it from. */
export interface Arrived {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly matched: Matched
  /** The body, or why it is refused. */
  readonly text: Result.Result<string, Refusal.Refusal>
  readonly write: Key
  readonly concerns: Concerns
  /** Why a payout fails at once: a fault. */
  readonly failure: string | undefined
  readonly credentials: ApiCredentials
  readonly ledger: Ledger
  readonly now: DateTime.Utc
}

const names = Endpoints.headerNames
const isJson = (type: string) => /^application\/json\s*(?:;|$)/i.test(type.trim())
/** What curl sends by itself takes JSON too. */
const takesJson = (type: string) => isJson(type) || /^(?:application|\*)\/\*\s*(?:;|$)/.test(type.trim())

/** A digest of a path and of the JSON object of a text. `undefined` for any other text, or an object nested a million times. */
const contentOf = (path: string, text: string): string | undefined =>
  Result.getOrUndefined(
    Result.try(() => {
      const json: unknown = JSON.parse(text)
      return Predicate.isObject(json) && !Array.isArray(json) ? digest([path, json]) : undefined
    })
  )

/** The refusal of a request, before its content is decoded. */
const refusalOf = (arrived: Arrived, strict: boolean, content: string | undefined): Refusal.Refusal | undefined => {
  const { credentials, matched, request, text } = arrived
  const { headers } = request
  const isAuthentic =
    headers[names.clientId] === credentials.clientId && headers[names.apiKey] === Redacted.value(credentials.apiKey)
  if (!isAuthentic) return Refusal.unauthorized
  if (matched.endpoint === undefined) {
    return matched.allowed.length === 0 ? Refusal.routeNotFound : Refusal.methodNotAllowed
  }
  if (strict && !(headers[names.accept] ?? "").split(",").some(takesJson)) return Refusal.notAcceptable
  if (matched.endpoint.body === undefined) return undefined
  const type = headers[names.contentType]
  if (type === undefined ? strict : !isJson(type)) return Refusal.unsupportedMediaType
  if (Result.isFailure(text)) return text.failure
  return content === undefined ? Refusal.notObject : undefined
}

export const makeExecute = Effect.fnUntraced(function* (settings: Settings) {
  const scope = yield* Effect.scope
  // The routes are built in a context of their own, so that a request is handled in the context of its caller, by its clock.
  const isolated: (context: Context.Context<never>) => Context.Context<Scope.Scope> = () =>
    Context.make(Scope.Scope, scope)
  const route = yield* HttpRouter.toHttpEffect(Layer.provide(handlers(settings), HttpServer.layerServices)).pipe(
    Effect.updateContext(isolated)
  )

  return (arrived: Arrived): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
    const body = Result.getOrElse(arrived.text, () => "")
    const content = contentOf(arrived.matched.path, body)
    const refusal = refusalOf(arrived, settings.strict, content)
    if (refusal !== undefined) {
      const response = Refusal.toResponse(refusal)
      return Effect.succeed(
        refusal === Refusal.methodNotAllowed
          ? HttpServerResponse.setHeader(response, "allow", arrived.matched.allowed.join(", "))
          : response
      )
    }
    const { concerns, ledger, matched } = arrived
    if (matched.endpoint?.operation === "getWithdrawal") {
      return Effect.sync(() => lookup(settings, ledger, matched.path, concerns))
    }
    return route.pipe(
      Effect.scoped,
      Effect.provideService(HttpServerRequest.HttpServerRequest, arrived.request),
      Effect.provideService(Exchange, {
        ledger,
        now: arrived.now,
        write: { ...arrived.write, content: content ?? "" },
        concerns,
        body,
        failure: arrived.failure
      }),
      // The body of a charge alone is a choice of shapes, by its method: without a field, that is what does not fit.
      Effect.catchCause(Refusal.recover("paymentMethod"))
    )
  }
})
