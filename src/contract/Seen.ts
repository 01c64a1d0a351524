/**
 * What the answer to a write whose result is not known shows of the charge or the withdrawal.
 */
import * as Schema from "effect/Schema"

/**
 * Enough to find the charge or the withdrawal. The values are as the service wrote them. What does not look like an id, a
 * number or a word is left out, and so is data of the request.
 */
export const Seen = Schema.Struct({
  /** Of a charge: the `transactionId` of the lookup. Of a withdrawal: its number. */
  id: Schema.optionalKey(Schema.String),
  /** Of a charge in centavos, of a withdrawal in reais. */
  value: Schema.optionalKey(Schema.String),
  status: Schema.optionalKey(Schema.String)
})
/** See the schema of the same name. */
export interface Seen extends Schema.Schema.Type<typeof Seen> {}

/** A sentence about what was seen, for the message of an error; empty where there is nothing. */
export const seenInWords = (seen: Seen = {}): string => {
  const parts = (["id", "value", "status"] as const).flatMap((name) =>
    seen[name] === undefined ? [] : [`${name} ${seen[name]}`]
  )
  return parts.length === 0 ? "" : ` The answer shows ${parts.join(", ")}.`
}
