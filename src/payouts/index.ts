/**
 * Payouts that survive a crash: rows in your own database or in a file (`PayoutQueue`), one by one or a sheet (`Payouts`).
 */
export { DatabaseError, ForeignTransaction } from "../durable/Database.ts"
export * from "./Payout.ts"
export type { StepOptions } from "../durable/Step.ts"
export { AccountChange, PauseChange, PayoutAccount, PayoutChange } from "./PayoutHistory.ts"
export * as Payouts from "./Payouts.ts"
export * as PayoutInsert from "./PayoutInsert.ts"
export { PayoutQueue } from "./PayoutQueue.ts"
export type {
  PayoutClientOptions,
  PayoutConfirmingOptions,
  PayoutConfirmOptions,
  PayoutQueueOptions
} from "./PayoutQueueOptions.ts"
export * as Seal from "./Seal.ts"
export { EndedBy, ParkedBecause, PayoutNotFound, PayoutState, PayoutStateConflict, WaitsFor } from "./PayoutState.ts"
export { PayoutAsked, PayoutClaim, PayoutPayee, PayoutStatus } from "./PayoutStatus.ts"
