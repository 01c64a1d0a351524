/**
 * A short check of what a payout asks for beside its amount, so that a later run notices another request under the
 * same reference without a stored PIX key.
 *
 * Twelve bits on purpose. A full hash of a PIX key could be searched for the key, since there are few CPFs and phone
 * numbers; of twelve bits, whoever holds the events learns no more than twelve bits. One change in 4096 is missed.
 */
import * as Result from "effect/Result"
import { fingerprint } from "../../contract/IdempotencyKey.ts"
import type { WithdrawalRequest } from "../../contract/Withdrawal.ts"
import { fromPair, isPixKey, toPair } from "../../pix/PixKey.ts"

/** The same for objects that differ only in the order of their fields. */
const sorted = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** A value as JSON, whose fields stand in one order. */
export const canonical = (value: unknown): string => JSON.stringify(value, sorted)

/** As it is sent: the PIX directory's form, where the key has one. */
const pairOf = ({ pixKey, pixKeyType }: WithdrawalRequest): unknown => {
  if (isPixKey(pixKey)) return toPair(pixKey)
  if (typeof pixKey !== "string" || typeof pixKeyType !== "string") return { pixKey, pixKeyType }
  return Result.match(fromPair(pixKey, pixKeyType), {
    onSuccess: toPair,
    onFailure: () => ({ pixKey, pixKeyType })
  })
}

/** Three hexadecimal digits, other ones for the same request under another key. */
export const checkOf = (request: WithdrawalRequest, idempotencyKey: string): string => {
  const { currency = "BRL", description, metadata } = request
  const content = canonical([pairOf(request), currency, description, metadata])
  return fingerprint(`${idempotencyKey}\n${content}`).slice(0, 3)
}
