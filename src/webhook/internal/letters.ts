/**
 * Reads what is stored, and takes the steps of persons with dead letters.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mapDatabaseError } from "../../durable/Database.ts"
import type { NextWrite } from "../../internal/soleWriter.ts"
import type { StoredDelivery } from "../WebhookEvent.ts"
import type { DeadLetterOptions } from "../WebhookOptions.ts"
import { nameOf, readRow } from "./row.ts"
import type { Reads, Stored } from "./table.ts"

const states = {
  Done: "Finished",
  Dead: "Dead",
  Open: "Waiting",
  First: "Waiting"
} as const

const deliveryOf = ({ due, name: id, state, value, webhook }: Stored): StoredDelivery => {
  const row = readRow(value, state)
  const at = DateTime.makeUnsafe(Number(due))
  if (row === undefined) return { webhook, id, state: "Unreadable", at, handedOut: [] }
  const { about, deliveries, handedOut, idempotencyKey, transactionId, withdrawalId } = row
  return {
    webhook,
    id,
    about,
    state: states[state],
    at,
    handedOut,
    transactionId,
    withdrawalId,
    idempotencyKey,
    deliveries,
    claimed: row.claims.flatMap(({ isCheck, status }) => (isCheck === true ? [] : [status])),
    waits: row.isFirst === true ? "first" : row.waits,
    failures: row.tries.failed,
    handler: row.dead,
    since: DateTime.makeUnsafe(row.since)
  }
}

const deliveriesOf = Effect.map((found: ReadonlyArray<Stored>) => found.map(deliveryOf))

/** What one webhook has, or all on the database. `wake` runs after a step; `follow` waits for the next row that was handled. */
export const makeClient = (
  { find, letters, unfinished }: Reads,
  wake: Effect.Effect<void> = Effect.void,
  follow: Effect.Effect<NextWrite, never, Scope.Scope> = Effect.succeed(Effect.never)
) => ({
  deadLetters: mapDatabaseError("deadLetters")(deliveriesOf(letters.dead)),
  find: (id: string) => mapDatabaseError("find")(deliveriesOf(find(id.startsWith("delivery:") ? id : nameOf(id)))),
  retry: (id: string, options?: DeadLetterOptions) => mapDatabaseError("retry")(letters.retry(wake, id, options)),
  discard: (id: string, options?: DeadLetterOptions) => mapDatabaseError("discard")(letters.discard(wake, id, options)),
  // They are counted after each that was handled, and every second.
  idle: Effect.flatMap(follow, (handled) =>
    mapDatabaseError("idle")(unfinished).pipe(
      Effect.tap((count) => (count > 0 ? Effect.race(handled, Effect.sleep("1 second")) : Effect.void)),
      Effect.repeat({ while: (count) => count > 0 }),
      Effect.asVoid
    )
  ).pipe(Effect.scoped)
})
