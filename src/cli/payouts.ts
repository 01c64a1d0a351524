/** `effect-pix payouts`: the queue of payouts in a program's own database, and an operator's steps. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { PayoutBecause } from "../payouts/PayoutBecause.ts"
import { PayoutState } from "../payouts/PayoutState.ts"
import { account, flag, format, full, json, lang, lazily, optional, periodOf } from "./internal/flags.ts"
import { Shared } from "./internal/lang.ts"
import { accountSteps, deadLetters, payoutSteps, reference, sentenceSteps } from "./internal/operator/steps.ts"

const loadShow = () => import("./internal/operator/showPayouts.ts")

const list = Command.make(
  "list",
  {
    state: Flag.Literals("state", ["waiting", "all", ...PayoutState.literals]).pipe(
      Flag.withDescription(
        "The state. `waiting`, the default, is parked, unknown or accepted; `all` is that of the flags below"
      ),
      optional
    ),
    because: Flag.Literals("because", PayoutBecause.literals).pipe(
      Flag.withDescription("Those that wait, are in doubt or are parked for this"),
      optional
    ),
    toCheck: flag("to-check", "Those whose end a person has to find out"),
    ...periodOf("Submitted"),
    full,
    ...format
  },
  lazily(() => loadShow().then(({ runList }) => runList))
).pipe(
  Command.withDescription(
    "List payouts with their ages, the oldest first, and totals by state, without their payees. --full adds why the service refused them"
  )
)

const show = Command.make(
  "show",
  { reference, full, json },
  lazily(() => loadShow().then(({ runShow }) => runShow))
).pipe(Command.withDescription("Show one payout: its state, its history and its payee"))

const sentences = Command.make(
  "sentences",
  format,
  lazily(() => import("./internal/operator/sentences.ts").then(({ listSentences }) => listSentences))
).pipe(Command.withDescription("List the refusals that nobody knows, the payouts that each parked, and one to look up"))

export const payouts = Command.make("payouts").pipe(
  Command.withDescription(
    "The queue of payouts in your program's database.\n\n" +
      "  DATABASE_URL names it: postgres://user:password@host/name, or a SQLite file. While a program has the file open, it\n" +
      "  can be read, and a step is refused. Tables are never made or changed, and those of another version are refused. A\n" +
      "  step shows what it does, and asks."
  ),
  Command.withShortDescription("Look after the queue of payouts in your database"),
  Command.withSharedFlags({ account, lang }),
  Command.withSubcommands([
    list,
    show,
    ...[...payoutSteps, ...accountSteps].map(({ command }) => command),
    sentences,
    ...sentenceSteps.map(({ command }) => command),
    deadLetters(
      "payouts",
      "List the states of payouts that your onState refused for good, and how many later ones they hold"
    )
  ]),
  Command.provideSync(Shared, ({ account, lang }) => ({ account, lang })),
  Command.withExamples([
    { command: "effect-pix payouts list", description: "the payouts that wait, and for how long" },
    {
      command: "effect-pix payouts list --state all --csv --lang pt > pagamentos.csv",
      description: "all of them, for an accountant"
    },
    { command: "effect-pix payouts settle invoice-42 --as paid", description: "say that it was paid" }
  ])
)
