/**
 * Publishes changes. A change is only built where somebody listens, so that a load test without a listener pays nothing.
 */
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import type { SandboxChange } from "../SandboxChange.ts"

/** The number of a change, from 1. */
type Make = (sequence: number) => SandboxChange

export const makeChanges = Effect.gen(function* () {
  // A slow listener loses the oldest changes, and sees it by their numbers.
  const hub = yield* PubSub.sliding<SandboxChange>(1024)
  let sequence = 0
  let listeners = 0
  const subscribe = Effect.gen(function* () {
    yield* Effect.acquireRelease(
      Effect.sync(() => (listeners += 1)),
      () => Effect.sync(() => (listeners -= 1))
    )
    return Stream.fromSubscription(yield* PubSub.subscribe(hub))
  })
  return {
    sequence: () => sequence,
    publish: (make: Make): void => {
      sequence += 1
      if (listeners > 0) PubSub.publishUnsafe(hub, make(sequence))
    },
    /** The changes from now on: none is missed after the effect is done. */
    subscribe,
    stream: Stream.unwrap(subscribe)
  }
})

/** See `makeChanges`. */
export type Changes = Effect.Success<typeof makeChanges>
