/**
 * A database that interrupts a statement, as when the user's pool closes while a worker runs.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { NodeSqlite } from "effect-pix/node"

const isWrite = ([first]: ReadonlyArray<unknown>) =>
  Array.isArray(first) && /^\s*(INSERT|UPDATE)/i.test(String(first[0]))

/** A SQLite client. After `interruptNext` it interrupts the next INSERT or UPDATE. */
export const interruptible = Effect.gen(function* () {
  const sql = Context.get(yield* Layer.build(NodeSqlite.layer({ filename: ":memory:" })), SqlClient.SqlClient)
  let isNext = false
  let interrupted = 0
  const client: SqlClient.SqlClient = new Proxy(sql, {
    apply: (target, self, args: ReadonlyArray<unknown>) => {
      if (!isNext || !isWrite(args)) return Reflect.apply(target, self, args)
      isNext = false
      interrupted++
      return Effect.interrupt
    },
    get: (target, property, receiver) =>
      property === "withoutTransforms" ? () => client : Reflect.get(target, property, receiver)
  })
  return { client, interruptNext: Effect.sync(() => (isNext = true)), interrupted: () => interrupted }
})
