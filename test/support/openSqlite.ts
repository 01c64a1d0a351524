// Opens SQLite files in another process, and prints the results: `node openSqlite.ts <filename...>`. With `<filename> hold` it
// then writes rows until it is killed, and prints the number of each that was committed.
import { Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { layer } from "../../src/node/NodeSqlite.ts"

const [, , ...filenames] = process.argv
const holds = filenames[1] === "hold"

const write = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY)`
  for (let id = 1; ; id++) {
    yield* sql`INSERT INTO orders (id) VALUES (${id})`
    console.log(id)
    // Another line of this process is printed, and its signals arrive.
    yield* Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))
  }
})

const opened = Effect.sync(() => console.log("opened"))
const open = (filename: string) =>
  (holds ? Effect.provide(write, layer({ filename })) : Layer.build(layer({ filename }))).pipe(
    Effect.andThen(opened),
    Effect.scoped,
    // The line that names the file is no row.
    Effect.provide(Logger.layer([])),
    Effect.catch((error) => Effect.sync(() => console.log(`${error._tag}: ${error.message}`)))
  )

await Effect.runPromise(Effect.forEach(holds ? filenames.slice(0, 1) : filenames, open, { discard: true }))
