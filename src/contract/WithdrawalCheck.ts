/**
 * The check of a withdrawal request. Single calls, runs and the queue check every field of it before they send or store
 * anything.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { fromPair, type Pair, PixKey, PixKeyType, toPair } from "../pix/PixKey.ts"
import type { RequestIssue } from "./Outcome.ts"
import { invalidRequest } from "./Options.ts"
import { BelowMinimum, type InvalidRequest } from "./PaymentsError.ts"
import { issuesOf } from "./RequestIssues.ts"
import { minimumWithdrawal, type WithdrawalRequest, WithdrawalRequestBody } from "./Withdrawal.ts"

type Issues = ReadonlyArray<RequestIssue>

/** The body to send. Its amount has its brand still. */
type Body = Omit<typeof WithdrawalRequestBody.Encoded, "amount"> & Pick<WithdrawalRequestBody, "amount">

const fail = (path: string, problem: string) => Result.fail([{ path, problem }])

const isPixKey = Schema.is(PixKey)

/** The key of a request in the form of the PIX directory; `{}` if it has none. Fails with the mistake in the key. */
const pairOf = ({ pixKey, pixKeyType }: WithdrawalRequest): Result.Result<Pair | {}, Issues> => {
  if (pixKey === undefined) {
    return pixKeyType === undefined ? Result.succeed({}) : fail("pixKeyType", "is given, and pixKey is missing")
  }
  if (isPixKey(pixKey)) {
    return pixKeyType === undefined
      ? Result.succeed(toPair(pixKey))
      : fail("pixKeyType", "is given beside a PixKey value, which has its own kind")
  }
  if (typeof pixKey !== "string" || typeof pixKeyType !== "string") {
    return fail("pixKeyType", "is missing: the kind of a pixKey in plain text is never guessed")
  }
  return Result.mapBoth(fromPair(pixKey, pixKeyType), {
    onSuccess: toPair,
    onFailure: ({ reason, type }) => [
      type === undefined
        ? { path: "pixKeyType", problem: `must be one of ${PixKeyType.literals.join(", ")}` }
        : { path: "pixKey", problem: reason }
    ]
  })
}

/** The error of a withdrawal request that does not fit the contract. */
export const invalidWithdrawal = (issues: Issues, idempotencyKey?: string) =>
  invalidRequest("requestWithdrawal", issues, idempotencyKey)

const encode = Schema.encodeUnknownResult(WithdrawalRequestBody)

const bodyOf = (request: WithdrawalRequest): Result.Result<Body, Issues> =>
  Result.flatMap(pairOf(request), (pair) => {
    const { pixKey: _, pixKeyType: __, ...rest } = request
    return Result.mapBoth(encode({ ...rest, ...pair }, { onExcessProperty: "error", errors: "all" }), {
      onSuccess: (body) => ({ ...body, amount: rest.amount }),
      onFailure: issuesOf
    })
  })

/**
 * Checks a request and returns the body to send, with its fields in the order of the contract. A caller without types
 * may give any value.
 */
export const checkWithdrawal = (
  request: WithdrawalRequest,
  idempotencyKey: string
): Result.Result<Body, InvalidRequest | BelowMinimum> => {
  const body = Predicate.isObject(request) ? bodyOf(request) : fail("", "must be an object")
  if (Result.isFailure(body)) return Result.fail(invalidWithdrawal(body.failure, idempotencyKey))
  const { amount } = body.success
  return amount >= minimumWithdrawal
    ? Result.succeed(body.success)
    : Result.fail(
        new BelowMinimum({
          operation: "requestWithdrawal",
          attempts: 0,
          idempotencyKey,
          outcome: "NotSent",
          amount,
          minimum: minimumWithdrawal
        })
      )
}
