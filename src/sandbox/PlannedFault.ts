/**
 * The schemas of a fault and of a planned one, as the sandbox takes them over HTTP and stores them.
 */
import * as Schema from "effect/Schema"
import { Operation } from "../contract/Endpoints.ts"

const isSendable = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).every(
    ([name, value]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t -~\u0080-\u00FF]*$/.test(value)
  )

/** A fault of one request. The values and functions of `Fault` make it. */
export const Fault = Schema.Struct({
  /**
   * Whether the request is executed at once. A request that gets the gateway's own answer is executed in any case: then
   * `false` means after `wait`.
   */
  executed: Schema.Boolean,
  /** How long the gateway waits before it answers, in milliseconds. */
  wait: Schema.optional(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1e12 }))),
  /** The answer in place of the gateway's own. */
  answer: Schema.optional(
    Schema.Struct({
      /** From 200 to 599. */
      status: Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 })),
      /** Names and values that HTTP can carry. */
      headers: Schema.Record(Schema.String, Schema.String).check(Schema.makeFilter(isSendable)),
      body: Schema.String
    })
  ),
  /**
   * How the connection ends. `Refused`: before the request arrives. `Reset`: without an answer. `Silence`: never, and no answer
   * comes. `Truncated`: after half of the answer's body.
   */
  ending: Schema.optional(Schema.Literals(["Refused", "Reset", "Silence", "Truncated"])),
  /** Whether the idempotency key of the request is forgotten before. */
  forgetsKey: Schema.optional(Schema.Boolean),
  /** Of a withdrawal: it fails at once. The gateway's own answer is 201 with `Failure`, and this as the reason. */
  failure: Schema.optional(Schema.String),
  /** Of a creation: the name under which the gateway's own answer has the code. */
  code: Schema.optional(Schema.Literals(["brcode", "qrcode"])),
  /** The times of the gateway's own answer are those of Brasília: without an offset, or with a false `Z`. */
  times: Schema.optional(Schema.Literals(["Local", "FalseZ"]))
})
/** See the schema of the same name. */
export interface Fault extends Schema.Schema.Type<typeof Fault> {}

/** An operation, or any of them. */
export const FaultTarget = Schema.Union([Operation, Schema.Literal("any")])
/** See the schema of the same name. */
export type FaultTarget = typeof FaultTarget.Type

/** A planned fault, for requests that have not arrived yet. */
export const PlannedFault = Schema.Struct({
  /** The operation of its requests. */
  operation: FaultTarget,
  /** The fault that they meet. */
  fault: Fault,
  /** How many more requests meet it. */
  left: Schema.Int
})
/** See the schema of the same name. */
export interface PlannedFault extends Schema.Schema.Type<typeof PlannedFault> {}
