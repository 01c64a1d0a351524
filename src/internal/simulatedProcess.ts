/**
 * The process of a rehearsal for which a layer is built. A store that several processes share has a connection for each of
 * them, although they are one process of the operating system.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlClient } from "effect/sql/SqlClient"

/** The name of the process. Outside of a rehearsal there is one. A reference, since the layers between are the user's. */
export const SimulatedProcess = Context.Reference<string>("effect-pix/SimulatedProcess", { defaultValue: () => "" })

/** Connects a process to a store that is built for several. */
export type Connect = (process: string) => Effect.Effect<Context.Context<SqlClient>, Error, Scope.Scope>

/**
 * Takes the way to connect further processes. Outside of a rehearsal of several processes it is `undefined`. A reference, since the layers
 * between are the user's.
 */
export const OfferConnection = Context.Reference<((connect: Connect) => void) | undefined>(
  "effect-pix/OfferConnection",
  { defaultValue: () => undefined }
)
