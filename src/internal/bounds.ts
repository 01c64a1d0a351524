/**
 * What others may send at most, and what is sent of yours: one value for each kind of text or list, with its reason. What is above it is not taken, and the failure,
 * the line or the answer says so.
 */

/**
 * The largest body of a delivery: 256 KiB. The largest that was seen has 2 kB, and an image of a code in `providerPayload` some tens of
 * kB. Whoever knows the address may send one, so it is what a stranger costs.
 */
export const maxBodyBytes = 262_144

/** The most hints of a delivery: each may cost a row and lookups. */
export const maxHints = 100

/** The most lookups that end without news, and the most that run at a time, where a delivery is not recorded. */
export const maxLookups = 20

/** The largest answer that is read, by default: 4 MiB, a page of a thousand charges with their images. */
export const maxAnswerBytes = 4_194_304

/** The part of a refusal in which words are looked for, in UTF-16 units: a page of a proxy with its style has less. */
export const maxRefusalLength = 32_768

/** The longest status or kind: the longest that was seen has 15 letters. */
export const maxWordLength = 64

/** The longest key, or reference of the shop, of a delivery: keys of HTTP APIs have at most 255. */
export const maxKeyLength = 255

/** How many words that no table has a metric names: each is a series. The others are `other`. */
export const maxNamedWords = 20

/** The longest code of a charge, which has 512 characters in its specification; with what banks add, a tenth of this. */
export const maxCodeLength = 8192

/** The longest description, and the largest metadata in bytes, of a withdrawal. The service documents none: its database has one. */
export const maxTextLength = 4096

/** The longest reference of yours. Unicode's composed form, in which it is checked, takes quadratic time. */
export const maxReferenceLength = 1000

/** The longest name of a person who takes a step, and the longest reason: they are stored, and stand in a line of a terminal. */
export const maxPersonLengths = { by: 100, note: 1000 } as const

/** The most digits of a decimal number: 1e999999999 would take a gigabyte to write. */
export const maxDigits = 40

/** The longest e-mail address that is a PIX key, by the directory's definition. */
export const maxEmailLength = 77

/** The most lists and objects of an answer: each costs the engine up to forty times its two characters. */
export const maxParts = 65_536

/** The depth of an answer. Deeper JSON overflows the stack of who writes it again; no answer of the contract is nested nearly as deep. */
export const maxDepth = 500
