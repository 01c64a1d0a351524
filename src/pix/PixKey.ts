/**
 * PIX keys: the destination of a payout. There are five kinds (CPF, CNPJ, EMAIL, PHONE, EVP). A key is stored in the form
 * of the PIX directory (DICT), and masked wherever it is printed.
 *
 * Gotchas:
 * - The kind is always given, never guessed: `11912345684` is a valid CPF and also a possible phone number.
 * - String, JSON, `inspect`, logs and causes show the mask. Only {@link value}, {@link toPair} and the encoded forms of
 *   the schemas of this module show the key.
 * - `cpf`, `cnpj`, `email`, `phone` and `evp` are for literals in a program: they throw a `SchemaError`, which does not
 *   repeat the input. For the input of a user there are {@link make} and an `...Option` of each.
 * - Compare keys with `Equal.equals`. The deep equality of a test library does not see the private value, and takes any
 *   two keys with the same mask for equal.
 */
declare module "./PixKey.ts" {}

import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { legible } from "../internal/legible.ts"
import { refuse } from "../internal/refuse.ts"
import { MaskedKey } from "./internal/maskedKey.ts"
import { isPixKeyType, kinds, type Pair, PixKeyType } from "./internal/pixKeyKinds.ts"

export { type Pair, PixKeyType } from "./internal/pixKeyKinds.ts"

/** The text is not a key of the given kind. The error holds no part of the text. */
export class InvalidPixKey extends legible(
  Schema.TaggedError<InvalidPixKey>("effect-pix/InvalidPixKey")("InvalidPixKey", {
    /** The given kind; absent if it is not one of the five. */
    type: Schema.optionalKey(PixKeyType),
    /** The problem, as a predicate: "is not a valid CPF (...)". */
    reason: Schema.String
  })
) {
  override get message(): string {
    return `The PIX key ${this.reason}`
  }
}

/**
 * A valid key of one of the five kinds, in the directory's form.
 *
 * It prints as its kind and its mask (`masked`):
 *
 * | kind | mask |
 * |---|---|
 * | CPF | `***.982.247-**` |
 * | CNPJ | `**.ABC.345/01DE-**` |
 * | EMAIL | `f***@e***`: the first character of name and domain |
 * | PHONE | `+55 ** *****-5684`; elsewhere `+***0123`: at most the last four digits |
 * | EVP | `123e4567-****-****-****-************` |
 */
export type PixKey = MaskedKey

const isPixKey = (u: unknown): u is PixKey => MaskedKey.is(u)

/**
 * Makes a key of the given kind, or says what is wrong with the text. {@link cpf}, {@link cnpj}, {@link email},
 * {@link phone} and {@link evp} describe the accepted texts and the stored form. Spaces around the text are ignored, and so are
 * characters that nobody sees, such as zero-width spaces and marks of direction. Any sign for a hyphen is a hyphen, but in an
 * e-mail address, which is refused then: with a hyphen it would be another one.
 *
 * ```ts
 * import { PixKey } from "effect-pix"
 * import { Result } from "effect"
 *
 * const key = PixKey.make("CPF", "529.982.247-25")
 * Result.map(key, String) // => Result.succeed("CPF ***.982.247-**")
 *
 * const wrong = PixKey.make("CPF", "529.982.247-26")
 * Result.mapError(wrong, ({ reason }) => reason) // => Result.fail("is not a valid CPF (11 digits with check digits)")
 * ```
 */
export const make = (type: PixKeyType, input: string): Result.Result<PixKey, InvalidPixKey> => fromPair(input, type)

/**
 * {@link make} for the wire's pair, such as that of a withdrawal's record. A kind that is not one of the five, in capitals,
 * is a failure.
 */
export const fromPair = (pixKey: string, pixKeyType: string): Result.Result<PixKey, InvalidPixKey> => {
  if (!isPixKeyType(pixKeyType)) {
    const reason = `has a type that is not one of ${PixKeyType.literals.join(", ")}`
    return Result.fail(new InvalidPixKey({ reason }))
  }
  if (!Predicate.isString(pixKey)) return Result.fail(new InvalidPixKey({ type: pixKeyType, reason: "is not a text" }))
  const { mask, read } = kinds[pixKeyType]
  return Result.mapBoth(read(pixKey), {
    onSuccess: (value) => new MaskedKey(pixKeyType, value, mask(value)),
    onFailure: (reason) => new InvalidPixKey({ type: pixKeyType, reason })
  })
}

const literal = (type: PixKeyType, input: string): PixKey =>
  Result.getOrElse(make(type, input), ({ message }) => refuse(message))

const option = (type: PixKeyType, input: string): Option.Option<PixKey> => Result.getSuccess(make(type, input))

/**
 * A CPF as key: eleven digits, with or without punctuation. Throws a `SchemaError`.
 *
 * ```ts
 * import { PixKey } from "effect-pix"
 *
 * PixKey.value(PixKey.cpf("529.982.247-25")) // => "52998224725"
 * ```
 */
export const cpf = (input: string): PixKey => literal("CPF", input)

