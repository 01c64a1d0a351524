/**
 * What a delivery may have and cause at most. Whoever knows the address of a webhook may send one.
 */

/** The largest body: 64 KiB. */
export const maxBodyBytes = 65_536

/** The most hints: each may cost a row and lookups. */
export const maxHints = 100

/** The most lookups that end without news, and the most that run at a time, where a delivery is not recorded. */
export const maxLookups = 20
