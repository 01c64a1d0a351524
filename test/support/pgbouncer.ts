/**
 * Starts a real PgBouncer for a test, with transaction pooling, on a socket in its own folder. It is the program of the
 * machine, else the one that `debian.ts` unpacked.
 */
import { Effect, Schedule } from "effect"
import { spawn } from "node:child_process"
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { libraries, unpacked } from "./debian.ts"
import { missing } from "./missing.ts"

interface Binary {
  readonly path: string
  readonly libraries: string | undefined
}

const find = (): Binary | undefined => {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"]
  const path = folders.map((folder) => join(folder, "pgbouncer")).find((file) => existsSync(file))
  if (path !== undefined) return { path, libraries: undefined }
  const root = unpacked("pgbouncer")
  return root === undefined ? undefined : { path: join(root, "usr/sbin/pgbouncer"), libraries: libraries(root) }
}

let binary: Binary | undefined | "unsearched" = "unsearched"
const found = () => {
  if (binary === "unsearched") binary = find()
  return binary
}

/** The reason why a test of PgBouncer cannot run here; `undefined` if it can. */
export const noPgBouncer = (): string | undefined => (found() === undefined ? missing("PgBouncer") : undefined)

const canConnect = (path: string) =>
  Effect.callback<void, Error>((resume) => {
    const socket = connect(path)
    socket.once("connect", () => {
      socket.destroy()
      resume(Effect.void)
    })
    socket.once("error", (error) => resume(Effect.fail(error)))
  })

/** The URL of a pooler of a PostgreSQL, for as long as the scope lasts. */
export const pgBouncer = Effect.fnUntraced(function* (postgresUrl: string) {
  const has = found()
  if (has === undefined) return yield* Effect.die(noPgBouncer())
  const [, folder = "", name = ""] = /@([^/]+)\/(\w+)$/.exec(postgresUrl) ?? []
  const isRoot = process.getuid?.() === 0
  const dir = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-pix-pgbouncer-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const settings = [
    "[databases]",
    `postgres = host=${decodeURIComponent(folder)} dbname=${name} user=postgres`,
    "[pgbouncer]",
    // The name of the socket ends with the port. The default port of clients is 5432.
    "listen_port = 5432",
    `unix_socket_dir = ${dir}`,
    "auth_type = any",
    "pool_mode = transaction",
    "default_pool_size = 4"
  ]
  writeFileSync(join(dir, "pgbouncer.ini"), settings.join("\n"))
  chmodSync(dir, 0o755)
  // PgBouncer refuses root. Any other user works.
  if (isRoot) chownSync(dir, 65_534, 65_534)
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(has.path, [join(dir, "pgbouncer.ini")], {
        cwd: dir,
        stdio: "ignore",
        env: { PATH: process.env["PATH"], LD_LIBRARY_PATH: has.libraries },
        ...(isRoot && { uid: 65_534, gid: 65_534 })
      })
    ),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGKILL")
      })
  )
  yield* Effect.retry(canConnect(join(dir, ".s.PGSQL.5432")), Schedule.spaced("20 millis"))
  return `postgres://postgres@${encodeURIComponent(dir)}/postgres`
})
