/**
 * The lists of the sandbox: searches and counts rows, and takes a part of them.
 */
import * as Schema from "effect/Schema"
import { isKeyOf } from "../KeyOfReference.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../SandboxLedger.ts"
import type { SandboxRequest } from "../SandboxRequest.ts"
import type { SandboxWebhook } from "../SandboxWebhook.ts"

const natural = (most: number) =>
  Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: most }))

/**
 * Which rows of a list: those with this text, in this state; `limit` of them after `offset`, the newest first. With `row` the
 * offset is that of the part which has the row of this number, if one fits.
 */
export const Listing = Schema.Struct({
  search: Schema.optional(Schema.String),
  status: Schema.optional(Schema.String),
  limit: Schema.optional(natural(1_000_000)),
  offset: Schema.optional(natural(Number.MAX_SAFE_INTEGER)),
  row: Schema.optional(natural(Number.MAX_SAFE_INTEGER))
})
type Listing = typeof Listing.Type

/** A part of a list: how many rows fit in all, how many fit the search by status, how many newer ones fit, and the rows. */
export const Listed = <S extends Schema.Constraint>(row: S) =>
  Schema.Struct({
    total: Schema.Int,
    counts: Schema.Record(Schema.String, Schema.Int),
    offset: Schema.Int,
    items: Schema.Array(row)
  })

/** How the rows of a list are searched. */
export interface Texts<A> {
  /** Its number. */
  readonly numberOf: (row: A) => number
  readonly statusOf: (row: A) => string
  readonly textOf: (row: A) => string
  /** The idempotency key, which the search finds by its reference too. */
  readonly keyOf?: (row: A) => string | undefined
}

/** The rows that fit, the newest first. The rows are given oldest first. */
export const newest = <A>(
  all: ReadonlyArray<A>,
  { limit = 200, offset: given = 0, row: wanted, search = "", status }: Listing,
  { keyOf, numberOf, statusOf, textOf }: Texts<A>
) => {
  const text = search.trim().toLowerCase()
  const isWanted = isKeyOf(search.trim())
  const found =
    text === "" ? all : all.filter((row) => textOf(row).toLowerCase().includes(text) || isWanted(keyOf?.(row)))
  const counts: Record<string, number> = {}
  for (const row of found) counts[statusOf(row)] = (counts[statusOf(row)] ?? 0) + 1
  const fitting = status === undefined ? found : found.filter((row) => statusOf(row) === status)
  const newer = fitting.length - 1 - fitting.findIndex((row) => numberOf(row) === wanted)
  const offset = newer < fitting.length ? newer - (newer % limit || 0) : given
  const end = Math.max(0, fitting.length - offset)
  return { total: fitting.length, counts, offset, items: fitting.slice(Math.max(0, end - limit), end).toReversed() }
}

const statusOf = ({ status }: { readonly status: string }) => status
const numberOf = ({ id }: { readonly id: number }) => id
const keyOf = ({ idempotencyKey }: { readonly idempotencyKey?: string | undefined }) => idempotencyKey

/** An amount in reais, with a point and with a comma. */
const reaisOf = ({ amount }: { readonly amount: number }) =>
  [".", ","].map((point) => (amount / 100).toFixed(2).replace(".", point))

/** The texts and states of the rows of each list. */
export const transactions = {
  keyOf,
  numberOf: ({ rowId }: SandboxTransaction) => rowId,
  statusOf,
  textOf: (row: SandboxTransaction) => {
    const { email, externalRef, name } = row.customer
    const words = [row.transactionId, row.idempotencyKey, row.status, name, email, externalRef]
    return [...words, ...reaisOf(row), `#${row.rowId}`].join(" ")
  }
}

export const withdrawals = {
  keyOf,
  numberOf,
  statusOf,
  textOf: (row: SandboxWithdrawal) =>
    [row.idempotencyKey, row.status, row.pixKey, ...reaisOf(row), `#${row.id}`].join(" ")
}

export const requests = {
  keyOf,
  numberOf,
  statusOf: ({ status }: SandboxRequest) => `${status ?? 0}`,
  textOf: ({ body, id, idempotencyKey, method, operation, path, status, transactionId }: SandboxRequest) =>
    [method, path, operation, idempotencyKey, status, transactionId, body, `#${id}`].join(" ")
}

export const webhooks = {
  numberOf,
  statusOf: ({ state }: SandboxWebhook) => state,
  textOf: ({ id, json, state, target }: SandboxWebhook) => `${target} ${state} ${JSON.stringify(json)} #${id}`
}
