// Opens a SQLite file in another process, and prints the result: `node openSqlite.ts <filename>`.
import { Effect, Layer } from "effect"
import { layer } from "../../src/node/NodeSqlite.ts"

const outcome = await Effect.runPromise(
  Effect.scoped(Layer.build(layer({ filename: process.argv[2] ?? "" }))).pipe(
    Effect.match({ onSuccess: () => "opened", onFailure: (error) => `${error._tag}: ${error.message}` })
  )
)
console.log(outcome)
