/**
 * Checks the input and the options of a call. A caller without types may give anything. The error is an
 * `InvalidRequest` that names every mistake, and nothing was sent.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { ConfigurationError } from "./ConfigurationError.ts"
import { InvalidRequest, type Operation, type RequestIssue } from "./PaymentsError.ts"
import * as Settings from "./Settings.ts"

/** The error of a wrong input or wrong options. */
export const invalidRequest = (
  operation: Operation,
  issues: ReadonlyArray<RequestIssue>,
  idempotencyKey?: string
): InvalidRequest =>
  new InvalidRequest({
    operation,
    attempts: 0,
    outcome: "NotSent",
    issues,
    ...(idempotencyKey !== undefined && { idempotencyKey })
  })

/** Checks the options of a call: `check` returns a check of `Settings` for each option. */
export const checkOptions = <Options extends object, A extends object>(
  operation: Operation,
  given: Options,
  check: (options: Partial<Options>) => { readonly [K in keyof A]: Effect.Effect<A[K], ConfigurationError> }
): Effect.Effect<A, InvalidRequest> =>
  Effect.suspend(() => {
    const isObject = Predicate.isObject(given)
    return Settings.all({
      options: Settings.checked("options", undefined, isObject, "must be an object"),
      checked: Settings.all<A>(check(isObject ? given : {}))
    })
  }).pipe(
    Effect.mapBoth({
      onSuccess: ({ checked }) => checked,
      onFailure: ({ settings }) =>
        invalidRequest(
          operation,
          settings.map(({ problem, setting }) => ({ path: setting, problem }))
        )
    })
  )
