/**
 * One INSERT that submits a payout to the queue, for a program that writes to the database with another library than
 * Effect's `SqlClient` (Drizzle, Prisma, `pg`): run it in the transaction of your own rows. A worker finds the
 * row and queues it within its `poll` interval.
 *
 * The statement does nothing where the reference was submitted before, with any content: look at the count of inserted rows,
 * and read `status` where it is 0. The tables are those of `docs/sql/`.
 *
 * ```ts
 * import { Result } from "effect"
 * import { Money } from "effect-pix"
 * import { PayoutInsert } from "effect-pix/payouts"
 *
 * const { parameters, text } = Result.getOrThrow(
 *   PayoutInsert.make({ reference: "invoice-42", amount: Money.centavos(2500) }, { dialect: "pg" })
 * )
 * // await client.query(text, parameters)
 * const start = text.slice(0, 30) // => "INSERT INTO effect_pix_payouts"
 * const count = parameters.length // => 7
 * ```
 */
declare module "./PayoutInsert.ts" {}

import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { invalidWithdrawal } from "../contract/WithdrawalCheck.ts"
import type { BelowMinimum, InvalidRequest } from "../contract/PaymentsError.ts"
import { type Submission, submission } from "./internal/queue/request.ts"
import type { PayoutItem } from "./Payout.ts"
import type { Seal } from "./Seal.ts"
import { badAccountName, defaultAccount, isAccountName } from "./PayoutQueueOptions.ts"

const columns = Object.values({
  account: "account",
  idempotencyKey: "idempotency_key",
  reference: "reference",
  amount: "amount",
  text: "request",
  requestCheck: "request_check",
  submittedBy: "submitted_by"
} satisfies Record<keyof Submission, string>)

const insert = (placeholder: (column: string, index: number) => string) =>
  `INSERT INTO effect_pix_payouts (${columns.join(", ")}) VALUES (${columns.map(placeholder).join(", ")}) ON CONFLICT DO NOTHING`

/** The statement, for each dialect: its parameters are account, key, reference, amount, request, the request's check, and who submits it. */
export const statements = { pg: insert((_, index) => `$${index + 1}`), sqlite: insert(() => "?") } as const

/** A statement and its parameters, in order. */
export interface PayoutStatement {
  /** The SQL, with a placeholder for each parameter. */
  readonly text: string
  /** In the order of the placeholders. */
  readonly parameters: readonly [
    account: string,
    key: string,
    reference: string,
    amount: number,
    request: string,
    check: string,
    submittedBy: string | null
  ]
}

/** Where a payout is inserted. */
export interface PayoutInsertOptions {
  /** The dialect of the database: `pg` is PostgreSQL. */
  readonly dialect: keyof typeof statements
  /** Whose payout it is, as the option `account` of the workers. Default `default`. */
  readonly account?: string | undefined
}

const submissionOf = (payout: PayoutItem, { account = defaultAccount }: PayoutInsertOptions) =>
  isAccountName(account)
    ? submission(account, payout)
    : Result.fail(invalidWithdrawal([{ path: "account", problem: badAccountName }]))

const statementOf = (
  { account, amount, idempotencyKey, reference, requestCheck, submittedBy }: Submission,
  { dialect }: PayoutInsertOptions,
  request: string
): PayoutStatement => ({
  text: statements[dialect],
  parameters: [account, idempotencyKey, reference, amount, request, requestCheck, submittedBy]
})

/**
 * Checks every field of a payout, and returns the statement that submits it. `amount` is in centavos. The request is stored
 * in clear: where the workers have a `seal`, use `makeSealed`.
 */
export const make = (
  payout: PayoutItem,
  options: PayoutInsertOptions
): Result.Result<PayoutStatement, InvalidRequest | BelowMinimum> =>
  Result.map(submissionOf(payout, options), (one) => statementOf(one, options, one.text))

/** Does as `make`, and seals the stored request with the `seal` of the workers. */
export const makeSealed = (
  payout: PayoutItem,
  options: PayoutInsertOptions & { readonly seal: Seal }
): Effect.Effect<PayoutStatement, InvalidRequest | BelowMinimum> =>
  Effect.flatMap(Effect.fromResult(submissionOf(payout, options)), (one) =>
    Effect.map(options.seal.seal(one.text, one.reference), (request) => statementOf(one, options, request))
  )
