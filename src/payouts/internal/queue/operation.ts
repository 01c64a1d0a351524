/**
 * How an operation of the queue runs: in its span, and where it writes, in no transaction of another database client.
 */
import * as Effect from "effect/Effect"
import { mapDatabaseError } from "../../../durable/Database.ts"
import { inSpan } from "../../../internal/spans.ts"
import { SubmitSpan } from "./core.ts"
import type { Store } from "./store.ts"

/** Runs one operation in its span. Its failures of the database name the operation and drop the database's message. */
export const guard =
  (operation: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    inSpan(`PayoutQueue.${operation}`, { kind: "internal", attributes: {} }, (span) =>
      Effect.provideService(
        mapDatabaseError(operation)(effect),
        SubmitSpan,
        span === undefined ? null : `${span.traceId}-${span.spanId}`
      )
    )

export const operationsOf = (store: Store) => ({
  /** An operation that writes, in the caller's transaction where there is one. */
  writing: <A, E, R>(operation: string, effect: Effect.Effect<A, E, R>) =>
    guard(operation)(Effect.andThen(store.requireOwnTransaction(operation), effect))
})
