/** A SQLite file whose process was killed with kill -9. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { folder } from "../support/operated.ts"
import { build, holder, ids } from "../support/sqliteHolder.ts"
import { live } from "../support/effect.ts"

describe("the owner of a SQLite file", () => {
  live("a file of a process that was killed is free at once, and has every row that was committed", function* () {
    const filename = join(yield* folder, "payouts.db")
    const { committed, kill, until } = yield* holder(filename)
    assert.include((yield* Effect.flip(Effect.scoped(build(filename)))).message, "is open in another process")
    yield* until(20)
    yield* kill("SIGKILL")
    const found = yield* ids(yield* build(filename))
    for (const id of committed) assert.include(found, id)
  })
})
