/**
 * The hint of a webhook delivery. The service documents no payload (`docs/service.md`), so the default looks
 * for the fields that the service documents elsewhere: at the top, or in an object `data`, as in the answer to a new
 * charge. A hint proves nothing. For any other payload give `Webhook` a `find` of your own.
 *
 * - A transaction is named by a `transactionId` or an `id` that is a UUID; its status is `enStatusTransaction` or `status`.
 * - A withdrawal is recognised by `withdrawalId` (the sandbox's own word), by its `enTransaction`, or by an
 *   `idempotencyKey`: one that begins with `wd_`, or any but a charge's where no transaction is named.
 * - `metadata` is returned as it is and never searched: it is the caller's own.
 *
 * @example
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
declare module "./WebhookHint.ts" {}

import * as Predicate from "effect/Predicate"

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
  /** The metadata of the delivery, unread: text, or an object. */
  readonly metadata?: string | Readonly<Record<string, unknown>> | undefined
}

const maxWord = 64
const maxKey = 255

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

const asUuid = (value: unknown) => (typeof value === "string" && uuid.test(value) ? value : undefined)

const asText = (value: unknown, longest: number) =>
  typeof value === "string" && value.length > 0 && value.length <= longest ? value : undefined

const asInteger = (value: unknown) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined

const asMetadata = (value: unknown) => asText(value, Infinity) ?? (Predicate.isObject(value) ? value : undefined)

const fieldsOf = (value: unknown) => (Predicate.isObject(value) ? value : {})

/**
 * Finds the hint of a payload, by the names of the fields that the service uses elsewhere. It never fails, for any payload.
 * A hint proves nothing.
 */
export const find = (payload: unknown): Hint => {
  const top = fieldsOf(payload)
  const fields: Readonly<Record<string, unknown>> = { ...top, ...fieldsOf(top["data"]) }
  const key = asText(fields["idempotencyKey"], maxKey)
  const transactionId = asUuid(fields["transactionId"]) ?? asUuid(fields["id"])
  const isWithdrawal =
    fields["withdrawalId"] !== undefined ||
    fields["enTransaction"] !== undefined ||
    key?.startsWith("wd_") === true ||
    (key !== undefined && transactionId === undefined && !key.startsWith("tx_"))
  const about = isWithdrawal ? "Withdrawal" : transactionId === undefined ? "Unknown" : "Transaction"
  const withdrawalId = isWithdrawal ? (asInteger(fields["withdrawalId"]) ?? asInteger(fields["id"])) : undefined
  const word = isWithdrawal ? fields["enTransaction"] : fields["enStatusTransaction"]
  const status = asText(word, maxWord) ?? asText(fields["status"], maxWord)
  const metadata = asMetadata(fields["metadata"])
  return {
    about,
    ...(about === "Transaction" && { transactionId }),
    ...(withdrawalId !== undefined && { withdrawalId }),
    ...(key !== undefined && { idempotencyKey: key }),
    ...(status !== undefined && { status }),
    ...(metadata !== undefined && { metadata })
  }
}
