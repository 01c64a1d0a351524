/**
 * The fault of one request, where a caller in memory names it: it comes before what is planned, and concurrent requests
 * cannot take it. `Rehearsal` uses it.
 */
import * as Context from "effect/Context"
import type { Fault } from "../Fault.ts"

export const OwnFault = Context.Reference<Fault | undefined>("effect-pix/OwnFault", { defaultValue: () => undefined })
