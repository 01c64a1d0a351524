/**
 * A short check of what a payout asks for besides its amount, so that a later run notices another request under the
 * same reference without a stored PIX key.
 *
 * Twelve bits on purpose. A full hash of a PIX key could be searched for the key, since there are few CPFs and phone
 * numbers; of twelve bits, whoever holds the events learns no more than twelve bits. One change in 4096 is missed.
 */
import * as Result from "effect/Result"
import { fingerprint } from "../../contract/IdempotencyKey.ts"
import type { WithdrawalRequest } from "../../contract/Withdrawal.ts"
import { invalidWithdrawal, pairOf } from "../../contract/WithdrawalCheck.ts"
import { ReferenceConflict } from "../Payout.ts"

/** The same for objects that differ only in the order of their fields. */
const sorted = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** A value as JSON with sorted fields. */
export const canonical = (value: unknown): string => JSON.stringify(value, sorted)

/** Three hexadecimal digits, other ones for the same request under another key. */
export const checkOf = (request: WithdrawalRequest, idempotencyKey: string): string => {
  const { currency = "BRL", description, metadata } = request
  const { pixKey, pixKeyType } = request
  // As it is sent, where it can be.
  const pair = Result.getOrElse(pairOf(request), () => ({ pixKey, pixKeyType }))
  const content = canonical([pair, currency, description, metadata])
  return fingerprint(`${idempotencyKey}\n${content}`).slice(0, 3)
}

const invalid = (path: string, problem: string) => invalidWithdrawal([{ path, problem }])

/** Of an item that is no object, or throws when it is read. */
export const unreadableItem = invalid("", "must be an object with a reference, an amount, and plain data")

/** Of an item whose reference makes no key. */
export const badReference = invalid(
  "reference",
  "must be a text that is not blank, without space around it, in composed form (NFC), and without characters that a person cannot see or tell apart"
)

/** Of an item of a run that cannot be counted against a limit. */
export const badAmount = invalid("amount", "must be a whole number of centavos, from 0")

/** What a payout asks for. */
interface Wanted {
  readonly reference: string
  readonly idempotencyKey: string
  /** In centavos. */
  readonly amount: number
}

/** The conflict of a payout with what is known of its reference, if there is one. */
export const conflictOf = (
  { amount, idempotencyKey, reference }: Wanted,
  isSameContent: boolean,
  earlier: ReferenceConflict["earlier"]
): ReferenceConflict | undefined => {
  const differs = [
    ...(earlier.idempotencyKey === idempotencyKey ? [] : ["key" as const]),
    ...(earlier.amount === amount ? [] : ["amount" as const]),
    ...(isSameContent ? [] : ["content" as const])
  ]
  return differs.length === 0 ? undefined : new ReferenceConflict({ outcome: "NotSent", reference, differs, earlier })
}
