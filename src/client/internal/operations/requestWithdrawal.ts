/**
 * Pays out by PIX: how a request names the key to pay to, the minimum, whether the record is about it, and the refusals
 * that only a withdrawal has.
 */
import * as BigDecimal from "effect/BigDecimal"
import { constFalse } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { requestWithdrawal as endpoint } from "../../../contract/Endpoints.ts"
import type { WriteOptions } from "../../../contract/IdempotencyKey.ts"
import { BelowMinimum, InsufficientBalance, NoPixKey } from "../../../contract/PaymentsError.ts"
import {
  minimumWithdrawal,
  type Withdrawal,
  type WithdrawalRecord,
  type WithdrawalRequest
} from "../../../contract/Withdrawal.ts"
import { type Centavos, ReaisOrder, toReais } from "../../../pix/Money.ts"
import { fromPair, isPixKey, toPair } from "../../../pix/PixKey.ts"
import type { PaymentsPolicy } from "../../PaymentsPolicy.ts"
import type { Client } from "../call/client.ts"
import { invalid, type OwnError } from "../call/error.ts"
import { notAsAsked, write } from "../call/prepare.ts"
import { type Issues, makeRoute } from "../call/route.ts"
import type { Undecodable } from "../call/verdict.ts"
import { bodyEncoder } from "../wire/codec.ts"
import { meansFailure } from "../words/denial.ts"

/** What is wrong with how a withdrawal names its key, or the pair to send. */
const pairOf = (request: WithdrawalRequest): Result.Result<object, Issues> => {
  if (!Predicate.isObject(request)) return Result.fail([{ path: "", problem: "Expected a withdrawal request" }])
  const { pixKey, pixKeyType } = request
  if (pixKey === undefined) {
    return pixKeyType === undefined
      ? Result.succeed({})
      : Result.fail([{ path: "pixKeyType", problem: "needs a pixKey beside it" }])
  }
  if (isPixKey(pixKey)) {
    return pixKeyType === undefined
      ? Result.succeed(toPair(pixKey))
      : Result.fail([{ path: "pixKeyType", problem: "is already said by the PixKey value" }])
  }
  if (typeof pixKey !== "string" || typeof pixKeyType !== "string") {
    return Result.fail([
      { path: "pixKeyType", problem: "is required beside a pixKey that is plain text: its kind is never guessed" }
    ])
  }
  return Result.mapBoth(fromPair(pixKey, pixKeyType), {
    onSuccess: toPair,
    onFailure: ({ reason }) => [{ path: "pixKey", problem: reason }]
  })
}

const encodeBody = bodyEncoder(endpoint.body)

const encode = (request: WithdrawalRequest): Result.Result<string, Issues> =>
  Result.flatMap(pairOf(request), (pair) => {
    const { pixKey: _, pixKeyType: __, ...rest } = request
    return encodeBody({ ...rest, ...pair })
  })

const checkAndEncode = (
  request: WithdrawalRequest,
  idempotencyKey: string
): Result.Result<string, ReturnType<typeof invalid> | BelowMinimum> => {
  const encoded = encode(request)
  if (Result.isFailure(encoded)) return Result.fail(invalid(endpoint.operation, encoded.failure, idempotencyKey))
  return request.amount >= minimumWithdrawal
    ? Result.succeed(encoded.success)
    : Result.fail(
        new BelowMinimum({
          operation: endpoint.operation,
          attempts: 0,
          idempotencyKey,
          outcome: "NotSent",
          amount: request.amount,
          minimum: minimumWithdrawal
        })
      )
}

const otherKey: Undecodable = {
  reason: "KeyMismatch",
  issues: [{ path: "idempotencyKey", problem: "is not the key that was sent" }]
}

/** Where the record is about another withdrawal, or one that failed. */
const differences = (
  { enTransaction, value }: WithdrawalRecord,
  asked: Centavos,
  acceptValue: PaymentsPolicy["acceptValue"]
): Issues => {
  const isAbove = ReaisOrder(value, toReais(asked)) > 0
  // A predicate that throws accepts nothing.
  const isAccepted = () =>
    Result.getOrElse(
      Result.try(() => acceptValue({ asked, value })),
      constFalse
    )
  return [
    ...(BigDecimal.isPositive(value) ? [] : [{ path: "value", problem: "is not above zero" }]),
    ...(isAbove && !isAccepted() ? [{ path: "value", problem: "is above the amount that was asked for" }] : []),
    ...(meansFailure(enTransaction) ? [{ path: "enTransaction", problem: "is a word for failure" }] : [])
  ]
}

/** The refusals that only a withdrawal has. `cause` is what the words of the refusal name. */
const refusal =
  (request: WithdrawalRequest): OwnError<BelowMinimum | InsufficientBalance | NoPixKey> =>
  ({ hasWords, status, unread }, fields, cause, { noPixKeyStatuses }) => {
    const { amount, pixKey } = request
    if (cause === "InsufficientBalance") return new InsufficientBalance(fields)
    if (cause === "BelowMinimum") return new BelowMinimum({ ...fields, amount, minimum: minimumWithdrawal })
    const isSilent = cause === undefined && !hasWords && unread === undefined && noPixKeyStatuses.includes(status)
    return pixKey === undefined && (cause === "NoPixKey" || isSilent) ? new NoPixKey(fields) : undefined
  }

const route = makeRoute(endpoint)
const places = { id: ["id"], value: ["value"], status: ["enTransaction"] }

export const make = (client: Client) => (request: WithdrawalRequest, options?: WriteOptions) =>
  write(client, route, options, {
    places,
    encode: (idempotencyKey) => checkAndEncode(request, idempotencyKey),
    accept: (record, idempotencyKey, policy): Result.Result<Withdrawal, Undecodable> => {
      if (record.idempotencyKey !== undefined && record.idempotencyKey !== idempotencyKey) return Result.fail(otherKey)
      const issues = differences(record, request.amount, policy.acceptValue)
      return issues.length === 0 ? Result.succeed({ ...record, idempotencyKey }) : notAsAsked(...issues)
    },
    own: refusal(request)
  })
