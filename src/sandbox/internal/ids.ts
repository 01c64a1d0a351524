/**
 * Ids that are made from a text, so that a seed makes the same ids each time, and a digest of a JSON value.
 */
import * as Predicate from "effect/Predicate"
import { fingerprint } from "../../internal/fingerprint.ts"

/** A UUID in the form of a random one (version 4). The same text makes the same UUID. */
export const uuid = (text: string): string => {
  const hex = fingerprint(text)
  const variant = "89ab".charAt(Number.parseInt(hex.charAt(16), 16) % 4)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The lead of a charge: another UUID, made without a hash, since a page has a hundred of them. */
export const leadOf = (transactionId: string): string => `${transactionId.slice(0, 14)}8${transactionId.slice(15)}`

const sorted = (_: string, value: unknown): unknown =>
  Predicate.isObject(value) && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** A digest of a JSON value. The order of its names does not change the digest. */
export const digest = (json: unknown): string => fingerprint(JSON.stringify(json, sorted) ?? "")
