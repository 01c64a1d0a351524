/**
 * The values of a charge or a withdrawal in an answer with success after which the outcome of the write is still
 * unknown.
 */
import * as Schema from "effect/Schema"

/**
 * Values that help to find the charge or the withdrawal, as the service wrote them. The id of a charge is 1 to 64 letters, digits,
 * hyphens and underscores; that of a withdrawal is no number of ten digits or more, which may be a document. Another one is left
 * out, and so are a value that is no number, a status that is not of plain words, and all that the request held.
 */
export const Seen = Schema.Struct({
  /** Of a charge: the `transactionId` of the lookup. Of a withdrawal: its number. */
  id: Schema.optionalKey(Schema.String),
  /** Of a charge in centavos, of a withdrawal in reais. */
  value: Schema.optionalKey(Schema.String),
  status: Schema.optionalKey(Schema.String)
})
export interface Seen extends Schema.Schema.Type<typeof Seen> {}

/** A sentence for the message of an error; empty if nothing was seen. */
export const seenInWords = (seen: Seen = {}): string => {
  const parts = (["id", "value", "status"] as const).flatMap((name) =>
    seen[name] === undefined ? [] : [`${name} ${seen[name]}`]
  )
  return parts.length === 0 ? "" : ` The answer shows ${parts.join(", ")}.`
}
