/**
 * Processes that the bench starts, talks with and ends.
 */
import { type ChildProcess, fork } from "node:child_process"
import { Effect } from "effect"

/** The next message of a process, after telling it something. Its death is a defect. */
export const message = <A>(child: ChildProcess, told?: object | string): Effect.Effect<A> =>
  Effect.callback<A>((resume) => {
    const onMessage = (value: A) => done(Effect.succeed(value))
    const onExit = (code: number | null) => done(Effect.die(new Error(`${child.spawnargs.join(" ")} ended: ${code}`)))
    const stop = () => {
      child.off("message", onMessage)
      child.off("exit", onExit)
    }
    const done = (exit: Effect.Effect<A>) => {
      stop()
      resume(exit)
    }
    child.once("message", onMessage)
    child.once("exit", onExit)
    if (told !== undefined) child.send(told)
    return Effect.sync(stop)
  })

/** Ends a process that was started here, and waits until it is gone. */
const end = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })

/** A process that ends with the scope, however that ends. Gives what it says when it is ready. */
export const start = Effect.fnUntraced(function* <A>(
  file: string,
  args: ReadonlyArray<string> = [],
  flags: ReadonlyArray<string> = []
) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => fork(new URL(file, import.meta.url), args, { execArgv: [...flags] })),
    end
  )
  return { child, first: yield* message<A>(child) }
})

/** The server, and where it listens. */
export const startServer = (rows = 0) =>
  Effect.map(start<number>("server.ts", [String(rows)]), ({ child, first }) => ({
    child,
    origin: `http://127.0.0.1:${first}`
  }))
