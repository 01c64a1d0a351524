/**
 * The metrics of a client. Their attributes are names and statuses, so there are few: never a header, a body, an
 * idempotency key or a person's data.
 */
import type * as Context from "effect/Context"
import type * as Metric from "effect/Metric"
import * as Endpoints from "../../../contract/Endpoints.ts"
import type { Operation } from "../../../contract/PaymentsError.ts"
import { clockOffset, counter, histogram } from "../../../internal/metrics.ts"

type Handle = Metric.Metric<number, unknown>

/** Makes the update of a metric. The handle is made once for each list of values of its attributes. */
const updateOf = <Values extends ReadonlyArray<string | number | undefined>>(
  make: (...values: Values) => Handle
): ((amount: number, context: Context.Context<never>, ...values: Values) => void) => {
  const handles = new Map<string, Handle>()
  return (amount, context, ...values) => {
    const key = values.join(" ")
    const handle = handles.get(key) ?? make(...values)
    handles.set(key, handle)
    handle.updateUnsafe(amount, context)
  }
}

/** The metrics of a client that sends to `server`, of a merchant if it is named. Durations are in seconds. */
export const makeMeters = (
  server: { readonly address: string; readonly port: number; readonly prefix: string },
  merchant: string | undefined
) => ({
  recordAttempt: updateOf((operation: Operation, status: number | undefined, errorType: string | undefined) =>
    histogram("http.client.request.duration", "How long an attempt took: one HTTP request", {
      "http.request.method": Endpoints.all[operation].method,
      "url.template": server.prefix + Endpoints.all[operation].path,
      "server.address": server.address,
      "server.port": String(server.port),
      "http.response.status_code": status?.toString(),
      "error.type": errorType
    })
  ),

  recordCall: updateOf((operation: Operation, result: string, outcome: string, errorType: string | undefined) =>
    histogram("effect_pix_call_duration_seconds", "How long a call took, over all its attempts and waits", {
      operation,
      result,
      outcome,
      "server.address": server.address,
      "error.type": errorType,
      merchant
    })
  ),

  countFailed: updateOf((operation: Operation, outcome: string, errorType: string | undefined) =>
    counter(
      "effect_pix_call_failed_centavos_total",
      "{centavo}",
      "The sum of the writes that did not succeed: a write that is repeated counts each time",
      { operation, outcome, "error.type": errorType }
    )
  ),

  recordClockOffset: updateOf(() => clockOffset("gateway")),

  countRefusedRetry: updateOf((operation: Operation) =>
    counter(
      "effect_pix_retries_refused_total",
      "{retry}",
      "Retries that the retry budget refused, since too many calls failed",
      { operation, "server.address": server.address }
    )
  ),

  countMisfit: updateOf((operation: Operation, field: string) =>
    counter(
      "effect_pix_misfits_total",
      "{answer}",
      "Answers with an optional field that did not fit the contract and was left out",
      { operation, field }
    )
  )
})

export type Meters = ReturnType<typeof makeMeters>
