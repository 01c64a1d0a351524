/**
 * Starts a real PostgreSQL for a test, on a socket in its own folder, so that two servers never need the same port. It
 * is the program of the machine (on the PATH, or in the folder of Debian), else the one that `debian.ts` unpacked. If
 * the tests run as root, the server gets another user id.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { chownSync, cpSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { libraries, unpacked } from "./debian.ts"
import { missing } from "./missing.ts"

interface Binaries {
  readonly bin: string
  /** The folder of the package, if it was unpacked. */
  readonly root?: string
}

const isComplete = (bin: string) => existsSync(join(bin, "initdb")) && existsSync(join(bin, "postgres"))
const newest = (pattern: string) => globSync(pattern).toSorted().toReversed().find(isComplete)

const find = (): Binaries | undefined => {
  const bin = (process.env["PATH"] ?? "").split(delimiter).find(isComplete) ?? newest("/usr/lib/postgresql/*/bin")
  if (bin !== undefined) return { bin }
  const root = unpacked("postgresql")
  const own = root === undefined ? undefined : newest(`${root}/usr/lib/postgresql/*/bin`)
  return root === undefined || own === undefined ? undefined : { bin: own, root }
}

const binaries = find()

/** The reason why a test of PostgreSQL cannot run here; `undefined` if it can. */
export const noPostgres = (): string | undefined => (binaries === undefined ? missing("PostgreSQL") : undefined)

/** A running server. */
export interface Postgres {
  readonly url: string
  /** The folder of its data. */
  readonly data: string
  /** Runs a program of PostgreSQL, such as `pg_dump`, with this server as its default, and returns what it wrote. */
  readonly run: (program: string, args: ReadonlyArray<string>, input?: string) => Promise<string>
  /** Ends the server as a power cut does. */
  readonly crash: () => Promise<void>
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** Starts a server with an empty database, or with the data that `prepare` puts into the folder by a program of PostgreSQL. */
export const startPostgres = async (
  prepare?: (data: string, run: Postgres["run"]) => Promise<unknown>
): Promise<Postgres> => {
  if (binaries === undefined) throw new Error(noPostgres())
  const dir = mkdtempSync(join(tmpdir(), "effect-pix-postgres-"))
  // initdb and postgres refuse root. Any other user id works, even one without a user.
  const isRoot = process.getuid?.() === 0
  const userId = isRoot ? { uid: 65_534, gid: 65_534 } : {}
  if (isRoot) chownSync(dir, 65_534, 65_534)
  let { bin, root } = binaries
  if (isRoot && root !== undefined) {
    // That user may have no right to read the folder of the project, so the programs are copied.
    const copy = join(tmpdir(), "effect-pix-postgres-binaries")
    if (!existsSync(copy)) {
      mkdirSync(`${copy}.new`, { recursive: true })
      cpSync(root, `${copy}.new`, { recursive: true, verbatimSymlinks: true })
      cpSync(`${copy}.new`, copy, { recursive: true, verbatimSymlinks: true })
    }
    bin = bin.replace(root, copy)
    root = copy
  }
  const data = join(dir, "data")
  const env = {
    PATH: `${bin}${delimiter}${process.env["PATH"]}`,
    LC_ALL: "C.UTF-8",
    TZ: "UTC",
    ...(root === undefined ? {} : { LD_LIBRARY_PATH: libraries(root) })
  }
  // Not spawnSync: a program may wait for a transaction of this process.
  const run: Postgres["run"] = (program, args, input = "") =>
    new Promise((done, failed) => {
      const path = existsSync(join(bin, program)) ? join(bin, program) : program
      const options = { ...userId, cwd: dir, env: { ...env, PGHOST: dir, PGUSER: "postgres" }, maxBuffer: Infinity }
      const child = execFile(path, args, options, (error, stdout) => (error === null ? done(stdout) : failed(error)))
      child.stdin?.end(input)
    })
  const init = (into: string) =>
    run("initdb", ["-D", into, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"])
  await (prepare ?? init)(data, run)
  let server: ChildProcess | undefined
  const start = () =>
    new Promise<void>((done, failed) => {
      let log = ""
      const isStandby = existsSync(join(data, "standby.signal"))
      const settings = ["fsync=off", "max_connections=200"].flatMap((setting) => ["-c", setting])
      const child = spawn(join(bin, "postgres"), ["-D", data, "-h", "", "-k", dir, ...settings], {
        ...userId,
        cwd: dir,
        env,
        stdio: ["ignore", "ignore", "pipe"]
      })
      server = child
      child.stderr.on("data", (chunk) => {
        log += String(chunk)
        // A recovery goes on after the server answers, and nothing can be written until it ends. That of a standby never ends.
        if (log.includes(isStandby ? "ready to accept read-only connections" : "ready to accept connections")) done()
      })
      child.once("exit", () => failed(new Error(`postgres ended before it was ready: ${log}`)))
    })
  const end = (signal: NodeJS.Signals) =>
    new Promise<void>((done) => {
      if (server === undefined) return done()
      server.once("exit", () => done())
      server.kill(signal)
      server = undefined
    })
  await start()
  return {
    url: `postgres://postgres@${encodeURIComponent(dir)}/postgres`,
    data,
    run,
    crash: () => end("SIGKILL"),
    start,
    stop: async () => {
      await end("SIGINT")
      rmSync(dir, { recursive: true, force: true })
    }
  }
}
