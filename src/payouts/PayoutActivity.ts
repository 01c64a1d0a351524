/**
 * A payout as one step of a longer durable process: an `Activity` for `effect/workflow`.
 *
 * The activity submits the payout to the queue and waits until it is posted, refused, parked, settled or failed. A
 * workflow that is killed meanwhile runs it again, and finds the same payout: the queue, not the workflow, knows whether
 * a request has left. A refusal is a value, not a failure, so the workflow stores it like any other result.
 */
declare module "./PayoutActivity.ts" {}

import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Activity from "effect/workflow/Activity"
import { fromReference } from "../contract/IdempotencyKey.ts"
import { BelowMinimum, InvalidRequest } from "../contract/PaymentsError.ts"
import { ReferenceConflict } from "./Payout.ts"
import type { PayoutItem } from "./Payout.ts"
import { PayoutQueue } from "./PayoutQueue.ts"
import { PayoutStatus } from "./PayoutStatus.ts"

/** Why a payout was not accepted. The same payout would not be accepted later either. */
export const PayoutNotAccepted = Schema.Union([InvalidRequest, BelowMinimum, ReferenceConflict])
/** See the schema of the same name. */
export type PayoutNotAccepted = typeof PayoutNotAccepted.Type

/**
 * The step that pays: `payout.amount` is in centavos. Its name is made of the reference, so that one workflow may pay
 * several. A database that cannot be reached, or a call in the transaction of another client, is a defect: the policy of
 * the workflow decides when it is run again.
 */
export const make = (
  payout: PayoutItem
): Activity.Activity<typeof PayoutStatus, typeof PayoutNotAccepted, PayoutQueue> =>
  Activity.make({
    name: `effect-pix/${fromReference("payout", payout.reference)}`,
    success: PayoutStatus,
    error: PayoutNotAccepted,
    execute: Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(payout)
      return yield* queue.await(payout.reference)
    }).pipe(
      Effect.catchTags({
        DatabaseError: Effect.die,
        ForeignTransaction: Effect.die,
        PayoutNotFound: Effect.die
      })
    )
  })
