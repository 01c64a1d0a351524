/**
 * The parts that the schemas of all resources share. Decoding is open: unknown words are accepted, timestamps may have an
 * offset or none. Encoding is exact.
 */
import * as Array from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { parseInstant } from "./utc.ts"

/** Any string. Editors complete the words that the service is known to use. */
export const openWord = <const Words extends ReadonlyArray<string>>(words: Words) =>
  Schema.Union([Schema.StringForLiteralAutocomplete, Schema.Literals(words)])

/** An integer id, as the service gives a company, a lead or a row. */
export const IntegerId = Schema.Natural

/** The form of a charge's id in a request, an error and a webhook: opaque, and one path segment. UUIDs are documented, hexadecimal ids were seen. */
export const opaqueId = /^[\w-]{1,64}$/

/**
 * The form of an end-to-end id of PIX: `E`, or `D` of a return, the 8 digits of a bank, then digits and letters. No other text is
 * stored as one, since it may be a person's name, document or PIX key.
 */
export const endToEnd = /^[ED]\d{8}[\dA-Z]{8,40}$/i

/** A textual identifier: never empty. */
export const TextId = Schema.NonEmptyString

/** The failure of a text that is no timestamp. */
export const notTimestamp = Effect.fail(new SchemaIssue.InvalidValue({ expected: "an ISO 8601 timestamp" }))

/**
 * An ISO 8601 timestamp (`docs/service.md`), with or without an offset. The service does not say
 * which zone a timestamp without offset is in: it is read as UTC, unless the `zone` of the client has rewritten it before. A
 * day that does not exist is refused.
 */
export const Timestamp = Schema.String.annotate({ format: "date-time" }).pipe(
  Schema.decodeTo(Schema.DateTimeUtc, {
    decode: SchemaGetter.transformEffect((text: string) => {
      const instant = parseInstant(text)
      return instant === undefined ? notTimestamp : Effect.succeed(instant)
    }),
    encode: SchemaGetter.transform((utc: DateTime.Utc) => DateTime.formatIso(utc))
  })
)

type Flat = Readonly<Record<string, unknown>>

/**
 * A struct with undocumented fields. In the program they are under `extra`; on the wire they are on the same level as the
 * documented fields.
 */
export const withExtra = <const Fields extends Schema.Struct.Fields>(
  fields: Fields & { readonly extra: Schema.Constraint }
) => {
  const { extra: _, ...documented } = fields
  const known = Schema.Struct(
    Record.map(documented, (field: Schema.Constraint): Schema.Constraint => {
      const encoded = Schema.toEncoded(field)
      // A field that is always written, and may be absent where it is read, decides about its absence itself.
      return SchemaAST.isOptional(field.ast) && !SchemaAST.isOptional(encoded.ast) ? field : encoded
    })
  )
  // The type is that of a plain record. The JSON Schema still names each documented field.
  const flat = Schema.StructWithRest(known, [
    Schema.Record(Schema.String, Schema.Unknown)
  ]) as unknown as Schema.Codec<Flat>
  const isExtra = ([name]: [string, unknown]) => !Object.hasOwn(documented, name)
  return flat.pipe(
    Schema.decodeTo(Schema.Struct<Fields>(fields), {
      decode: SchemaGetter.transform((all: Flat) => {
        const [extra, ours] = Array.partition(Object.entries(all), (entry) =>
          isExtra(entry) ? Result.succeed(entry) : Result.fail(entry)
        )
        const split: unknown = { ...Object.fromEntries(ours), extra: Object.fromEntries(extra) }
        return split as Schema.Struct<Fields>["Encoded"] // the next decoding step checks the fields
      }),
      encode: SchemaGetter.transform((split: Flat): Flat => {
        const { extra, ...ours } = split
        return { ...(extra as Flat), ...ours } // the schema of `extra` is a record
      })
    })
  )
}
