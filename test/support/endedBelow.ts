/**
 * A database whose statements end otherwise for a while: with a failure, a defect, or the interruption of something below them.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { SqlError, UnknownError } from "effect/sql/SqlError"

/** The ends that something below a loop may have beside a success. */
export const endsFromBelow: ReadonlyArray<readonly [name: string, end: Effect.Effect<never, SqlError>]> = [
  [
    "a failure",
    Effect.fail(new SqlError({ reason: new UnknownError({ cause: {}, message: "no", operation: "query" }) }))
  ],
  ["a defect", Effect.die(new TypeError("no"))],
  ["an interruption", Effect.interrupt]
]

/** Follows the statements of a client with one connection. Those after `end` have that end, until it is `undefined`, but for those of a spared table. */
export const endStatements = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, spared: string) {
  const connection = yield* Effect.scoped(sql.reserve)
  let end: Effect.Effect<never, SqlError> | undefined
  let seen = new Set<string>()
  const { execute, executeRaw, executeUnprepared, executeValues, executeValuesUnprepared } = connection
  const ending =
    <Rest extends ReadonlyArray<unknown>, A>(run: (text: string, ...rest: Rest) => Effect.Effect<A, SqlError>) =>
    (text: string, ...rest: Rest) =>
      Effect.suspend(() => {
        if (end !== undefined && !text.includes(spared)) return end
        // Looks that happen together are one statement, in any order.
        for (const one of text.split(/(?:^| UNION ALL )SELECT \d+ AS "of", /))
          if (one !== "") seen.add(one.replace(/ SET .*? WHERE/s, " WHERE").replace(/ AND EXISTS .*/s, ""))
        return run.call(connection, text, ...rest)
      })
  Object.assign(connection, {
    execute: ending(execute),
    executeRaw: ending(executeRaw),
    executeUnprepared: ending(executeUnprepared),
    executeValues: ending(executeValues),
    executeValuesUnprepared: ending(executeValuesUnprepared)
  })
  return {
    end: (next: Effect.Effect<never, SqlError> | undefined) =>
      Effect.sync(() => {
        end = next
      }),
    /** The statements that were sent since this was asked last, without what differs from row to row. */
    seen: Effect.sync(() => {
      const texts = seen
      seen = new Set()
      return texts
    })
  }
})
