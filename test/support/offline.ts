/**
 * Runs before each fast test file. A fast test that opens a port or a connection, starts a process, writes a file or has a
 * database in a file fails, also if what it tests takes the refusal for an answer. SQLite in memory is allowed. And it has
 * twenty seconds.
 */
import childProcess from "node:child_process"
import dgram from "node:dgram"
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import net from "node:net"
import { performance } from "node:perf_hooks"
import { DatabaseSync } from "node:sqlite"
import { clearInterval, setInterval } from "node:timers"
import { aroundEach } from "vitest"

let refused: Error | undefined

const refusal = (resource: string) =>
  (refused = new Error(`A fast test opens ${resource}: vitest.config.ts says what makes a test file a live one.`))

const refuse = (resource: string) =>
  // It is a function that can also be called with `new`.
  function () {
    throw refusal(resource)
  }

net.Server.prototype.listen = refuse("a port")
net.Socket.prototype.connect = refuse("a connection")
dgram.Socket.prototype.bind = refuse("a port")
dgram.Socket.prototype.send = refuse("a connection")
// All ways to start a process that can be waited for go through the first.
Object.assign(childProcess.ChildProcess.prototype, { spawn: refuse("a process") })
for (const start of ["execFileSync", "execSync", "spawnSync"])
  Object.assign(childProcess, { [start]: refuse("a process") })
for (const write of [
  "appendFile",
  "copyFile",
  "cp",
  "link",
  "mkdir",
  "mkdtemp",
  "rename",
  "rm",
  "symlink",
  "writeFile"
]) {
  Object.assign(fs, { [write]: refuse("a file to write"), [`${write}Sync`]: refuse("a file to write") })
  if (write !== "writeFile") Object.assign(fs.promises, { [write]: refuse("a file to write") })
}
fs.createWriteStream = refuse("a file to write")
// The worker writes its coverage by this one, when no test runs.
const { writeFile } = fs.promises
const refuseWriteFile = refuse("a file to write")
syncBuiltinESMExports()

// Those who import the class have it before this runs, so its methods refuse, and keep what they were in a property.
for (const method of ["exec", "prepare"] as const) {
  const original = DatabaseSync.prototype[method]
  const given: unknown = Reflect.get(original, "given") ?? original
  const guarded = function (this: DatabaseSync, sql: string) {
    if (this.location() !== null || /^\s*ATTACH\b|\bVACUUM\b.*\bINTO\b/is.test(sql))
      throw refusal("a database in a file")
    // It is the method of the same name.
    return Reflect.apply(given as (sql: string) => unknown, this, [sql])
  }
  Object.assign(DatabaseSync.prototype, { [method]: Object.assign(guarded, { given }) })
}

/** The seconds that this worker has computed or waited. What other programs take of the machine is not in it. */
const seconds = () => {
  const { system, user } = process.cpuUsage()
  return (user + system) / 1e6 + performance.eventLoopUtilization().idle / 1e3
}

/** Coverage, which is measured in `npm run full`, doubles what a test takes. */
const usual = process.env["EFFECT_PIX_FULL"] === "1" ? 40 : 20
/** `npm run soak` repeats what takes long. */
const most = process.env["EFFECT_PIX_SOAK"] === "1" ? 250 : usual

aroundEach(async (runTest, { task }) => {
  const began = seconds()
  const late = new AbortController()
  // An effect is interrupted by the signal. What else a test waits for is left behind.
  Object.assign(task.context, { signal: AbortSignal.any([task.context.signal, late.signal]) })
  const isLate = new Promise<void>((done) => late.signal.addEventListener("abort", () => done()))
  const timer = setInterval(() => {
    if (seconds() - began <= most) return
    late.abort(new Error(`A fast test has ${most} s, computing or waiting, and this one needs more.`))
  }, 250)
  fs.promises.writeFile = refuseWriteFile
  await Promise.race([runTest(), isLate]).finally(() => {
    clearInterval(timer)
    fs.promises.writeFile = writeFile
  })
  late.signal.throwIfAborted()
  const error = refused
  refused = undefined
  if (error !== undefined) throw error
})
