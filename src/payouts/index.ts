/**
 * Many payouts.
 */
export * from "./Payout.ts"
export * as Payouts from "./Payouts.ts"
