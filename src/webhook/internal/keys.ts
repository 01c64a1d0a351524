/**
 * The names of what a webhook handler keeps.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"

/** A name that shows nothing of what it stands for: SHA-256 in hex. */
export const digest = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))

/** A name for a row: an id as it is, if it is a plain and short one. */
export const nameOf = (id: string): string => (/^[\da-z-]{1,64}$/.test(id) ? id : digest(id))

const handed = "handed:"
/** The row of what was handed out of a transaction: it is held while the user's code runs. */
export const handedOf = (transactionId: string): string => `${handed}${nameOf(transactionId)}`
export const isHanded = (name: string): boolean => name.startsWith(handed)
