/** `effect-pix balance`: the company's balance. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { json } from "./internal/flags.ts"
import { lazily } from "./internal/lazily.ts"

export const balance = Command.make(
  "balance",
  {
    company: Flag.Int("company").pipe(
      Flag.withDescription("Whose balance. Default: that of PAYMENTS_COMPANY_ID"),
      Flag.optional
    ),
    json
  },
  lazily(() => import("./internal/balance.ts"))
).pipe(Command.withDescription("Show the company's balance"))
