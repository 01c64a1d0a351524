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

import * as Result from "effect/Result"
import { invalidWithdrawal } from "../contract/WithdrawalCheck.ts"
import type { BelowMinimum, InvalidRequest } from "../contract/PaymentsError.ts"
import { type Submission, submission } from "./internal/queue/request.ts"
import type { PayoutItem } from "./Payout.ts"
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

/** Checks every field of a payout, and returns the statement that submits it. `amount` is in centavos. */
export const make = (
  payout: PayoutItem,
  options: {
    /** The dialect of the database: `pg` is PostgreSQL. */
    readonly dialect: keyof typeof statements
    /** Whose payout it is, as the option `account` of the workers. Default `default`. */
    readonly account?: string | undefined
    /** Seals the stored request as the worker's `seal` opens it. Default: it is stored as it is. */
    readonly seal?: ((request: string, reference: string) => string) | undefined
  }
): Result.Result<PayoutStatement, InvalidRequest | BelowMinimum> => {
  const of = options.account ?? defaultAccount
  if (!isAccountName(of)) return Result.fail(invalidWithdrawal([{ path: "account", problem: badAccountName }]))
  return Result.map(
    submission(of, payout),
    ({ account, amount, idempotencyKey, reference, requestCheck, submittedBy, text }) => {
      const request = options.seal?.(text, reference) ?? text
      return {
        text: statements[options.dialect],
        parameters: [account, idempotencyKey, reference, amount, request, requestCheck, submittedBy]
      }
    }
  )
}
