/**
 * A short check of the request of a payout, by which another request under the same reference is noticed without a stored PIX
 * key.
 *
 * The check has only twelve bits. There are so few CPFs and phone numbers that a full hash of a PIX key would reveal the
 * key. A reader of the table learns twelve bits of the request. One change in 4096 is missed.
 */
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { InvalidRequest } from "../../contract/PaymentsError.ts"
import { fingerprint, fromReferenceOption } from "../../contract/IdempotencyKey.ts"
import type { WithdrawalRequest } from "../../contract/Withdrawal.ts"
import { invalidWithdrawal, pairOf } from "../../contract/WithdrawalCheck.ts"
import { Centavos } from "../../pix/Money.ts"
import { type PayoutItem, ReferenceConflict } from "../Payout.ts"
import { defaultAccount } from "../PayoutQueueOptions.ts"

/** Sorts the fields of an object, so that their order does not change the text. */
const sorted = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** A value as JSON with sorted fields. */
export const canonical = (value: unknown): string => JSON.stringify(value, sorted)

/** The check of a request: three hexadecimal digits, which differ for the same request under another key. */
const checkOf = (request: WithdrawalRequest, idempotencyKey: string): string => {
  const { currency = "BRL", description, metadata } = request
  const { pixKey, pixKeyType } = request
  // A key that can be sent is compared in the form in which it is sent.
  const pair = Result.getOrElse(pairOf(request), () => ({ pixKey, pixKeyType }))
  const content = canonical([pair, currency, description, metadata])
  return fingerprint(`${idempotencyKey}\n${content}`).slice(0, 3)
}

const invalid = (path: string, problem: string) => invalidWithdrawal([{ path, problem }])

/** The error of an item that is no object, or throws when it is read. */
const unreadableItem = invalid("", "must be an object with a reference, an amount, and plain data")

/** The error of an item whose reference makes no key. */
const badReference = invalid(
  "reference",
  "must be a text that is not blank, without space around it, in composed form (NFC), and without characters that a person cannot see or tell apart"
)

/** Whether the amount of a caller is a whole number of centavos. */
const isCentavos = Schema.is(Centavos)

/** An item whose reference makes a key. Its request is not checked yet. */
export interface ReadItem {
  readonly reference: string
  readonly idempotencyKey: string
  readonly request: WithdrawalRequest
  readonly check: string
}

/** The reference of an item where it is a text, and its amount where it is a whole number of centavos. */
interface Name {
  readonly reference: string
  readonly amount?: Centavos
}

/** Reads the reference and the amount. A caller without types may give anything, and reading it may throw. */
export const nameOf = (item: Partial<PayoutItem> | undefined): Name =>
  Result.getOrElse(
    Result.try((): Name => {
      const { amount, reference } = item ?? {}
      return { reference: Predicate.isString(reference) ? reference : "", ...(isCentavos(amount) && { amount }) }
    }),
    () => ({ reference: "" })
  )

/** Why an item cannot be read. */
interface Unreadable extends Name {
  readonly error: InvalidRequest
}

/**
 * The key of a reference in an account; none where the reference makes no key. One reference in two accounts has two keys,
 * and so have `a/b` in the default account and `b` in the account `a`: their kinds differ, and the name of an account has no
 * slash.
 */
export const payoutKey = (account: string, reference: string): Option.Option<string> =>
  Option.flatMap(fromReferenceOption("payout", reference), (key) =>
    account === defaultAccount ? Option.some(key) : fromReferenceOption("payout-account", `${account}/${reference}`)
  )

/** Reads an item. A caller without types may give anything, and reading it may throw. */
export const readItem = (
  keyOf: (reference: string) => Option.Option<string>,
  item: PayoutItem
): Result.Result<ReadItem, Unreadable> =>
  Result.try({
    try: () => {
      const { reference, ...request } = item
      const idempotencyKey = Option.getOrUndefined(keyOf(reference))
      if (idempotencyKey !== undefined) {
        return Result.succeed({ reference, idempotencyKey, request, check: checkOf(request, idempotencyKey) })
      }
      return Result.fail({ ...nameOf(item), error: badReference })
    },
    catch: () => ({ ...nameOf(item), error: unreadableItem })
  }).pipe(Result.flatMap(identity))

/** A payout that is compared with an earlier one. */
interface Wanted extends Pick<ReadItem, "reference"> {
  /** In centavos. */
  readonly amount: number
}

/** The conflict of a payout with an earlier one of its reference, if there is one. */
export const conflictOf = (
  { amount, reference }: Wanted,
  isSameContent: boolean,
  earlier: ReferenceConflict["earlier"]
): ReferenceConflict | undefined => {
  const differs = [
    ...(earlier.amount === amount ? [] : ["amount" as const]),
    ...(isSameContent ? [] : ["content" as const])
  ]
  return differs.length === 0
    ? undefined
    : new ReferenceConflict({ outcome: "NotSent", reference, amount: Centavos.make(amount), differs, earlier })
}
