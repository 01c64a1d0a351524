/** The merchant whose client is built: see `Merchants`. */
import * as Context from "effect/Context"

interface CurrentMerchant {
  /** What its log lines call it: the id that `get` took. Absent for a client that is of no merchant. */
  readonly id?: string
  /** What its metrics call it: see `MerchantsOptions.inMetrics`. */
  readonly label: () => string | undefined
}

/** It is read when a client is built, and at each load of its credentials. */
export const CurrentMerchant = Context.Reference<CurrentMerchant>("effect-pix/CurrentMerchant", {
  defaultValue: () => ({ label: () => undefined })
})
