/**
 * The rows of the sandbox's ledger: charges and payouts. A row is the same value in a test, in the state file and over HTTP:
 * plain JSON, with instants as ISO text such as `2026-01-31T12:00:00.000Z`. Nothing is masked, since a sandbox holds made-up
 * people: send no real customer to it.
 */
declare module "./SandboxLedger.ts" {}

import * as Schema from "effect/Schema"
import { Metadata } from "../contract/Metadata.ts"
import { Customer } from "../contract/Transaction.ts"
import { Centavos } from "../pix/Money.ts"

const TransactionStatus = Schema.Literals(["Awaiting", "Paid", "Cancelled", "Failed", "Refunded"])

/** A charge in the sandbox's ledger. `amount` is in centavos. */
export const SandboxTransaction = Schema.Struct({
  /** The id of the lookup. */
  transactionId: Schema.String,
  /** The integer id of the list's row and of the lookup. */
  rowId: Schema.Int,
  /** In centavos. */
  amount: Centavos,
  /** What the payer paid, in centavos, where it is another amount. Lookups and lists then show it as the charge's value. */
  paid: Schema.optional(Centavos),
  currency: Schema.Literal("BRL"),
  paymentMethod: Schema.Literals(["PIX", "BOLETO", "CREDIT_CARD"]),
  status: TransactionStatus,
  /** What became of it after it was awaited, oldest first: `status` is the last of them. */
  states: Schema.Array(Schema.Struct({ status: TransactionStatus, at: Schema.String })),
  /** The key that it was created with, if any. */
  idempotencyKey: Schema.optional(Schema.String),
  customer: Customer,
  /** What else the creation was sent with, for a sandbox with `as: "seen"`. */
  externalRef: Schema.optional(Schema.String),
  postbackUrl: Schema.optional(Schema.String),
  installments: Schema.optional(Schema.Finite),
  traceable: Schema.optional(Schema.Boolean),
  metadata: Schema.optional(Schema.Json),
  /** The copy-and-paste text of the QR code, for PIX. */
  qrcode: Schema.optional(Schema.String),
  createdAt: Schema.String,
  updatedAt: Schema.String,
  /** When it lapses, for PIX. */
  expiresAt: Schema.optional(Schema.String)
})
/** See the schema of the same name. */
export interface SandboxTransaction extends Schema.Schema.Type<typeof SandboxTransaction> {}

/** A payout in the sandbox's ledger: it was executed, exactly once, or failed at once. `amount` is in centavos. */
export const SandboxWithdrawal = Schema.Struct({
  id: Schema.Int,
  /** The key that it was asked for with, if any. */
  idempotencyKey: Schema.optional(Schema.String),
  /** In centavos. */
  amount: Centavos,
  currency: Schema.Literal("BRL"),
  /** All but `Awaiting` are the sandbox's own words: the service documents no other. */
  status: Schema.Literals(["Awaiting", "Processing", "Settled", "Rejected", "Returned"]),
  /** Its states after the first one, oldest first. Absent in a state that an earlier version stored. */
  states: Schema.optional(Schema.Array(Schema.Struct({ status: Schema.String, at: Schema.String }))),
  /** Why it was rejected, where that was said. */
  reason: Schema.optional(Schema.String),
  /** Whether the answer to its request said already that it was rejected. */
  failedAtOnce: Schema.optional(Schema.Boolean),
  pixKey: Schema.String,
  pixKeyType: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String),
  metadata: Schema.optional(Metadata),
  createdAt: Schema.String,
  updatedAt: Schema.String
})
/** See the schema of the same name. */
export interface SandboxWithdrawal extends Schema.Schema.Type<typeof SandboxWithdrawal> {}
