/**
 * PIX keys: where a payout goes. Five kinds (CPF, CNPJ, EMAIL, PHONE, EVP), each in the form in which the PIX
 * directory (DICT) keeps it, and masked wherever it is printed.
 *
 * Gotchas:
 * - The kind is always said, never guessed: `11912345684` is a valid CPF and also somebody's phone.
 * - String, JSON, `inspect`, logs and causes show the mask. Only {@link value} and {@link toPair}, and what a schema of
 *   this module encodes to, show the key.
 * - `cpf`, `cnpj`, `email`, `phone` and `evp` are for what a program writes: they throw a `SchemaError`, which does not
 *   repeat the input. For what a user typed there is {@link make}, and an `...Option` beside each.
 * - Compare keys with `Equal.equals`, not with a deep equality of a test library: it does not see the private value and
 *   takes any two keys of a kind for the same.
 */

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { refuse } from "../internal/refuse.ts"
import { Held } from "./internal/heldKey.ts"
import { kinds } from "./internal/pixKeyKinds.ts"
import { samples } from "./internal/pixKeySamples.ts"

/** The five kinds of key, by their names on the wire (service interface, section 2.1). */
export const PixKeyType = Schema.Literals(["CPF", "CNPJ", "EMAIL", "PHONE", "EVP"])
/** See the schema of the same name. */
export type PixKeyType = typeof PixKeyType.Type

/** Key and kind as the service writes them, in plain text. */
export interface Pair<Type extends string = PixKeyType> {
  readonly pixKey: string
  readonly pixKeyType: Type
}

