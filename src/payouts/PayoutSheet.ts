/**
 * What `Payouts.run` and `Payouts.plan` need of a queue beside its operations: its tables. Each layer that provides a `PayoutQueue`
 * provides it; a mocked queue does not, so a run on one is a type error.
 */
export interface PayoutSheet {
  /** A mark: only the layers of a queue make one. */
  readonly _: unique symbol
}
