/**
 * The time, in milliseconds since 1970, after which a call sends nothing more, since its payout could then be paid twice. The
 * policy bounds a call by its length alone, and a process may be suspended between two steps of it.
 */
import * as Context from "effect/Context"

export const NotAfter = Context.Reference<number>("effect-pix/NotAfter", {
  defaultValue: () => Number.POSITIVE_INFINITY
})
