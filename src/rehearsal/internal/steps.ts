/**
 * The steps of a program's database: each statement that changes it, each commit, and the end of each transaction. The
 * connection itself is wrapped, so that no statement is missed, whoever sends it.
 *
 * Details: statements inside of a transaction are no steps. A death there undoes all of them, as the death before the commit
 * does. Neither are statements that only read.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"

/**
 * Called at each step of the current process; its answer is whether the process is dead. The world has none. A reference, since the
 * user's program lies between the process and its statements.
 */
export const OnStep = Context.Reference<
  ((name: string, isInner: boolean, context: Context.Context<never>) => boolean) | undefined
>("effect-pix/RehearsalStep", { defaultValue: () => undefined })

/** A statement is a wait, as it is on any database but this one: the process may die after it. */
const wait = Effect.flatMap(OnStep, (onStep) => (onStep === undefined ? Effect.void : Effect.yieldNow))

const step = (name: string, isInner: boolean) =>
  Effect.contextWith((context: Context.Context<never>) =>
    Context.get(context, OnStep)?.(name, isInner, context) === true ? Effect.never : Effect.void
  )

const isBegin = (sql: string) => /^\s*BEGIN\b/i.test(sql)
const isCommit = (sql: string) => /^\s*(?:COMMIT|END)\b/i.test(sql)
const isEnd = (sql: string) => /^\s*(?:COMMIT|END|ROLLBACK(?! TO))\b/i.test(sql)
const isChange = (sql: string) => !/^\s*(?:SELECT|PRAGMA|SAVEPOINT|RELEASE|ROLLBACK)\b/i.test(sql)

/** Whether a statement is about a table of this library, which its own tests stop at each statement. */
const isInner = (sql: string) => /\beffect_pix_/i.test(sql)

/** The first word of a statement, with its table: `UPDATE effect_pix_payouts`. */
const nameOf = (sql: string) => {
  const [verb = ""] = /\w+/.exec(sql) ?? []
  const named = /\b(?:INTO|UPDATE|FROM|TABLE|INDEX)\s+(?:IF\s+NOT\s+EXISTS\s+)?"?(\w+)/i.exec(sql)?.[1]
  return [verb.toUpperCase(), ...(named === undefined ? [] : [named])].join(" ")
}

/**
 * Counts the steps of a client's connection from now on. The client cannot be given another connection, so the methods of its
 * own are replaced. The result is called when a process dies, and its transaction is undone.
 */
export const countSteps = Effect.fnUntraced(function* (sql: SqlClient) {
  const connection: Connection = yield* sql.reserve
  let isOpen = false
  /** What the open transaction changed. */
  let changed: "nothing" | "inner tables" | "tables" = "nothing"
  const stepOf = (name: string) => (changed === "nothing" ? Effect.void : step(name, changed === "inner tables"))
  const before = (statement: string) =>
    Effect.suspend(() => {
      if (isCommit(statement)) return stepOf("before a commit")
      if (isBegin(statement)) isOpen = true
      else if (isChange(statement)) {
        if (!isOpen) return step(`before ${nameOf(statement)}`, isInner(statement))
        if (changed !== "tables") changed = isInner(statement) ? "inner tables" : "tables"
      }
      return Effect.void
    })
  const after = (statement: string) =>
    Effect.suspend(() => {
      if (!isEnd(statement)) return wait
      const after = isCommit(statement) ? stepOf("after a transaction") : Effect.void
      undo()
      return after
    })
  const undo = () => {
    isOpen = false
    changed = "nothing"
  }
  const around =
    <Rest extends ReadonlyArray<unknown>, A>(run: (sql: string, ...rest: Rest) => Effect.Effect<A, SqlError>) =>
    (statement: string, ...rest: Rest) =>
      Effect.tap(
        Effect.flatMap(before(statement), () => run.call(connection, statement, ...rest)),
        () => after(statement)
      )
  const { execute, executeRaw, executeStream, executeUnprepared, executeValues, executeValuesUnprepared } = connection
  const counting: Connection = {
    execute: around(execute),
    executeRaw: around(executeRaw),
    executeStream: (statement, ...rest) =>
      Stream.unwrap(Effect.as(before(statement), executeStream.call(connection, statement, ...rest))),
    executeValues: around(executeValues),
    executeValuesUnprepared: around(executeValuesUnprepared),
    executeUnprepared: around(executeUnprepared)
  }
  Object.assign(connection, counting)
  return undo
})
