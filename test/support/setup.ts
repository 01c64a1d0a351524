/**
 * Runs before each test file: gives each test its own random numbers, by its name and the seed, and has the watchdog know
 * which test runs. Properties, Effect's `Random` and every library draw the numbers from `Math.random`.
 */
import { setInterval } from "node:timers"
import { Worker } from "node:worker_threads"
import { beforeEach, expect, vi } from "vitest"
import { again, seed, seeded } from "./seed.ts"

const hash = (text: string) =>
  Array.from(text).reduce((hash, char) => Math.imul(hash, 31) + (char.codePointAt(0) ?? 0), 7)

const startWatchdog = () => {
  const thread = new Worker(new URL("watchdog.ts", import.meta.url), { execArgv: [] })
  thread.unref()
  setInterval(() => thread.postMessage(undefined), 500).unref()
  return thread
}

// This module is loaded for each file, and its worker runs many. Stryker ends a worker that is blocked by itself.
const worker: typeof globalThis & { watchdog?: Worker } = globalThis
if (process.env["STRYKER_MUTATOR_WORKER"] === undefined) worker.watchdog ??= startWatchdog()
worker.watchdog?.postMessage(expect.getState().testPath)

// Vitest takes 100 frames of every error that is made, and most errors here are expected ones.
Error.stackTraceLimit = 16

// A sandbox whose options do not say how it answers does as EFFECT_PIX_AS says: vitest.config.ts sets it for a project.
const as = process.env["EFFECT_PIX_AS"]
if (as === "seen") {
  vi.doMock(import("../../src/sandbox/SandboxOptions.ts"), async (original) => {
    const options = await original()
    return { ...options, withDefaults: (given, seed) => options.withDefaults({ ...given, as: given.as ?? as }, seed) }
  })
}

beforeEach(({ onTestFailed, task }) => {
  worker.watchdog?.postMessage(`${task.file.name} > ${expect.getState().currentTestName}`)
  Math.random = seeded(seed + hash(task.name)).next
  onTestFailed(() => console.error(`To run it again: ${again}`))
})
