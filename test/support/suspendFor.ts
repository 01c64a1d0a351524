/**
 * Simulates a suspended process: at its resumption its clock has advanced, and none of its timers has run meanwhile.
 */
import { Clock, Effect } from "effect"
import { vi } from "vitest"

/** The platform's clocks, as a stopped process finds them. `suspendFor` advances both by milliseconds, until the scope ends. */
export const platformClock = Effect.acquireRelease(
  Effect.sync(() => {
    const real = Date.now
    let later = 0
    const realMonotonic = process.hrtime.bigint.bind(process.hrtime)
    const spy = vi.spyOn(Date, "now").mockImplementation(() => real() + later)
    const monotonic = vi.spyOn(process.hrtime, "bigint")
    monotonic.mockImplementation(() => realMonotonic() + BigInt(later) * 1_000_000n)
    const suspendFor = (millis: number) => {
      later += millis
    }
    return { suspendFor, spy, monotonic }
  }),
  ({ monotonic, spy }) =>
    Effect.sync(() => {
      monotonic.mockRestore()
      spy.mockRestore()
    })
)

/** A `Clock` on the test's clock. `suspendFor` advances only this clock, as in a stopped process; `TestClock` runs the timers. */
export const testClock = Effect.map(Clock.Clock, (clock) => {
  let later = 0
  const currentTimeMillisUnsafe = () => clock.currentTimeMillisUnsafe() + later
  const monotonicTimeNanosUnsafe = () => clock.monotonicTimeNanosUnsafe() + BigInt(later) * 1_000_000n
  const suspendFor = (millis: number) => {
    later += millis
  }
  const suspended: Clock.Clock = {
    ...clock,
    currentTimeMillisUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
    monotonicTimeNanosUnsafe,
    monotonicTimeNanos: Effect.sync(monotonicTimeNanosUnsafe)
  }
  return { clock: suspended, suspendFor }
})
