/** Settings of a policy that several tests use. */
import { Schedule } from "effect"

/** Two retries, without waits. */
export const impatientSettings = { retryReads: Schedule.recurs(2), retryWrites: Schedule.recurs(2) }
