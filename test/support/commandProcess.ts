/** Starts the bundled command as a process, with the Node that runs the tests: for exit codes, pipes, signals and terminals. */
import { Effect, type Scope } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { resolve } from "node:path"
import { folder } from "./bundleCommand.ts"
import { type Ended, type Env, watch, type Watched } from "./command.ts"

const root = resolve(import.meta.dirname, "../..")
export const main = resolve(folder, "main.js")

interface Running extends Watched {
  readonly pid: number
  readonly kill: (signal: NodeJS.Signals) => void
}

interface How {
  /** What is written to its stdin. */
  readonly input?: string
  /** The output that is closed before the command can write to it. */
  readonly unread?: "stdout" | "stderr"
  /** Whether only the beginning of its stdout is read until it has ended. */
  readonly isStalled?: boolean
}

/** No setting of the machine, except PATH, so that programs are found. Node 22 says that its SQLite is experimental. */
const base: Env = {
  PATH: process.env["PATH"] ?? "",
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
  ...(process.versions.node.startsWith("22.") && { NODE_OPTIONS: "--disable-warning=ExperimentalWarning" })
}

const startWords = (
  [file, ...args]: readonly [string, ...ReadonlyArray<string>],
  env: Env,
  { input, isStalled = false, unread }: How = {}
): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(file, args, { cwd: root, env: { ...base, ...env } })
      if (unread !== undefined) child[unread].destroy()
      if (isStalled) {
        child.stdout.once("data", () => child.stdout.pause())
        child.once("exit", () => child.stdout.resume())
      }
      const { append, end, watched } = watch()
      for (const name of ["stdout", "stderr"] as const)
        child[name].on("data", (chunk: Buffer) => append(name)(chunk.toString()))
      child.on("close", end)
      child.stdin.on("error", () => {})
      child.stdin.end(input)
      return { ...watched, pid: child.pid ?? 0, kill: (signal: NodeJS.Signals) => child.kill(signal) }
    }),
    ({ ended, kill }) => {
      kill("SIGKILL")
      return ended
    }
  )

const runWords = (words: readonly [string, ...ReadonlyArray<string>], env: Env = {}, how?: How): Effect.Effect<Ended> =>
  Effect.scoped(Effect.flatMap(startWords(words, env, how), ({ ended }) => ended))

/** Starts the command, and kills it at the end of the scope. */
export const start = (args: ReadonlyArray<string>, env: Env = {}, how?: How) =>
  startWords([process.execPath, main, ...args], env, how)

/** Starts a program of Node, and kills it at the end of the scope. */
export const startProgram = (file: string, env: Env) => startWords([process.execPath, file], env)

/** Runs the command to its end. */
export const run = (args: ReadonlyArray<string>, env?: Env, input?: string) =>
  runWords([process.execPath, main, ...args], env, input === undefined ? {} : { input })

/** Runs a line in a shell. */
export const runLine = (line: string, env?: Env) => runWords(["sh", "-c", line], env)

export const hasPty = spawnSync("python3", ["-c", "import pty"]).status === 0

/** Waits for each text in the output of a command on a pseudo-terminal, then types the keys, or closes it where there are none. */
const onPty = `
import json, os, pty, sys, select
steps, words = json.loads(sys.argv[1]), sys.argv[2:]
pid, master = pty.fork()
if pid == 0: os.execvp(words[0], words)
seen, from_here, is_open = "", 0, True
while is_open:
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
        keys = steps.pop(0)[1]
        is_open = keys != ""
        os.write(master, keys.encode()) if is_open else os.close(master)
_, status = os.waitpid(pid, 0)
sys.stdout.write(seen)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
`

/** Runs the command on a pseudo-terminal. When a text is shown, the keys after it are pressed; "" closes the terminal. */
export const runOnTerminal = (
  args: ReadonlyArray<string>,
  steps: ReadonlyArray<readonly [shown: string, keys: string]>,
  env?: Env
) => runWords(["python3", "-c", onPty, JSON.stringify(steps), process.execPath, main, ...args], env)
