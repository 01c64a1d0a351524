import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeMemory, roomMemory } from "../../src/webhook/internal/room.ts"

const keep = (value: string) => () => Effect.succeed([value, { state: "Kept", value }] as const)

describe("the room in memory", () => {
  it.effect(
    "with a lease nobody waits for a row that another request holds, and one that was cut holds it no longer",
    () =>
      Effect.gen(function* () {
        const memory = makeMemory()
        const room = yield* roomMemory(memory, 1000)
        // The platform cuts the first request: nothing of it runs any more.
        yield* Effect.forkDetach(room.modify("a", () => Effect.never))
        yield* TestClock.adjust(0)
        const busy = yield* Effect.flip(room.modify("a", keep("second")))
        assert.strictEqual(busy.reason, "Busy")
        assert.strictEqual(yield* room.modify("b", keep("other")), "other")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* room.modify("a", keep("third")), "third")
      })
  )

  it.effect("the latest hundred thousand notes are kept, and every call that waits", () =>
    Effect.gen(function* () {
      const memory = makeMemory()
      const room = yield* roomMemory(memory)
      yield* room.modify("call", () => Effect.succeed([undefined, { state: "Open", value: "" }] as const))
      for (let n = 0; n < 100_000; n++) memory.rows.set(`${n}`, { state: "Kept", value: "" })
      yield* room.modify("last", keep("x"))
      assert.strictEqual((yield* room.get("call"))?.state, "Open")
      assert.isUndefined(yield* room.get("0"))
      assert.strictEqual((yield* room.get("last"))?.value, "x")
      assert.isAtMost(memory.rows.size, 100_001)
    })
  )
})
