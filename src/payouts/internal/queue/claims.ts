/**
 * What webhooks claim of a payout, as its row stores it: each claim once, with the time of the first delivery that made it.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { PayoutClaim } from "../../PayoutStatus.ts"
import type { Claim } from "./events.ts"

/** Anybody may write to the address of a webhook, so no more are stored. */
const mostClaims = 20

const Claims = Schema.fromJsonString(Schema.toCodecJson(Schema.Array(PayoutClaim)))
const write = Schema.encodeSync(Claims)
const read = Schema.decodeUnknownOption(Claims)

/** The stored claims, the oldest first; none where they cannot be read. */
export const readClaims = (stored: string | null): ReadonlyArray<PayoutClaim> =>
  stored === null ? [] : Option.getOrElse(read(stored), () => [])

/** The stored claims with another one. */
export const addClaim = (stored: string | null, claim: Claim, now: number): string => {
  const claims = readClaims(stored)
  const isStored = claims.some(
    ({ endToEndId, meaning, word }) =>
      meaning === claim.meaning && word === claim.word && endToEndId === claim.endToEndId
  )
  return write(
    isStored || claims.length >= mostClaims ? claims : [...claims, { ...claim, at: DateTime.makeUnsafe(now) }]
  )
}
