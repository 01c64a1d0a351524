/**
 * The exit of the command: a failure is one message on stderr, and an exit code that says whether money may have moved.
 */
import * as Cause from "effect/Cause"
import * as CliError from "effect/cli/CliError"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { ConfigurationError } from "../../contract/ConfigurationError.ts"
import { Outcome } from "../../contract/Outcome.ts"

/** The exit codes of a failure, and what each means. */
const exits = {
  Usage: [1, "wrong usage or settings, or a fault of this machine"],
  NotConfirmed: [2, "not confirmed: nothing was sent or changed"],
  NotSent: [3, "NotSent: nothing left this machine"],
  Rejected: [4, "Rejected: the service refused, nothing was executed"],
  Unknown: [5, "Unknown: it may have been executed; do what the message says, and nothing else"],
  NoEffect: [6, "NoEffect: a read got no usable answer, or waiting took too long"],
  Wrong: [7, "doctor found an assumption that is wrong"],
  NotPaid: [8, "the charge that was waited for ended without being paid"],
  Interrupted: [130, "ended by ctrl-C, SIGTERM or SIGHUP"]
} as const

export const codes = Record.map(exits, ([code]) => code)

export const codesInWords = [[0, "done"] as const, ...Object.values(exits)]
  .map(([code, words]) => `${`${code}`.padEnd(5)}${words}`)
  .join("\n  ")

/** The failure of a command: its message for stderr, which may be empty, and its exit code. */
export class Failed extends Schema.TaggedError<Failed>("effect-pix/Failed")("Failed", {
  message: Schema.String,
  code: Schema.Int
}) {}

export const failed = (message: string, code: number = codes.Usage): Failed => new Failed({ message, code })

const isOutcome = Schema.is(Outcome)

const failureOf = (error: unknown): Failed | undefined => {
  if (error instanceof Failed) return error
  if (error instanceof ConfigurationError) {
    return failed(
      `${error.message}.\nThe gateway is named by PAYMENTS_BASE_URL, PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY. ` +
        "For one on this machine: effect-pix sandbox"
    )
  }
  // `ShowHelp` was printed before. Without errors it is the help that a user asked for.
  if (CliError.isCliError(error)) {
    return error._tag === "ShowHelp" && error.errors.length === 0
      ? undefined
      : failed(error._tag === "ShowHelp" ? "" : error.message)
  }
  if (error instanceof Error && Predicate.hasProperty(error, "outcome") && isOutcome(error.outcome)) {
    return failed(error.message, codes[error.outcome])
  }
  const name = error instanceof Error ? error.name : "something that is no error"
  // The message of a defect may hold secrets, so it is not shown.
  return failed(`effect-pix failed in a way that it should not (${name}). --log-level debug shows where.`)
}

/** Converts a cause to a failure; `undefined` if nothing failed. */
export const failedOf = (cause: Cause.Cause<unknown>): Failed | undefined => failureOf(Cause.squash(cause))
