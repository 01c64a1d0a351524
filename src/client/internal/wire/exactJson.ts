/**
 * JSON whose decimal amounts keep every digit that was written.
 *
 * `JSON.parse` turns `12345678901234567.89` into `12345678901234568`. A reviver is given the source text of each
 * number (ECMAScript's JSON.parse source text access: Node 22, Chrome 114), so the fields that hold reais can be
 * kept as text where a number would lose digits; `Money.ReaisFromJson` reads both.
 *
 * The `SyntaxError` for malformed JSON quotes the text: do not put its message into an error or a log.
 */
import * as Predicate from "effect/Predicate"
import { isExactNumber } from "../../../internal/decimal.ts"

// TypeScript's lib does not know the third argument yet, and older engines do not pass it.
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

/**
 * Parses JSON; a number under one of the `fields`, at any depth, comes out as its source text when the number alone
 * would not be exactly what was written. Throws what `JSON.parse` throws.
 */
export const parseExact = (text: string, fields: ReadonlySet<string>): unknown => {
  const reviver: Reviver = (key, value, context) =>
    Predicate.isNumber(value) &&
    fields.has(key) &&
    context?.source !== undefined &&
    !isExactNumber(value, context.source)
      ? context.source
      : value
  return JSON.parse(text, reviver)
}
