/**
 * The requests that arrived at the sandbox, executed or not, for a test to count and to read: the last thousand, unless
 * `SandboxOptions.keep` says otherwise.
 */
import type * as DateTime from "effect/DateTime"
import type * as Redacted from "effect/Redacted"
import type { Operation } from "../contract/PaymentsError.ts"
import type { Fault } from "./Fault.ts"

/**
 * One request as it arrived. Secrets and personal data are `Redacted`: they print as `<redacted>`, and `Redacted.value`
 * shows them.
 */
export interface RecordedRequest {
  /** Its number, from 1. */
  readonly id: number
  /** When it arrived, by the sandbox's clock. */
  readonly arrivedAt: DateTime.Utc
  /** Its operation, by method and path; `undefined` for a path that the service does not have. */
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
  /** The headers. The value of a secret one is `<redacted>`. */
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
  /** The body as it was sent (as UTF-8). Empty if there is none, or if it is too large. */
  readonly text: Redacted.Redacted
  /** The body, parsed as JSON; `undefined` if it is not JSON. */
  readonly json: Redacted.Redacted<unknown>
  /** The tag of the fault that it met. */
  readonly fault: Fault["_tag"]
  /** The status of its answer; `undefined` before there is one, and where the connection was broken. */
  readonly status: number | undefined
  /** The beginning of the body of its answer; `undefined` if there is none, or if a fault streams it. */
  readonly answer: Redacted.Redacted | undefined
}
