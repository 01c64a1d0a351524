/** `effect-pix withdraw`: a payout by PIX. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { PixKeyType } from "../pix/PixKey.ts"
import { again, amount, flag, json } from "./internal/flags.ts"
import { lazily } from "./internal/lazily.ts"

export const withdraw = Command.make(
  "withdraw",
  {
    amount,
    reference: Flag.String("reference").pipe(
      Flag.withDescription(
        "Your own name of this payout, as an invoice's number. The same reference is the same payout"
      )
    ),
    pixKey: Flag.String("pix-key").pipe(
      Flag.withDescription(
        "Where to. PAYMENTS_PIX_KEY keeps it out of the shell's history. Default: the company's own key"
      ),
      Flag.optional
    ),
    pixKeyType: Flag.Literals("pix-key-type", PixKeyType.literals).pipe(
      Flag.withDescription("What kind of key it is; always said, since eleven digits may be a CPF and a phone"),
      Flag.optional
    ),
    description: Flag.String("description").pipe(Flag.withDescription("A text that goes with it"), Flag.optional),
    yes: flag("yes", "Do not ask. Needed where there is no terminal").pipe(Flag.withAlias("y")),
    again,
    json
  },
  lazily(() => import("./internal/withdraw.ts"))
).pipe(
  Command.withDescription("Pay money out by PIX: shows what and where to, and asks"),
  Command.withExamples([
    {
      command: "effect-pix withdraw 150,00 --reference invoice-42 --pix-key 52998224725 --pix-key-type CPF",
      description: "pay R$ 150,00 to a CPF"
    },
    {
      command: "effect-pix withdraw 150,00 --reference invoice-42 --yes",
      description: "to the company's own key, from a script"
    }
  ])
)
