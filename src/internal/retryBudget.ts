/**
 * The token bucket of retries. All calls of a client share one, unless a caller such as the queue of payouts brings its
 * own: then neither takes the other's tokens.
 */
/** See `RetryBudget` of `PaymentsPolicy`. */
interface Costs {
  readonly capacity: number
  readonly retryCost: number
  readonly throttledRetryCost: number
  readonly refund: number
}

export interface Budget {
  /** Spends the cost of a retry. Returns `false` if too few tokens are left. */
  readonly take: (costs: Costs | "unlimited", throttled: boolean) => boolean
  /** Returns tokens after a call that succeeded. `last` is its last attempt. */
  readonly refund: (costs: Costs | "unlimited", last: "first" | "retried" | "throttled") => void
}

const costOf = (costs: Costs, throttled: boolean) => (throttled ? costs.throttledRetryCost : costs.retryCost)

export const makeBudget = (): Budget => {
  // The tokens that were spent are counted, since the capacity may differ from call to call as the policy does.
  let spent = 0
  return {
    take: (costs, throttled) => {
      if (costs === "unlimited") return true
      if (costs.capacity - spent < costOf(costs, throttled)) return false
      spent += costOf(costs, throttled)
      return true
    },
    refund: (costs, last) => {
      if (costs === "unlimited") return
      spent = Math.max(0, spent - (last === "first" ? costs.refund : costOf(costs, last === "throttled")))
    }
  }
}
