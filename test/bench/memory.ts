/**
 * Measures the memory of a waiting call: the heap with many charges in flight, each on its own socket, after a garbage
 * collection.
 */
import { Effect } from "effect"
import { type ContenderName, contenders } from "./contenders.ts"
import { message, start, startServer } from "./processes.ts"

export interface Held {
  readonly client: ContenderName
  readonly title: string
  /** Bytes for each call in flight. */
  readonly bytes: number
}

const heapOf = (client: ContenderName, count: number) =>
  Effect.gen(function* () {
    const server = yield* startServer()
    const { child } = yield* start("worker.ts", [client, server.origin], ["--expose-gc"])
    // Objects that a process makes once are not counted.
    yield* message(child, { kind: "start", call: "create", calls: 100 })
    const before = yield* message<number>(child, { kind: "finish" })
    yield* message(server.child, "hold")
    yield* message(child, { kind: "start", call: "create", calls: count })
    let held = 0
    while (held < count) held = (yield* message<{ readonly held: number }>(server.child)).held
    const during = yield* message<number>(child, { kind: "heap" })
    server.child.send("release")
    yield* message(child, { kind: "finish" })
    return { client, title: contenders[client].title, bytes: (during - before) / count } satisfies Held
  }).pipe(Effect.scoped)

/** Measures the clients one after another, so that only one of them runs at a time. */
export const heap = (count: number, clients: ReadonlyArray<ContenderName>) =>
  Effect.forEach(clients, (client) => heapOf(client, count))
