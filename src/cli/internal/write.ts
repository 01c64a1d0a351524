/**
 * Runs a write under the idempotency key of a reference. If its outcome is not known, it prints what to do next, also when a
 * signal ends the command while the request is under way. The only safe step is the same write under the same key, and the
 * command line for it is printed. If that does not show the outcome, the operator of the gateway has to.
 */
import * as Effect from "effect/Effect"
import process from "node:process"
import { PaymentsPolicy } from "../../client/PaymentsPolicy.ts"
import * as IdempotencyKey from "../../contract/IdempotencyKey.ts"
import type { PaymentsError } from "../../contract/PaymentsError.ts"
import { codes, type Failed, failed } from "./exit.ts"
import { commandLineWith } from "./invocation.ts"
import { note } from "./output.ts"

/** The key of a reference, the same as `IdempotencyKey.fromReference` makes in a program. */
export const keyOf = (reference: string) =>
  Effect.fromOption(IdempotencyKey.fromReferenceOption("charge", reference)).pipe(
    Effect.mapError(() =>
      failed(
        "The reference cannot be used. It is a text that is not blank, has no space around it, and holds no character " +
          "that a person cannot see or distinguish from another."
      )
    )
  )

interface About {
  /** Whether `--again` was given. */
  readonly again: boolean
  /** More flags for the printed command line, in addition to the given ones and `--again`. */
  readonly flags?: ReadonlyArray<string>
}

const adviceOf = (error: PaymentsError, { again, flags = [] }: About): string => {
  if (error._tag === "IdempotencyConflict") {
    return [
      `The gateway answers as if this reference already had a charge.`,
      `- If that charge is the one you mean: run this with the same amount and data as then. It shows the result.`,
      `- If this is a second charge: give it a reference of its own.`,
      "- If you do not know: ask the operator of the gateway what the idempotency key was used for."
    ].join("\n")
  }
  const command = `To ask again safely, with the same key, run:\n  ${commandLineWith(again ? flags : [...flags, "--again"])}`
  if (!again) return command
  return [
    command,
    "This was a repetition already. If the answer stays the same, another one will not help: ask the operator of the gateway",
    `whether the idempotency key was executed. If it was, the charge exists. If it was not and will not be, make it`,
    "under another reference."
  ].join("\n")
}

/** Runs a write, and says what to do if its outcome is not known. */
export const withAdvice = <A, E extends PaymentsError, R>(
  write: Effect.Effect<A, E, R>,
  about: About
): Effect.Effect<A, E | Failed, R> => {
  const policy = Effect.map(PaymentsPolicy, (current) =>
    PaymentsPolicy.make({
      ...current,
      onInterruptedWrite: (report) => {
        process.exitCode = codes.Unknown
        return note(`${report.message}\n${adviceOf(report, about)}`)
      }
    })
  )
  return write.pipe(
    Effect.mapError((error) =>
      error.outcome === "Unknown" ? failed(`${error.message}\n${adviceOf(error, about)}`, codes.Unknown) : error
    ),
    Effect.provideServiceEffect(PaymentsPolicy, policy)
  )
}
