/**
 * Publishes changes, numbered in their order. A change is the row itself, so that a watched gateway does no more for a request
 * than to append it.
 */
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import type { SandboxChange } from "../SandboxChange.ts"

/** A change without its number. */
type Unnumbered<Change = SandboxChange> = Change extends unknown ? Omit<Change, "sequence"> : never

const logged = 1024

export const makeChanges = Effect.gen(function* () {
  // A slow listener loses the oldest changes, and sees it by their numbers.
  const hub = yield* PubSub.sliding<SandboxChange>(logged)
  const last: Array<SandboxChange> = []
  let sequence = 0
  return {
    sequence: () => sequence,
    publish: (change: Unnumbered): void => {
      sequence += 1
      const numbered = { ...change, sequence } as SandboxChange // the number was all that it lacked
      last.push(numbered)
      if (last.length >= 2 * logged) last.splice(0, logged)
      PubSub.publishUnsafe(hub, numbered)
    },
    /** The latest changes after a number, oldest first. */
    since: (number: number, limit: number): ReadonlyArray<SandboxChange> => {
      const count = number > sequence ? limit : Math.min(sequence - number, limit)
      return last.slice(Math.max(0, last.length - count))
    },
    stream: Stream.unwrap(Effect.map(PubSub.subscribe(hub), Stream.fromSubscription))
  }
})

/** See `makeChanges`. */
export type Changes = Effect.Success<typeof makeChanges>
