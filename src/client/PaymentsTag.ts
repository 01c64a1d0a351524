/**
 * `Payments` by its key alone. Bundlers keep the statics of a class, so whoever imports `Payments` brings the whole client along:
 * a service that only asks for one imports this.
 */
import * as Context from "effect/Context"
import type { Payments } from "./Payments.ts"

export const paymentsTag = Context.Service<Payments, Payments["Service"]>("effect-pix/Payments")
