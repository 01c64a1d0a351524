/**
 * Simulates a suspended process: at its resumption its clock has advanced, and none of its timers has run meanwhile.
 */
import { Clock, Effect } from "effect"
import { vi } from "vitest"

/** The platform's clock. `suspendFor` advances it by milliseconds, until the scope ends. */
export const platformClock = Effect.acquireRelease(
  Effect.sync(() => {
    const real = Date.now
    let later = 0
    const spy = vi.spyOn(Date, "now").mockImplementation(() => real() + later)
    const suspendFor = (millis: number) => {
      later += millis
    }
    return { suspendFor, spy }
  }),
  ({ spy }) => Effect.sync(() => spy.mockRestore())
)

/** A `Clock` on the test's clock. `suspendFor` advances only this clock; `TestClock` runs the timers. */
export const testClock = Effect.map(Clock.Clock, (clock) => {
  let later = 0
  const currentTimeMillisUnsafe = () => clock.currentTimeMillisUnsafe() + later
  const suspendFor = (millis: number) => {
    later += millis
  }
  const suspended: Clock.Clock = {
    ...clock,
    currentTimeMillisUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe)
  }
  return { clock: suspended, suspendFor }
})
