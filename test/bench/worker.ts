/**
 * One client in a process of its own, so that no other one's garbage or type feedback is in its figures. Takes a `Job`
 * by message, answers with its `Sample`.
 */
import { type ContenderName, contenders } from "./clients.ts"
import { chargeId, rows } from "./payloads.ts"

export interface Job {
  readonly call: "create" | "list"
  readonly inFlight: number
  readonly milliseconds: number
}

/** Per call: milliseconds of wall clock, and microseconds of CPU over all threads of the process. */
export interface Sample {
  readonly time: number
  readonly cpu: number
}

const expected = { create: chargeId, list: rows }

const [name, port] = process.argv.slice(2)
const client = await contenders[name as ContenderName].make(Number(port)) // main.ts names it by the same record

const perform = async ({ call, inFlight, milliseconds }: Job): Promise<Sample> => {
  const send = client[call]
  let calls = 0
  const cpu = process.cpuUsage()
  const start = performance.now()
  const lane = async () => {
    while (performance.now() - start < milliseconds) {
      const got = await send()
      if (got !== expected[call]) throw new Error(`${name}: ${call} gave ${String(got)}`)
      calls++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  const time = performance.now() - start
  const { system, user } = process.cpuUsage(cpu)
  return { time: time / calls, cpu: (system + user) / calls }
}

process.on("message", async (job: Job) => {
  const sample = await perform(job)
  if (process.connected) process.send?.(sample)
})
process.on("disconnect", () => process.exit())
process.send?.("ready")
