/** Gateways that limit how often they take a payout, each in its own way, by the clock of the test. */
import { Clock, Effect } from "effect"
import { Fault } from "effect-pix/sandbox"
import { play } from "../../src/sandbox/Reply.ts"

/** What a request meets that arrives at a time; nothing: it is executed. */
export type Decide = (now: number) => Fault.Fault | undefined

const minute = 60_000

/** Whether a request that arrives at a time is over the limit. */
export const limits = {
  "five in each minute of the clock": () => {
    let [of, taken] = [-1, 0]
    return (now: number) => {
      const current = Math.floor(now / minute)
      if (current !== of) [of, taken] = [current, 0]
      if (taken >= 5) return true
      taken += 1
      return false
    }
  },
  "five in any minute": () => {
    let times: ReadonlyArray<number> = []
    return (now: number) => {
      times = times.filter((at) => now - at < minute)
      if (times.length >= 5) return true
      times = [...times, now]
      return false
    }
  },
  "a bucket of five that gets one in twelve seconds": () => {
    let [tokens, at] = [5, 0]
    return (now: number) => {
      ;[tokens, at] = [Math.min(5, tokens + (now - at) / 12_000), now]
      if (tokens < 1) return true
      tokens -= 1
      return false
    }
  },
  "one in thirty seconds": () => {
    let last = Number.NEGATIVE_INFINITY
    return (now: number) => {
      if (now - last < 30_000) return true
      last = now
      return false
    }
  }
} as const

/** A gateway that decides by the time, with the times of its requests. */
export const limited = (decide: Decide) => {
  const times: Array<number> = []
  const reply = (execute: Parameters<typeof play>[1]["execute"]) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      times.push(now)
      return play(decide(now) ?? Fault.none, { execute, forgetKey: Effect.void, detach: (effect) => effect })
    })
  // The plan of a gateway takes it, as those of `rawReplies.ts`. A program can make records only.
  return { times, fault: { reply } as unknown as Fault.Fault }
}
