/** The idempotency key of a reference: the same as `IdempotencyKey.fromReference` gives in a program. */
import * as Effect from "effect/Effect"
import * as IdempotencyKey from "../../contract/IdempotencyKey.ts"
import { failed } from "./exit.ts"

export const keyOf = (kind: "charge" | "payout", reference: string) =>
  Effect.fromOption(IdempotencyKey.fromReferenceOption(kind, reference)).pipe(
    Effect.mapError(() =>
      failed(
        "The reference cannot be used. It is a text that is not blank, has no space around it, and holds no character " +
          "that a person cannot see or tell from another."
      )
    )
  )
