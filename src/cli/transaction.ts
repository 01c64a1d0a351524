/** `effect-pix transaction`: looks up one transaction. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { Payments } from "../client/Payments.ts"
import { client } from "./internal/client.ts"
import { full, json, wait } from "./internal/flags.ts"
import { printDetail, waitUntilPaid } from "./internal/lookup.ts"

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
  Effect.fnUntraced(function* ({ id, wait, ...format }) {
    if (wait) return yield* waitUntilPaid(id, format)
    const payments = yield* Payments
    yield* printDetail(yield* payments.getTransaction(id), format)
  }, Effect.provide(client))
).pipe(Command.withDescription("Look a transaction up, or wait for it"))
