/**
 * Work inside the request, for platforms that stop all work after the answer.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Starts } from "./firstLookups.ts"
import type { Refusals } from "./signals.ts"
import { makeMemory, type Memory } from "./store.ts"

/** Each delivery is looked up and handed out before it is answered. */
export interface InRequest {
  /** The rows of `Webhook.layer`, from one request to the next. */
  readonly memory: Memory
  /** The refusals that were logged. */
  readonly refusals: Refusals
  /** The latest lookups of ids that no lookup had found. */
  readonly starts: Starts
  /** Runs the work after the answer. Absent: the platform cannot. */
  readonly later?: ((work: Effect.Effect<void>) => void) | undefined
}

/** Deliveries of its rows were not answered with 200, so the oldest row may be deleted: the next delivery begins anew. */
export const makeRequestMemory = (): Memory => makeMemory(500)

/** Whether this is a worker of Cloudflare, where one request cannot resume a fiber of another one. */
export const isWorkerd = (): boolean =>
  Predicate.hasProperty(globalThis, "navigator") &&
  Predicate.hasProperty(globalThis.navigator, "userAgent") &&
  globalThis.navigator.userAgent === "Cloudflare-Workers"

/** Whether the layers of `Webhook` work inside the request. By default they do on Cloudflare's workers. */
export const InRequest = Context.Reference<InRequest | undefined>("effect-pix/InRequest", {
  defaultValue: () => (isWorkerd() ? { memory: makeRequestMemory(), refusals: new Map(), starts: [] } : undefined)
})
