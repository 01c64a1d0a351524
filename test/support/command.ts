/** Runs the command in the process of the test, in no time. `commandProcess.ts` starts processes of it. */
import { ConfigProvider, Effect, type Scope } from "effect"
import { EventEmitter } from "node:events"
import { expect } from "vitest"
import { Output } from "../../src/cli/internal/output.ts"
import { exitCodeOf, runWords } from "../../src/cli/program.ts"
import { impatient } from "./policies.ts"

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Watched {
  /** Waits until stdout and stderr together hold this text. */
  readonly shown: (text: string) => Effect.Effect<string>
  readonly ended: Effect.Effect<Ended>
}

export type Env = Readonly<Record<string, string>>

/** What a command wrote so far, and its exit code once it has ended. */
export const watch = () => {
  const written = { stdout: "", stderr: "" }
  let ended: Ended | undefined
  const output = new EventEmitter()
  const until = <A>(read: () => A | undefined) =>
    Effect.callback<A>((resume) => {
      const look = () => {
        const found = read()
        if (found !== undefined) resume(Effect.succeed(found))
      }
      output.on("change", look)
      look()
    })
  const watched: Watched = {
    shown: (text) =>
      until(() => {
        const all = written.stdout + written.stderr
        if (ended !== undefined && !all.includes(text)) throw new Error(`It ended without showing ${text}: ${all}`)
        return all.includes(text) ? all : undefined
      }),
    ended: until(() => ended)
  }
  return {
    watched,
    append: (name: keyof typeof written) => (text: string) => {
      written[name] += text
      output.emit("change")
    },
    end: (code: number | null) => {
      ended = { code, ...written }
      output.emit("change")
    }
  }
}

/** Starts the command, which repeats requests without waiting. It ends with the scope. */
export const start = (args: ReadonlyArray<string>, env: Env = {}): Effect.Effect<Watched, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { append, end, watched } = watch()
    const write = (name: "stdout" | "stderr") => (text: string) => Effect.sync(() => append(name)(text))
    yield* runWords(args).pipe(
      Effect.provideService(Output, { stdout: write("stdout"), stderr: write("stderr") }),
      Effect.provide([impatient, ConfigProvider.layer(ConfigProvider.fromEnv({ env }))]),
      Effect.onExit((exit) => Effect.sync(() => end(exitCodeOf(exit)))),
      Effect.forkScoped
    )
    return watched
  })

/** Runs the command to its end. */
export const run = (args: ReadonlyArray<string>, env: Env = {}): Effect.Effect<Ended> =>
  Effect.scoped(Effect.flatMap(start(args, env), ({ ended }) => ended))

/** A command, its exit code, what its stdout has ("" is nothing at all), and what its stderr has. */
export type Row = readonly [line: string, code: number, stdout: string | RegExp, stderr?: RegExp | undefined]

/** Runs commands one after another, and compares how each ends. Returns all that they wrote. */
export const runRows = Effect.fnUntraced(function* (env: Env, rows: ReadonlyArray<Row>) {
  let written = ""
  for (const [line, code, stdout, stderr = /^/] of rows) {
    const ended = yield* run(line.split(" "), env)
    expect({ line, ...ended }).toEqual({
      line,
      code,
      stdout: typeof stdout === "string" ? stdout : expect.stringMatching(stdout),
      stderr: expect.stringMatching(stderr)
    })
    written += ended.stdout + ended.stderr
  }
  return written
})
