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
import { clearCheck, sealed, type Stored, submission } from "./internal/queue/request.ts"
import { programNow } from "./internal/queue/tables.ts"
import type { PayoutItem } from "./Payout.ts"
import type { Seal } from "./Seal.ts"
import { badAccountName, defaultAccount, isAccountName } from "./PayoutQueueOptions.ts"

const columns = [
  "account",
  "idempotency_key",
  "reference",
  "amount",
  "request",
  "request_check",
  "submitted_by"
] as const

const onConflict = "ON CONFLICT DO NOTHING"
const into = (names: ReadonlyArray<string>) => `INSERT INTO effect_pix_payouts (${names.join(", ")})`
const marks = {
  pg: (names: ReadonlyArray<string>) => names.map((_, index) => `$${index + 1}`),
  sqlite: (names: ReadonlyArray<string>) => names.map(() => "?")
} as const

/** A payout that waits is wanted and due when its time has come, by the clock of the database. The time is the last parameter. */
const insertWaiting = (dialect: keyof typeof marks, names: ReadonlyArray<string>) => {
  const values = marks[dialect]([...names, "not_before"])
  const from = `${dialect === "pg" ? "GREATEST" : "MAX"}(given.not_before, given.now)`
  const waits = "CASE WHEN given.not_before > given.now THEN"
  const waiting = {
    not_before: "given.not_before",
    wanted_at: from,
    due_at: from,
    waits_for: `${waits} 'NotBefore' END`,
    waits_since: `${waits} given.now END`
  }
  return `${into([...names, ...Object.keys(waiting)])}
SELECT ${[...values.slice(0, -1), ...Object.values(waiting)].join(", ")}
FROM (SELECT CAST(${values.at(-1)} AS BIGINT) AS not_before, ${programNow[dialect]} AS now) AS given
WHERE 1 = 1 ${onConflict}`
}

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
    submittedBy: string | null,
    /** Its `notBefore` in milliseconds, if it has one. */
    ...rest: ReadonlyArray<number>
  ]
}

/** Where a payout is inserted. */
export interface PayoutInsertOptions {
  /** The dialect of the database: `pg` is PostgreSQL. */
  readonly dialect: keyof typeof marks
  /** Whose payout it is, as the option `account` of the workers. Default `default`. */
  readonly account?: string | undefined
}

const noDoubt = invalidWithdrawal([
  {
    path: "after",
    problem: "and earlier cannot be done by one INSERT, which changes no row that is there: use PayoutQueue.submit"
  }
])

const submissionOf = (payout: PayoutItem, { account = defaultAccount }: PayoutInsertOptions) =>
  isAccountName(account)
    ? Result.filterOrFail(
        submission(account, payout),
        ({ state }) => state === "accepted",
        () => noDoubt
      )
    : Result.fail(invalidWithdrawal([{ path: "account", problem: badAccountName }]))

const statementOf = (one: Stored, { dialect }: PayoutInsertOptions): PayoutStatement => {
  const { account, amount, idempotencyKey, notBefore, reference, request, requestCheck, submittedBy } = one
  return {
    text:
      notBefore === null
        ? `${into(columns)} VALUES (${marks[dialect](columns).join(", ")}) ${onConflict}`
        : insertWaiting(dialect, columns),
    parameters: [
      account,
      idempotencyKey,
      reference,
      amount,
      request,
      requestCheck,
      submittedBy,
      ...(notBefore === null ? [] : [notBefore])
    ]
  }
}

/**
 * Checks every field of a payout, and returns the statement that submits it. `amount` is in centavos. The request is
 * stored in clear: where the workers have a `seal`, use `makeSealed`. An item with `after` or `earlier` is refused: for these use
 * `PayoutQueue.submit`.
 */
export const make = (
  payout: PayoutItem,
  options: PayoutInsertOptions
): Result.Result<PayoutStatement, InvalidRequest | BelowMinimum> =>
  Result.map(submissionOf(payout, options), (one) =>
    statementOf({ ...one, request: one.text, requestCheck: clearCheck(one.content) }, options)
  )

/** Does as `make`, and seals the stored request with the `seal` of the workers. */
export const makeSealed = (
  payout: PayoutItem,
  options: PayoutInsertOptions & { readonly seal: Seal }
): Effect.Effect<PayoutStatement, InvalidRequest | BelowMinimum> =>
  Effect.flatMap(Effect.fromResult(submissionOf(payout, options)), (one) =>
    Effect.map(sealed(options.seal, one), (stored) => statementOf(stored, options))
  )
