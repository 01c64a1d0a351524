/**
 * The bound of lookups of ids that no lookup has found. Everybody whose deliveries pass the verifier can invent such ids, so
 * each process begins at most `perSecond` of these lookups in a second.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { log } from "../../internal/spans.ts"
import type { Handlers } from "./handlers.ts"
import { causeType } from "./signals.ts"

/** How long `isKnown` is not called after a failure, in milliseconds: until it fails, a call has a place of the workers. */
const restAfterFailure = 60_000

/** The times at which the latest of these lookups of a process began, in milliseconds since 1970. */
export type Starts = Array<number>

export interface BoundOptions {
  /** The webhook's name, for its log lines. */
  readonly name: string
  readonly perSecond: number
  readonly starts: Starts
  /** Whether the user's books have the id. */
  readonly isKnown: Handlers<unknown>["isKnown"]
}

export type Bound = ReturnType<typeof makeBound>

export const makeBound = ({ isKnown, name, perSecond, starts }: BoundOptions) => {
  let failedAt = -Infinity
  /** How many lookups may begin. A time that lies ahead was measured before the clock was set back. */
  const free = (now: number) => {
    while (starts[0] !== undefined && Math.abs(now - starts[0]) >= 1000) starts.shift()
    return perSecond - starts.length
  }
  /** In how many milliseconds a lookup may begin. */
  const untilFree = (now: number) => (free(now) > 0 ? 0 : (starts[0] ?? now) + 1000 - now)
  const count = (now: number) => void starts.push(now)

  /** Whether the user's books have the id. If they cannot be read, the id is one of the others. */
  const isOwn = Effect.fnUntraced(function* (transactionId: string) {
    if (Math.abs((yield* Clock.currentTimeMillis) - failedAt) < restAfterFailure) return false
    return yield* Effect.catchTag(
      isKnown(transactionId),
      "HandlerFailed",
      Effect.fnUntraced(function* ({ failure }) {
        failedAt = yield* Clock.currentTimeMillis
        yield* log("Warn", "Webhook: isKnown failed, and is not called for a minute. Nothing is lost by that.", {
          "webhook.name": name,
          "error.type": causeType(failure)
        })
        return false
      })
    )
  })

  return {
    free,
    untilFree,
    count,
    isOwn,
    /**
     * Waits until a lookup may begin, at most for so many milliseconds, and counts it. An id of the user's books does not wait.
     * Returns whether the lookup may begin.
     */
    begin: Effect.fnUntraced(function* (transactionId: string, patience: number) {
      const start = yield* Clock.currentTimeMillis
      const isFirst = free(start) <= 0 && (yield* isOwn(transactionId))
      for (let now = start; Math.abs(now - start) < patience; now = yield* Clock.currentTimeMillis) {
        if (isFirst || free(now) > 0) {
          count(now)
          return true
        }
        yield* Effect.sleep(Math.min(untilFree(now), patience))
      }
      return false
    })
  }
}
