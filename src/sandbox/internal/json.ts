/**
 * Bounds for JSON from outside, and a digest of its value. The depth is checked before the text is parsed. Two texts of one
 * value have the same digest.
 */
import * as Predicate from "effect/Predicate"
import { fingerprint } from "../../internal/fingerprint.ts"

/** The largest body, in bytes. */
export const maxBodyBytes = 1024 * 1024

/** The deepest nesting of a body. */
const maxDepth = 64

/** Whether a JSON text is nested too deep. It does not recurse. */
export const isTooDeep = (text: string): boolean => {
  let depth = 0
  let quoted = false
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index)
    if (quoted) {
      if (char === 0x5c) index += 1
      else if (char === 0x22) quoted = false
    } else if (char === 0x22) quoted = true
    else if (char === 0x5b || char === 0x7b) {
      depth += 1
      if (depth > maxDepth) return true
    } else if (char === 0x5d || char === 0x7d) depth -= 1
  }
  return false
}

const sorted = (_: string, value: unknown): unknown =>
  Predicate.isObject(value) && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** A digest of a JSON value. The order of its names does not change the digest. */
export const digest = (json: unknown): string => fingerprint(JSON.stringify(json, sorted) ?? "")
