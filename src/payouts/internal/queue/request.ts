/**
 * The request of a payout. It is checked when it is submitted, so that every payout of the queue can be sent, and stored as
 * the JSON of its contract.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { fromReferenceOption } from "../../../contract/IdempotencyKey.ts"
import { lanes } from "../../../internal/fingerprint.ts"
import type { BelowMinimum, InvalidRequest } from "../../../contract/PaymentsError.ts"
import { WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import { checkWithdrawal, invalidWithdrawal } from "../../../contract/WithdrawalCheck.ts"
import { Centavos } from "../../../pix/Money.ts"
import { issuesOfStep } from "../../../durable/Step.ts"
import type { PayoutItem } from "../../Payout.ts"
import { defaultAccount } from "../../PayoutQueueOptions.ts"
import type { Seal } from "../../Seal.ts"
import { lastTime } from "./tables.ts"

/** A checked payout, as it is stored. */
export interface Submission {
  readonly account: string
  readonly idempotencyKey: string
  readonly reference: string
  readonly amount: number
  /** The request as JSON, its fields in the order of the contract. */
  readonly text: string
  readonly requestCheck: string
  readonly submittedBy: string | null
  /** In milliseconds. */
  readonly notBefore: number | null
}

/** Sorts the fields of an object, so that their order does not change the text. */
const sorted = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** A value as JSON with sorted fields. */
const canonical = (value: unknown): string => JSON.stringify(value, sorted)

/**
 * A short check of a request but for its amount: three hexadecimal digits, which differ for the same request under another
 * key. By it another request under the same reference is noticed when the request was deleted or cannot be opened.
 *
 * It has only twelve bits. There are so few CPFs and phone numbers that a full hash of a PIX key would reveal the key. A
 * reader of the table learns twelve bits of the request. One change in 4096 is missed.
 */
const checkOf = (body: typeof WithdrawalRequestBody.Encoded, idempotencyKey: string): string =>
  lanes(`${idempotencyKey}\n${canonical({ ...body, amount: undefined })}`, 1).slice(0, 3)

/**
 * The key of a reference in an account; none where the reference makes no key. One reference in two accounts has two keys,
 * and so have `a/b` in the default account and `b` in the account `a`: their kinds differ, and the name of an account has no
 * slash.
 */
export const payoutKey = (account: string, reference: string): Option.Option<string> =>
  Option.flatMap(fromReferenceOption("payout", reference), (key) =>
    account === defaultAccount ? Option.some(key) : fromReferenceOption("payout-account", `${account}/${reference}`)
  )

/** Whether the amount of a caller is a whole number of centavos. */
const isCentavos = Schema.is(Centavos)

/**
 * The reference of an item where it is a text, and its amount where it is a whole number of centavos. A caller without types may
 * give anything, and reading it may throw.
 */
export const nameOf = (
  item: Partial<PayoutItem> | undefined
): { readonly reference: string; readonly amount?: Centavos } =>
  Result.getOrElse(
    Result.try(() => {
      const { amount, reference } = item ?? {}
      return { reference: Predicate.isString(reference) ? reference : "", ...(isCentavos(amount) && { amount }) }
    }),
    () => ({ reference: "" })
  )

const invalid = (path: string, problem: string) => invalidWithdrawal([{ path, problem }])

/** Separates an item. A caller without types may give anything, and reading it may throw. */
const readItem = (item: PayoutItem) =>
  Result.try({
    try: () => {
      const { by, notBefore, reference, ...request } = item
      return { by, notBefore, reference, request }
    },
    catch: () => invalid("", "must be an object with a reference, an amount, and plain data")
  })

/** A `notBefore` in milliseconds; `undefined` where it is no time that can be stored. */
const millisOfTime = (time: unknown): number | undefined => {
  const millis = DateTime.isDateTime(time) ? Math.ceil(DateTime.toEpochMillis(time)) : Number.NaN
  return millis >= 0 && millis <= lastTime ? millis : undefined
}

/** What is wrong with another one. */
const badTime = "must be a DateTime from 1970 on"

/** A payout with its request as it is stored. */
export interface Stored extends Omit<Submission, "text"> {
  readonly request: string
}

/** Seals what is a person's data of a payout. */
export const sealed = Effect.fnUntraced(function* (seal: Seal, { text, ...one }: Submission) {
  const request = yield* seal.seal(text, one.reference)
  return { ...one, request } satisfies Stored
})

/** Checks every field of a payout. */
export const submission = (
  account: string,
  payout: PayoutItem
): Result.Result<Submission, InvalidRequest | BelowMinimum> =>
  Result.gen(function* () {
    const { by, notBefore, reference, request } = yield* readItem(payout)
    const from = notBefore === undefined ? null : millisOfTime(notBefore)
    const issues = [...issuesOfStep({ by }), ...(from === undefined ? [{ path: "notBefore", problem: badTime }] : [])]
    if (issues.length > 0) return yield* Result.fail(invalidWithdrawal(issues))
    const idempotencyKey = yield* Result.fromOption(payoutKey(account, reference), () =>
      invalid(
        "reference",
        "must be a text that is not blank, without space around it, in composed form (NFC), and without characters that a person cannot see or tell apart"
      )
    )
    const body = yield* checkWithdrawal(request, idempotencyKey)
    const { amount } = body
    const text = JSON.stringify(body)
    const requestCheck = checkOf(body, idempotencyKey)
    return {
      account,
      idempotencyKey,
      reference,
      amount,
      text,
      requestCheck,
      submittedBy: by ?? null,
      notBefore: from ?? null
    }
  })

/** Reads a stored request; none where the text is not a request. */
export const readRequest = Schema.decodeUnknownOption(Schema.fromJsonString(WithdrawalRequestBody))

/** Whether a stored request has the same content; `undefined` where it cannot be read. */
export const isSameRequest = (stored: string, wanted: string): boolean | undefined =>
  Result.getOrElse(
    Result.try(() => stored === wanted || canonical(JSON.parse(stored)) === canonical(JSON.parse(wanted))),
    () => undefined
  )
