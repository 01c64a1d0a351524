/**
 * What reached the sandbox: every request that arrived, executed or not, for a test to count and to read. The last
 * thousand are kept, unless `SandboxOptions.keep` says otherwise.
 */
import type * as DateTime from "effect/DateTime"
import type * as Redacted from "effect/Redacted"
import type { Operation } from "../contract/PaymentsError.ts"
import type { Fault } from "./Fault.ts"

/**
 * One request as it arrived. What may be secret or personal is `Redacted`: it prints as `<redacted>`, and
 * `Redacted.value` shows it.
 */
export interface RecordedRequest {
  /** Its number, from 1. */
  readonly id: number
  /** When it arrived, by the sandbox's clock. */
  readonly arrivedAt: DateTime.Utc
  /** Which operation it is, by method and path; absent for a path that the service does not have. */
  readonly operation: Operation | undefined
  /** The HTTP method, in capitals. */
  readonly method: string
  /** Scheme, host and port, such as `https://sandbox.example`. */
  readonly origin: string
  /** The path as it was sent. */
  readonly path: string
  /** The parameters of the query, by their names. */
  readonly query: Readonly<Record<string, string>>
  /** The names of the headers, in lower case and sorted. */
  readonly headerNames: ReadonlyArray<string>
  /** The headers; those that carry a secret say `<redacted>`. */
  readonly headers: Readonly<Record<string, string>>
  /** The header `Accept`. */
  readonly accept: string | undefined
  /** The header `Content-Type`. */
  readonly contentType: string | undefined
  /** The header `Idempotency-Key`. */
  readonly idempotencyKey: string | undefined
  /** The header that carries the client id. */
  readonly clientId: Redacted.Redacted | undefined
  /** The header that carries the secret key. */
  readonly apiKey: Redacted.Redacted | undefined
  /** The body as it was sent, to the byte (as UTF-8); empty for none, and for one that is over the bound. */
  readonly text: Redacted.Redacted
  /** The body read as JSON; `undefined` where it is none. */
  readonly json: Redacted.Redacted<unknown>
  /** What went wrong with it, by the fault's tag. */
  readonly fault: Fault["_tag"]
  /** The status that it was answered with; `undefined` while there is none, and where the connection was broken. */
  readonly status: number | undefined
  /** The beginning of the body that it was answered with; `undefined` for none, and for one that a fault streams. */
  readonly answer: Redacted.Redacted | undefined
}
