/**
 * What a reader of outside text costs while its input doubles: CPU in one run against itself, and the heap that it holds. Nothing
 * depends on how fast the machine is: a cost that is linear doubles on each, and a cost that is too small to be measured is none.
 */
import { GCProfiler, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
// V8 gives the function to contexts that are made after the flag.
const collect = runInNewContext("gc") as () => void

/** Reads a text, now or later. What becomes of it is no matter. */
export type Read = (text: string) => unknown

const cpu = () => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1000
}

/** The CPU of one reading in milliseconds, as the least of some samples of some readings each: load adds, and never takes away. */
const costOf = async (read: Read, text: string, samples = 1, readings = 1) => {
  let least = Infinity
  for (let sample = 0; sample < samples; sample++) {
    const start = cpu()
    for (let reading = 0; reading < readings; reading++) await read(text)
    least = Math.min(least, (cpu() - start) / readings)
  }
  return least
}

/** What the engine itself does to read a text: its maps grow in steps, so it is no linear reader of many members. */
const parse: Read = (text) => {
  try {
    const values: Array<unknown> = [JSON.parse(text)]
    for (const value of values) {
      if (typeof value !== "object" || value === null) continue
      for (const [, inner] of Object.entries(value)) values.push(inner)
    }
  } catch {
    // It is no JSON.
  }
}

/** What takes less at its bound is too small to be compared, in milliseconds of CPU. */
const small = 20
/** What takes no more than so many times as the engine alone is as linear as that. */
const near = 6

/** The most that the CPU grows per doubling, and the heap for a byte. */
const mostGrowth = 2.5
const mostHeap = 20
/** What the engine and the libraries hold of a call, whatever its size, in bytes. */
const heapOfCall = 4_000_000

/**
 * By how much the CPU grows per doubling, of the least that each took in any attempt: over the last three doublings, or over the last one,
 * where a shorter text skips a step that is linear too.
 */
const growthOf = async (read: Read, eighth: string, half: string, whole: string, first: number) => {
  let [leastEighth, leastHalf, leastWhole, growth] = [Infinity, Infinity, Infinity, Infinity]
  for (let attempt = 0; attempt < 12 && growth > mostGrowth; attempt++) {
    leastWhole = Math.min(leastWhole, await costOf(read, whole, 5))
    if (leastWhole < small) return 1
    // A sample of a part takes as long as one of the whole, or it would be measured in steps of the clock.
    leastEighth = Math.min(leastEighth, await costOf(read, eighth, 3, Math.ceil((small * 8) / first)))
    leastHalf = Math.min(leastHalf, await costOf(read, half, 3, Math.ceil((small * 2) / first)))
    growth = Math.min((leastWhole / leastEighth) ** (1 / 3), leastWhole / leastHalf)
  }
  return growth
}

/** The result of a reading, until the heap was measured. */
const held = new Set<unknown>()

/** The heap that a reading holds at its most, in bytes, as collections of garbage during it and one after it found it. */
const heapOf = async (read: Read, text: string) => {
  collect()
  const before = process.memoryUsage().heapUsed
  const profiler = new GCProfiler()
  profiler.start()
  held.add(await read(text))
  collect()
  const { statistics } = profiler.stop()
  held.clear()
  return Math.max(...statistics.map(({ afterGC }) => afterGC.heapStatistics.usedHeapSize)) - before
}

/** What a reader takes too much of at its bound; nothing where that is little, or near to what the engine itself takes. */
export const excessOf = async (read: Read, shape: (length: number) => string, bound: number) => {
  const [eighth, half, whole] = [shape(bound / 8), shape(bound / 2), shape(bound)]
  // Once for the compiler.
  await read(eighth)
  const first = await costOf(read, whole, 3)
  if (first < small) return []
  const growth = first < near * (await costOf(parse, whole)) ? 1 : await growthOf(read, eighth, half, whole, first)
  const heap = ((await heapOf(read, whole)) - heapOfCall) / whole.length
  return [
    ...(growth > mostGrowth ? [`${growth.toFixed(1)} times the CPU per doubling`] : []),
    ...(heap > mostHeap ? [`${heap.toFixed(0)} bytes of heap for a byte`] : [])
  ]
}
