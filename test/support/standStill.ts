/**
 * A process that stands still, as in a suspended machine: when it goes on, its clock is later, and none of its timers
 * has run meanwhile.
 */
import { Clock, Effect } from "effect"
import { vi } from "vitest"

/** The clock of the platform. `standStill` moves it on, in milliseconds, until the scope ends. */
export const platformClock = Effect.acquireRelease(
  Effect.sync(() => {
    const real = Date.now
    let later = 0
    const spy = vi.spyOn(Date, "now").mockImplementation(() => real() + later)
    const standStill = (millis: number) => {
      later += millis
    }
    return { standStill, spy }
  }),
  ({ spy }) => Effect.sync(() => spy.mockRestore())
)

/** The clock of the test, to be provided as the `Clock`. `standStill` moves it on, and `TestClock` its timers. */
export const testClock = Effect.map(Clock.Clock, (clock) => {
  let later = 0
  const currentTimeMillisUnsafe = () => clock.currentTimeMillisUnsafe() + later
  const standStill = (millis: number) => {
    later += millis
  }
  const standing: Clock.Clock = {
    ...clock,
    currentTimeMillisUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe)
  }
  return { clock: standing, standStill }
})
