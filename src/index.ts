/**
 * effect-pix: the payment client for Effect backends in Brazil. `Payments` is the service with the five operations, and
 * `WithdrawalLookup` beside it has the one that was only seen;
 * `OrderCharge`, `TransactionStream`, `TransactionWait` and `Reconcile` are functions of it. `Money`, `PixKey`, `Document`, `BrCode` and
 * the like are its values. Many payouts, webhooks and the sandbox are imports of their own.
 */
export * as TransactionWait from "./transactions/TransactionWait.ts"
export type { Balance, BalanceOptions } from "./contract/Balance.ts"
export * as BrCode from "./pix/BrCode.ts"
export { ConfigurationError, type SettingProblem } from "./contract/ConfigurationError.ts"
export { type ApiCredentials, Credentials } from "./client/Credentials.ts"
export * as CredentialsReload from "./client/CredentialsReload.ts"
export type { Currency } from "./contract/Currency.ts"
export * as Document from "./pix/Document.ts"
export * as IdempotencyKey from "./client/IdempotencyKey.ts"
export type { WriteOptions } from "./contract/WriteOptions.ts"
export { IdempotencyKeyGen, type IdempotencyKeyPrefix } from "./client/IdempotencyKeyGen.ts"
export { GatewayFacts } from "./client/GatewayFacts.ts"
export type { KnownRefusal, RefusalCause } from "./client/KnownRefusal.ts"
export {
  type Merchant,
  MerchantNotFound,
  Merchants,
  type MerchantsOptions,
  MerchantUnavailable
} from "./client/Merchants.ts"
export * as Metadata from "./contract/Metadata.ts"
export * as Money from "./pix/Money.ts"
export { Payments, type PaymentsOptions } from "./client/Payments.ts"
export { PaymentsClient } from "./client/PaymentsClient.ts"
export * from "./contract/PaymentsError.ts"
export { type FailedAttempt, PaymentsPolicy, type RetryBudget } from "./client/PaymentsPolicy.ts"
export * as OrderCharge from "./transactions/OrderCharge.ts"
export * as PixKey from "./pix/PixKey.ts"
export * as QrCode from "./pix/QrCode.ts"
export * as Reconcile from "./transactions/Reconcile.ts"
export * as Rehearsed from "./client/Rehearsed.ts"
export * as Status from "./contract/Status.ts"
export type {
  BoletoTransactionRequest,
  CreatedPixTransaction,
  CreatedTransaction,
  CreateTransactionRequest,
  CreditCardTransactionRequest,
  Customer,
  CustomerDocument,
  Item,
  ListOptions,
  PixTransactionRequest,
  TransactionDetail,
  TransactionListItem,
  TransactionPage,
  TransactionSort,
  UndocumentedFields
} from "./contract/Transaction.ts"
export * as TransactionStream from "./transactions/TransactionStream.ts"
export type { Withdrawal, WithdrawalDetail, WithdrawalRequest } from "./contract/Withdrawal.ts"
export { WithdrawalLookup } from "./client/WithdrawalLookup.ts"
