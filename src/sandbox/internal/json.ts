/**
 * Bounds for JSON from outside, and a digest of its value: the depth is bounded before anything walks it, and two texts
 * of one value have one digest.
 */
import * as Predicate from "effect/Predicate"
import { fingerprint } from "../../contract/IdempotencyKey.ts"

/** What a body may weigh, in bytes. */
export const maxBodyBytes = 1024 * 1024

/** How deep a body may be nested. */
const maxDepth = 64

/** Whether a JSON text is nested too deep, found without recursion. */
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

/** A short name of a JSON value: the same for the same value, whatever the order of its names. */
export const digest = (json: unknown): string => fingerprint(JSON.stringify(json, sorted) ?? "")
