/**
 * How a call becomes attempts. The first attempt is one request, one timer and one answer (`run.ts`). What happens after
 * a failure is decided in `retry.ts`.
 *
 * What holds for a write: the same bytes and the same key on every attempt; once an attempt may have been executed the
 * outcome stays unknown until a readable success says otherwise, and it is not sent under another client's id; an
 * interruption while it may have been executed is reported.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { headerNames } from "../../../contract/Endpoints.ts"
import type { InvalidRequest } from "../../../contract/PaymentsError.ts"
import type { ApiCredentials, Credentials } from "../../Credentials.ts"
import { makeBucket } from "./budget.ts"
import type { Call, Line, Route, Tagged } from "./call.ts"
import { Run } from "./run.ts"
import { makeSettings } from "./settings.ts"
import { metersOf } from "./telemetry.ts"
import { invalid } from "./toError.ts"

/** Runs the calls of one route. */
export type Runner = <A, E extends Tagged>(call: Call<A, E>) => Effect.Effect<A, E | InvalidRequest>

interface Dependencies {
  readonly client: HttpClient.HttpClient
  readonly credentials: Credentials["Service"]
  readonly origin: URL
}

const json = "application/json"

/** The headers of a request: those that credentials make are kept until others come. */
const makeHeaders = (): Line["headersOf"] => {
  let last: { readonly used: ApiCredentials; readonly read: Readonly<Record<string, string>> } | undefined
  return (used, idempotencyKey) => {
    if (last?.used !== used) {
      const { apiKey, clientId } = used
      const read = {
        [headerNames.accept]: json,
        [headerNames.clientId]: clientId,
        [headerNames.apiKey]: Redacted.value(apiKey)
      }
      last = { used, read }
    }
    return idempotencyKey === undefined
      ? last.read
      : { ...last.read, [headerNames.contentType]: json, [headerNames.idempotencyKey]: idempotencyKey }
  }
}

const attributesOf = ({ method, path }: Route, origin: URL, prefix: string) => ({
  "http.request.method": method,
  "server.address": origin.hostname,
  "server.port": Number(origin.port) || (origin.protocol === "https:" ? 443 : 80),
  "url.scheme": origin.protocol.slice(0, -1),
  "url.template": prefix + path
})

/** Builds the runner of calls of one client: they share its bucket of retries. */
export const make = Effect.fnUntraced(function* ({ client, credentials, origin }: Dependencies) {
  const settingsOf = makeSettings(client, yield* Effect.context<never>())
  const prefix = origin.pathname.replace(/(?<!\/)\/+$/, "")
  const shared = { credentials, prefix, origin: origin.origin, bucket: makeBucket(), headersOf: makeHeaders() }
  return (route: Route): Runner => {
    const line = {
      ...shared,
      route,
      meters: metersOf(route.operation),
      attributes: attributesOf(route, origin, prefix)
    }
    return <A, E extends Tagged>(call: Call<A, E>) =>
      Effect.withFiber((fiber): Effect.Effect<A, E | InvalidRequest> => {
        const settings = settingsOf(fiber)
        return Result.isSuccess(settings)
          ? new Run(line, call, settings.success, fiber.context).start()
          : Effect.fail(invalid(route.operation, settings.failure, call.idempotencyKey))
      })
  }
})
