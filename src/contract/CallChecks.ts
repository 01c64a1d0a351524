/**
 * Checks what a caller gives to a call, also a caller without types. What is wrong is an `InvalidRequest` of that call, which
 * names every mistake: nothing was sent.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { ConfigurationError } from "./ConfigurationError.ts"
import { InvalidRequest, type Operation, type RequestIssue } from "./PaymentsError.ts"
import * as Settings from "./Settings.ts"

/** The error of an input or of options that are wrong. */
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

/** Checks the options of a call: `check` has a check of `Settings` for each of them. */
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
