/** Flags and arguments that several commands share. */
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { issuesOfStep } from "../../durable/Step.ts"
import { badAccountName, defaultAccount, isAccountName } from "../../payouts/PayoutQueueOptions.ts"
import { amountHelp, noAmount, parseAmount } from "./amount.ts"
import { saoPaulo } from "../../internal/utc.ts"

export const account = Flag.String("account").pipe(
  Flag.withMetavar("name"),
  Flag.filter(
    (name) => isAccountName(name),
    () => `a name, which ${badAccountName}`
  ),
  Flag.withDescription("Whose payouts, as the option `account` of your program. Default: default"),
  Flag.withDefault(defaultAccount)
)

/** For a flag that may be left out. */
export const optional = Flag.withDefault(undefined)

/** A flag without a value. */
export const flag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))

/** A text that may be left out. Help shows `metavar` in the place of its value. */
export const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), optional)

/** Who takes a step. Nothing is read from a database where nobody is named. */
const by = Flag.String("by").pipe(
  Flag.withMetavar("name"),
  Flag.withDescription("Who takes this step, or EFFECT_PIX_BY; it is stored. No data of a payer or a payee"),
  Flag.withFallbackConfig(Config.String("EFFECT_PIX_BY")),
  Flag.filter(
    (name) => issuesOfStep({ by: name }).length === 0,
    () => "the name of who takes this step, of 1 to 100 characters"
  )
)

/** Who takes a step, and why: both are stored. */
export const person = {
  by,
  note: text("note", "text", "Why; it is stored. No data of a payer or a payee")
}

/** A time with its zone: without one, two people read two times. */
const parseTime = (text: string): Option.Option<DateTime.Utc> =>
  Option.filter(DateTime.make(text), () => /(?:Z|:\d\d(?:\.\d+)?[+-]\d\d:\d\d)$/.test(text))

/** A time with its zone, or a day, which begins at its midnight in São Paulo. */
const parseDayOrTime = (text: string): Option.Option<DateTime.Utc> =>
  /^\d{4}-\d\d-\d\d$/.test(text)
    ? Option.map(
        Option.filter(DateTime.make(text), (day) => DateTime.formatIsoDateUtc(day) === text),
        (day) => DateTime.toUtc(DateTime.makeZonedUnsafe(day, { timeZone: saoPaulo(), adjustForTimeZone: true }))
      )
    : parseTime(text)

/** The flags of a period. */
const timeFlag = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("time"),
    Flag.withDescription(description),
    Flag.filterMap(parseDayOrTime, () => "a day, as 2026-11-01, or a time with its zone, as 2026-11-01T09:00:00-03:00"),
    optional
  )
export const periodOf = (verb: string) => ({
  since: timeFlag("since", `${verb} at this time or later: 2026-11-01, a day of São Paulo, or 2026-11-01T00:00:00Z`),
  until: timeFlag("until", `${verb} before this time: 2026-12-01 is up to the end of November in São Paulo`)
})

export const lang = Flag.Literals("lang", ["en", "pt"]).pipe(
  Flag.withDescription(
    "The language of the words, and with pt the times of São Paulo in a CSV. JSON, help and errors stay as they are"
  ),
  Flag.withDefault("en")
)

export const json = flag("json", "Print one JSON object a line, for machines")

/** The flags of a list. */
export const format = {
  limit: Flag.Int("limit").pipe(
    Flag.filter(
      (rows) => rows >= 1,
      () => "a whole number from 1"
    ),
    Flag.withDescription("The largest number of rows. Default: all"),
    optional
  ),
  csv: flag("csv", "Comma-separated values in UTF-8 with its mark, safe to open in a spreadsheet"),
  json
}

export const full = flag("full", "Show names, e-mails, phones and documents in full, not masked")
export const yes = flag("yes", "Do not ask for confirmation. Needed without a terminal").pipe(Flag.withAlias("y"))
export const again = flag(
  "again",
  "An earlier run with this reference may have been executed: a refusal of this one then proves nothing"
)
export const wait = flag("wait", "Wait until the charge is paid, or can no longer be. Exit code 8 if it is not paid")

export const amount = Argument.String("amount").pipe(
  Argument.filterMap(parseAmount, () => noAmount),
  Argument.withDescription(amountHelp)
)

/** Loads the code of a command only when it runs, for commands that need code that the others do not. */
export const lazily =
  <Input, E, R>(load: () => Promise<(input: Input) => Effect.Effect<void, E, R>>) =>
  (input: Input): Effect.Effect<void, E, R> =>
    Effect.flatMap(Effect.promise(load), (run) => run(input))
