/**
 * Reads the rows of webhooks for the command, and retries or discards dead letters, without a webhook that runs. It makes no
 * tables, and puts nothing into the queue. It is not exported to users.
 *
 * Gotcha: a process that runs the webhook finds a retried letter within a minute. If the webhook works inside requests, the
 * next delivery or check finds it.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { database, mapDatabaseError } from "../durable/Database.ts"
import type { StepOptions } from "../durable/Step.ts"
import { requireNewest } from "../durable/Tables.ts"
import { letterOf, makeChanges, readHandedOut, readSteps, type Steps, stepsName } from "./internal/changes.ts"
import { nameOf, readRow } from "./internal/row.ts"
import { handedOutName, type Stored } from "./internal/store.ts"
import { sqlStore, webhookTables } from "./internal/storeSql.ts"
import type { DeadLetter, HandlerName } from "./WebhookEvent.ts"

/** Fails unless the tables have this version. It changes none. */
export const requireTables = mapDatabaseError("look")(requireNewest(webhookTables))

/** A dead letter, and the name of its webhook: the layer's option `name`. */
export interface StoredLetter extends DeadLetter {
  readonly webhook: string
}

/** The stored data about one thing, without bodies. The claimed statuses are the only text of deliveries. */
export interface StoredDelivery {
  readonly webhook: string
  /** For `retry` and `discard`. */
  readonly id: string
  /** `Finished`: no delivery waits. `Unreadable`: another version wrote the row. */
  readonly state: "Waiting" | "Dead" | "Finished" | "Unreadable"
  /** When the row or a note about it was changed last. */
  readonly at: DateTime.Utc
  /** The statuses of the transaction that were handed out, in order. */
  readonly handedOut: ReadonlyArray<string>
  readonly transactionId?: string | undefined
  /** The number of the withdrawal. */
  readonly withdrawalId?: number | undefined
  readonly idempotencyKey?: string | undefined
  /** How many deliveries and checks were recorded since the last one was finished. */
  readonly deliveries?: number | undefined
  /** The statuses that waiting deliveries claim. `undefined`: a delivery claims none. */
  readonly claimed?: ReadonlyArray<string | undefined> | undefined
  /**
   * Why it waits: for a first lookup, because the claim is early, the service does not answer, or the user's code failed.
   * Absent: it is due.
   */
  readonly waits?: "first" | "early" | "outage" | "failed" | undefined
  /** How often the user's code failed. */
  readonly failures?: number | undefined
  /** Which code failed last, for a dead letter. */
  readonly handler?: HandlerName | undefined
  /** When the first of these deliveries and checks was recorded. */
  readonly since?: DateTime.Utc | undefined
  /** The steps that persons took with its dead letters, the oldest first: the latest 20. */
  readonly steps: Steps
}

interface StoredRow extends Stored {
  readonly at: number | string
}

/** The names of all webhooks on the database. Each name costs one lookup in the primary key's index. */
const webhooks = Effect.gen(function* () {
  const { sql } = yield* database
  const names: Array<string> = []
  for (let after = ""; ;) {
    const [next] = yield* sql<{ readonly name: string | null }>`
      SELECT MIN(webhook) AS name FROM ${sql(webhookTables.name)} WHERE webhook > ${after}`
    if (typeof next?.name !== "string") return names
    names.push(next.name)
    after = next.name
  }
})

const changesOf = Effect.fnUntraced(function* (webhook: string) {
  // No handler runs in the transactions of the command.
  return makeChanges(yield* sqlStore(yield* database, webhook, Duration.seconds(1)))
})

/** The dead letters of all webhooks, the oldest of each first. */
export const deadLetters = Effect.gen(function* () {
  const letters: Array<StoredLetter> = []
  for (const webhook of yield* webhooks) {
    const { deadLetters } = yield* changesOf(webhook)
    for (const letter of yield* deadLetters) letters.push({ ...letter, webhook })
  }
  return letters
}).pipe(Effect.scoped, mapDatabaseError("list"))

const prefix = "delivery:"

/** The stored data of a transaction, or of a dead letter by its id, in each webhook that has it. */
export const show = Effect.fnUntraced(function* (id: string) {
  const { sql } = yield* database
  const rowName = id.startsWith(prefix) ? id : `${prefix}${nameOf(id)}`
  const handedOut = handedOutName(rowName.slice(prefix.length))
  const names = [rowName, handedOut, stepsName(rowName)]
  const found: Array<StoredDelivery> = []
  for (const webhook of yield* webhooks) {
    const rows = yield* sql<StoredRow & { readonly name: string }>`
        SELECT name, state, value, updated_at AS at FROM ${sql(webhookTables.name)}
        WHERE webhook = ${webhook} AND ${sql.in("name", names)}`
    const of = (wanted: string) => rows.find(({ name }) => name === wanted)
    const stored = of(rowName)
    const newest = Math.max(...rows.map(({ at }) => Number(at)))
    if (rows.length === 0) continue
    const row = stored && readRow(stored.value)
    const letter = stored && letterOf(stored.value)
    found.push({
      webhook,
      id: rowName,
      state: stored === undefined ? "Finished" : row === undefined ? "Unreadable" : letter ? "Dead" : "Waiting",
      at: DateTime.makeUnsafe(newest),
      handedOut: readHandedOut(of(handedOut)?.value),
      transactionId: row?.transactionId,
      withdrawalId: row?.withdrawalId,
      idempotencyKey: row?.idempotencyKey,
      deliveries: row?.deliveries,
      claimed: row?.claims.flatMap(({ isCheck, status }) => (isCheck === true ? [] : [status])),
      waits: row?.rank === undefined ? row?.waits?.reason : "first",
      failures: row?.tries.failed,
      handler: letter?.handler,
      since: row && DateTime.makeUnsafe(row.since),
      steps: readSteps(of(stepsName(rowName))?.value)
    })
  }
  return found
}, mapDatabaseError("show"))

const takeStep = (step: "retry" | "discard") =>
  Effect.fnUntraced(
    function* (webhook: string, id: string, options?: StepOptions) {
      return yield* (yield* changesOf(webhook))[step](id, options)
    },
    Effect.scoped,
    mapDatabaseError(step)
  )

/** Retries a dead letter: its transaction is looked up and handed out again. `false`: there is no such letter. */
export const retry = takeStep("retry")

/** Deletes a dead letter. `false`: there is no such letter. */
export const discard = takeStep("discard")
