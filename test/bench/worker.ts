/**
 * One client in its own process, so that the garbage and the type feedback of other clients are not in its figures. Its
 * message is a `Job`, and its answer is a `Sample`.
 */
import { setImmediate } from "node:timers/promises"
import { contenders, type ContenderName } from "./contenders.ts"
import { type Call, expected } from "./payloads.ts"

export type Job =
  /** Calls for this time, with this number of calls in flight. */
  | { readonly kind: "time"; readonly call: Call; readonly inFlight: number; readonly milliseconds: number }
  /** Makes this number of calls, with this number in flight, without a garbage collection meanwhile. */
  | { readonly kind: "bytes"; readonly call: Call; readonly inFlight: number; readonly calls: number }
  /** Starts this number of calls and waits. The message `paid` then returns the size of the heap. */
  | { readonly kind: "start"; readonly call: Call; readonly calls: number }
  | { readonly kind: "heap" }
  | { readonly kind: "finish" }

/** Per call: milliseconds of wall clock, and microseconds of CPU over all threads of the process. */
export interface Sample {
  readonly time: number
  readonly cpu: number
  readonly p50: number
  readonly p99: number
}

const [name, origin = ""] = process.argv.slice(2)
const client = await contenders[name as ContenderName].make(origin) // main.ts names it by the same record

const once = async (call: Call) => {
  const got = await client[call]()
  if (got !== expected[call]) throw new Error(`${name}: ${call} gave ${String(got)}`)
}

const collected = async () => {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.()
    await setImmediate()
  }
  return process.memoryUsage().heapUsed
}

const quantile = (sorted: Float64Array, part: number) => sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN

let started: ReadonlyArray<Promise<void>> = []

const perform = async (job: Job): Promise<Sample | number> => {
  switch (job.kind) {
    case "time": {
      const times: Array<number> = []
      const cpu = process.cpuUsage()
      const start = performance.now()
      const lane = async () => {
        for (let at = performance.now(); at - start < job.milliseconds;) {
          await once(job.call)
          const now = performance.now()
          times.push(now - at)
          at = now
        }
      }
      await Promise.all(Array.from({ length: job.inFlight }, lane))
      const time = performance.now() - start
      const { system, user } = process.cpuUsage(cpu)
      const sorted = Float64Array.from(times).toSorted()
      const calls = times.length
      return {
        time: time / calls,
        cpu: (system + user) / calls,
        p50: quantile(sorted, 0.5),
        p99: quantile(sorted, 0.99)
      }
    }
    case "bytes": {
      const before = await collected()
      let left = job.calls
      const lane = async () => {
        while (left-- > 0) await once(job.call)
      }
      await Promise.all(Array.from({ length: job.inFlight }, lane))
      return (process.memoryUsage().heapUsed - before) / job.calls
    }
    case "start":
      started = Array.from({ length: job.calls }, () => once(job.call))
      return job.calls
    case "heap":
      return collected()
    case "finish":
      await Promise.all(started)
      started = []
      return collected()
  }
}

process.on("message", (job: Job) => {
  perform(job).then(
    (sample) => process.connected && process.send?.(sample),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    }
  )
})
process.on("disconnect", () => process.exit())
process.send?.("ready")
