/**
 * Pays out by PIX. Checks that the record in the answer is about the request, and makes the errors that only a
 * withdrawal has.
 */
import * as Result from "effect/Result"
import { requestWithdrawal as endpoint } from "../../../contract/Endpoints.ts"
import { compareToCentavo } from "../../../internal/decimal.ts"
import type { WriteOptions } from "../../../contract/WriteOptions.ts"
import {
  BelowMinimum,
  InsufficientBalance,
  LimitReached,
  NoPixKey,
  WithdrawalFailed,
  type WithdrawalRefusal
} from "../../../contract/PaymentsError.ts"
import { meaningOf } from "../../../contract/Status.ts"
import { isFailure as isWordOfFailure } from "../../../contract/StatusWords.ts"
import {
  minimumWithdrawal,
  type Withdrawal,
  WithdrawalRecord,
  type WithdrawalRequest,
  type WithdrawalRequestBody
} from "../../../contract/Withdrawal.ts"
import { checkWithdrawal } from "../../../contract/WithdrawalCheck.ts"
import { isOtherKey } from "../../../pix/OtherKey.ts"
import { type Client, statusField } from "../call/client.ts"
import type { OwnError } from "../call/error.ts"
import { type Answered, isOtherCompany, makeRoute, notAsAsked, otherCompany, write } from "../call/prepare.ts"
import type { Issues, Undecodable } from "../call/state.ts"
import { valueIssues } from "./valueIssues.ts"

const otherKey: Undecodable = {
  reason: "KeyMismatch",
  issues: [{ path: "idempotencyKey", problem: "is not the key that was sent" }]
}

/** What was sent. A request without a key pays the registered one. */
type Sent = WithdrawalRequestBody

/**
 * The issues of a record that is about another withdrawal. Only another payee is an issue of `pixKey`, and another company one
 * of `companyId`.
 */
const differences = (record: WithdrawalRecord, sent: Sent, client: Client): Issues => {
  const { pixKey, value } = record
  const { amount, pixKey: sentKey, pixKeyType } = sent
  const isOther =
    pixKey !== undefined &&
    sentKey !== undefined &&
    pixKeyType !== undefined &&
    isOtherKey(pixKey, { pixKey: sentKey, pixKeyType })
  return [
    ...(isOther ? [{ path: "pixKey", problem: "is another key than the one that was asked for" }] : []),
    ...(isOtherCompany(client, record) ? [otherCompany] : []),
    ...valueIssues(client.facts, amount, value)
  ]
}

const isFailure = { path: "enTransaction", problem: "is a word for failure" }

/** Whether a member of an answer may hold a reason: it repeats nothing that was sent, and no documented field has its name. */
const isReason = (name: string, sent: Sent) =>
  Reflect.get(sent, name) === undefined && (name === "description" || !Object.hasOwn(WithdrawalRecord.fields, name))

/** The one word that proves a failure, whatever words the user lists. */
const isProof = (status: string) => meaningOf(status, "payout") === "failed"

/**
 * The failure of a record that says that the withdrawal failed. Only `Failure` proves it, of a record that certainly is about
 * what was asked: it names the key, and its value is not below the amount.
 */
const failedRecord = (record: WithdrawalRecord, others: Issues, sent: Sent, { answered, idempotencyKey }: Answered) => {
  const { enTransaction: status, id, value } = record
  const isSure = record.idempotencyKey === idempotencyKey && compareToCentavo(value, sent.amount) >= 0
  const members = Object.entries<unknown>(JSON.parse(answered))
  return Result.fail<Undecodable>({
    reason: "NotAsAsked",
    issues: [...others, isFailure],
    record: {
      id,
      status,
      said: JSON.stringify(Object.fromEntries(members.filter(([name]) => isReason(name, sent)))),
      isProof: isSure && others.length === 0 && isProof(status)
    }
  })
}

type Refusal = Parameters<OwnError<WithdrawalRefusal>>
type Own = WithdrawalRefusal | WithdrawalFailed | undefined

/** The errors that only a refused withdrawal has; none for a cause that this request cannot have. */
const refusal = (...[refused, fields, sent]: [...Refusal, sent: Sent]): Own => {
  const { cause, record, retryAfter } = refused
  if (record !== undefined) {
    const ofAccount = cause === "InsufficientBalance" || cause === "LimitReached" ? { cause } : {}
    return new WithdrawalFailed({ ...fields, ...ofAccount, withdrawalId: record.id, withdrawalStatus: record.status })
  }
  switch (cause) {
    case "InsufficientBalance":
      return new InsufficientBalance(fields)
    case "LimitReached":
      return new LimitReached({ ...fields, ...(retryAfter !== undefined && { retryAfter }) })
    case "NoPixKey":
      return sent.pixKey === undefined ? new NoPixKey(fields) : undefined
    case "BelowMinimum":
      return new BelowMinimum({ ...fields, amount: sent.amount, minimum: minimumWithdrawal })
    default:
      return undefined
  }
}

const route = makeRoute(endpoint)
const seenPaths = { id: ["id"], value: ["value"], status: ["enTransaction"] }

export const make = (client: Client) => (request: WithdrawalRequest, options?: WriteOptions) =>
  write(client, route, options, {
    seenPaths,
    encode: (idempotencyKey) =>
      Result.map(checkWithdrawal(request, idempotencyKey), (sent) => ({ text: JSON.stringify(sent), sent })),
    accept: (record, sent, asked): Result.Result<Withdrawal, Undecodable> => {
      const { idempotencyKey } = asked
      if (record.idempotencyKey !== undefined && record.idempotencyKey !== idempotencyKey) return Result.fail(otherKey)
      const issues = differences(record, sent, client)
      const meaning = meaningOf(record.enTransaction, "payout", client.facts.statuses)
      const isUnlisted = meaning === "unlisted"
      const isFailed = isUnlisted
        ? isWordOfFailure(record.enTransaction)
        : meaning === "failed" || meaning === "returned"
      if (isFailed) return failedRecord(record, issues, sent, asked)
      if (issues.length > 0) return notAsAsked(...issues)
      if (isUnlisted) asked.misfits.add(statusField)
      return Result.succeed({ ...record, idempotencyKey })
    },
    ownError: refusal
  })
