/**
 * The hints of a webhook delivery. The service documents no payload (`docs/service.md`), so the default looks for the fields
 * that the service documents elsewhere, and for those of the bodies that were seen of it: at the top, in an object `data`, or in
 * the items of a list at either place. Names are read in any case, with or without `_`. A hint proves nothing. For any other
 * payload give `Webhook` a `find` of your own.
 *
 * - The subject is what `object` and `type` say: `transaction` and `cashin`, or `withdraw` and `cashout`. Without them, it is a
 *   withdrawal that has a `withdrawId` (seen), a `withdrawalId` (the sandbox's own word), an `enTransaction`, or an
 *   `idempotencyKey`: one that begins with `wd_`, or any but a charge's where no transaction is named.
 * - A transaction is named by a `transactionId`, or by an `id` that is long or has a status beside it: 1 to 64 letters, digits,
 *   `_` and `-`. Its status is `enStatusTransaction` or `status`.
 * - `metadata` is returned as it is and never searched: it is the caller's own.
 * - A delivery has at most 100 items. Of one with several, a hint has no `reason`, and only its item's own `metadata`: what stands
 *   once is neither masked nor stored a hundred times.
 *
 * @example
 * ```ts
 * import { WebhookHint } from "effect-pix/webhook"
 *
 * const id = "9f1c8c52-6a3e-4b1f-9d57-0f4f5e1f2a11"
 *
 * WebhookHint.findAll({ transactionId: id, enStatusTransaction: "Paid" }) // => [{ about: "Transaction", transactionId: id, status: "Paid" }]
 * WebhookHint.findAll({ event: "payment", data: { id, status: "PAID" } }) // => [{ about: "Transaction", transactionId: id, status: "PAID" }]
 * WebhookHint.findAll({ object: "withdraw", withdrawId: "42", status: "failure" }) // => [{ about: "Withdrawal", withdrawalId: 42, status: "failure" }]
 * WebhookHint.findAll("hello") // => [{ about: "Unknown" }]
 * WebhookHint.findAll([{ transactionId: id }, { withdrawId: 42 }]).length // => 2
 * ```
 */
declare module "./WebhookHint.ts" {}

import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { displayMessage } from "../internal/mask.ts"
import { endToEnd, opaqueId } from "../internal/wire.ts"
import { type Centavos, centavosOption } from "../pix/Money.ts"
import { maxHints, maxKeyLength, maxWordLength } from "../internal/bounds.ts"

/** The hint of a delivery. */
export interface Hint {
  /** The subject of the delivery. `Unknown`: it names neither a transaction nor a withdrawal. */
  readonly about: "Transaction" | "Withdrawal" | "Unknown"
  /** The id to look up, for a transaction. */
  readonly transactionId?: string | undefined
  /** The claimed status, in the words of the delivery. */
  readonly status?: string | undefined
  /** The `id` of a withdrawal's record. */
  readonly withdrawalId?: number | undefined
  /** The key that a withdrawal was sent with. */
  readonly idempotencyKey?: string | undefined
  /** The claimed end-to-end id of the PIX: `E` or `D`, 8 digits, then digits and letters. */
  readonly endToEndId?: string | undefined
  /** The caller's own reference, as the delivery repeats it. */
  readonly externalRef?: string | undefined
  /**
   * The claimed amount in centavos. Absent unless the delivery has it in centavos and in reais, and both are one amount: a
   * `value` alone has no unit, since it is in centavos for a charge and in reais for a withdrawal.
   */
  readonly amount?: Centavos | undefined
  /** Why it failed, as the delivery says it: at most 200 characters, masked as all words of the service are. */
  readonly reason?: string | undefined
  /** The metadata of the delivery, unread: text, or an object. */
  readonly metadata?: string | Readonly<Record<string, unknown>> | undefined
}

/** An id that is at least so long is one of a transaction without a status beside it. */
const longId = 20

/** Members by their names in small letters, without `_` and `-`. A member that is `null` is absent. */
type Fields = ReadonlyMap<string, unknown>

