/**
 * The state of a sandbox that its file stores: the rows as they are, the idempotency keys, credentials, the targets of webhooks
 * and the clock. Settings, recorded requests, planned faults and handlers of a process are not part of it.
 */
declare module "./SandboxState.ts" {}

import * as Schema from "effect/Schema"
import { Operation } from "../contract/Endpoints.ts"
import { SandboxTransaction, SandboxWithdrawal } from "./SandboxLedger.ts"
import { SandboxWebhook } from "./SandboxWebhook.ts"

/** The row that was made under a key. `content` is a digest of the path and body of the request. */
const UsedKey = Schema.Struct({
  operation: Operation,
  key: Schema.String,
  content: Schema.String,
  row: Schema.Int
})
/** See the schema of the same name. */
export type UsedKey = typeof UsedKey.Type

type Amounts = ReadonlyArray<{ readonly amount: number; readonly paid?: number | undefined }>
const sumOf = (rows: Amounts) => rows.reduce((sum, { amount, paid = 0 }) => sum + amount + paid, 0)

/** More than any sum of the ledger, whatever the later states of its charges and payouts. */
export const volumeOf = (ledger: { readonly balance: number; readonly charges: Amounts; readonly payouts: Amounts }) =>
  Math.abs(ledger.balance) + sumOf(ledger.charges) + sumOf(ledger.payouts)

/** The stored ledger: charges, payouts, the keys they were made under, and the balance. */
const StoredLedger = Schema.Struct({
  charges: Schema.Array(SandboxTransaction),
  payouts: Schema.Array(SandboxWithdrawal),
  keys: Schema.Array(UsedKey),
  /** In centavos; it may be negative. */
  balance: Schema.Int
}).check(
  Schema.makeFilter((ledger) => Number.isSafeInteger(volumeOf(ledger)), {
    expected: "a ledger whose sums are safe integers"
  })
)
/** See the schema of the same name. */
export interface StoredLedger extends Schema.Schema.Type<typeof StoredLedger> {}

/** The whole state, in the form of its version. Amounts are in centavos. */
export const SandboxState = Schema.Struct({
  version: Schema.Literal(2),
  /** By how much the clock was pushed, in milliseconds. */
  ahead: Schema.Finite,
  rotations: Schema.Int,
  /** How the sandbox answers; absent where it answers as documented. */
  as: Schema.optional(Schema.Literal("seen")),
  ledger: StoredLedger,
  targets: Schema.Array(Schema.String),
  /** The webhooks to addresses. */
  webhooks: Schema.Array(SandboxWebhook)
})
/** See the schema of the same name. */
export interface SandboxState extends Schema.Schema.Type<typeof SandboxState> {}
