/**
 * The actions at the death of a process in a rehearsal. Its fibers are abandoned, so no finalizer runs. A store that
 * outlives the process registers an action that rolls back its open transactions, as a database does.
 */
import * as Context from "effect/Context"

/** Registers an action for each death. Outside of a rehearsal it does nothing. A reference, since the layers between are the user's. */
export const OnDeath = Context.Reference<(action: () => void) => void>("effect-pix/OnDeath", {
  defaultValue: () => () => {}
})
