/** `effect-pix webhooks`: the deliveries that a program stored in its own database, and their dead letters. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { by, json, text, yes } from "./internal/flags.ts"
import { lazily } from "./internal/lazily.ts"

const id = Argument.String("id").pipe(Argument.withDescription("A transaction's id, or the id of a dead letter"))
const webhook = text("webhook", "name", "The name of the webhook, where several have a dead letter of this id")

const reads = () => import("./internal/webhooks/read.ts")
const steps = () => import("./internal/webhooks/steps.ts")

const dead = Command.make(
  "dead",
  { json },
  lazily(() => reads().then(({ dead }) => dead))
).pipe(Command.withDescription("List the dead letters of all webhooks: your code refused them for good"))

const show = Command.make(
  "show",
  { id, json },
  lazily(() => reads().then(({ show }) => show))
).pipe(Command.withDescription("Show what is stored about one transaction, and the events that your code got"))

const retry = Command.make(
  "retry",
  { id, webhook, by, yes, json },
  lazily(() => steps().then(({ retry }) => retry))
).pipe(Command.withDescription("Look a dead letter's transaction up again, and hand it to your code"))

const discard = Command.make(
  "discard",
  { id, webhook, by, yes, json },
  lazily(() => steps().then(({ discard }) => discard))
).pipe(Command.withDescription("Forget a dead letter that you dealt with elsewhere"))

export const webhooks = Command.make("webhooks").pipe(
  Command.withDescription(
    "Deliveries that your program stored in its database.\n\n" +
      "  DATABASE_URL names it, as for `payouts`. No table is made or changed, and the bodies of deliveries are not shown."
  ),
  Command.withShortDescription("Look after the dead letters of webhooks in your database"),
  Command.withSubcommands([dead, show, retry, discard])
)
