/**
 * The request of a payout. It is checked when it is submitted, so that every payout of the queue can be sent, and stored as
 * the JSON of its contract.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { BelowMinimum, InvalidRequest } from "../../../contract/PaymentsError.ts"
import { WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import { checkWithdrawal } from "../../../contract/WithdrawalCheck.ts"
import type { PayoutItem } from "../../Payout.ts"
import { canonical, payoutKey, readItem } from "../content.ts"

/** A checked payout, as it is stored. */
export interface Submission {
  readonly account: string
  readonly idempotencyKey: string
  readonly reference: string
  readonly amount: number
  /** The request as JSON, its fields in the order of the contract. */
  readonly text: string
  readonly requestCheck: string
}

/** Checks every field of a payout. */
export const submission = (
  account: string,
  payout: PayoutItem
): Result.Result<Submission, InvalidRequest | BelowMinimum> => {
  const read = readItem((reference) => payoutKey(account, reference), payout)
  if (Result.isFailure(read)) return Result.fail(read.failure.error)
  const { check, idempotencyKey, reference, request } = read.success
  return Result.map(checkWithdrawal(request, idempotencyKey), (body) => ({
    account,
    idempotencyKey,
    reference,
    amount: body.amount,
    text: JSON.stringify(body),
    requestCheck: check
  }))
}

/** Reads a stored request; none where the text is not a request. */
export const readRequest = Schema.decodeUnknownOption(Schema.fromJsonString(WithdrawalRequestBody))

/** Whether a stored request has the same content; `undefined` where it cannot be read. */
export const isSameRequest = (stored: string, wanted: string): boolean | undefined =>
  Result.getOrElse(
    Result.try(() => stored === wanted || canonical(JSON.parse(stored)) === canonical(JSON.parse(wanted))),
    () => undefined
  )
