/** Runs the command in a process, with the Node that runs the tests. */
import { ConfigProvider, Effect, type Scope } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { resolve } from "node:path"
import { Output } from "../../src/cli/internal/output.ts"
import { exitCodeOf, runWords } from "../../src/cli/program.ts"
import { folder } from "./bundleCommand.ts"

const root = resolve(import.meta.dirname, "../..")
export const main = resolve(folder, "main.js")

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Watched {
  /** Waits until stdout and stderr together hold this text. */
  readonly shown: (text: string) => Effect.Effect<string>
  readonly ended: Effect.Effect<Ended>
}

interface Running extends Watched {
  readonly pid: number
  readonly kill: (signal: NodeJS.Signals) => void
}

type Env = Readonly<Record<string, string>>

/** Node 22 says on stderr that its SQLite is experimental. */
const nodeOptions: Env = process.versions.node.startsWith("22.")
  ? { NODE_OPTIONS: "--disable-warning=ExperimentalWarning" }
  : {}

/** What a command wrote so far, and its exit code once it has ended. */
const watch = () => {
  const written = { stdout: "", stderr: "" }
  let ended: Ended | undefined
  const watchers = new Set<() => void>()
  const notify = () => watchers.forEach((watcher) => watcher())
  const until = <A>(read: () => A | undefined) =>
    Effect.callback<A>((resume) => {
      const watcher = () => {
        const found = read()
        if (found === undefined) return
        watchers.delete(watcher)
        resume(Effect.succeed(found))
      }
      watchers.add(watcher)
      watcher()
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
      notify()
    },
    end: (code: number | null) => {
      ended = { code, ...written }
      notify()
    }
  }
}

const follow = (child: ChildProcess, input: string | undefined): Running => {
  const { append, end, watched } = watch()
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.on("data", (chunk: Buffer) => append(name)(chunk.toString()))
  child.on("close", end)
  child.stdin?.on("error", () => {})
  child.stdin?.end(input)
  return { ...watched, pid: child.pid ?? 0, kill: (signal) => child.kill(signal) }
}

const startWords = (
  words: readonly [string, ...ReadonlyArray<string>],
  env: Env,
  input?: string,
  unread?: "stdout" | "stderr",
  isStalled = false
) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const [file, ...args] = words
      // No setting of the machine, except PATH, so that programs are found.
      const base = {
        PATH: process.env["PATH"] ?? "",
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
        ...nodeOptions
      }
      const child = spawn(file, args, { cwd: root, env: { ...base, ...env } })
      if (unread !== undefined) child[unread].destroy()
      if (isStalled) {
        child.stdout.once("data", () => child.stdout.pause())
        child.once("exit", () => child.stdout.resume())
      }
      return follow(child, input)
    }),
    ({ ended, kill }) => {
      kill("SIGKILL")
      return ended
    }
  )

/** Starts the command, and kills it at the end of the scope. */
export const start = (args: ReadonlyArray<string>, env: Env = {}): Effect.Effect<Running, never, Scope.Scope> =>
  startWords([process.execPath, main, ...args], env)

/** Runs the command to its end. */
export const run = (args: ReadonlyArray<string>, env: Env = {}, input?: string): Effect.Effect<Ended> =>
  Effect.scoped(Effect.flatMap(startWords([process.execPath, main, ...args], env, input), ({ ended }) => ended))

/** Starts the command in this process, where its words matter and not its process: in no time. It ends with the scope. */
export const startHere = (args: ReadonlyArray<string>, env: Env = {}): Effect.Effect<Watched, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { append, end, watched } = watch()
    const write = (name: "stdout" | "stderr") => (text: string) => Effect.sync(() => append(name)(text))
    yield* runWords(args).pipe(
      Effect.provideService(Output, { stdout: write("stdout"), stderr: write("stderr") }),
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
      Effect.onExit((exit) => Effect.sync(() => end(exitCodeOf(exit)))),
      Effect.forkScoped
    )
    return watched
  })

/** Runs the command in this process to its end. */
export const runHere = (args: ReadonlyArray<string>, env: Env = {}): Effect.Effect<Ended> =>
  Effect.scoped(Effect.flatMap(startHere(args, env), ({ ended }) => ended))

/** Starts the command, and closes one of its outputs before it can write. */
export const startUnread = (unread: "stdout" | "stderr", args: ReadonlyArray<string>, env: Env = {}) =>
  startWords([process.execPath, main, ...args], env, undefined, unread)

/** Starts the command, and reads only the beginning of its stdout until it has ended. */
export const startStalled = (args: ReadonlyArray<string>, env: Env = {}) =>
  startWords([process.execPath, main, ...args], env, undefined, undefined, true)

/** Runs a line in a shell. */
export const runLine = (line: string, env: Env = {}): Effect.Effect<Ended> =>
  Effect.scoped(Effect.flatMap(startWords(["sh", "-c", line], env), ({ ended }) => ended))

export const hasPty = spawnSync("python3", ["-c", "import pty"]).status === 0

/** Waits for each text in the output of a command on a pseudo-terminal, then types the keys. */
const onPty = `
import json, os, pty, sys, select
steps, words = json.loads(sys.argv[1]), sys.argv[2:]
pid, master = pty.fork()
if pid == 0: os.execvp(words[0], words)
seen, from_here = "", 0
while True:
    ready, _, _ = select.select([master], [], [], 240)
    if not ready:
        os.kill(pid, 9)
        break
    try: data = os.read(master, 65536)
    except OSError: break
    if not data: break
    seen += data.decode("utf8", "replace")
    while steps and steps[0][0] in seen[from_here:]:
        from_here = len(seen)
        os.write(master, steps.pop(0)[1].encode())
_, status = os.waitpid(pid, 0)
sys.stdout.write(seen)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
`

/** Runs the command on a pseudo-terminal. When a text is shown, the keys after it are pressed. */
export const runOnTerminal = (
  args: ReadonlyArray<string>,
  steps: ReadonlyArray<readonly [shown: string, keys: string]>,
  env: Env = {}
): Effect.Effect<Ended> =>
  Effect.scoped(
    Effect.flatMap(
      startWords(["python3", "-c", onPty, JSON.stringify(steps), process.execPath, main, ...args], env),
      ({ ended }) => ended
    )
  )
