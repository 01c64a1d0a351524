/**
 * Interrupts an effect at one step of Effect's run loop. A scheduler is asked before each step whether the fiber yields; an
 * interruption comes in such a yield.
 */
import { Effect, type Exit, Fiber, Scheduler } from "effect"

/** Runs `self` and interrupts it at its step `at`. Returns the exit that its direct caller got, and whether it was interrupted. */
export const interruptAt = Effect.fnUntraced(function* <A, E, R>(self: Effect.Effect<A, E, R>, at: number) {
  let target: Fiber.Fiber<unknown, unknown> | undefined
  let steps = 0
  let received: Exit.Exit<A, E> | undefined
  const effects = new Scheduler.MixedScheduler()
  const scheduler: Scheduler.Scheduler = {
    executionMode: effects.executionMode,
    makeDispatcher: () => effects.makeDispatcher(),
    shouldYield: (fiber) => {
      if (fiber !== target || received !== undefined || ++steps !== at) return effects.shouldYield(fiber)
      fiber.interruptUnsafe()
      return true
    }
  }
  const entered = Effect.withFiber((fiber) => {
    target = fiber
    return self
  })
  const caller = Effect.onExit(entered, (exit) =>
    Effect.sync(() => {
      received = exit
    })
  )
  yield* Fiber.await(yield* Effect.forkChild(Effect.provideService(caller, Scheduler.Scheduler, scheduler)))
  return { received, wasInterrupted: steps >= at }
})
