/** `effect-pix webhooks`: the deliveries that a program stored in its own database, and their dead letters. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { json, lang, lazily } from "./internal/flags.ts"
import { Shared } from "./internal/lang.ts"
import { deadLetters, id } from "./internal/operator/steps.ts"

const show = Command.make(
  "show",
  { id, json },
  lazily(() => import("./internal/operator/letters.ts").then(({ showStored }) => showStored))
).pipe(Command.withDescription("Show what is stored about one transaction, and the events that your code got"))

export const webhooks = Command.make("webhooks").pipe(
  Command.withDescription(
    "Deliveries that your program stored in its database.\n\n" +
      "  DATABASE_URL names it, as for `payouts`. No table is made or changed, and the bodies of deliveries are not shown."
  ),
  Command.withShortDescription("Look after the dead letters of webhooks in your database"),
  Command.withSharedFlags({ lang }),
  Command.withSubcommands([
    deadLetters("webhooks", "List the dead letters of all webhooks: your code refused them for good"),
    show
  ]),
  Command.provideEffect(Shared, ({ lang }) => Effect.map(Shared, (shared) => ({ ...shared, lang })))
)
