/**
 * The time, in milliseconds since 1970, after which a call makes no further attempt: what it asks for may then be paid
 * twice. The policy bounds a call by its length alone, and a process may be stopped between two attempts.
 */
import * as Context from "effect/Context"

export const NotAfter = Context.Reference<number>("effect-pix/client/NotAfter", {
  defaultValue: () => Number.POSITIVE_INFINITY
})
