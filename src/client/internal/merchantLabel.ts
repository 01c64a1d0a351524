/** What the metrics of a client call its merchant: see `MerchantsOptions.inMetrics`. */
import * as Context from "effect/Context"

/** It is read when a client is built, and at each load of its credentials. */
export const MerchantLabel = Context.Reference<() => string | undefined>("effect-pix/MerchantLabel", {
  defaultValue: () => () => undefined
})
