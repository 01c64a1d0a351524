/**
 * effect-pix: the payment client for Effect backends in Brazil.
 */
export * as AwaitTransaction from "./AwaitTransaction.ts"
export { Balance, type BalanceOptions } from "./Balance.ts"
export * as BrCode from "./BrCode.ts"
export * as ChargeCode from "./ChargeCode.ts"
export { type ApiCredentials, Credentials } from "./Credentials.ts"
export * as Document from "./Document.ts"
export * as EndToEndId from "./EndToEndId.ts"
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
export * as QrCode from "./QrCode.ts"
export { type RefusalCause, type RefusalRule, RefusalRules } from "./RefusalRules.ts"
export * as Status from "./Status.ts"
export {
  BoletoTransactionRequest,
  CreatedTransaction,
  CreateTransactionRequest,
  CreditCardTransactionRequest,
  Currency,
  Customer,
  CustomerDocument,
  Item,
  type ListOptions,
  PixTransactionRequest,
  TransactionDetail,
  TransactionListItem,
  TransactionPage,
  TransactionSort,
  UndocumentedFields
} from "./Transaction.ts"
export { TransactionHints } from "./TransactionHints.ts"
export * as TransactionStream from "./TransactionStream.ts"
export { minimumWithdrawal, Withdrawal, type WithdrawalRequest } from "./Withdrawal.ts"
export * from "./Withdrawals.ts"
export { type CallInfo, Webhook, type WebhookOptions } from "./Webhook.ts"
export * as WebhookEvent from "./WebhookEvent.ts"
export * as WebhookHint from "./WebhookHint.ts"
export { type UnfinishedCall, WebhookStore, WebhookStoreError } from "./WebhookStore.ts"
export * as WebhookVerifier from "./WebhookVerifier.ts"
