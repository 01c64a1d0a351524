/**
 * What a webhook delivery hints at. The service documents no payload (service interface, section 6), so the default looks
 * for the fields that it uses elsewhere, wherever near the top they stand. Nothing found here is believed.
 *
 * - A transaction is named by a `transactionId` that is a UUID, or by an `id` that is one: at the top, or in an object
 *   named as `data`, `transaction`, `payment`, `event`, ...
 * - A withdrawal is recognised by `withdrawalId`, by its own `enTransaction`, by an idempotency key that begins with
 *   `wd_`, by an object named `withdrawal` or `withdraw`, or by a `type` or `event` that says so. What may be about a
 *   withdrawal is never taken for a transaction.
 * - `metadata` is returned as it is and never searched: it is the caller's own.
 *
 * ```ts
 * import { WebhookHint } from "effect-pix/webhook"
 *
 * const id = "9f1c8c52-6a3e-4b1f-9d57-0f4f5e1f2a11"
 *
 * WebhookHint.find({ transactionId: id, enStatusTransaction: "Paid" }) // => { about: "Transaction", transactionId: id, status: "Paid" }
 * WebhookHint.find({ event: "payment", data: { id, status: "PAID" } }) // => { about: "Transaction", transactionId: id, status: "PAID" }
 * WebhookHint.find({ id: 7, idempotencyKey: "wd_42", enTransaction: "Awaiting" }) // => { about: "Withdrawal", withdrawalId: 7, idempotencyKey: "wd_42", status: "Awaiting" }
 * WebhookHint.find("hello") // => { about: "Unknown" }
 * ```
 */

import * as Predicate from "effect/Predicate"
/** What a delivery hints at. */
export interface Hint {
  readonly about: "Transaction" | "Withdrawal" | "Unknown"
  /** The id to look up, for a transaction. */
  readonly transactionId?: string | undefined
  /** What the delivery says that the status is, in whatever vocabulary. */
  readonly status?: string | undefined
  readonly withdrawalId?: number | undefined
  readonly idempotencyKey?: string | undefined
  /** The metadata as it came: text, or an object. */
  readonly metadata?: string | Readonly<Record<string, unknown>> | undefined
}

type Fields = ReadonlyMap<string, unknown>

interface Part {
  /** The name that it stands under, normalised. The top has none. */
  readonly name: string
  readonly fields: Fields
}

const maxDepth = 3
const maxParts = 50
const maxWord = 64
const maxKey = 255

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i
const ofPayout = /withdraw|payout|saque/i

/** Objects whose `id` is that of the thing which the delivery is about. Those of a customer or an item are not. */
const holders: ReadonlySet<string> = new Set(
  "data transaction charge payment payload object resource event body pix withdraw withdrawal payout".split(" ")
)

const normal = (name: string) => name.toLowerCase().replace(/[^a-z\d]/g, "")

/** The top and the objects within it that may say what the delivery is about, from the outside in. */
const partsOf = (payload: unknown): ReadonlyArray<Part> => {
  const parts: Array<Part> = []
  let level: ReadonlyArray<readonly [string, unknown]> = [["", payload]]
  for (let depth = 0; depth <= maxDepth && level.length > 0; depth++) {
    const below: Array<readonly [string, unknown]> = []
    for (const [name, value] of level) {
      if (!Predicate.isObject(value) || parts.length >= maxParts) continue
      const entries = Object.entries(value).map(([key, field]) => [normal(key), field] as const)
      parts.push({ name, fields: new Map(entries) })
      below.push(...entries.filter(([key]) => holders.has(key)))
    }
    level = below
  }
  return parts
}

const firstOf = <A>(
  parts: ReadonlyArray<Part>,
  names: ReadonlyArray<string>,
  read: (value: unknown) => A | undefined
): A | undefined => {
  for (const { fields } of parts) {
    for (const name of names) {
      const found = read(fields.get(name))
      if (found !== undefined) return found
    }
  }
  return undefined
}

const asUuid = (value: unknown) => (typeof value === "string" && uuid.test(value) ? value : undefined)

const asText = (longest: number) => (value: unknown) =>
  typeof value === "string" && value.length > 0 && value.length <= longest ? value : undefined

const asWord = asText(maxWord)

const asInteger = (value: unknown) => {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

const asMetadata = (value: unknown) => asText(Infinity)(value) ?? (Predicate.isObject(value) ? value : undefined)

const isPayoutName = (name: string) => ofPayout.test(name)

/** Finds what a payload hints at: see the head of this module. Never fails, whatever it is given. */
export const find = (payload: unknown): Hint => {
  const parts = partsOf(payload)
  const inside = parts.toReversed()
  const named = inside.filter(({ name }) => name === "transaction" || isPayoutName(name))
  const idempotencyKey = firstOf(parts, ["idempotencykey"], asText(maxKey))
  const explicit = firstOf(parts, ["withdrawalid", "withdrawid"], asInteger)
  const transactionId = firstOf(parts, ["transactionid"], asUuid) ?? firstOf([...named, ...inside], ["id"], asUuid)
  const kind = firstOf(parts, ["type", "event", "eventtype", "kind", "resource"], asWord)
  const isWithdrawal =
    explicit !== undefined ||
    idempotencyKey?.startsWith("wd_") === true ||
    parts.some(({ fields, name }) => isPayoutName(name) || fields.has("entransaction")) ||
    (kind !== undefined && isPayoutName(kind)) ||
    (idempotencyKey !== undefined && transactionId === undefined && !idempotencyKey.startsWith("tx_"))
  const about = isWithdrawal ? "Withdrawal" : transactionId === undefined ? "Unknown" : "Transaction"
  const withdrawalId = isWithdrawal ? (explicit ?? firstOf([...named, ...inside], ["id"], asInteger)) : undefined
  const words = isWithdrawal ? ["entransaction", "status"] : ["enstatustransaction", "transactionstatus", "status"]
  const status = firstOf([...named, ...inside], words, asWord)
  const metadata = firstOf(parts, ["metadata"], asMetadata)
  return {
    about,
    ...(about === "Transaction" ? { transactionId } : {}),
    ...(withdrawalId === undefined ? {} : { withdrawalId }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(status === undefined ? {} : { status }),
    ...(metadata === undefined ? {} : { metadata })
  }
}
