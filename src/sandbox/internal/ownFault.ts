/**
 * The fault of one request, which a caller in memory may set. It is used before the planned faults, and no concurrent
 * request meets it. `Rehearsal` uses it.
 */
import * as Context from "effect/Context"
import type { Met } from "./reply.ts"

export const OwnFault = Context.Reference<Met | undefined>("effect-pix/OwnFault", { defaultValue: () => undefined })
