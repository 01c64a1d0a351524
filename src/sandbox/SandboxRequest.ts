/**
 * The requests that arrived at the sandbox, executed or not, for a test to count and to read: the last thousand, unless
 * `SandboxOptions.keep` says otherwise.
 */
declare module "./SandboxRequest.ts" {}

import * as Schema from "effect/Schema"
import { Operation } from "../contract/Endpoints.ts"
import { Fault } from "./PlannedFault.ts"

/** The largest body of a request, in bytes. */
export const maxBodyBytes = 1024 * 1024

/** One request as it arrived, with its answer. Only its credentials are masked, since they may be real by mistake. */
export const SandboxRequest = Schema.Struct({
  /** Its number, from 1. */
  id: Schema.Int,
  /** When it arrived, by the sandbox's clock. */
  arrivedAt: Schema.String,
  /** When its answer was ready, by the same clock; absent before, and where the connection was broken. */
  answeredAt: Schema.optional(Schema.String),
  /** Its operation, by method and path; absent for a path that the service does not have. */
  operation: Schema.optional(Operation),
  /** The HTTP method, in capitals. */
  method: Schema.String,
  /** Scheme, host and port, such as `https://sandbox.example`. */
  origin: Schema.String,
  /** The path as it was sent. */
  path: Schema.String,
  /** The parameters of the query, by their names. */
  query: Schema.Record(Schema.String, Schema.String),
  /** The headers by their names, in lower case and sorted. The value of a secret one is `<redacted>`. */
  headers: Schema.Record(Schema.String, Schema.String),
  /** The header `Idempotency-Key`. */
  idempotencyKey: Schema.optional(Schema.String),
  /** The body as it was sent (as UTF-8). Empty if there is none, or if it is too large. */
  body: Schema.String,
  /** The fault that it met, if any. */
  fault: Schema.optional(Fault),
  /** The status of its answer; absent before there is one, and where the connection was broken. */
  status: Schema.optional(Schema.Int),
  /** The beginning of the body of its answer; absent if there is none. */
  answer: Schema.optional(Schema.String),
  /** The charge that it created, or that it looked up. */
  transactionId: Schema.optional(Schema.String),
  /** The payout that it made, or that was made under its key. */
  withdrawalId: Schema.optional(Schema.Int)
})
/** See the schema of the same name. */
export interface SandboxRequest extends Schema.Schema.Type<typeof SandboxRequest> {}
