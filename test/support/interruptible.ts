/**
 * A database whose steps are interrupted by themselves, as where the user's pool is closed while work goes on.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { NodeSqlite } from "effect-pix/node"

const isWrite = ([first]: ReadonlyArray<unknown>) =>
  Array.isArray(first) && /^\s*(INSERT|UPDATE)/i.test(String(first[0]))

/** A SQLite whose next statement that writes is interrupted, when `interruptNext` says so. */
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
