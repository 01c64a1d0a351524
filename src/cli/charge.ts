/** `effect-pix charge`: a PIX charge, with its QR code. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { again, amount, json, wait } from "./internal/flags.ts"
import { lazily } from "./internal/lazily.ts"

export const charge = Command.make(
  "charge",
  {
    amount,
    name: Flag.String("name").pipe(Flag.withDescription("The payer's name; always needed")),
    email: Flag.String("email").pipe(Flag.withDescription("The payer's e-mail address; always needed")),
    reference: Flag.String("reference").pipe(
      Flag.withDescription("Your own name of this charge: the idempotency key is made from it. Default: a new one"),
      Flag.optional
    ),
    expiresInDays: Flag.Int("expires-in-days").pipe(
      Flag.withDescription("After how many days it expires. Default: the service's"),
      Flag.optional
    ),
    background: Flag.Literals("background", ["dark", "light"]).pipe(
      Flag.withDescription("What your terminal shows behind its text. Default: as COLORFGBG says, else dark"),
      Flag.optional
    ),
    wait,
    again,
    json
  },
  lazily(() => import("./internal/charge.ts"))
).pipe(
  Command.withDescription("Create a PIX charge and show its QR code"),
  Command.withExamples([
    {
      command: "effect-pix charge 25,00 --name 'Maria Silva' --email maria@example.com --wait",
      description: "charge R$ 25,00 and wait until it is paid"
    }
  ])
)
