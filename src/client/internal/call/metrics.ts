/**
 * The metrics of a client. Their attributes are names and statuses, so there are few: never a header, a body, an
 * idempotency key or a person's data. A handle is made once for each set of attributes.
 */
import type * as Context from "effect/Context"
import type * as Metric from "effect/Metric"
import type { Endpoint } from "../../../contract/Endpoints.ts"
import type { Operation, Outcome } from "../../../contract/PaymentsError.ts"
import { type Attributes, counter, histogram } from "../../../internal/metrics.ts"

const attemptDuration = (attributes: Attributes) =>
  histogram("http.client.request.duration", "How long an attempt took: one HTTP request", attributes)

const callDuration = (attributes: Attributes) =>
  histogram("effect_pix_call_duration", "How long a call took, over all its attempts and waits", attributes)

const misfits = (attributes: Attributes) =>
  counter(
    "effect_pix_misfits",
    "{answer}",
    "Answers with an optional field that did not fit the contract and was left out",
    attributes
  )

const refusedRetries = (attributes: Attributes) =>
  counter(
    "effect_pix_retries_refused",
    "{retry}",
    "Retries that the retry budget refused, since too many calls failed",
    attributes
  )

/** How a call ended. */
export interface CallEnd {
  /** `Success`, the error's tag, `Interrupted` or `Defect`. */
  readonly result: string
  readonly outcome: Outcome | "Executed"
  /** Absent for a success. */
  readonly errorType?: string
}

/** The metrics of a client that sends to `server`. */
export const makeMeters = (server: { readonly address: string; readonly port: number; readonly prefix: string }) => {
  const made = new Map<string, Metric.Metric<number, unknown>>()
  const handle = (key: string, make: () => Metric.Metric<number, unknown>) => {
    let found = made.get(key)
    if (found === undefined) {
      found = make()
      made.set(key, found)
    }
    return found
  }

  return {
    recordAttempt: (
      { method, operation, path }: Endpoint,
      { errorType, status }: { readonly status: number | undefined; readonly errorType: string | undefined },
      seconds: number,
      context: Context.Context<never>
    ): void =>
      handle(`attempt ${operation} ${status} ${errorType}`, () =>
        attemptDuration({
          "http.request.method": method,
          "url.template": server.prefix + path,
          "server.address": server.address,
          "server.port": String(server.port),
          "http.response.status_code": status?.toString(),
          "error.type": errorType
        })
      ).updateUnsafe(seconds, context),

    recordCall: (
      operation: Operation,
      { errorType, outcome, result }: CallEnd,
      seconds: number,
      context: Context.Context<never>
    ): void =>
      handle(`call ${operation} ${result} ${outcome} ${errorType}`, () =>
        callDuration({ operation, result, outcome, "server.address": server.address, "error.type": errorType })
      ).updateUnsafe(seconds, context),

    countRefusedRetry: (operation: Operation, context: Context.Context<never>): void =>
      handle(`refused ${operation}`, () =>
        refusedRetries({ operation, "server.address": server.address })
      ).updateUnsafe(1, context),

    countMisfit: (operation: Operation, field: string, context: Context.Context<never>): void =>
      handle(`misfit ${operation} ${field}`, () => misfits({ operation, field })).updateUnsafe(1, context)
  }
}

export type Meters = ReturnType<typeof makeMeters>
