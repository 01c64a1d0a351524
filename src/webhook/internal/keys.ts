/**
 * The names of what a webhook handler keeps, and a lock for each of them.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** A name that shows nothing of what it stands for: SHA-256 in hex. */
export const digest = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))

/** A name for a row: an id as it is, if it is a plain and short one. */
export const nameOf = (id: string): string => (/^[\da-z-]{1,64}$/.test(id) ? id : digest(id))

const handed = "handed:"
/** The row of what was handed out of a transaction: it is held while the user's code runs. */
export const handedOf = (transactionId: string): string => `${handed}${nameOf(transactionId)}`
export const isHanded = (name: string): boolean => name.startsWith(handed)

/** Runs one effect at a time for each key, in the order of their coming. */
export const makeLocks = () => {
  const locks = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return (key: string) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const lock = locks.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
          lock.users++
          locks.set(key, lock)
          return lock
        }),
        ({ semaphore }) => semaphore.withPermit(effect),
        (lock) =>
          Effect.sync(() => {
            lock.users--
            if (lock.users === 0) locks.delete(key)
          })
      )
}
