/**
 * Starts and ends the processes of the bench, and exchanges messages with them.
 */
import { type ChildProcess, fork } from "node:child_process"
import { Effect } from "effect"
import type { Certificate } from "./certificate.ts"

/** Sends a message to a process, and returns the next message from it. The end of the process is a defect. */
export const message = <A>(child: ChildProcess, sent?: object | string): Effect.Effect<A> =>
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
    if (sent !== undefined) child.send(sent)
    return Effect.sync(stop)
  })

/** Ends a process that was started here, and waits for its end. */
const end = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })

/** Starts a process that ends with the scope. Returns its first message, which it sends when it is ready. */
export const start = Effect.fnUntraced(function* <A>(
  file: string,
  args: ReadonlyArray<string> = [],
  flags: ReadonlyArray<string> = [],
  env: NodeJS.ProcessEnv = {}
) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      fork(new URL(file, import.meta.url), args, { execArgv: [...flags], env: { ...process.env, ...env } })
    ),
    end
  )
  return { child, first: yield* message<A>(child) }
})

/** Starts the server, which speaks TLS if it has a certificate, and returns its address. */
export const startServer = (certificate?: Certificate) =>
  Effect.map(
    start<number>("server.ts", certificate ? [certificate.key, certificate.cert] : []),
    ({ child, first }) => ({
      child,
      origin: certificate ? `https://localhost:${first}` : `http://127.0.0.1:${first}`
    })
  )
