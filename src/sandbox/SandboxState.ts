/**
 * The state of a sandbox as one value, for `Sandbox.snapshot`, `Sandbox.restore` and the file of a server. Its settings,
 * recorded requests, planned faults and handlers in this process are not part of it.
 *
 * It holds the credentials and the made-up customers of the sandbox. So it prints as `<redacted>`, and only your own code
 * writes it to a file.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * const program = Effect.gen(function* () {
 *   const sandbox = yield* Sandbox
 *   yield* sandbox.credit(5000)
 *   const before = yield* sandbox.snapshot
 *   yield* sandbox.credit(100)
 *   yield* sandbox.restore(before)
 *   return yield* sandbox.balance
 * })
 *
 * const balance = await Effect.runPromise(Effect.provide(program, Sandbox.layer)) // => 5000
 * ```
 */
import * as Schema from "effect/Schema"
import { Operation } from "../contract/Endpoints.ts"
import { Metadata } from "../contract/Metadata.ts"
import { Customer } from "../contract/Transaction.ts"
import { PixKeyType } from "../pix/PixKey.ts"
import { SandboxTransaction, SandboxWithdrawal } from "./SandboxLedger.ts"
import { WebhookAttempt } from "./SandboxWebhook.ts"

const Millis = Schema.Int

const charge = SandboxTransaction.fields

/** A charge as it is stored: instants are in milliseconds. */
export const Charge = Schema.Struct({
  transactionId: charge.transactionId,
  rowId: charge.rowId,
  amount: charge.amount,
  paymentMethod: charge.paymentMethod,
  status: charge.status,
  idempotencyKey: charge.idempotencyKey,
  customer: Customer,
  createdAt: Millis,
  updatedAt: Millis,
  /** The expiry in the answer to its creation. */
  firstExpiresAt: Schema.optional(Millis),
  expiresAt: Schema.optional(Millis)
})
/** See the schema of the same name. */
export interface Charge extends Schema.Schema.Type<typeof Charge> {}

const payout = SandboxWithdrawal.fields

/** A payout as it is stored. */
export const Payout = Schema.Struct({
  id: payout.id,
  amount: payout.amount,
  status: payout.status,
  idempotencyKey: payout.idempotencyKey,
  pixKey: Schema.String,
  pixKeyType: payout.pixKeyType,
  description: Schema.optional(Schema.String),
  metadata: Schema.optional(Metadata),
  createdAt: Millis
})
/** See the schema of the same name. */
export interface Payout extends Schema.Schema.Type<typeof Payout> {}

/** The row that was made under a key. `content` is a digest of the path and body of the request. */
const UsedKey = Schema.Struct({
  operation: Operation,
  key: Schema.String,
  content: Schema.String,
  row: Schema.Int
})
/** See the schema of the same name. */
export type UsedKey = typeof UsedKey.Type

type Amounts = ReadonlyArray<{ readonly amount: number }>
const sumOf = (rows: Amounts) => rows.reduce((sum, { amount }) => sum + amount, 0)

/** More than any sum of the ledger, whatever the later states of its charges and payouts. */
export const volumeOf = (ledger: { readonly balance: number; readonly charges: Amounts; readonly payouts: Amounts }) =>
  Math.abs(ledger.balance) + sumOf(ledger.charges) + sumOf(ledger.payouts)

/** The stored ledger: charges, payouts, the keys they were made under, and the balance. */
const StoredLedger = Schema.Struct({
  charges: Schema.Array(Charge),
  payouts: Schema.Array(Payout),
  keys: Schema.Array(UsedKey),
  /** In centavos; it may be negative. */
  balance: Schema.Int,
  pixKey: Schema.optional(Schema.Struct({ pixKey: Schema.String, pixKeyType: PixKeyType }))
}).check(
  Schema.makeFilter((ledger) => Number.isSafeInteger(volumeOf(ledger)), {
    expected: "a ledger whose sums are safe integers"
  })
)
/** See the schema of the same name. */
export interface StoredLedger extends Schema.Schema.Type<typeof StoredLedger> {}

const Attempt = Schema.Struct({ ...WebhookAttempt.fields, at: Millis })

/** A webhook to an address. A webhook to a handler ends with its process. */
const Delivery = Schema.Struct({
  target: Schema.String,
  json: Schema.Json,
  createdAt: Millis,
  attempts: Schema.Array(Attempt)
})
/** See the schema `Delivery`. */
export interface StoredDelivery extends Schema.Schema.Type<typeof Delivery> {}

const Everything = Schema.Struct({
  /** By how much the clock was pushed, in milliseconds. */
  ahead: Schema.Finite,
  rotations: Schema.Int,
  ledger: StoredLedger,
  targets: Schema.Array(Schema.String),
  webhooks: Schema.Array(Delivery)
})
interface Everything extends Schema.Schema.Type<typeof Everything> {}

/** The whole state, in the form of its version. Amounts are in centavos. */
export const SandboxState = Schema.Struct({
  version: Schema.Literal(1),
  state: Schema.RedactedFromValue(Everything, { label: "state" })
})
/** See the schema of the same name. */
export interface SandboxState extends Schema.Schema.Type<typeof SandboxState> {}
