/**
 * Logs an expiry that is not believable: once for a client, since each visit of a page would repeat it.
 */
import * as Effect from "effect/Effect"
import type { Payments } from "../../client/Payments.ts"
import { type Expiry, isBelievable, type Known } from "../../contract/Expiry.ts"
import { log } from "../../internal/spans.ts"

/** The clients whose line was logged: it bounds lines, and decides nothing. */
const logged = new WeakSet<Payments["Service"]>()

/** The expiry, if it is believable. */
export const believed = (
  payments: Payments["Service"],
  expiry: Expiry | undefined,
  known: Known
): Effect.Effect<Expiry | undefined> => {
  if (expiry === undefined || isBelievable(expiry, known)) return Effect.succeed(expiry)
  if (logged.has(payments)) return Effect.undefined
  logged.add(payments)
  const line =
    "The expiry of a charge is before its creation, or more than 400 days after it. It counts as absent: the lookup decides whether the charge can be paid."
  return Effect.as(log("Warn", line, { "payments.operation": "createTransaction" }), undefined)
}
