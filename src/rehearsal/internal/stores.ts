/**
 * The stores of a run: they are built once, and outlive the processes. Their database has the library's own tables as the undisturbed
 * run made them, so that they are migrated once.
 *
 * Its steps are each statement that changes it, each commit, and the end of each transaction. The connection itself is wrapped, so
 * that no statement is missed, whoever sends it. Statements inside of a transaction are no steps: a death there undoes all of
 * them, as the death before the commit does. Neither are statements that only read.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SqlClient } from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import { OnDeath } from "../../internal/onDeath.ts"
import { type Connect, OfferConnection } from "../../internal/simulatedProcess.ts"
import type { Sandbox } from "../../sandbox/Sandbox.ts"

/** What a step changes: a table of the program, or one of this library, which its own tests stop at each statement. */
type StepKind = "step" | "inner step"

/**
 * Called at each step of the current process; its answer is whether the process is dead. The world has none. A reference, since the
 * user's program lies between the process and its statements.
 */
export const OnStep = Context.Reference<
  ((kind: StepKind, name: string, context: Context.Context<never>) => boolean) | undefined
>("effect-pix/RehearsalStep", { defaultValue: () => undefined })

/** A statement is a wait, as it is on any database but this one: the process may die after it. */
const wait = Effect.flatMap(OnStep, (onStep) => (onStep === undefined ? Effect.void : Effect.yieldNow))

const step = (kind: StepKind | undefined, name: string) =>
  Effect.contextWith((context: Context.Context<never>) =>
    kind !== undefined && Context.get(context, OnStep)?.(kind, name, context) === true ? Effect.never : Effect.void
  )

const isBegin = (sql: string) => /^\s*BEGIN\b/i.test(sql)
const isCommit = (sql: string) => /^\s*(?:COMMIT|END)\b/i.test(sql)
const isEnd = (sql: string) => /^\s*(?:COMMIT|END|ROLLBACK(?! TO))\b/i.test(sql)
const isChange = (sql: string) => !/^\s*(?:SELECT|PRAGMA|SAVEPOINT|RELEASE|ROLLBACK)\b/i.test(sql)

const kindOf = (sql: string): StepKind => (/\beffect_pix_/i.test(sql) ? "inner step" : "step")

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
const countSteps = Effect.fnUntraced(function* (sql: SqlClient) {
  const connection: Connection = yield* sql.reserve
  let isOpen = false
  /** What the open transaction changed. */
  let changed: StepKind | undefined
  const undo = () => {
    isOpen = false
    changed = undefined
  }
  const before = (statement: string) =>
    Effect.suspend(() => {
      if (isCommit(statement)) return step(changed, "before a commit")
      if (isBegin(statement)) isOpen = true
      else if (isChange(statement)) {
        if (!isOpen) return step(kindOf(statement), `before ${nameOf(statement)}`)
        if (changed !== "step") changed = kindOf(statement)
      }
      return Effect.void
    })
  const after = (statement: string) =>
    Effect.suspend(() => {
      if (!isEnd(statement)) return wait
      const after = step(isCommit(statement) ? changed : undefined, "after a transaction")
      undo()
      return after
    })
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

/** The statements that make the library's own tables as they are. */
export type Tables = ReadonlyArray<string>

/** Nothing, on a database whose schema is not read as SQLite's. */
const readTables = (sql: SqlClient) =>
  Effect.gen(function* () {
    const made = yield* sql<{ readonly name: string; readonly sql: string }>`
      SELECT name, sql FROM sqlite_master WHERE tbl_name LIKE 'effect_pix_%' AND sql IS NOT NULL ORDER BY rowid`
    const names = made.map(({ name }) => name).filter((name) => name.endsWith("_migrations"))
    const migrated = yield* Effect.forEach(names, (name) =>
      sql.unsafe<{ readonly sql: string }>(`
        SELECT 'INSERT INTO ${name} (migration_id, name) VALUES ' || group_concat('(' || migration_id || ', ' || quote(name) || ')') AS sql
        FROM ${name}`)
    )
    return [...made, ...migrated.flat()].map(({ sql }) => sql)
  }).pipe(Effect.orElseSucceed(() => undefined))

/** Where a store has made some of them itself, they are as it made them. */
const writeTables = (sql: SqlClient, tables: Tables) =>
  Effect.forEach(tables, (statement) => sql.unsafe(statement), { discard: true }).pipe(
    sql.withTransaction,
    Effect.ignore
  )

const oneConnection = new Error(
  "Rehearsal: the SqlClient of `stores` has one connection, and each of several processes needs one of its own. NodeSqlite gives them; with another client leave `processes` out."
)

/** The stores as one process has them, and what its death undoes in them. */
export interface Connected<S> {
  readonly stores: Context.Context<S>
  readonly onDeath: Array<() => void>
}

/** Builds the stores, and connects each process to them: several processes have a connection of the database each. */
export const buildStores = Effect.fnUntraced(function* <S>(
  layer: Layer.Layer<S, Error, Sandbox>,
  processes: number,
  tables: Tables | undefined
) {
  const onDeath: Array<() => void> = []
  let connect: Connect | undefined
  const stores = yield* Layer.build(layer).pipe(
    Effect.provideService(OnDeath, (action) => void onDeath.push(action)),
    Effect.provideService(OfferConnection, processes === 1 ? undefined : (offered) => void (connect = offered))
  )
  // A store may give it or not.
  const sql = Option.getOrUndefined(Context.getOption(stores as Context.Context<unknown>, SqlClient))
  if (sql !== undefined && processes > 1 && connect === undefined) return yield* Effect.die(oneConnection)
  if (sql !== undefined && tables !== undefined) yield* writeTables(sql, tables)
  const all: Array<Connected<S>> = []
  for (let index = 0; index < processes; index++) {
    const own = connect === undefined ? onDeath : []
    const connected = connect?.(`process ${index + 1}`) ?? Effect.undefined
    const connection = yield* Effect.provideService(connected, OnDeath, (action) => void own.push(action))
    const client = connection === undefined ? sql : Context.get(connection, SqlClient)
    if (client !== undefined) own.push(yield* Effect.scoped(countSteps(client)))
    all.push({ stores: connection === undefined ? stores : Context.merge(stores, connection), onDeath: own })
  }
  const read = sql === undefined ? Effect.undefined : readTables(sql)
  return { stores, connections: all, readTables: read }
}, Effect.orDie)