/** The members of an item, and those that stand beside its list, which it has too. */
interface Body extends Pick<Fields, "get" | "has"> {
  readonly own: Fields
  readonly beside: Fields
}

/** A copy would be made for each item. */
const bodyOf = (own: Fields, beside: Fields): Body => ({
  own,
  beside,
  get: (name) => own.get(name) ?? beside.get(name),
  has: (name) => own.has(name) || beside.has(name)
})

const foldedName = (name: string) => name.toLowerCase().replaceAll(/[\s_-]/g, "")

const fieldsOf = (body: unknown): Fields =>
  new Map(
    Object.entries(Predicate.isObject(body) ? body : {}).flatMap(([name, value]) =>
      Predicate.isNullish(value) ? [] : [[foldedName(name), value] as const]
    )
  )

const asText = (value: unknown, longest: number) =>
  typeof value === "string" && value.length > 0 && value.length <= longest ? value : undefined

/** The id of a charge, which is opaque. */
const asId = (value: unknown) => {
  const id = Number.isSafeInteger(value) ? String(value) : value
  return typeof id === "string" && opaqueId.test(id) ? id : undefined
}

/** A number, or the digits of one. */
const asInteger = (value: unknown) => {
  const integer = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value
  return typeof integer === "number" && Number.isSafeInteger(integer) && integer >= 0 ? integer : undefined
}

/** An amount of reais in centavos: only one that has no fraction of a centavo. */
const asReais = (value: unknown) => {
  const [, reais, part = ""] = /^(\d{1,12})(?:\.(\d{1,2})0*)?$/.exec(String(value)) ?? []
  return reais === undefined ? undefined : Number(reais + part.padEnd(2, "0"))
}

const asMetadata = (value: unknown) => asText(value, Infinity) ?? (Predicate.isObject(value) ? value : undefined)

const asEndToEnd = (value: unknown) => (typeof value === "string" && endToEnd.test(value) ? value : undefined)

/** The subject that a body names: `object` and `type` of the bodies that were seen. */
const subjectOf = (fields: Body): Hint["about"] | undefined => {
  const words = ["object", "type"].map((name) => foldedName(asText(fields.get(name), maxWordLength) ?? ""))
  const isAny = (subject: RegExp) => words.some((word) => subject.test(word))
  return isAny(/^(?:withdraw|cashout)/) ? "Withdrawal" : isAny(/^(?:transaction|cashin)/) ? "Transaction" : undefined
}

const amountOf = (fields: Body): Centavos | undefined => {
  const inCents = fields.get("valueincents")
  const [cents, reais] =
    inCents === undefined
      ? [fields.get("value"), fields.get("amount")]
      : [inCents, fields.get("value") ?? fields.get("amount")]
  const amount = asInteger(cents)
  return amount !== undefined && amount === asReais(reais) ? Option.getOrUndefined(centavosOption(amount)) : undefined
}

const reasonNames = [
  "providererrordescription",
  "errordescription",
  "failurereason",
  "reason",
  "errormessage",
  "message",
  "error"
]
/** The members whose words are the service's own. Every other text of a body may be a person's data. */
const ownWords = new Set([...reasonNames, "object", "type", "status", "enstatustransaction", "entransaction", "method"])

/** Every text and number that may be a person's data. A loop, since a body may be nested deeply. */
const secretsOf = ({ beside, own }: Body): ReadonlyArray<string> => {
  const values = [...own, ...beside].flatMap(([name, value]) => (ownWords.has(name) ? [] : [value]))
  const texts: Array<string> = []
  for (const value of values) {
    if (Predicate.isObjectOrArray(value)) for (const inner of Object.values(value)) values.push(inner)
    else if (typeof value === "string" || typeof value === "number") texts.push(String(value))
  }
  return texts
}

const reasonOf = (fields: Body): string | undefined => {
  const words = reasonNames.map((name) => asText(fields.get(name), Infinity)).find(Predicate.isNotUndefined)
  return words === undefined ? undefined : displayMessage(words, () => secretsOf(fields)) || undefined
}

