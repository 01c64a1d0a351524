/** `effect-pix webhook`: calls of the service, made by hand. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { json } from "./internal/flags.ts"
import { lazily } from "./internal/lazily.ts"

const trigger = Command.make(
  "trigger",
  {
    url: Argument.String("url").pipe(Argument.withDescription("Your own route, as http://127.0.0.1:3000/webhooks")),
    transaction: Flag.String("transaction").pipe(Flag.withDescription("The id of the transaction that it is about")),
    status: Flag.String("status").pipe(Flag.withDescription("What it says of it"), Flag.withDefault("Paid")),
    header: Flag.String("secret-header").pipe(
      Flag.withDescription("The header that carries PAYMENTS_WEBHOOK_SECRET, where that is set"),
      Flag.withDefault("X-Webhook-Secret")
    ),
    json
  },
  lazily(() => import("./internal/webhookTrigger.ts"))
).pipe(
  Command.withDescription(
    "Send a webhook to your own route and show its answer.\n\n" +
      "  The service documents no payload: this is the one that the sandbox makes up."
  ),
  Command.withShortDescription("Send a webhook to your own route"),
  Command.withExamples([
    {
      command:
        "effect-pix webhook trigger http://127.0.0.1:3000/webhooks --transaction 8f14e45f-ceea-467f-a8ad-6d7a3e2f1b0c",
      description: "say that a charge was paid"
    }
  ])
)

export const webhook = Command.make("webhook").pipe(
  Command.withDescription("Webhooks by hand"),
  Command.withSubcommands([trigger])
)
