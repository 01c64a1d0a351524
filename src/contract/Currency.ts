/**
 * The currency of amounts. The service works in BRL (`docs/service.md`).
 */

import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/** The form of a currency code. */
export const currencyPattern = /^[A-Z]{3}$/

/** An ISO 4217 currency code. BRL is the default wherever a currency may be given. */
export const Currency = Schema.Union([Schema.StringForLiteralAutocomplete, Schema.Literals(["BRL"])]).check(
  Schema.isPattern(currencyPattern, { expected: "an ISO 4217 currency code, as BRL" })
)
export type Currency = typeof Currency.Type

/** The currency of a request. If it is left out, BRL is sent. */
export const CurrencyOrBrl = Currency.pipe(
  Schema.decodeTo(Schema.optional(Currency), {
    decode: SchemaGetter.passthrough(),
    encode: SchemaGetter.withDefault(Effect.succeed<Currency>("BRL"))
  })
)
