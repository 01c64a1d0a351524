/**
 * Starts a real Redis for a test: the `redis-server` of the machine (Debian's package of the same name), on a free
 * loopback port, without files.
 */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"

const isExecutable = (file: string) => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const binary = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => folder !== "")
  .map((folder) => join(folder, "redis-server"))
  .find(isExecutable)

/** The reason why a test of Redis cannot run here; `undefined` if it can. */
export const noRedis: string | undefined =
  binary === undefined ? "redis-server is not on the PATH (Debian: apt-get install redis-server)" : undefined

const freePort = Effect.callback<number>((resume) => {
  const probe = createServer()
  probe.listen(0, "127.0.0.1", () => {
    // A TCP server always has an address with a port.
    const { port } = probe.address() as AddressInfo
    probe.close(() => resume(Effect.succeed(port)))
  })
})

const start = (binary: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.flatMap(freePort, (port) =>
        Effect.callback<{ readonly port: number; readonly stop: Effect.Effect<void> }, string>((resume) => {
          const dir = mkdtempSync(join(tmpdir(), "effect-pix-redis-"))
          const server = spawn(
            binary,
            ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir],
            { stdio: ["ignore", "pipe", "ignore"] }
          )
          const stop = Effect.callback<void>((done) => {
            server.once("exit", () => {
              rmSync(dir, { recursive: true, force: true })
              done(Effect.void)
            })
            server.kill("SIGTERM")
          })
          let output = ""
          server.stdout.on("data", (chunk) => {
            output += String(chunk)
            if (output.includes("Ready to accept connections")) resume(Effect.succeed({ port, stop }))
          })
          server.once("exit", () => resume(Effect.fail(output)))
        })
      ).pipe(
        // Another program may use the port by now.
        Effect.retry({ while: (output) => output.includes("Address already in use") }),
        Effect.catch((output) => Effect.die(new Error(`redis-server ended before it was ready: ${output}`)))
      ),
      ({ stop }) => stop
    ),
    ({ port }) => `redis://127.0.0.1:${port}`
  )

/** Starts a Redis that ends with the scope, and returns its URL. */
export const startRedis = Effect.suspend(() => (binary === undefined ? Effect.die(new Error(noRedis)) : start(binary)))
