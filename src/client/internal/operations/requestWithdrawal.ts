/**
 * Pays out by PIX. Checks that the record in the answer is about the request, and makes the errors that only a
 * withdrawal has.
 */
import * as BigDecimal from "effect/BigDecimal"
import { constFalse } from "effect/Function"
import * as Result from "effect/Result"
import { requestWithdrawal as endpoint } from "../../../contract/Endpoints.ts"
import type { WriteOptions } from "../../../contract/WriteOptions.ts"
import type { WithdrawalRefusal } from "../../../contract/PaymentsError.ts"
import type { Withdrawal, WithdrawalRecord, WithdrawalRequest } from "../../../contract/Withdrawal.ts"
import { checkWithdrawal } from "../../../contract/WithdrawalCheck.ts"
import { type Centavos, ReaisOrder, toReais } from "../../../pix/Money.ts"
import type { PaymentsPolicy } from "../../PaymentsPolicy.ts"
import type { Client } from "../call/client.ts"
import type { OwnError } from "../call/error.ts"
import { makeRoute, notAsAsked, write } from "../call/prepare.ts"
import type { Issues, Undecodable } from "../call/state.ts"
import { meansFailure } from "../words/denial.ts"
import { causeOf, isWithdrawalCause, withdrawalCauses } from "../words/withdrawalCauses.ts"

const otherKey: Undecodable = {
  reason: "KeyMismatch",
  issues: [{ path: "idempotencyKey", problem: "is not the key that was sent" }]
}

/** The issues of a record that is about another withdrawal, or about one that failed. */
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

/**
 * Makes the errors that only a refused withdrawal has. The user's rules name the cause, else the words of the service
 * do.
 */
const refusal =
  (request: WithdrawalRequest): OwnError<WithdrawalRefusal> =>
  ({ hasWords, status, unread, words }, fields, userCause, { noPixKeyStatuses }) => {
    const isNoPixKeyStatus = !hasWords && unread === undefined && noPixKeyStatuses.includes(status)
    const cause = userCause ?? causeOf(words) ?? (isNoPixKeyStatus ? "NoPixKey" : "RequestRejected")
    return isWithdrawalCause(cause) ? withdrawalCauses[cause].error(fields, request) : undefined
  }

const route = makeRoute(endpoint)
const places = { id: ["id"], value: ["value"], status: ["enTransaction"] }

export const make = (client: Client) => (request: WithdrawalRequest, options?: WriteOptions) =>
  write(client, route, options, {
    places,
    encode: (idempotencyKey) => Result.map(checkWithdrawal(request, idempotencyKey), (body) => JSON.stringify(body)),
    accept: (record, idempotencyKey, policy): Result.Result<Withdrawal, Undecodable> => {
      if (record.idempotencyKey !== undefined && record.idempotencyKey !== idempotencyKey) return Result.fail(otherKey)
      const issues = differences(record, request.amount, policy.acceptValue)
      return issues.length === 0 ? Result.succeed({ ...record, idempotencyKey }) : notAsAsked(...issues)
    },
    ownError: refusal(request)
  })
