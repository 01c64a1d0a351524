/**
 * Payouts that survive a crash: rows in your own database or in a file (`PayoutQueue`), one by one or a sheet (`Payouts`).
 */
export { DatabaseError, ForeignTransaction } from "../durable/Database.ts"
export { LooksAlike, type PayoutItem, type PayoutRefusal, PayoutsNotAccepted, ReferenceConflict } from "./Payout.ts"
export type { StepOptions } from "../durable/Step.ts"
export type { PayoutBecause } from "./PayoutBecause.ts"
export type { AccountChange, PauseChange, PayoutAccount, PayoutChange } from "./PayoutHistory.ts"
export type { OnState, PayoutLetter, StateEntry } from "./OnState.ts"
export * as Payouts from "./Payouts.ts"
export { PayoutQueue } from "./PayoutQueue.ts"
export type { PayoutSheet } from "./PayoutSheet.ts"
export type {
  PayoutClientOptions,
  PayoutConfirmingOptions,
  PayoutConfirmOptions,
  PayoutQueueOptions
} from "./PayoutQueueOptions.ts"
export * as Seal from "./Seal.ts"
export type { Judgement, PayoutSentence } from "./PayoutSentence.ts"
export { type EndedBy, PayoutNotFound, type PayoutState, PayoutStateConflict } from "./PayoutState.ts"
export { type PayoutPayee, PayoutStatus } from "./PayoutStatus.ts"
