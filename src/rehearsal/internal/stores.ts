/** The stores of a run: they are built once, and outlive the processes. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SqlClient } from "effect/sql/SqlClient"
import { OnDeath } from "../../internal/onDeath.ts"
import { type Connect, OfferConnection } from "../../internal/simulatedProcess.ts"
import type { Sandbox } from "../../sandbox/Sandbox.ts"
import { countSteps } from "./steps.ts"
import { readTables, type Tables, writeTables } from "./tables.ts"

const oneConnection = new Error(
  "Rehearsal: the SqlClient of `stores` has one connection, and each of several processes needs one of its own. NodeSqlite gives them; with another client leave `processes` out."
)

/** The stores as one process has them, and what its death undoes in them. */
interface Connected<S> {
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
