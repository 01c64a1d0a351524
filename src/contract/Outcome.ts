/**
 * What every error of an operation says: of which operation, whether money may have moved, and what is wrong with a
 * request.
 */
import * as Schema from "effect/Schema"

/** The operations of the service, by the names of their methods on `Payments`. */
export const Operation = Schema.Literals([
  "createTransaction",
  "getTransaction",
  "listTransactions",
  "getBalance",
  "requestWithdrawal"
])
/** See the schema of the same name. */
export type Operation = typeof Operation.Type

/** Whether money may have moved: see the head of this module. */
export const Outcome = Schema.Literals(["NotSent", "Rejected", "Unknown", "NoEffect"])
/** See the schema of the same name. */
export type Outcome = typeof Outcome.Type

/** One thing wrong with a request: where, and what was expected there. Never the value. */
export const RequestIssue = Schema.Struct({ path: Schema.String, problem: Schema.String })
/** See the schema of the same name. */
export type RequestIssue = typeof RequestIssue.Type
