/**
 * The time of a rehearsal: a clock and a scheduler that belong together. The tasks of a program run until none is left. Then
 * the clock jumps to the end of the next sleep, so that a day of sleep takes no time.
 *
 * Details:
 * - A `Life` is a process, or the world around it. A process can die. Its tasks and sleeps are dropped then, so none of its
 *   fibers takes another step, and no finalizer runs.
 * - Between two jumps the event loop turns once, so that promises continue. Work of a thread or a socket is slower. The
 *   rehearsal waits for it only where no other task is left. A slow run also waits a few milliseconds before a jump.
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constFalse } from "effect/Function"
import type { Scheduler } from "effect/Scheduler"
import { startTimer, stopTimer } from "../../internal/timer.ts"

/** A process, or the world around it. */
export interface Life {
  readonly name: string
  isDead: boolean
  /** Whether its sleeps are never prolonged, as those of the world. */
  readonly isExact?: boolean
  /** Its tasks and sleeps wait until then. */
  stalledUntil?: number
}

/** How long a process stands still, in milliseconds: longer than a lease, and than a timeout of the client. */
export const stallFor = 15 * 60 * 1000

interface Task {
  readonly life: Life
  readonly priority: number
  readonly run: () => void
}

interface Sleep {
  readonly life: Life
  readonly at: number
  /** How long it is, in milliseconds. */
  readonly length: number
  readonly wake: () => void
}

/** More tasks than this without a sleep are an endless loop. */
const mostTasks = 200_000

/** How long the rehearsal waits for real work, such as that of a thread, where no task is left: in real milliseconds. */
const realWait = 250

/** A slow run waits before each of its first jumps, in real milliseconds. */
const slowWait = 5
const mostSlowJumps = 400

/** `prolonging`: by how many milliseconds a short sleep is prolonged now. */
export const makeTime = (start: number, isSlow: boolean, prolonging: () => number = () => 0) => {
  let now = start
  let tasks: Array<Task> = []
  let ran = 0
  let slowJumps = isSlow ? mostSlowJumps : 0
  let onTask: (() => void) | undefined
  /** Sleeps by the time of their end, and equal ones in the order of their start. */
  let sleeps: Array<Sleep> = []

  const addSleep = (sleep: Sleep) => {
    sleeps.splice(sleeps.findLastIndex(({ at }) => at <= sleep.at) + 1, 0, sleep)
  }

  const millis = () => now
  const nanos = () => BigInt(Math.round(now)) * 1_000_000n

  const isBusy = () => tasks.length > 0 && ran < mostTasks

  /** Runs a turn of a process: at once, or when it no longer stands still. */
  const enter = (life: Life, run: () => void): void => {
    if (life.isDead) return
    if (life.stalledUntil !== undefined && now < life.stalledUntil) {
      addSleep({ life, at: life.stalledUntil, length: life.stalledUntil - now, wake: run })
      return
    }
    run()
  }

  /**
   * When the next sleep ends: it is prolonged like that of a suspended machine, but no sleep of the world and none that is longer than
   * that is.
   */
  const endOf = (next: Sleep, limit: number): number => {
    const more = prolonging()
    if (more === 0) return next.at
    const exact = sleeps.find(({ length, life }) => life.isExact === true || length > more)?.at ?? limit
    return Math.max(next.at, Math.min(now + more, exact, limit))
  }

  const drain = (isDone: () => boolean) => {
    for (;;) {
      if (!isBusy() || isDone()) return
      const batch = tasks
      tasks = []
      if (batch.some(({ priority }) => priority !== 0)) batch.sort((a, b) => a.priority - b.priority)
      ran += batch.length
      for (const { life, run } of batch) enter(life, run)
    }
  }

  /** Runs all tasks. */
  const settle = Effect.fnUntraced(function* (isDone: () => boolean) {
    ran = 0
    do {
      drain(isDone)
      // One turn of the event loop: the scheduler of the caller continues after the promises.
      yield* Effect.yieldNow
    } while (isBusy() && !isDone())
  })

  /** Waits a real time for a task from outside, and returns whether there was one. */
  const awaitOutside = (millis: number) =>
    Effect.callback<boolean>((resume) => {
      const end = (isWoken: boolean) => {
        onTask = undefined
        stopTimer(timer)
        resume(Effect.succeed(isWoken))
      }
      const timer = startTimer(millis, end, false)
      onTask = () => end(true)
      return Effect.sync(() => end(false))
    })

  return {
    now: millis,
    scheduler: (life: Life): Scheduler => ({
      executionMode: "async",
      // A promise may wake a dead fiber. The fiber yields before its first step, and is never scheduled again.
      shouldYield: (fiber) => life.isDead || fiber.currentOpCount >= fiber.cache.maxOpsBeforeYield,
      makeDispatcher: () => ({
        scheduleTask: (run, priority) => {
          if (life.isDead) return
          tasks.push({ life, priority, run })
          onTask?.()
        },
        flush: () => drain(constFalse)
      })
    }),

    clock: (life: Life): Clock.Clock => ({
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos),
      sleep: (duration) => {
        // A clock shows whole milliseconds, also after a random wait.
        const length = Math.ceil(Duration.toMillis(duration))
        if (length <= 0) return Effect.yieldNow
        if (length === Infinity) return Effect.never
        return Effect.callback<void>((resume) => {
          const sleep: Sleep = { life, at: now + length, length, wake: () => resume(Effect.void) }
          addSleep(sleep)
          return Effect.sync(() => {
            sleeps = sleeps.filter((other) => other !== sleep)
          })
        })
      }
    }),

    enter,

    /** Lets a process stand still, as a suspended machine does. */
    stall: (life: Life): void => {
      life.stalledUntil = now + stallFor
    },

    /** Kills a process: its fibers never continue, and run no finalizer. */
    kill: (life: Life): void => {
      life.isDead = true
      tasks = tasks.filter((task) => task.life !== life)
      sleeps = sleeps.filter((sleep) => sleep.life !== life)
    },

    /**
     * Runs the tasks and moves the clock until `isDone`. It also stops where no task or sleep is left, where the next sleep
     * ends after `limit`, and where the program never sleeps. Where no task is left, it first waits for real work: for
     * `outside` real milliseconds.
     */
    until: Effect.fnUntraced(function* (isDone: () => boolean, limit: number, outside = realWait) {
      for (;;) {
        yield* settle(isDone)
        if (isDone() || ran >= mostTasks) return
        const next = sleeps[0]
        if (next === undefined || next.at > limit) {
          if (outside > 0 && (yield* awaitOutside(outside))) continue
          return
        }
        if (slowJumps > 0) {
          slowJumps--
          if (yield* awaitOutside(slowWait)) continue
        }
        now = Math.max(now, endOf(next, limit))
        sleeps.shift()
        enter(next.life, next.wake)
      }
    })
  }
}
