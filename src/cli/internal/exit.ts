/**
 * The exit of the command: a failure is one message on stderr, and an exit code that says whether money may have moved.
 */
import * as Cause from "effect/Cause"
import * as CliError from "effect/cli/CliError"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { ConfigurationError } from "../../contract/ConfigurationError.ts"
import { Outcome } from "../../contract/PaymentsError.ts"

/** The exit codes. 130 is ctrl-C, SIGTERM and SIGHUP. */
export const codes = {
  /** Wrong usage or settings, or something on this machine, such as a stdout that cannot be written. */
  Usage: 1,
  NotConfirmed: 2,
  NotSent: 3,
  Rejected: 4,
  Unknown: 5,
  NoEffect: 6,
  /** `doctor` found an assumption that is wrong. */
  Wrong: 7,
  /** `--wait` ended, and the charge is not paid. */
  NotPaid: 8
} as const

export const codesInWords = [
  "0    done",
  "1    wrong usage or settings, or a fault of this machine",
  "2    not confirmed: nothing was sent or changed",
  "3    NotSent: nothing left this machine",
  "4    Rejected: the service refused, nothing was executed",
  "5    Unknown: it may have been executed; do what the message says, and nothing else",
  "6    NoEffect: a read got no usable answer, or waiting took too long",
  "7    doctor found an assumption that is wrong",
  "8    the charge that was waited for ended without being paid",
  "130  ended by ctrl-C, SIGTERM or SIGHUP"
].join("\n  ")

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
