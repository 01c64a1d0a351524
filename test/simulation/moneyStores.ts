/** The databases of a simulation: SQLite in memory, where each process has a connection of its own, and PostgreSQL. */
import { Effect, Layer } from "effect"
import { NodeSqlite } from "effect-pix/node"
import { OnDeath } from "../../src/internal/onDeath.ts"
import { type Connect, OfferConnection } from "../../src/internal/simulatedProcess.ts"
import type { Store } from "./moneyWorld.ts"

export const sqlite = Effect.gen(function* () {
  let connect: Connect | undefined
  yield* Effect.provideService(
    Layer.build(NodeSqlite.layer({ filename: ":memory:" })),
    OfferConnection,
    (offered) => void (connect = offered)
  )
  const connections = yield* Effect.forEach([0, 1], (process) => {
    const undo: Array<() => void> = []
    return Effect.map(
      Effect.provideService(connect!(`process ${process}`), OnDeath, (action) => void undo.push(action)),
      (connection) => ({ connection, undo })
    )
  })
  const store: Store = {
    connect: (process, onDeath) =>
      Effect.sync(() => {
        const { connection, undo } = connections[process]!
        for (const action of undo) onDeath(action)
        return connection
      }),
    move: (time, isDone) => time.until(isDone, Infinity, 0)
  }
  return store
}).pipe(Effect.orDie)
