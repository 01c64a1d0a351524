/**
 * A thread beside each worker of vitest, which `setup.ts` starts. A worker that is blocked (`while (true)`) can neither end
 * its test nor say which one it is: the thread says it, and ends the worker. Each message is a sign of life of the worker; a
 * text is what it does from now on.
 */
import { writeSync } from "node:fs"
import { parentPort } from "node:worker_threads"

/**
 * The most that a test may block: seconds of the worker's CPU, whatever the machine does meanwhile, and of sleep. Coverage,
 * which is measured in `npm run full`, doubles what a test takes, and its long tests compute in one turn.
 */
const most = { computing: process.env["EFFECT_PIX_FULL"] === "1" ? 90 : 30, sleeping: 120 }

const seconds = () => {
  const { system, user } = process.cpuUsage()
  return { computing: (user + system) / 1e6, sleeping: performance.now() / 1000 }
}

let doing = "a test file"
let alive = seconds()

parentPort?.on("message", (message: string | undefined) => {
  doing = message ?? doing
  alive = seconds()
})

setInterval(() => {
  const now = seconds()
  const computing = now.computing - alive.computing
  const sleeping = now.sleeping - alive.sleeping
  if (computing <= most.computing && sleeping <= most.sleeping) return
  writeSync(2, `\nA worker is ended, since it is blocked (${computing.toFixed()} s of CPU) by: ${doing}\n`)
  process.kill(process.pid, "SIGKILL")
}, 500)
