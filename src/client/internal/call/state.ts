/**
 * One call: what is fixed about it, and what it remembers from attempt to attempt.
 */
import type * as Context from "effect/Context"
import * as Redacted from "effect/Redacted"
import type * as Result from "effect/Result"
import type * as Tracer from "effect/Tracer"
import type { ApiCredentials } from "../../Credentials.ts"
import type { PaymentsPolicy } from "../../PaymentsPolicy.ts"
import { personal, type Secret, secretsOfBody } from "../words/secrets.ts"
import type { Client } from "./client.ts"
import type { Route } from "./route.ts"
import type { Settings } from "./settings.ts"
import type { Failure, KeyPast, Unanswered, Undecodable } from "./verdict.ts"

/** What a call sends, and what is made of what comes back. */
export interface Prepared<A, E> {
  /** Of a write, and only there. */
  readonly idempotencyKey: string | undefined
  readonly past: KeyPast
  /** From its first slash, with the query. */
  readonly path: string
  /** Made once, so that every attempt sends the same bytes. */
  readonly body: Uint8Array<ArrayBuffer> | undefined
  readonly decode: (body: string, policy: PaymentsPolicy, misfits: Set<string>) => Result.Result<A, Undecodable>
  readonly toError: (failure: Failure) => E
}

export interface Call<A = unknown, E = unknown> {
  readonly client: Client
  readonly route: Route
  readonly prepared: Prepared<A, E>
  readonly settings: Settings
  readonly context: Context.Context<never>
  /** In milliseconds. */
  readonly started: number
  /** The fields of the answer that did not fit. */
  readonly misfits: Set<string>
  attempts: number
  /** The credentials of the last attempt. */
  used: ApiCredentials | undefined
  /** A request may be under way. */
  isUnderWay: boolean
  /** The attempt that may have been executed, of this call or of an earlier one. */
  inDoubt: Unanswered | undefined
  /** The client id that it was sent under. */
  clientIdInDoubt: string | undefined
  span: Tracer.Span | undefined
  isOver: boolean
}

const decoder = new TextDecoder()

const parametersOf = (template: string, path: string): ReadonlyArray<string> => {
  const [written = ""] = path.split("?")
  const segments = written.split("/")
  return template
    .split("/")
    .flatMap((name, at) => (name.startsWith(":") ? [decodeURIComponent(segments[at] ?? "")] : []))
}

/** Values that must not be shown, even if the service echoes them. */
export const secretsOf = ({ prepared, route, used }: Call): ReadonlyArray<Secret> => {
  const { body, idempotencyKey = "", path } = prepared
  const credentials = used === undefined ? [] : [used.clientId, Redacted.value(used.apiKey)]
  const known = [...credentials, idempotencyKey, ...parametersOf(route.endpoint.path, path)]
  return [...known.map(personal), ...(body === undefined ? [] : secretsOfBody(decoder.decode(body)))]
}