/** {@link cpf} as an `Option`: none for a text that it would refuse. */
export const cpfOption = (input: string): Option.Option<PixKey> => option("CPF", input)

/**
 * A CNPJ as key, numeric or alphanumeric, in either case, with or without punctuation; stored in capitals. Throws a
 * `SchemaError`.
 *
 * ```ts
 * import { PixKey } from "effect-pix"
 *
 * PixKey.value(PixKey.cnpj("12.abc.345/01de-35")) // => "12ABC34501DE35"
 * ```
 */
export const cnpj = (input: string): PixKey => literal("CNPJ", input)

/** {@link cnpj} as an `Option`: none for a text that it would refuse. */
export const cnpjOption = (input: string): Option.Option<PixKey> => option("CNPJ", input)

/**
 * An e-mail address as key, by DICT's pattern (which accepts `a@localhost` and refuses `%`), of at most 77 characters;
 * stored in lower case. Throws a `SchemaError`.
 *
 * ```ts
 * import { PixKey } from "effect-pix"
 *
 * PixKey.value(PixKey.email(" Fulano@Example.com ")) // => "fulano@example.com"
 * ```
 */
export const email = (input: string): PixKey => literal("EMAIL", input)

/** {@link email} as an `Option`: none for a text that it would refuse. */
export const emailOption = (input: string): Option.Option<PixKey> => option("EMAIL", input)

/**
 * A phone as key, stored as `+` and digits (E.164). Spaces, hyphens, points and parentheses are ignored. Throws a
 * `SchemaError`.
 *
 * - With `+55`, or without a country code, it is a Brazilian mobile number: an area code (DDD) that exists, then nine
 *   digits. A landline is refused, and the message says so: Bacen names mobile phones as keys. The country code without
 *   `+` (`5511...`, 13 digits) is refused: it is ambiguous.
 * - A trunk zero before the area code is dropped where it is written as `(0)`, and refused otherwise.
 * - With another country code it is accepted as written, by DICT's pattern (3 to 16 digits). `(0)` is refused there.
 *
 * ```ts
 * import { PixKey } from "effect-pix"
 *
 * PixKey.value(PixKey.phone("(11) 91234-5684")) // => "+5511912345684"
 * PixKey.value(PixKey.phone("+1 202 555 0123")) // => "+12025550123"
 * ```
 */
export const phone = (input: string): PixKey => literal("PHONE", input)

/** {@link phone} as an `Option`: none for a text that it would refuse. */
export const phoneOption = (input: string): Option.Option<PixKey> => option("PHONE", input)

/**
 * A random key (EVP): a UUID of any version, stored in lower case. Throws a `SchemaError`.
 *
 * ```ts
 * import { PixKey } from "effect-pix"
 *
 * PixKey.evp("123E4567-E12B-12D1-A456-426655440000").masked // => "123e4567-****-****-****-************"
 * ```
 */
export const evp = (input: string): PixKey => literal("EVP", input)

/** {@link evp} as an `Option`: none for a text that it would refuse. */
export const evpOption = (input: string): Option.Option<PixKey> => option("EVP", input)

/** The key itself, in plain text: nothing masks the returned text. */
export const value: (key: PixKey) => string = (key) => MaskedKey.reveal(key)

/** Key and kind in plain text, as the service takes them. */
export const toPair = (key: PixKey): Pair => ({ pixKey: MaskedKey.reveal(key), pixKeyType: key.type })

const PlainPair = Schema.Struct({ pixKey: Schema.String, pixKeyType: PixKeyType })

const ofPair = {
  // The issue is made without the input, which `reportInput` would show.
  decode: SchemaGetter.transformEffect(({ pixKey, pixKeyType }: Pair) =>
    Effect.fromResult(fromPair(pixKey, pixKeyType)).pipe(
      Effect.mapError(({ message }) => new SchemaIssue.InvalidValue({ message }))
    )
  ),
  encode: SchemaGetter.transform(toPair)
}

/**
 * A key in memory. For the two fields of the wire use {@link FromPair}. It is also the JSON form of a key, in plain
 * text, since a stored key must be readable again.
 */
export const PixKey = Schema.declare(isPixKey, {
  title: "PixKey",
  description: "A PIX key of a known kind, in the form of the PIX directory",
  expected: "a PIX key",
  toCodecJson: () => Schema.link<PixKey>()(PlainPair, ofPair)
})

/**
 * The wire's pair as a key: strict, for requests. It decodes what {@link fromPair} accepts, and encodes to the
 * directory's form. No failure repeats the key.
 *
 * ```ts
 * import { PixKey } from "effect-pix"
 * import { Schema } from "effect"
 *
 * const key = Schema.decodeSync(PixKey.FromPair)({ pixKey: "(11) 91234-5684", pixKeyType: "PHONE" })
 * const shown = String(key) // => "PHONE +55 ** *****-5684"
 * Schema.encodeSync(PixKey.FromPair)(key) // => { pixKey: "+5511912345684", pixKeyType: "PHONE" }
 * ```
 */
export const FromPair = PlainPair.pipe(Schema.decodeTo(PixKey, ofPair))
