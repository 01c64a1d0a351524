/** Flags and arguments that several commands have. */
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import { amountHelp } from "./amount.ts"

const yes = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))

export const json = yes("json", "One JSON object a line, for machines")
export const full = yes("full", "Show names, e-mails, phones and documents in full, not masked")
export const again = yes(
  "again",
  "An earlier run with this reference may have been executed: a refusal of this one then proves nothing"
)
export const wait = yes("wait", "Wait until the charge is paid, or can no longer be. Exit code 8 if it is not paid")
export const flag = yes

export const amount = Argument.String("amount").pipe(Argument.withDescription(amountHelp))
