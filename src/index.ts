/**
 * effect-pix: the payment client for Effect backends in Brazil.
 */
export { Balance, type BalanceOptions } from "./Balance.ts"
export { type ApiCredentials, Credentials } from "./Credentials.ts"
export * as Document from "./Document.ts"
export * as IdempotencyKey from "./IdempotencyKey.ts"
export type { WriteOptions } from "./IdempotencyKey.ts"
export { IdempotencyKeyGen, type IdempotencyKeyPrefix } from "./IdempotencyKeyGen.ts"
export * as Metadata from "./Metadata.ts"
export * as Money from "./Money.ts"
export { Payments, type PaymentsOptions } from "./Payments.ts"
export { PaymentsApi } from "./PaymentsApi.ts"
export * from "./PaymentsError.ts"
export { fullJitter, PaymentsPolicy, type RetryBudget } from "./PaymentsPolicy.ts"
export * as PixKey from "./PixKey.ts"
export { type RefusalCause, type RefusalRule, RefusalRules } from "./RefusalRules.ts"
export * from "./Transaction.ts"
export * from "./Withdrawal.ts"
