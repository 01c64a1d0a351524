/**
 * What a call is made of, before it runs.
 */
import type * as Result from "effect/Result"
import type { Operation, Outcome } from "../../../contract/PaymentsError.ts"
import type { ApiCredentials, Credentials } from "../../Credentials.ts"
import type { PaymentsPolicy } from "../../PaymentsPolicy.ts"
import type { Bucket } from "./budget.ts"
import type { metersOf } from "./telemetry.ts"
import type { Failure, Undecodable } from "./verdict.ts"

/** What an operation is, once for all its calls. */
export interface Route {
  readonly operation: Operation
  readonly method: "GET" | "POST"
  /** The path as the contract writes it, with its parameters unfilled. */
  readonly path: string
}

/** An operation of one client. */
export interface Line {
  readonly route: Route
  readonly credentials: Credentials["Service"]
  readonly bucket: Bucket
  readonly meters: ReturnType<typeof metersOf>
  /** Scheme, host and port. */
  readonly origin: string
  /** What stands before every path. */
  readonly prefix: string
  readonly headersOf: (used: ApiCredentials, idempotencyKey: string | undefined) => Readonly<Record<string, string>>
  /** The attributes of the span of an attempt. */
  readonly attributes: Readonly<Record<string, unknown>>
}

/** One logical call, prepared: everything about it is fixed but the credentials of an attempt. */
export interface Call<A, E> {
  /** Present for writes, and only for them. */
  readonly idempotencyKey: string | undefined
  /** An earlier call with this key may have been executed. */
  readonly earlier: boolean
  /** What follows the base URL: a path from its first slash, and the query. */
  readonly path: string
  /** The body's bytes, made once, so that every attempt sends the same; absent for reads. */
  readonly body: Uint8Array<ArrayBuffer> | undefined
  readonly decode: (body: string, policy: PaymentsPolicy) => Result.Result<A, Undecodable>
  readonly toError: (failure: Failure) => E
}

export interface Tagged {
  readonly _tag: string
  readonly message: string
  readonly outcome: Outcome
}
