/** Policies that several tests run under. */
import { Layer, Schedule } from "effect"
import { PaymentsPolicy } from "effect-pix"

/** Two retries, without waits. */
export const impatientSettings = { retryReads: Schedule.recurs(2), retryWrites: Schedule.recurs(2) }
export const impatient = Layer.orDie(PaymentsPolicy.layer(impatientSettings))

/** The recipe of docs/errors.md and one more: for a call that a person waits for, and for a caller with retries of its own. */
export const interactive = PaymentsPolicy.make({
  attemptTimeout: "6 seconds",
  deadline: "10 seconds",
  maxRetryAfter: "2 seconds"
})
export const oneAttempt = PaymentsPolicy.make({ retryReads: Schedule.recurs(0), writes: "never" })
