/**
 * The token bucket behind `PaymentsPolicy.retryBudget`: one for each `Payments`, shared by all its calls.
 */
import type { RetryBudget } from "../../PaymentsPolicy.ts"

export interface Bucket {
  /** Takes a retry's cost; `false` when there is not enough left. */
  readonly take: (budget: RetryBudget | "unlimited", throttled: boolean) => boolean
  /** A call succeeded, after a retry or at the first attempt. */
  readonly succeeded: (budget: RetryBudget | "unlimited", retried: "first" | "retried" | "throttled") => void
}

const cost = (budget: RetryBudget, throttled: boolean) => (throttled ? budget.throttledRetryCost : budget.retryCost)

/** A full bucket. */
export const makeBucket = (): Bucket => {
  // Counts what was spent, so that the capacity may differ from call to call as the policy does.
  let spent = 0
  return {
    take: (budget, throttled) => {
      if (budget === "unlimited") return true
      if (budget.capacity - spent < cost(budget, throttled)) return false
      spent += cost(budget, throttled)
      return true
    },
    succeeded: (budget, retried) => {
      if (budget === "unlimited") return
      spent = Math.max(0, spent - (retried === "first" ? budget.refund : cost(budget, retried === "throttled")))
    }
  }
}
