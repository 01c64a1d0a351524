/** `effect-pix payouts`: the queue of payouts in a program's own database, and an operator's steps. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { ParkedBecause, PayoutState } from "../payouts/PayoutStatus.ts"
import { amountHelp } from "./internal/amount.ts"
import { flag, full, json, limit, person, text, yes } from "./internal/flags.ts"
import { lazily } from "./internal/lazily.ts"
import { account, GivenAccount } from "./internal/payouts/account.ts"

const reference = Argument.String("reference").pipe(Argument.withDescription("Your own name of the payout"))

const references = reference.pipe(Argument.variadic())

const steps = () => import("./internal/payouts/steps.ts")
const pauses = () => import("./internal/payouts/pause.ts")

const state = Flag.Literals("state", ["waiting", "all", ...PayoutState.literals]).pipe(
  Flag.withDescription("The state. `waiting` is parked, unknown or accepted")
)

const list = Command.make(
  "list",
  {
    state: Flag.withDefault(state, "waiting"),
    limit,
    json
  },
  lazily(() => import("./internal/payouts/list.ts").then(({ run }) => run))
).pipe(Command.withDescription("List payouts with their ages, the oldest first, and totals by state"))

const exported = Command.make(
  "export",
  { state: Flag.withDefault(state, "all"), json },
  lazily(() => import("./internal/payouts/export.ts").then(({ run }) => run))
).pipe(
  Command.withDescription(
    "Write all payouts as comma-separated values, safe to open in a spreadsheet, without their payees"
  )
)

const show = Command.make(
  "show",
  { reference, full, ...person, by: Flag.optional(person.by), json },
  lazily(() => import("./internal/payouts/show.ts").then(({ run }) => run))
).pipe(
  Command.withDescription(
    "Show one payout: its state, its history and its payee. --full is an entry of the history, and needs --by"
  )
)

const retry = Command.make(
  "retry",
  { references, ...person, yes, json },
  lazily(() => steps().then(({ retry }) => retry))
).pipe(Command.withDescription("Send refused payouts again under their keys, or those that wait at once"))

const park = Command.make(
  "park",
  {
    references,
    submittedBefore: text(
      "submitted-before",
      "time",
      "All that were submitted before it and did not end, as 2026-11-21T10:00:00Z: after the restore of a backup"
    ),
    ...person,
    yes,
    json
  },
  lazily(() => steps().then(({ park }) => park))
).pipe(Command.withDescription("Park payouts: no worker sends them until they are resumed"))

const resume = Command.make(
  "resume",
  {
    references,
    because: Flag.Literals("because", ParkedBecause.literals).pipe(
      Flag.withDescription("All that are parked for this reason"),
      Flag.optional
    ),
    notExecuted: flag("not-executed", "You looked into the panel: the service executed no request of any of them"),
    ...person,
    yes,
    json
  },
  lazily(() => steps().then(({ resume }) => resume))
).pipe(Command.withDescription("Give parked payouts back to the workers"))

const settle = Command.make(
  "settle",
  {
    references,
    as: Flag.Literals("as", ["settled", "failed"]).pipe(
      Flag.withDescription("How it ended, as the panel or a statement says: settled means that it was paid")
    ),
    ...person,
    yes,
    json
  },
  lazily(() => steps().then(({ settle }) => settle))
).pipe(Command.withDescription("Say how payouts ended, as you learned it elsewhere"))

const forget = Command.make(
  "forget",
  { references, ...person, yes, json },
  lazily(() => steps().then(({ forget }) => forget))
).pipe(Command.withDescription("Delete the payee's data of payouts that are over; their amounts and histories stay"))

const pause = Command.make(
  "pause",
  { ...person, yes, json },
  lazily(() => pauses().then(({ pause }) => pause))
).pipe(Command.withDescription("Stop all workers of the account within a second"))

const goOn = Command.make(
  "continue",
  { ...person, yes, json },
  lazily(() => pauses().then(({ goOn }) => goOn))
).pipe(Command.withDescription("Let all workers of the account continue"))

const changeSender = Command.make(
  "change-sender",
  {
    fingerprint: Argument.String("fingerprint").pipe(
      Argument.withDescription("That of the new client id, as a worker shows it when it does not start")
    ),
    ...person,
    yes,
    json
  },
  lazily(() => import("./internal/payouts/accountSteps.ts").then(({ changeSender }) => changeSender))
).pipe(Command.withDescription("Say that the account's payouts are sent under another client id, base URL or company"))

const fourEyes = Command.make(
  "four-eyes",
  {
    above: Argument.String("amount").pipe(
      Argument.withDescription(`The amount above which a payout needs a second person: ${amountHelp}; or none`)
    ),
    ...person,
    yes,
    json
  },
  lazily(() => import("./internal/payouts/accountSteps.ts").then(({ fourEyes }) => fourEyes))
).pipe(Command.withDescription("Set the amount above which a payout is sent after a second person approved it"))

export const payouts = Command.make("payouts").pipe(
  Command.withDescription(
    "The queue of payouts in your program's database.\n\n" +
      "  DATABASE_URL names it: postgres://user:password@host/name, or a SQLite file. While a program has the file open, it\n" +
      "  can be read, and a step is refused. Tables are never made or changed, and those of another version are refused. A\n" +
      "  step shows what it does, and asks."
  ),
  Command.withShortDescription("Look after the queue of payouts in your database"),
  Command.withSharedFlags({ account }),
  Command.withSubcommands([
    list,
    exported,
    show,
    retry,
    park,
    resume,
    settle,
    forget,
    pause,
    goOn,
    changeSender,
    fourEyes
  ]),
  Command.provideSync(GivenAccount, (given) => given.account),
  Command.withExamples([
    { command: "effect-pix payouts list", description: "the payouts that wait, and for how long" },
    { command: "effect-pix payouts export > payouts.csv", description: "all of them, for an accountant" },
    { command: "effect-pix payouts settle invoice-42 --as settled", description: "say that it was paid" }
  ])
)
