/**
 * Reads what is stored, and takes the steps of persons with dead letters.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { invalidRequest } from "../../contract/Options.ts"
import { type Database, mapDatabaseError } from "../../durable/Database.ts"
import { issuesOfStep } from "../../durable/Step.ts"
import { logLetterStep } from "../../durable/UserCode.ts"
import type { StoredDelivery } from "../WebhookEvent.ts"
import type { DeadLetterOptions } from "../WebhookOptions.ts"
import * as Rows from "./row.ts"
import { makeStore, namesOf, type Store, type Stored } from "./table.ts"

const states = {
  Done: "Finished",
  Dead: "Dead",
  Open: "Waiting",
  First: "Waiting"
} as const

const deliveryOf = (webhook: string, { due, name: id, state, value }: Stored): StoredDelivery => {
  const row = Rows.readRow(value, state)
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

export const makeLetters = (webhook: string, { sql }: Database, store: Store, wakeWorkers: Effect.Effect<void>) => {
  /** Takes a step with a dead letter. Returns whether there was such a letter. */
  const takeStep = (step: "retry" | "discard", made: (row: Rows.Row) => Rows.Next) =>
    Effect.fnUntraced(function* (id: string, { by }: DeadLetterOptions = {}) {
      const issues = issuesOfStep({ by })
      if (issues.length > 0) return yield* invalidRequest("getTransaction", issues)
      let isDead = false
      const take = store.change(id, (row) => {
        isDead = row.dead !== undefined
        return isDead ? made(row) : { row }
      })
      yield* mapDatabaseError(step)(take)
      if (!isDead) return false
      yield* sql.afterCommit(wakeWorkers)
      const names = { "webhook.name": webhook, "webhook.id": id, "webhook.by": by }
      yield* logLetterStep("Webhook", step, names)
      return true
    })
  const deliveriesOf = (found: ReadonlyArray<Stored>) => found.map((stored) => deliveryOf(webhook, stored))
  return {
    deadLetters: mapDatabaseError("deadLetters")(Effect.map(store.dead, deliveriesOf)),
    /** What is stored about a transaction, or about a dead letter by its id. */
    find: (id: string) => {
      const name = id.startsWith("delivery:") ? id : Rows.nameOf(id)
      return mapDatabaseError("find")(Effect.map(store.find(name), deliveriesOf))
    },
    retry: takeStep("retry", Rows.revived),
    discard: takeStep("discard", Rows.discarded)
  }
}

type Letters = ReturnType<typeof makeLetters>

/** Waits until the rows of a store are finished. They are counted after each `handled`, and every second. */
export const untilIdle = Effect.fnUntraced(function* (store: Store, handled: Effect.Effect<unknown>) {
  while ((yield* store.count(Rows.unfinished)) > 0) yield* Effect.race(handled, Effect.sleep("1 second"))
})

/** What all webhooks on the database have, or one. */
export const makeClient = (database: Database, webhook: string | undefined) => {
  const stores = Effect.map(
    webhook === undefined ? mapDatabaseError("find")(namesOf(database)) : Effect.succeed([webhook]),
    (names) => names.map((name) => ({ name, store: makeStore(database, name) }))
  )
  const each = <A, E>(use: (letters: Letters) => Effect.Effect<A, E>) =>
    Effect.flatMap(stores, (found) =>
      Effect.forEach(found, ({ name, store }) => use(makeLetters(name, database, store, Effect.void)))
    )
  const found = (use: (letters: Letters) => Letters["deadLetters"]) => Effect.map(each(use), (lists) => lists.flat())
  const isAny = Effect.map((done: ReadonlyArray<boolean>) => done.includes(true))
  return {
    deadLetters: found(({ deadLetters }) => deadLetters),
    find: (id: string) => found(({ find }) => find(id)),
    retry: (id: string, options?: DeadLetterOptions) => isAny(each(({ retry }) => retry(id, options))),
    discard: (id: string, options?: DeadLetterOptions) => isAny(each(({ discard }) => discard(id, options))),
    idle: Effect.flatMap(stores, (found) =>
      mapDatabaseError("idle")(Effect.forEach(found, ({ store }) => untilIdle(store, Effect.never), { discard: true }))
    )
  }
}
