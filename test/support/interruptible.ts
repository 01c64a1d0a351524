/**
 * A database that answers some statements itself, as when the user's pool closes while a worker runs.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** A client of the same database. A statement for which `answer` has an effect runs that instead, by the first of its texts. */
export const answering = (
  sql: SqlClient.SqlClient,
  answer: (text: string) => Effect.Effect<unknown, unknown> | undefined
): SqlClient.SqlClient => {
  const client: SqlClient.SqlClient = new Proxy(sql, {
    apply: (target, self, args: ReadonlyArray<unknown>) => {
      const [texts] = args
      return (Array.isArray(texts) ? answer(String(texts[0])) : undefined) ?? Reflect.apply(target, self, args)
    },
    get: (target, property, receiver) =>
      property === "withoutTransforms" ? () => client : Reflect.get(target, property, receiver)
  })
  return client
}

/** A client that interrupts the next INSERT or UPDATE after `interruptNext`. */
export const interruptible = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  let isNext = false
  let interrupted = 0
  const client = answering(sql, (text) => {
    if (!isNext || !/^\s*(INSERT|UPDATE)/i.test(text)) return undefined
    isNext = false
    interrupted++
    return Effect.interrupt
  })
  return { client, interruptNext: Effect.sync(() => (isNext = true)), interrupted: () => interrupted }
})
