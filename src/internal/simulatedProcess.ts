/**
 * The process of a rehearsal for which a layer is built. A store that several processes share has a connection for each of
 * them, although they are one process of the operating system.
 */
import * as Context from "effect/Context"

/** The name of the process. Outside of a rehearsal there is one. */
export const SimulatedProcess = Context.Reference<string>("effect-pix/SimulatedProcess", { defaultValue: () => "" })
