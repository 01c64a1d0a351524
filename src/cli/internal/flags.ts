/** Flags and arguments that several commands share. */
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import type { StepOptions } from "../../durable/Step.ts"
import { amountHelp } from "./amount.ts"

/** The flags of `person`, as they were given. */
export interface Words {
  readonly by: Option.Option<string>
  readonly note: Option.Option<string>
}

/** A flag without a value. */
export const flag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))

/** A text that may be left out. Help shows `metavar` in the place of its value. */
export const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional)

/** Who takes a step, and why: both are stored. */
export const person = {
  by: text("by", "name", "Who takes this step; it is stored. No data of a payer or a payee"),
  note: text("note", "text", "Why; it is stored. No data of a payer or a payee")
}

/** The options of a step, from its flags. */
export const whyOf = ({ by, note }: Words): StepOptions => ({
  by: Option.getOrUndefined(by),
  note: Option.getOrUndefined(note)
})

export const limit = Flag.Int("limit").pipe(
  Flag.filter(
    (rows) => rows >= 1,
    (rows) => `Expected a whole number from 1, got ${rows}`
  ),
  Flag.withDescription("The largest number of rows. Default: all"),
  Flag.optional
)

export const json = flag("json", "Print one JSON object a line, for machines")
export const full = flag("full", "Show names, e-mails, phones and documents in full, not masked")
export const yes = flag("yes", "Do not ask for confirmation. Needed without a terminal").pipe(Flag.withAlias("y"))
export const again = flag(
  "again",
  "An earlier run with this reference may have been executed: a refusal of this one then proves nothing"
)
export const wait = flag("wait", "Wait until the charge is paid, or can no longer be. Exit code 8 if it is not paid")

export const amount = Argument.String("amount").pipe(Argument.withDescription(amountHelp))
