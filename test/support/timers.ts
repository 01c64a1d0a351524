/**
 * The time of an attempt over a real socket, which is over when the test says so. The transports take their timers from
 * the platform: a timer of so many milliseconds as only one test asks for is one that the test may end.
 */
import { Effect, type Fiber } from "effect"
import type { ClientRequest } from "node:http"
import { subscribe } from "node:diagnostics_channel"
import { vi } from "vitest"

const { clearTimeout, setTimeout } = globalThis

/** What each timer does when it is over, by its milliseconds. */
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

/** How many answers the clients of this process have begun to read, by where they came from. */
const heads = new Map<string, number>()
const count = (origin: string) => heads.set(origin, (heads.get(origin) ?? 0) + 1)
// As Node and undici document what they publish.
subscribe("undici:request:headers", (message) => count((message as { request: { origin: string } }).request.origin))
subscribe("http.client.response.finish", (message) =>
  count(`http://${String((message as { request: ClientRequest }).request.getHeader("host"))}`)
)

export const headsFrom = (origin: string): number => heads.get(origin) ?? 0

/** A time for attempts that no other test has, longer than any test takes. */
export const attemptTime = () => {
  const millis = 20_000_000 + held.size
  const timers = new Map<NodeJS.Timeout, () => void>()
  held.set(millis, timers)
  return {
    millis,
    /** How many attempts are under way. */
    running: () => timers.size,
    /** Ends the time of those. */
    expire: () => {
      for (const [timer, late] of timers) {
        timers.delete(timer)
        clearTimeout(timer)
        late()
      }
    }
  }
}

/** Waits until it holds, or the call has ended, and then until all that it set off in this process is done. */
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
