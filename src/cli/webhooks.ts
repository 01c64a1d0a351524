/** `effect-pix webhooks`: the deliveries that a program stored in its own database, and their dead letters. */
import * as Command from "effect/cli/Command"
import { format, json } from "./internal/flags.ts"
import { lazily } from "./internal/lazily.ts"
import { id } from "./internal/operator/step.ts"
import { letterSteps } from "./internal/operator/steps.ts"

const load = () => import("./internal/operator/deadLetters.ts")

const list = Command.make(
  "list",
  format,
  lazily(() => load().then(({ list }) => list))
).pipe(Command.withDescription("List the dead letters of all webhooks: your code refused them for good"))

const show = Command.make(
  "show",
  { id, json },
  lazily(() => load().then(({ show }) => show))
).pipe(Command.withDescription("Show what is stored about one transaction, and the events that your code got"))

export const webhooks = Command.make("webhooks").pipe(
  Command.withDescription(
    "Deliveries that your program stored in its database.\n\n" +
      "  DATABASE_URL names it, as for `payouts`. No table is made or changed, and the bodies of deliveries are not shown."
  ),
  Command.withShortDescription("Look after the dead letters of webhooks in your database"),
  Command.withSubcommands([list, show, ...letterSteps])
)
