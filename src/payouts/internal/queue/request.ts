/**
 * The request of a payout: checked when it is submitted, so that nothing waits in the queue that cannot be sent, and
 * stored as the JSON of its contract.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { BelowMinimum, InvalidRequest } from "../../../contract/PaymentsError.ts"
import { WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import { checkWithdrawal } from "../../../contract/WithdrawalCheck.ts"
import type { PayoutItem } from "../../Payout.ts"
import { canonical, readItem } from "../content.ts"

/** A payout that may be stored. */
export interface Submission {
  readonly idempotencyKey: string
  readonly reference: string
  readonly amount: number
  /** The request as JSON, its fields in the order of the contract. */
  readonly text: string
  readonly requestCheck: string
}

/** Checks a payout to its last field. */
export const submission = (payout: PayoutItem): Result.Result<Submission, InvalidRequest | BelowMinimum> => {
  const read = readItem("payout", payout)
  if (Result.isFailure(read)) return Result.fail(read.failure.error)
  const { check, idempotencyKey, reference, request } = read.success
  return Result.map(checkWithdrawal(request, idempotencyKey), (body) => ({
    idempotencyKey,
    reference,
    amount: body.amount,
    text: JSON.stringify(body),
    requestCheck: check
  }))
}

/** The request that was stored; none where the text is not one. */
export const readRequest = Schema.decodeUnknownOption(Schema.fromJsonString(WithdrawalRequestBody))

/** Whether a stored request asks for the same; `undefined` where it cannot be read. */
export const isSameRequest = (stored: string, wanted: string): boolean | undefined =>
  Result.getOrElse(
    Result.try(() => stored === wanted || canonical(JSON.parse(stored)) === canonical(JSON.parse(wanted))),
    () => undefined
  )
