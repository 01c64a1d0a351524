/**
 * Work inside the request, for platforms that stop all work after the answer.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Refusals } from "./signals.ts"
import { makeMemory, type Memory } from "./store.ts"

/** That a delivery is looked up and handed out before it is answered. */
export interface InRequest {
  /** What `Webhook.layer` remembers from one request to the next. */
  readonly memory: Memory
  /** What was logged of refused deliveries. */
  readonly refusals: Refusals
  /** Goes on with this when the delivery is answered. Absent: the platform cannot. */
  readonly later?: ((work: Effect.Effect<void>) => void) | undefined
}

/** Its rows were not answered with 200, so the oldest may be forgotten: the next delivery about it begins anew. */
export const makeRequestMemory = (): Memory => makeMemory(500)

/** Cloudflare's workers wake no work of one request from another one. */
export const isWorkerd = (): boolean =>
  Predicate.hasProperty(globalThis, "navigator") &&
  Predicate.hasProperty(globalThis.navigator, "userAgent") &&
  globalThis.navigator.userAgent === "Cloudflare-Workers"

/** Whether the layers of `Webhook` work inside the request. By default they do on Cloudflare's workers. */
export const InRequest = Context.Reference<InRequest | undefined>("effect-pix/InRequest", {
  defaultValue: () => (isWorkerd() ? { memory: makeRequestMemory(), refusals: new Map() } : undefined)
})
