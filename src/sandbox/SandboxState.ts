/**
 * A sandbox's state as one value, for `Sandbox.snapshot`, `Sandbox.restore` and the file of a server: what it
 * remembers beyond its settings. Recorded requests, planned faults and handlers in this process are not part of it.
 *
 * It holds all that the sandbox knows, also its credentials and its made-up customers. So it prints as `<redacted>`, and
 * is only written where you write it.
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
import { Centavos } from "../pix/Money.ts"
import { PixKeyType } from "../pix/PixKey.ts"

const Millis = Schema.Int

/** A charge as a state holds it: instants in milliseconds. */
export const Charge = Schema.Struct({
  transactionId: Schema.String,
  rowId: Schema.Int,
  amount: Centavos,
  paymentMethod: Schema.Literals(["PIX", "BOLETO", "CREDIT_CARD"]),
  status: Schema.Literals(["Awaiting", "Paid", "Cancelled", "Failed", "Refunded"]),
  idempotencyKey: Schema.optional(Schema.String),
  customer: Customer,
  createdAt: Millis,
  updatedAt: Millis,
  /** What its creation was answered with. */
  firstExpiresAt: Schema.optional(Millis),
  expiresAt: Schema.optional(Millis)
})
/** See the schema of the same name. */
export interface Charge extends Schema.Schema.Type<typeof Charge> {}

/** A payout as a state holds it. */
export const Payout = Schema.Struct({
  id: Schema.Int,
  amount: Centavos,
  status: Schema.Literals(["Awaiting", "Settled", "Rejected"]),
  idempotencyKey: Schema.optional(Schema.String),
  pixKey: Schema.String,
  pixKeyType: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String),
  metadata: Schema.optional(Metadata),
  createdAt: Millis
})
/** See the schema of the same name. */
export interface Payout extends Schema.Schema.Type<typeof Payout> {}

/** The row that a write made under its key; `content` is a digest of its path and body. */
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

/** More than any sum in the books, whatever becomes of their charges and payouts. */
export const volumeOf = (books: { readonly balance: number; readonly charges: Amounts; readonly payouts: Amounts }) =>
  Math.abs(books.balance) + sumOf(books.charges) + sumOf(books.payouts)

/** The books: charges, payouts, the keys they were made under, and the balance. */
const Books = Schema.Struct({
  charges: Schema.Array(Charge),
  payouts: Schema.Array(Payout),
  keys: Schema.Array(UsedKey),
  /** In centavos; it may be negative. */
  balance: Schema.Int,
  pixKey: Schema.optional(Schema.Struct({ pixKey: Schema.String, pixKeyType: PixKeyType }))
}).check(
  Schema.makeFilter((books) => Number.isSafeInteger(volumeOf(books)), {
    expected: "books whose sums are safe integers"
  })
)
/** See the schema of the same name. */
export interface Books extends Schema.Schema.Type<typeof Books> {}

const Attempt = Schema.Struct({
  at: Millis,
  millis: Schema.Finite,
  status: Schema.optional(Schema.Int),
  error: Schema.optional(Schema.String),
  answer: Schema.String
})

/** A webhook to an address; those to handlers end with their process. */
const Delivery = Schema.Struct({
  target: Schema.String,
  json: Schema.Json,
  createdAt: Millis,
  attempts: Schema.Array(Attempt)
})
/** See the schema `Delivery`. */
export interface StoredDelivery extends Schema.Schema.Type<typeof Delivery> {}

const Everything = Schema.Struct({
  /** How far the clock was pushed, in milliseconds. */
  ahead: Schema.Finite,
  rotations: Schema.Int,
  books: Books,
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
