/**
 * The request of a payout: checked when it is submitted, so that nothing waits in the queue that cannot be sent, and
 * kept as the JSON of its contract.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { fromReference } from "../../../contract/IdempotencyKey.ts"
import { BelowMinimum, InvalidRequest, type RequestIssue } from "../../../contract/PaymentsError.ts"
import { minimumWithdrawal, type WithdrawalRequest, WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import { fromPair, isPixKey, toPair } from "../../../pix/PixKey.ts"
import type { PayoutItem } from "../../Payout.ts"
import { canonical, checkOf } from "../content.ts"

/** A payout that may be stored. */
export interface Submission {
  readonly key: string
  readonly reference: string
  readonly amount: number
  /** The request as JSON, its fields in the order of the contract. */
  readonly text: string
  readonly check: string
}

const operation = "requestWithdrawal"

const invalid = (issues: ReadonlyArray<RequestIssue>, idempotencyKey?: string) =>
  new InvalidRequest({
    operation,
    attempts: 0,
    outcome: "NotSent",
    issues,
    ...(idempotencyKey !== undefined && { idempotencyKey })
  })

const encodeBody = Schema.encodeUnknownResult(WithdrawalRequestBody)
const format = SchemaIssue.makeFormatterStandardSchemaV1()
/** The name of a field of the contract. What a caller made up may be anybody's data. */
const isOwnName = (key: PropertyKey) => Predicate.hasProperty(WithdrawalRequestBody.fields, key)

const issuesOf = (error: Schema.SchemaError): ReadonlyArray<RequestIssue> =>
  format(error.issue)
    .issues.slice(0, 10)
    .map(({ message, path = [] }) => {
      const [field = ""] = path.map((part) => (typeof part === "object" ? part.key : part))
      return { path: field === "" || isOwnName(field) ? String(field) : "?", problem: message }
    })

/** How the request names its key, as the directory writes it. */
const pairOf = ({ pixKey, pixKeyType }: WithdrawalRequest): Result.Result<object, ReadonlyArray<RequestIssue>> => {
  if (isPixKey(pixKey)) {
    return pixKeyType === undefined
      ? Result.succeed(toPair(pixKey))
      : Result.fail([{ path: "pixKeyType", problem: "is already said by the PixKey value" }])
  }
  if (pixKey === undefined && pixKeyType === undefined) return Result.succeed({})
  if (typeof pixKey !== "string" || typeof pixKeyType !== "string") {
    return Result.fail([{ path: "pixKeyType", problem: "and pixKey stand together, both as plain text" }])
  }
  return Result.mapBoth(fromPair(pixKey, pixKeyType), {
    onSuccess: toPair,
    onFailure: ({ reason }) => [{ path: "pixKey", problem: reason }]
  })
}

const badReference = invalid([
  {
    path: "reference",
    problem: "must be a text that is not blank, without space around it, in composed form (NFC)"
  }
])

const check = (payout: PayoutItem): Result.Result<Submission, InvalidRequest | BelowMinimum> => {
  const { reference, ...request } = payout
  const key = Result.try(() => fromReference("payout", reference))
  if (Result.isFailure(key)) return Result.fail(badReference)
  const idempotencyKey = key.success
  const pair = pairOf(request)
  if (Result.isFailure(pair)) return Result.fail(invalid(pair.failure, idempotencyKey))
  const { pixKey: _, pixKeyType: __, ...rest } = request
  const body = encodeBody({ ...rest, ...pair.success }, { onExcessProperty: "error", errors: "all" })
  if (Result.isFailure(body)) return Result.fail(invalid(issuesOf(body.failure), idempotencyKey))
  const { amount } = body.success
  if (amount < minimumWithdrawal) {
    return Result.fail(
      new BelowMinimum({
        operation,
        attempts: 0,
        idempotencyKey,
        outcome: "NotSent",
        amount: request.amount,
        minimum: minimumWithdrawal
      })
    )
  }
  return Result.succeed({
    key: idempotencyKey,
    reference,
    amount,
    text: JSON.stringify(body.success),
    check: checkOf(request, idempotencyKey)
  })
}

/** Checks a payout to its last field. A caller without types may give anything. `place` says which of many it is. */
export const submission = (
  payout: PayoutItem,
  place?: string
): Result.Result<Submission, InvalidRequest | BelowMinimum> =>
  Result.mapError(
    Result.getOrElse(
      Result.try(() => check(payout)),
      () => Result.fail(invalid([{ path: "", problem: "Expected a payout: { reference, amount, ... }" }]))
    ),
    (error) =>
      place === undefined || error._tag === "BelowMinimum"
        ? error
        : invalid(
            error.issues.map(({ path, problem }) => ({ path: path === "" ? place : `${place}.${path}`, problem })),
            error.idempotencyKey
          )
  )

const StoredRequest = Schema.fromJsonString(WithdrawalRequestBody)
const decodeStored = Schema.decodeUnknownEffect(StoredRequest)

/** The request that was stored. It fails where the text is not one. */
export const readRequest = (text: string): Effect.Effect<WithdrawalRequest, void> =>
  Effect.mapBoth(decodeStored(text), {
    onFailure: () => undefined,
    // Of the pair, both or none was written.
    onSuccess: (body) => body as WithdrawalRequest
  })

/** Whether a stored request asks for the same; `undefined` where it cannot be read. */
export const isSameRequest = (stored: string, wanted: string): boolean | undefined =>
  Result.getOrElse(
    Result.try(() => stored === wanted || canonical(JSON.parse(stored)) === canonical(JSON.parse(wanted))),
    () => undefined
  )
