/** Policies that several tests run under. */
import { Layer, Schedule } from "effect"
import { PaymentsPolicy } from "effect-pix"

/** Two retries, without waits. */
export const impatientSettings = { retryReads: Schedule.recurs(2), retryWrites: Schedule.recurs(2) }
export const impatient = Layer.orDie(PaymentsPolicy.layer(impatientSettings))
