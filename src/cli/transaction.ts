/** `effect-pix transaction`: one transaction, looked up. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { full, json, wait } from "./internal/flags.ts"
import { lazily } from "./internal/lazily.ts"

export const transaction = Command.make(
  "transaction",
  {
    id: Argument.String("id").pipe(
      Argument.withDescription("The id that the creation of the charge answered, not the id of a list's row")
    ),
    wait,
    full,
    json
  },
  lazily(() => import("./internal/transaction.ts"))
).pipe(Command.withDescription("Look a transaction up, or wait for it"))
