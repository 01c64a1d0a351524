/**
 * Reads for how many seconds the body of a 429 asks to wait: a number under a name such as `retryAfterSeconds`, or the first
 * number of seconds in its words, as "30 segundos" or "30s".
 */
import * as Predicate from "effect/Predicate"
import { foldName } from "./fold.ts"
import { parse } from "./serviceMessage.ts"

const names = /^retryafter(?:(?:in)?(?:seconds?|secs?|s|segundos?))?$/
const number = /^\s*(\d{1,7}(?:\.\d{1,6})?)\s*(?:(?:s|secs?|seconds?|seg|segundos?)\s*)?$/i
const inWords = /(?<![\d.,:/-])(\d{1,7}) ?(?:s|secs?|seconds?|seg|segundos?)\b/i

const numberOf = (value: unknown): number | undefined => {
  if (Predicate.isNumber(value)) return value
  const found = Predicate.isString(value) ? number.exec(value)?.[1] : undefined
  return found === undefined ? undefined : Number(found)
}

/** The seconds that a body asks to wait; `undefined` where it names none. `words`: what the body says, in words. */
export const waitSeconds = (body: string, words: string): number | undefined => {
  const members = parse(body.trim())?.members ?? []
  const named = members
    .filter(([name]) => names.test(foldName(name)))
    .map(([, value]) => numberOf(value))
    .find((seconds) => seconds !== undefined && Number.isFinite(seconds) && seconds >= 0)
  if (named !== undefined) return named
  const found = inWords.exec(words)?.[1]
  return found === undefined ? undefined : Number(found)
}