type Subject = ReturnType<typeof subjectOf>

/** The id of a charge. An `id` may be that of an event, unless it is long, or the body says what it is about. */
const transactionIdOf = (fields: Body, subject: Subject): string | undefined => {
  const found = fields.get("id")
  const id = typeof found === "string" ? asId(found) : undefined
  const isOwn = id !== undefined && (id.length >= longId || fields.has("status") || subject !== undefined)
  return (
    asId(fields.get("transactionid")) ??
    (isOwn ? id : undefined) ??
    (subject === "Transaction" ? asId(fields.get("providertxid")) : undefined)
  )
}

/** Whether a body that does not name its subject has what only a withdrawal has. */
const isOfWithdrawal = (fields: Body, key: string | undefined, transactionId: string | undefined): boolean =>
  ["withdrawid", "withdrawalid", "entransaction"].some((name) => fields.has(name)) ||
  (key !== undefined && (key.startsWith("wd_") || (transactionId === undefined && !key.startsWith("tx_"))))

const hintOf = (fields: Body, isOnly: boolean): Hint => {
  const get = (name: string) => fields.get(name)
  const key = asText(get("idempotencykey"), maxKeyLength)
  const subject = subjectOf(fields)
  const transactionId = transactionIdOf(fields, subject)
  const isWithdrawal = subject === "Withdrawal" || (subject === undefined && isOfWithdrawal(fields, key, transactionId))
  const about = isWithdrawal ? "Withdrawal" : transactionId === undefined ? "Unknown" : "Transaction"
  const names = isWithdrawal ? ["withdrawid", "withdrawalid", "id"] : []
  const found: Omit<Hint, "about"> = {
    transactionId: about === "Transaction" ? transactionId : undefined,
    withdrawalId: names.map((name) => asInteger(get(name))).find(Predicate.isNotUndefined),
    idempotencyKey: key,
    status:
      asText(get(isWithdrawal ? "entransaction" : "enstatustransaction"), maxWordLength) ??
      asText(get("status"), maxWordLength),
    endToEndId: asEndToEnd(get("endtoendid")) ?? asEndToEnd(get("providerendtoendid")),
    externalRef: asText(get("externalref"), maxKeyLength),
    amount: amountOf(fields),
    reason: isOnly ? reasonOf(fields) : undefined,
    metadata: asMetadata((isOnly ? fields : fields.own).get("metadata"))
  }
  return { about, ...Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) }
}

/** The items of a list, or the one item; of a longer list as many as show that it is too long. */
const itemsOf = (list: unknown): ReadonlyArray<unknown> => (Array.isArray(list) ? list.slice(0, maxHints + 1) : [list])

/** The bodies of a payload: each item of a list has the members that stand beside the list. */
const bodiesOf = (payload: unknown): ReadonlyArray<Body> => {
  const fields = fieldsOf(payload)
  const beside = new Map(fields)
  beside.delete("data")
  return itemsOf(fields.get("data")).map((item) => bodyOf(fieldsOf(item), beside))
}

/**
 * Finds the hints of a payload, by the names of the fields that the service uses elsewhere: one for each item of a list, but
 * one for all items that name nothing. It never fails, for any payload, and returns at least one. A hint proves nothing.
 *
 * Of a payload with more than 100 items it returns 101 hints, also of items that name nothing, and reads no more: such a payload is
 * no delivery. `Webhook` answers it with 413.
 */
export const findAll = (payload: unknown): readonly [Hint, ...ReadonlyArray<Hint>] => {
  const bodies = itemsOf(payload)
    .flatMap(bodiesOf)
    .slice(0, maxHints + 1)
  const hints = bodies.map((body) => hintOf(body, bodies.length === 1))
  const isTooLong = hints.length > maxHints
  const named = hints.filter(({ about }) => isTooLong || about !== "Unknown")
  const unknown = isTooLong ? undefined : hints.find(({ about }) => about === "Unknown")
  const [first = { about: "Unknown" }, ...others] = unknown === undefined ? named : [...named, unknown]
  return [first, ...others]
}
