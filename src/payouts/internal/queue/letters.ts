/**
 * The dead letters of `onState`, and the steps of persons with them.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { mapDatabaseError } from "../../../durable/Database.ts"
import type { StepOptions } from "../../../durable/Step.ts"
import type { PayoutLetter } from "../../OnState.ts"
import { type Core, operationsOf } from "./core.ts"
import { invalid } from "./entries.ts"
import { readStatus } from "./status.ts"

export const makeLetters = ({ isStateDue, store }: Core) => {
  const { letters } = store.states
  const { writing } = operationsOf(store)
  const takeStep =
    (operation: "retryLetter" | "discardLetter", take: typeof letters.retry) =>
    (id: number, options?: Pick<StepOptions, "by">) =>
      writing(
        operation,
        // The later states of its payout may be due.
        Number.isSafeInteger(id)
          ? take(isStateDue.open, id, options)
          : invalid("id", "must be the number of a dead letter")
      )
  return {
    deadLetters: mapDatabaseError("deadLetters")(
      Effect.map(letters.dead, (found) =>
        found.map(({ at, failures, held, id, idempotencyKey, since, status }): PayoutLetter => ({
          id: Number(id),
          idempotencyKey,
          status: Option.getOrUndefined(readStatus(status)),
          failures: Number(failures),
          held: Number(held),
          since: DateTime.makeUnsafe(Number(since)),
          at: DateTime.makeUnsafe(Number(at))
        }))
      )
    ),
    retryLetter: takeStep("retryLetter", letters.retry),
    discardLetter: takeStep("discardLetter", letters.discard)
  }
}
