/** Gateways that limit how often they take a payout, each in its own way, by the clock of the test. */
import { Clock, Effect } from "effect"
import { Fault } from "effect-pix/sandbox"
import { play } from "../../src/sandbox/Reply.ts"

/** What a request meets that arrives at a time; nothing: it is executed. */
export type Decide = (now: number) => Fault.Fault | undefined

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
