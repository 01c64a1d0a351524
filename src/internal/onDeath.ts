/**
 * What happens when a process of a rehearsal dies: its fibers are abandoned, so no finalizer gives anything back. A store
 * that outlives the process registers here what a database does then: it rolls back what was open.
 */
import * as Context from "effect/Context"

/** Registers what happens at each death. Outside of a rehearsal nothing is registered. */
export const OnDeath = Context.Reference<(action: () => void) => void>("effect-pix/OnDeath", {
  defaultValue: () => () => {}
})
