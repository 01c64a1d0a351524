/** `effect-pix payouts`: the queue of payouts in a program's own database, and an operator's steps. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { PayoutState } from "../payouts/PayoutState.ts"
import { account, format, full, GivenAccount, json, periodOf, person, text, yes } from "./internal/flags.ts"
import { lazily } from "./internal/lazily.ts"
import { reference } from "./internal/operator/step.ts"
import { accountSteps, payoutSteps, stateLetterSteps } from "./internal/operator/steps.ts"

const lang = Flag.Literals("lang", ["en", "pt"]).pipe(
  Flag.withDescription("Portuguese headings, and in one sentence what is known of each payout. JSON stays as it is"),
  Flag.withDefault("en")
)

const list = Command.make(
  "list",
  {
    state: Flag.Literals("state", ["waiting", "all", ...PayoutState.literals]).pipe(
      Flag.withDescription(
        "The state. `waiting`, the default, is parked, unknown or accepted; `all` is that of the flags below"
      ),
      Flag.optional
    ),
    claimed: Flag.Literals("claimed", ["failed", "returned", "paid", "any"]).pipe(
      Flag.withDescription("Those of which a webhook says so, and that a person has to look at"),
      Flag.optional
    ),
    ...periodOf("Submitted"),
    full,
    metadata: Flag.String("metadata").pipe(
      Flag.withMetavar("name"),
      Flag.withDescription(
        "Show this field of their metadata, as a column of the list; as often as needed"
      ),
      Flag.atLeast(0)
    ),
    lang,
    ...format
  },
  lazily(() => import("./internal/operator/listPayouts.ts").then(({ run }) => run))
).pipe(
  Command.withDescription(
    "List payouts with their ages, the oldest first, and totals by state, without their payees. --full adds why the service refused " +
      "them, and --metadata a field of theirs"
  )
)

const show = Command.make(
  "show",
  { reference, full, lang, json },
  lazily(() => import("./internal/operator/showPayout.ts").then(({ run }) => run))
).pipe(
  Command.withDescription(
    "Show one payout: its state, its history and its payee"
  )
)

const column = (name: string, metavar: string, description: string) =>
  text(name, metavar, `The heading of the column of ${description}`)

const reconcile = Command.make(
  "reconcile",
  {
    file: Argument.String("file").pipe(Argument.withDescription("The bank's statement, as CSV")),
    columns: {
      amount: column("amount", "heading", "the amounts. What left has a minus, brackets or a D"),
      out: column("out", "heading", "what left, without a sign, in place of --amount"),
      in: column("in", "heading", "what arrived, beside --out"),
      kind: column("kind", "heading", "words as D, C, débito, crédito, enviado, recebido"),
      day: column("day", "heading", "the days, as 21/11/2026"),
      id: column("id", "heading", "the end-to-end ids, which alone settle"),
      document: column("document", "heading", "who was paid, by CPF or CNPJ; it opens those of payouts that may match")
    },
    ...person,
    yes,
    json
  },
  lazily(() => import("./internal/operator/reconcile.ts").then(({ run }) => run))
).pipe(
  Command.withDescription(
    "Compare a bank's statement with the payouts, and settle those whose end-to-end id it has.\n\n" +
      "  Numbers and dates are Brazilian, the file is in UTF-8 or of a Windows Excel, with any delimiter. Headings are\n" +
      "  compared without accents and case. What agrees by amount, day and document is shown, and settles nothing."
  ),
  Command.withShortDescription("Compare a bank's statement, and settle what has its end-to-end id"),
  Command.withExamples([
    {
      command: "effect-pix payouts reconcile extrato.csv --amount Valor --day Data --id 'ID da transação'",
      description: "after it, a question with the count and the sum"
    }
  ])
)

const deadLetters = Command.make(
  "dead-letters",
  format,
  lazily(() => import("./internal/operator/stateLetters.ts").then(({ list }) => list))
).pipe(
  Command.withDescription(
    "List the states of payouts that your onState refused for good, and how many later ones they hold"
  )
)

export const payouts = Command.make("payouts").pipe(
  Command.withDescription(
    "The queue of payouts in your program's database.\n\n" +
      "  DATABASE_URL names it: postgres://user:password@host/name, or a SQLite file. While a program has the file open, it\n" +
      "  can be read, and a step is refused. Tables are never made or changed, and those of another version are refused. A\n" +
      "  step shows what it does, and asks."
  ),
  Command.withShortDescription("Look after the queue of payouts in your database"),
  Command.withSharedFlags({ account }),
  Command.withSubcommands([list, show, reconcile, ...payoutSteps, ...accountSteps, deadLetters, ...stateLetterSteps]),
  Command.provideSync(GivenAccount, (given) => given.account),
  Command.withExamples([
    { command: "effect-pix payouts list", description: "the payouts that wait, and for how long" },
    {
      command: "effect-pix payouts list --state all --excel-br > payouts.csv",
      description: "all of them, for an accountant"
    },
    { command: "effect-pix payouts settle invoice-42 --as paid", description: "say that it was paid" }
  ])
)
