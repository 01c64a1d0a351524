/**
 * Publishes changes, numbered in their order.
 */
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import type { SandboxChange } from "../SandboxChange.ts"

/** A change without its number. */
type Unnumbered<Change = SandboxChange> = Change extends unknown ? Omit<Change, "sequence"> : never

export const makeChanges = Effect.gen(function* () {
  // A slow listener loses the oldest changes, and sees it by their numbers.
  const hub = yield* PubSub.sliding<SandboxChange>(1024)
  let sequence = 0
  const subscribe = Effect.map(PubSub.subscribe(hub), Stream.fromSubscription)
  return {
    sequence: () => sequence,
    publish: (change: Unnumbered): void => {
      sequence += 1
      PubSub.publishUnsafe(hub, { ...change, sequence } as SandboxChange) // the number was all that it lacked
    },
    /** The changes from now on: no change after the end of this effect is missed. */
    subscribe,
    stream: Stream.unwrap(subscribe)
  }
})

/** See `makeChanges`. */
export type Changes = Effect.Success<typeof makeChanges>
