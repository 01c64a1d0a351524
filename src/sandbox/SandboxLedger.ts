/**
 * The rows of the sandbox's ledger: charges and payouts, as `Sandbox` returns them and as the steering API shows them.
 *
 * What is personal is `Redacted`: it prints as `<redacted>`, and `Redacted.value` shows it. The steering API shows it
 * as it is: a sandbox holds made-up people.
 */
import * as Schema from "effect/Schema"
import { Customer } from "../contract/Transaction.ts"
import { Metadata } from "../contract/Metadata.ts"
import { Timestamp } from "../internal/wire.ts"
import { Centavos } from "../pix/Money.ts"

/** A charge in the sandbox's ledger. `amount` is in centavos. */
export const SandboxTransaction = Schema.Struct({
  /** The id of the lookup. */
  transactionId: Schema.String,
  /** The integer id of the list's row and of the lookup. */
  rowId: Schema.Int,
  /** In centavos. */
  amount: Centavos,
  currency: Schema.Literal("BRL"),
  paymentMethod: Schema.Literals(["PIX", "BOLETO", "CREDIT_CARD"]),
  status: Schema.Literals(["Awaiting", "Paid", "Cancelled", "Failed", "Refunded"]),
  /** The key that it was created with, if any. */
  idempotencyKey: Schema.optional(Schema.String),
  customer: Schema.RedactedFromValue(Customer, { label: "customer" }),
  /** The copy-and-paste text of the QR code, for PIX. */
  qrcode: Schema.optional(Schema.RedactedFromValue(Schema.String, { label: "qrcode" })),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  /** When it lapses, for PIX. */
  expiresAt: Schema.optional(Timestamp)
})
/** See the schema of the same name. */
export interface SandboxTransaction extends Schema.Schema.Type<typeof SandboxTransaction> {}

/** A payout in the sandbox's ledger: it was executed, exactly once. `amount` is in centavos. */
export const SandboxWithdrawal = Schema.Struct({
  id: Schema.Int,
  /** The key that it was asked for with, if any. */
  idempotencyKey: Schema.optional(Schema.String),
  /** In centavos. */
  amount: Centavos,
  /** `Settled` and `Rejected` are the sandbox's own words: the service shows only `Awaiting`. */
  status: Schema.Literals(["Awaiting", "Settled", "Rejected"]),
  pixKey: Schema.RedactedFromValue(Schema.String, { label: "pixKey" }),
  pixKeyType: Schema.optional(Schema.String),
  description: Schema.optional(Schema.RedactedFromValue(Schema.String, { label: "description" })),
  metadata: Schema.optional(Schema.RedactedFromValue(Metadata, { label: "metadata" })),
  currency: Schema.Literal("BRL"),
  createdAt: Timestamp
})
/** See the schema of the same name. */
export interface SandboxWithdrawal extends Schema.Schema.Type<typeof SandboxWithdrawal> {}
