/**
 * Measures cold starts: the time from the start of a process to the first answer, beside a plain program on Effect's
 * `HttpClient`.
 */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { Array, Effect } from "effect"
import { startServer } from "./processes.ts"
import { type Figure, figure } from "./statistics.ts"

const starters = {
  "a plain Effect program on fetch": "plain",
  "effect-pix on fetch, through the index": "fetch",
  "effect-pix/node": "node"
} as const

export interface Cold {
  readonly title: string
  /** Milliseconds. */
  readonly time: Figure
  readonly ratio: Figure
}

const run = (kind: string, origin: string) =>
  Effect.callback<number>((resume) => {
    const begun = performance.now()
    const child = execFile(process.execPath, [join(import.meta.dirname, "starter.ts"), kind, origin], (error) =>
      resume(error === null ? Effect.succeed(performance.now() - begun) : Effect.die(error))
    )
    return Effect.sync(() => child.kill())
  })

export const cold = (rounds: number) =>
  Effect.gen(function* () {
    const { origin } = yield* startServer()
    const times = new Map<string, Array<number>>()
    for (const _ of Array.range(0, rounds)) {
      for (const [title, kind] of Object.entries(starters)) {
        times.set(title, [...(times.get(title) ?? []), yield* run(kind, origin)])
      }
    }
    const [plain = []] = times.values()
    return Array.fromIterable(times).map(([title, all]): Cold => ({
      title,
      // The first round warms the disk's cache.
      time: figure(all.slice(1)),
      ratio: figure(all.slice(1).map((time, round) => time / (plain[round + 1] ?? Number.NaN)))
    }))
  }).pipe(Effect.scoped)
