/**
 * Names for texts that must not be shown: a hash that is made fast and in few bytes of a bundle.
 *
 * It is no cryptographic hash: each step of a lane can be undone, so 160 bits would give a short text away. Two rules make
 * that harmless. What must not be shown is hashed to so few bits (`lanes`) that its name cannot hold it, whoever inverts the
 * hash: an idempotency key and a secret to 32, a client id to 64. What can be guessed is still found by trying: docs/security.md
 * lists what is hashed. And nobody gains by two texts with
 * one name, so only chance has to be kept out.
 */

/** Odd numbers with about as many ones as zeros (those of xxHash), one for each lane. */
const multipliers = [0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f, 0x165667b1, 0x9e3779b1]

/** A hash of 32 bits: each step can be undone, so two texts of one length that differ in one character never share it. */
const lane = (text: string, multiplier: number): string => {
  let hash = multiplier ^ text.length
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), multiplier)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0).toString(16).padStart(8, "0")
}

/** A hash of eight hexadecimal digits (32 bits) a lane, at most five lanes. The same text has the same hash in every process. */
export const lanes = (text: string, count: number): string =>
  multipliers
    .slice(0, count)
    .map((multiplier) => lane(text, multiplier))
    .join("")

/** A name of 40 hexadecimal digits. */
export const fingerprint = (text: string): string => lanes(text, multipliers.length)