/** The text is not a key of the kind that it was said to be. Carries neither the text nor any part of it. */
export class InvalidPixKey extends Schema.TaggedError<InvalidPixKey>("effect-pix/InvalidPixKey")("InvalidPixKey", {
  /** The kind that was said; absent when that is none of the five. */
  type: Schema.optionalKey(PixKeyType),
  /** What is wrong, as a predicate: "is not a valid CPF (...)". */
  reason: Schema.String
}) {
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
export type PixKey = Held<"PixKey", PixKeyType>

/**
 * A key as the service reported it that this module could not check: of a kind that it does not know (the directory may
 * add kinds), or not well-formed for its kind (for example because the service masked it). Prints as its kind and `***`.
 */
export type OpaquePixKey = Held<"OpaquePixKey", string>

/** Whether a value is a valid key of one of the five kinds. */
export const isPixKey = (u: unknown): u is PixKey => Held.is(u) && u._tag === "PixKey"

/** Whether a value is a key that the service reported and this module could not check. */
export const isOpaquePixKey = (u: unknown): u is OpaquePixKey => Held.is(u) && u._tag === "OpaquePixKey"

/**
 * Makes a key of the kind that is named, or says what is wrong. {@link cpf}, {@link cnpj}, {@link email}, {@link phone}
 * and {@link evp} say what is accepted for each kind, and how it is kept. Spaces around it are ignored.
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

const isPixKeyType = (type: unknown): type is PixKeyType => Predicate.isString(type) && Object.hasOwn(kinds, type)

/** {@link make} from the wire's pair, whose kind may be any text. It has to be one of the five, in capitals. */
export const fromPair = (pixKey: string, pixKeyType: string): Result.Result<PixKey, InvalidPixKey> => {
  if (!isPixKeyType(pixKeyType)) {
    const reason = `has a type that is not one of ${PixKeyType.literals.join(", ")}`
    return Result.fail(new InvalidPixKey({ reason }))
  }
  if (!Predicate.isString(pixKey)) return Result.fail(new InvalidPixKey({ type: pixKeyType, reason: "is not a text" }))
  const { mask, read } = kinds[pixKeyType]
  return Result.mapBoth(read(pixKey), {
    onSuccess: (value) => new Held("PixKey", pixKeyType, value, mask(value)),
    onFailure: (reason) => new InvalidPixKey({ type: pixKeyType, reason })
  })
}

/**
 * What is wrong with a pair, or none. The answer does not repeat the key.
 *
 * ```ts
 * import { PixKey } from "effect-pix"
 * import { Option } from "effect"
 *
 * PixKey.check("529.982.247-25", "CPF") // => Option.none()
 * PixKey.check("529.982.247-26", "CPF") // => Option.some("pixKey is not a valid CPF (11 digits with check digits)")
 * ```
 */
export const check = (pixKey: string, pixKeyType: string): Option.Option<string> =>
  Result.getFailure(fromPair(pixKey, pixKeyType)).pipe(Option.map(({ reason }) => `pixKey ${reason}`))

/**
 * Takes a pair as the service reports it, whatever it is: a valid key becomes a `PixKey`, anything else is kept as it
 * is in an `OpaquePixKey`.
 */
export const read = (pixKey: string, pixKeyType: string): PixKey | OpaquePixKey =>
  Result.getOrElse(fromPair(pixKey, pixKeyType), () => opaque(pixKey, pixKeyType))

const opaque = (pixKey: string, pixKeyType: string): OpaquePixKey =>
  new Held("OpaquePixKey", textOf(pixKeyType), textOf(pixKey), "***")

const textOf = (u: unknown): string => (Predicate.isString(u) ? u : "")

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

/** {@link cpf}, or none for what it would refuse. */
export const cpfOption = (input: string): Option.Option<PixKey> => option("CPF", input)

/**
 * A CNPJ as key, numeric or alphanumeric, in either case, with or without punctuation; kept in capitals. Throws a
 * `SchemaError`.
 *
 * ```ts
 * import { PixKey } from "effect-pix"
 *
 * PixKey.value(PixKey.cnpj("12.abc.345/01de-35")) // => "12ABC34501DE35"
 * ```
 */
export const cnpj = (input: string): PixKey => literal("CNPJ", input)

/** {@link cnpj}, or none for what it would refuse. */
export const cnpjOption = (input: string): Option.Option<PixKey> => option("CNPJ", input)

/**
 * An e-mail address as key, by DICT's pattern (which accepts `a@localhost` and refuses `%`), of at most 77 characters;
 * kept in lower case. Throws a `SchemaError`.
 *
 * ```ts
 * import { PixKey } from "effect-pix"
 *
 * PixKey.value(PixKey.email(" Fulano@Example.com ")) // => "fulano@example.com"
 * ```
 */
export const email = (input: string): PixKey => literal("EMAIL", input)

/** {@link email}, or none for what it would refuse. */
export const emailOption = (input: string): Option.Option<PixKey> => option("EMAIL", input)

/**
 * A phone as key, kept as `+` and digits (E.164). Spaces, hyphens, points and parentheses are ignored. Throws a
 * `SchemaError`.
 *
 * - With `+55`, or without a country code, it is a Brazilian mobile number: an area code (DDD) that exists, then nine
 *   digits. A landline is refused, and the message says so: Bacen names mobile phones as keys. The country code without
 *   `+` (`5511...`, 13 digits) is refused: it is not clear what was meant.
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

/** {@link phone}, or none for what it would refuse. */
export const phoneOption = (input: string): Option.Option<PixKey> => option("PHONE", input)

/**
 * A random key (EVP): a UUID of any version, kept in lower case. Throws a `SchemaError`.
 *
 * ```ts
 * import { PixKey } from "effect-pix"
 *
 * PixKey.evp("123E4567-E12B-12D1-A456-426655440000").masked // => "123e4567-****-****-****-************"
 * ```
 */
export const evp = (input: string): PixKey => literal("EVP", input)

/** {@link evp}, or none for what it would refuse. */
export const evpOption = (input: string): Option.Option<PixKey> => option("EVP", input)

/** The key itself, in plain text. What it is put into will no longer mask it. */
export const value: (key: PixKey | OpaquePixKey) => string = (key) => Held.reveal(key)

/** Key and kind in plain text, as the service takes them. */
export const toPair = <Type extends string>(key: Held<string, Type>): Pair<Type> => ({
  pixKey: Held.reveal(key),
  pixKeyType: key.type
})

const PairOf = <Type extends Schema.Codec<string>>(type: Type) =>
  Schema.Struct({ pixKey: Schema.String, pixKeyType: type })

// Without the input: an issue that holds it would show it under `reportInput`.
const decodePair = SchemaGetter.transformEffect(({ pixKey, pixKeyType }: Pair) =>
  Effect.fromResult(fromPair(pixKey, pixKeyType)).pipe(
    Effect.mapError(({ message }) => new SchemaIssue.InvalidValue({ message }))
  )
)

/**
 * A key in memory. For the wire's two fields use {@link FromPair}, which is also its JSON form: in plain text, since
 * what is stored must be readable again.
 */
export const PixKey = Schema.declare(isPixKey, {
  title: "PixKey",
  description: "A PIX key of a known kind, in the form of the PIX directory",
  expected: "a PIX key",
  toCodecJson: () =>
    Schema.link<PixKey>()(PairOf(PixKeyType), { decode: decodePair, encode: SchemaGetter.transform(toPair) }),
  toCodecArbitrary: () => Schema.link<PixKey>()(samples, { decode: decodePair, encode: SchemaGetter.forbiddenEncoding })
})

/** An {@link OpaquePixKey} in memory; its JSON form is the pair, in plain text. */
export const OpaquePixKey = Schema.declare(isOpaquePixKey, {
  title: "OpaquePixKey",
  description: "A PIX key as the service reported it, of an unknown kind or form",
  expected: "a reported PIX key",
  toCodecJson: () =>
    Schema.link<OpaquePixKey>()(PairOf(Schema.String), {
      decode: SchemaGetter.transform(({ pixKey, pixKeyType }) => opaque(pixKey, pixKeyType)),
      encode: SchemaGetter.transform(toPair)
    })
})

/**
 * The wire's pair as a key: strict, for what we send. Decodes what {@link fromPair} accepts, encodes to the directory's
 * form. No failure repeats the key.
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
export const FromPair = PairOf(PixKeyType).pipe(
  Schema.decodeTo(PixKey, { decode: decodePair, encode: SchemaGetter.transform(toPair) })
)

/**
 * The wire's pair as {@link read} takes it: open, for what we are sent. Any text for either is accepted, and what is not
 * a valid key of a known kind encodes to what it was.
 *
 * ```ts
 * import { PixKey } from "effect-pix"
 * import { Schema } from "effect"
 *
 * const key = Schema.decodeSync(PixKey.FromReportedPair)({ pixKey: "maria#7", pixKeyType: "ALIAS" })
 * const shown = String(key) // => "ALIAS ***"
 * PixKey.value(key) // => "maria#7"
 * ```
 */
export const FromReportedPair = PairOf(Schema.String).pipe(
  Schema.decodeTo(Schema.Union([PixKey, OpaquePixKey]), {
    decode: SchemaGetter.transform(({ pixKey, pixKeyType }) => read(pixKey, pixKeyType)),
    encode: SchemaGetter.transform((key: PixKey | OpaquePixKey) => toPair(key))
  })
)
