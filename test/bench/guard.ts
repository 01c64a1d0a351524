/**
 * Checks how much memory a call holds and allocates. The bounds are generous: a leak or a second copy of an answer
 * exceeds them, and a noisy machine does not. `npm run full` runs it on the built library.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import type { ContenderName } from "./contenders.ts"
import { heap } from "./memory.ts"
import { message, start, startServer } from "./processes.ts"

const flags = ["--expose-gc", "--min-semi-space-size=256", "--max-semi-space-size=256"]

/** Bytes that a call allocates, by client and operation. */
const allocated = (client: ContenderName, call: "create" | "list") =>
  Effect.gen(function* () {
    const { origin } = yield* startServer()
    const { child } = yield* start("worker.ts", [client, origin], flags)
    const job = { kind: "bytes", call, inFlight: 16, calls: 400 }
    yield* message(child, job)
    return yield* message<number>(child, job)
  }).pipe(Effect.scoped)

const program = Effect.gen(function* () {
  const [node] = yield* heap(1000, ["oursNode"])
  const figures = [
    { title: "a charge in flight holds", bytes: node?.bytes ?? Infinity, most: 25_000 },
    { title: "a charge over effect-pix/node allocates", bytes: yield* allocated("oursNode", "create"), most: 75_000 },
    {
      title: "a page of 100 rows over effect-pix/node allocates",
      bytes: yield* allocated("oursNode", "list"),
      most: 500_000
    },
    { title: "a charge over fetch allocates", bytes: yield* allocated("oursFetch", "create"), most: 260_000 }
  ]
  for (const { bytes, most, title } of figures) {
    yield* Console.log(`${title} ${bytes.toFixed(0)} bytes, at most ${most}`)
    if (bytes > most) process.exitCode = 1
  }
}).pipe(Effect.timeout("10 minutes"))

NodeRuntime.runMain(program)
