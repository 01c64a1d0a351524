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
import type { BelowMinimum, InvalidRequest } from "../../../contract/PaymentsError.ts"
import { WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import { checkWithdrawal, invalidWithdrawal } from "../../../contract/WithdrawalCheck.ts"
import { isUnclear, type Unclear } from "../../../contract/WriteOptions.ts"
import { Centavos } from "../../../pix/Money.ts"
import { issuesOfStep } from "../../../durable/Step.ts"
import type { PayoutItem } from "../../Payout.ts"
import { defaultAccount } from "../../PayoutQueueOptions.ts"
import type { Place, Seal } from "../../Seal.ts"
import { makeOutcomeUnknown, withoutWords } from "../machine/answers.ts"
import { writeFailure } from "../machine/row.ts"
import { lastTime } from "./tables.ts"

/** A checked payout, as it is stored. */
export interface Submission {
  readonly account: string
  readonly idempotencyKey: string
  readonly reference: string
  readonly amount: number
  /** The request as JSON, its fields in the order of the contract. */
  readonly text: string
  readonly submittedBy: string | null
  /** In milliseconds. */
  readonly notBefore: number | null
  /** `unknown`: a single call with its key may have been executed. */
  readonly state: "accepted" | "unknown"
  /** When that call was made, in milliseconds; null where that is not known. */
  readonly mayHaveLeftAt: number | null
  readonly fingerprint: string | null
  /** The failure of that call, as JSON. */
  readonly error: string | null
}

/** Sorts the fields of an object, so that their order does not change the text. */
const sorted = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** What a request asks for but its amount, as JSON with sorted fields. */
const contentOf = (text: string): string => JSON.stringify({ ...JSON.parse(text), amount: undefined }, sorted)

/** The seal of a queue without the option `seal`. */
export const unsealed: Seal = { seal: Effect.succeed, open: Effect.succeed }

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
      const { after, by, earlier, notBefore, reference, ...request } = item
      return { after, by, earlier, notBefore, reference, request }
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

/** The columns of what a single call began; `undefined` where the item says of no such call. */
const begunBy = (after: Unclear | undefined, isInDoubt: boolean, key: string) => {
  if (!isInDoubt) return { state: "accepted", mayHaveLeftAt: null, fingerprint: null, error: null } as const
  return {
    state: "unknown",
    mayHaveLeftAt: after?.firstSentAt?.epochMilliseconds ?? null,
    fingerprint: after?.fingerprint ?? null,
    error: writeFailure(after === undefined ? makeOutcomeUnknown(key, "Interrupted") : withoutWords(after))
  } as const
}

/** Where a text of a payout is stored. */
export const placeOf = ({ account, reference }: Omit<Place, "column">, column: Place["column"]): Place => ({
  account,
  reference,
  column
})

/** A payout with its request as it is stored. */
export interface Stored extends Omit<Submission, "text"> {
  readonly request: string
}

/** Seals what is a person's data of a payout. */
export const sealed = (seal: Seal, { text, ...one }: Submission): Effect.Effect<Stored> =>
  Effect.map(seal.seal(text, placeOf(one, "request")), (request) => ({ ...one, request }))

/** Checks every field of a payout. */
export const submission = (
  account: string,
  payout: PayoutItem
): Result.Result<Submission, InvalidRequest | BelowMinimum> =>
  Result.gen(function* () {
    const { after, by, earlier, notBefore, reference, request } = yield* readItem(payout)
    const isInDoubt = after !== undefined || earlier !== undefined
    const from = notBefore === undefined ? null : millisOfTime(notBefore)
    const issues = [
      ...issuesOfStep({ by }),
      ...(from === undefined ? [{ path: "notBefore", problem: badTime }] : []),
      ...(isInDoubt && notBefore !== undefined
        ? [{ path: "notBefore", problem: "must be absent: what a single call began is asked for at once" }]
        : []),
      ...(earlier !== undefined && earlier !== "Unknown" ? [{ path: "earlier", problem: 'must be "Unknown"' }] : [])
    ]
    if (issues.length > 0) return yield* Result.fail(invalidWithdrawal(issues))
    const idempotencyKey = yield* Result.fromOption(payoutKey(account, reference), () =>
      invalid(
        "reference",
        "must be a text that is not blank, without space around it, in composed form (NFC), and without characters that a person cannot see or tell apart"
      )
    )
    if (
      after !== undefined &&
      !(isUnclear(after) && after.operation === "requestWithdrawal" && after.idempotencyKey === idempotencyKey)
    ) {
      const problem =
        "must be the OutcomeUnknown or IdempotencyConflict of a requestWithdrawal with the key of this reference"
      return yield* Result.fail(invalid("after", problem))
    }
    const body = yield* checkWithdrawal(request, idempotencyKey)
    return {
      account,
      idempotencyKey,
      reference,
      amount: body.amount,
      text: JSON.stringify(body),
      submittedBy: by ?? null,
      notBefore: from ?? null,
      ...begunBy(after, isInDoubt, idempotencyKey)
    }
  })

/** Reads a stored request; none where the text is not a request. */
export const readRequest = Schema.decodeUnknownOption(Schema.fromJsonString(WithdrawalRequestBody))

/** Whether a stored request asks for the same but for its amount. One that cannot be read asks for something else. */
export const isSameRequest = (stored: string, wanted: string): boolean =>
  Result.getOrElse(
    Result.try(() => stored === wanted || contentOf(stored) === contentOf(wanted)),
    () => false
  )
