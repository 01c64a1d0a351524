/**
 * The types of columns, as every driver gives them.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/** A driver may give a BIGINT as a number, a bigint or a text. */
export const Int = Schema.Union([Schema.Finite, Schema.BigInt, Schema.String]).pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transform(Number),
    encode: SchemaGetter.passthroughSubtype()
  })
)

/** A driver may give a BOOLEAN as a boolean or as 1 and 0. */
export const Bool = Schema.Union([Schema.Boolean, Schema.Finite]).pipe(
  Schema.decodeTo(Schema.Boolean, {
    decode: SchemaGetter.transform(Boolean),
    encode: SchemaGetter.passthroughSubtype()
  })
)

/** A column that may be null, and is null where a row is made without it. */
export const orNull = <S extends Schema.Constraint & Schema.WithoutConstructorDefault>(schema: S) =>
  Schema.NullOr(schema).pipe(Schema.withConstructorDefault(Effect.succeed(null)))

/** A count that begins at a number. */
export const startingAt = (count: number) => Int.pipe(Schema.withConstructorDefault(Effect.succeed(count)))
