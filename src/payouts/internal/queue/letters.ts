/**
 * The dead letters of `onState`, and the steps of persons with them.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SqlError } from "effect/sql/SqlError"
import { mapDatabaseError } from "../../../durable/Database.ts"
import type { StepOptions } from "../../../durable/Step.ts"
import { logLetterStep } from "../../../durable/UserCode.ts"
import type { PayoutLetter } from "../../OnState.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import type { Core } from "./core.ts"
import { checkedPerson, invalid } from "./entries.ts"
import { readStatus } from "./handedOut.ts"
import { operationsOf } from "./operation.ts"

export const makeLetters = ({ isStateDue, store }: Core, { account }: Settings) => {
  const { states } = store
  const { writing } = operationsOf(store)
  /** Takes a step with a dead letter. Returns whether there was such a letter. */
  const takeStep =
    (operation: "retryLetter" | "discardLetter", take: (id: number) => Effect.Effect<boolean, SqlError>) =>
    (id: number, { by }: Pick<StepOptions, "by"> = {}) =>
      writing(
        operation,
        Effect.gen(function* () {
          yield* checkedPerson({ by })
          if (!Number.isSafeInteger(id)) return yield* invalid("id", "must be the number of a dead letter")
          if (!(yield* take(id))) return false
          // The later states of its payout may be due.
          yield* store.afterCommit(isStateDue.open)
          const names = { "payments.account": account, "payouts.entry": id, "payouts.by": by }
          yield* logLetterStep("PayoutQueue", operation, names)
          return true
        })
      )
  return {
    deadLetters: mapDatabaseError("deadLetters")(
      Effect.map(states.dead, (letters) =>
        letters.map(({ at, since, status, ...letter }): PayoutLetter => ({
          ...letter,
          status: Option.getOrUndefined(readStatus(status)),
          since: DateTime.makeUnsafe(since),
          at: DateTime.makeUnsafe(at)
        }))
      )
    ),
    retryLetter: takeStep("retryLetter", states.retry),
    discardLetter: takeStep("discardLetter", states.discard)
  }
}
