/**
 * The bound of a body from outside, and a digest of a JSON value. Two texts of one value have the same digest.
 */
import * as Predicate from "effect/Predicate"
import { fingerprint } from "../../internal/fingerprint.ts"

/** The largest body, in bytes. */
export const maxBodyBytes = 1024 * 1024

const sorted = (_: string, value: unknown): unknown =>
  Predicate.isObject(value) && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** A digest of a JSON value. The order of its names does not change the digest. */
export const digest = (json: unknown): string => fingerprint(JSON.stringify(json, sorted) ?? "")
