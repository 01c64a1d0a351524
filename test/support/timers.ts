/**
 * Lets a test end the time limit of an attempt over a real socket. The transports use the timers of the platform. Each
 * test uses a time limit that no other test has, so the test can find and end its timers.
 */
import { Effect, type Fiber } from "effect"
import type { ClientRequest } from "node:http"
import { subscribe } from "node:diagnostics_channel"
import { vi } from "vitest"

const { clearTimeout, setTimeout } = globalThis

/** The callbacks of the timers, by their milliseconds. */
const held = new Map<number, Map<NodeJS.Timeout, () => void>>()
const millisOf = new WeakMap<NodeJS.Timeout, number>()

vi.stubGlobal("setTimeout", (late: (...values: Array<unknown>) => void, millis = 0, ...values: Array<unknown>) => {
  const timer = setTimeout(late, millis, ...values)
  const timers = held.get(millis)
  if (timers !== undefined) {
    timers.set(timer, () => late(...values))
    millisOf.set(timer, millis)
  }
  return timer
})
vi.stubGlobal("clearTimeout", (timer?: NodeJS.Timeout) => {
  const millis = timer && millisOf.get(timer)
  if (timer !== undefined && millis !== undefined) held.get(millis)?.delete(timer)
  clearTimeout(timer)
})

/** How many answers the clients of this process have begun to read, by origin. */
const heads = new Map<string, number>()
const count = (origin: string) => heads.set(origin, (heads.get(origin) ?? 0) + 1)
// The types of the messages are those that Node and undici document.
subscribe("undici:request:headers", (message) => count((message as { request: { origin: string } }).request.origin))
subscribe("http.client.response.finish", (message) =>
  count(`http://${String((message as { request: ClientRequest }).request.getHeader("host"))}`)
)

export const headsFrom = (origin: string): number => heads.get(origin) ?? 0

/** A time limit for attempts that no other test has, and that is longer than any test. */
export const attemptTime = () => {
  const millis = 20_000_000 + held.size
  const timers = new Map<NodeJS.Timeout, () => void>()
  held.set(millis, timers)
  return {
    millis,
    /** How many attempts are under way. */
    running: () => timers.size,
    /** Ends the time of these attempts. */
    expire: () => {
      for (const [timer, late] of timers) {
        timers.delete(timer)
        clearTimeout(timer)
        late()
      }
    }
  }
}

/** Waits until the condition is true or the call has ended, and then until the callbacks of this process have run. */
export const until = (holds: Effect.Effect<boolean>, call: Fiber.Fiber<unknown, unknown>) =>
  Effect.andThen(
    Effect.repeat(Effect.andThen(Effect.sleep("2 millis"), holds), {
      until: (isSo) => isSo || call.pollUnsafe() !== undefined
    }),
    Effect.replicateEffect(
      Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void))),
      10,
      { discard: true }
    )
  )
