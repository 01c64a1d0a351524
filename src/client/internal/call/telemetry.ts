/**
 * The metrics of the client. Their labels are the operation, the result, the outcome and names of fields of the contract,
 * so there are few: never a header, a body, an idempotency key or a person's data.
 */
import * as Metric from "effect/Metric"
import type { Operation } from "../../../contract/PaymentsError.ts"

const requests = Metric.counter("effect_pix_requests", {
  description: "Requests sent, or tried to be, by operation",
  incremental: true
})
const retries = Metric.counter("effect_pix_retries", {
  description: "Attempts after the first, by operation",
  incremental: true
})
const duration = Metric.histogram("effect_pix_call_duration_milliseconds", {
  description: "How long a call took over all its attempts, by operation",
  boundaries: Metric.exponentialBoundaries({ start: 5, factor: 2, count: 15 })
})

export const calls = Metric.counter("effect_pix_calls", {
  description: "Calls by operation and result: Success, or the error's tag, with its outcome",
  incremental: true
})
export const misfits = Metric.counter("effect_pix_misfits", {
  description: "Answers with an optional field that did not fit the contract and was left out, by operation and field",
  incremental: true
})

/** The metrics of one operation. */
export const metersOf = (operation: Operation) => ({
  requests: Metric.withAttributes(requests, { operation }),
  retries: Metric.withAttributes(retries, { operation }),
  duration: Metric.withAttributes(duration, { operation }),
  success: Metric.withAttributes(calls, { operation, result: "Success", outcome: "Executed" })
})

export type Meters = ReturnType<typeof metersOf>
