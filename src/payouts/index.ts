/**
 * Many payouts: in one run (`Payouts`), or stored in your own database until they are answered (`PayoutQueue`).
 */
export { DatabaseError, ForeignTransaction } from "../durable/Database.ts"
export * from "./Payout.ts"
export type { StepOptions } from "../durable/Step.ts"
export { PauseChange, PayoutAccount, PayoutChange, SenderChange } from "./PayoutHistory.ts"
export * as Payouts from "./Payouts.ts"
export * as PayoutInsert from "./PayoutInsert.ts"
export * as PayoutJournal from "./PayoutJournal.ts"
export { PayoutQueue } from "./PayoutQueue.ts"
export type { PayoutClientOptions, PayoutQueueOptions, Seal } from "./PayoutQueueOptions.ts"
export {
  ParkedBecause,
  PayoutNotFound,
  PayoutPayee,
  PayoutState,
  PayoutStateConflict,
  PayoutStatus,
  WaitsFor
} from "./PayoutStatus.ts"
