/** The queue of a program's database, for a command: it submits nothing, sends nothing and migrates nothing. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { DatabaseError } from "../../../durable/Database.ts"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import { PayoutNotFound } from "../../../payouts/PayoutStatus.ts"
import { requireTables } from "../../../payouts/StoredPayouts.ts"
import { failingAs, layerDatabase, notRead, otherTables } from "../database.ts"
import { codes, type Failed, failed } from "../exit.ts"

export const layerQueue = PayoutQueue.layerClient().pipe(
  Layer.provide(Layer.effectDiscard(requireTables)),
  (layer) => failingAs(layer, (error) => (error._tag === "DatabaseError" ? notRead(error) : otherTables(error))),
  Layer.provideMerge(layerDatabase)
)

export const notFound = ({ message }: PayoutNotFound): Failed => failed(message, codes.Rejected)

/** What is known of a reference, or the failure of one that is not known. */
export const find = Effect.fnUntraced(function* (reference: string) {
  const queue = yield* PayoutQueue
  return yield* queue.status(reference).pipe(
    Effect.mapError((error: DatabaseError) => notRead(error)),
    Effect.flatMap((found) =>
      Effect.mapError(Effect.fromOption(found), () => notFound(new PayoutNotFound({ reference })))
    )
  )
})
