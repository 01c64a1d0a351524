/**
 * CPF and CNPJ, the documents of a payer: `customer.document` of a charge (`docs/service.md`).
 *
 * A document has its wire form: eleven digits, or fourteen digits and capital letters, without punctuation. Input may be
 * written as people write it (`529.982.247-25`, `12.abc.345/01de-35`), with any sign for a hyphen; characters that nobody sees are
 * dropped.
 *
 * Gotchas:
 * - A CNPJ may hold letters since July 2026 (Instrução Normativa RFB 2.229/2024). The numeric ones stay valid.
 * - {@link cpf} and {@link cnpj} are for literals in a program: they throw a `SchemaError`. For the input of a user
 *   there are {@link cpfOption} and {@link cnpjOption}.
 * - Both are plain strings, which print in full. Put {@link mask} into logs, never the document.
 * - Check digits catch most single slips, not all. Where the first check digit is 0, one wrong digit may not be
 *   detected (in a CPF the first, or with `00` also the sixth; in a CNPJ with `00` the first, fifth or ninth). In a CNPJ a
 *   character may also be replaced by one that is worth 11, 22 or 33 more (`6`, `A`, `L`, `W`).
 * - A valid document need not exist, and need not be the payer's.
 */
declare module "./Document.ts" {}

import type * as Brand from "effect/Brand"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { orRefuse, refuse } from "../internal/refuse.ts"
import {
  formatCnpj,
  formatCpf,
  isValidCnpj,
  isValidCpf,
  obfuscateCnpj,
  obfuscateCpf
} from "./internal/brazilianUtils.ts"
import { plainHyphens } from "./internal/typed.ts"

/** A valid CPF: eleven digits, no punctuation. */
export type Cpf = string & Brand.Brand<"effect-pix/Cpf: use Document.cpf">

/** A valid CNPJ: twelve digits or capital letters and two check digits, no punctuation. */
export type Cnpj = string & Brand.Brand<"effect-pix/Cnpj: use Document.cnpj">

const separators = /[\s./-]/g
// One digit repeated has correct check digits, but no such document is ever issued.
const repeatedDigit = /^(\d)\1+$/

const cpfExpected = "a valid CPF (11 digits with check digits)"
const cnpjExpected = "a valid CNPJ (14 digits or letters, the last two check digits)"

const isCpf = (u: unknown): u is Cpf =>
  Predicate.isString(u) && /^\d{11}$/.test(u) && !repeatedDigit.test(u) && isValidCpf(u)

const isCnpj = (u: unknown): u is Cnpj =>
  Predicate.isString(u) && /^[\dA-Z]{12}\d{2}$/.test(u) && !repeatedDigit.test(u) && isValidCnpj(u)

/** {@link cpf} as an `Option`: none for a text that it would refuse. */
export const cpfOption = (input: string): Option.Option<Cpf> => {
  const text = Predicate.isString(input) ? plainHyphens(input) : ""
  // `isValidCpf` tests the text with its punctuation: it checks the positions of the separators.
  return isValidCpf(text) ? Option.liftPredicate(isCpf)(text.replaceAll(separators, "")) : Option.none()
}

/** {@link cnpj} as an `Option`: none for a text that it would refuse. */
export const cnpjOption = (input: string): Option.Option<Cnpj> => {
  const text = Predicate.isString(input) ? plainHyphens(input) : ""
  // Only ASCII: `toUpperCase` turns "ı" and "ſ" into the letters I and S.
  return /^[\s\w./-]*$/.test(text) && isValidCnpj(text)
    ? Option.liftPredicate(isCnpj)(text.replaceAll(separators, "").toUpperCase())
    : Option.none()
}

// The issue is made without the input, which `reportInput` would show.
const refusal = (expected: string) => new SchemaIssue.InvalidValue({ expected })

const documentSchema = <D extends string>(options: {
  readonly name: string
  readonly expected: string
  readonly description: string
  readonly is: (u: unknown) => u is D
  readonly read: (input: string) => Option.Option<D>
}) => {
  const read = SchemaGetter.transformEffect((input: string) =>
    Effect.fromOption(options.read(input), () => refusal(options.expected))
  )
  const write = SchemaGetter.transform((document: D): string => document)
  const normal = Schema.declare(options.is, {
    title: options.name,
    description: options.description,
    expected: options.expected,
    toCodecJson: () => Schema.link<D>()(Schema.String, { decode: read, encode: write })
  })
  return Schema.String.annotate({ title: options.name, description: options.description }).pipe(
    Schema.decodeTo(normal, { decode: read, encode: write })
  )
}

/**
 * A CPF. Decodes from digits with or without the usual punctuation and spaces; encodes to the eleven digits.
 *
 * Refused: wrong check digits, any other length (leading zeros count), and one digit eleven times, whose check digits
 * happen to be right. No failure repeats the input.
 */
export const Cpf = documentSchema<Cpf>({
  name: "Cpf",
  expected: cpfExpected,
  description: "A CPF: 11 digits, the last two check digits",
  is: isCpf,
  read: cpfOption
})

/**
 * A CNPJ, numeric or alphanumeric. Decodes from either case, with or without the usual punctuation and spaces; encodes
 * to the fourteen digits and capital letters.
 *
 * Refused: wrong check digits, letters in their place, any other length, and one digit fourteen times, whose check
 * digits may happen to be right. No failure repeats the input.
 */
export const Cnpj = documentSchema<Cnpj>({
  name: "Cnpj",
  expected: cnpjExpected,
  description: "A CNPJ: 12 digits or letters and 2 check digits",
  is: isCnpj,
  read: cnpjOption
})

/**
 * Reads a CPF, as {@link Cpf} does. Throws a `SchemaError`, which never quotes the input.
 *
 * ```ts
 * import { Document } from "effect-pix"
 *
 * Document.cpf("529.982.247-25") // => "52998224725"
 * ```
 */
export const cpf = (input: string): Cpf => orRefuse(cpfOption(input), `Expected ${cpfExpected}`)

/**
 * Reads a CNPJ, as {@link Cnpj} does. Throws a `SchemaError`, which never quotes the input.
 *
 * ```ts
 * import { Document } from "effect-pix"
 *
 * Document.cnpj("12.abc.345/01de-35") // => "12ABC34501DE35"
 * Document.cnpj("11.222.333/0001-81") // => "11222333000181"
 * ```
 */
export const cnpj = (input: string): Cnpj => orRefuse(cnpjOption(input), `Expected ${cnpjExpected}`)

const is11Digits = (document: Cpf | Cnpj): document is Cpf =>
  Predicate.isString(document) ? document.length === 11 : refuse("Expected a CPF or a CNPJ")

/**
 * The document in the form of a charge.
 *
 * ```ts
 * import { Document } from "effect-pix"
 *
 * const customer = {
 *   name: "Maria Silva",
 *   email: "maria@example.com",
 *   document: Document.of(Document.cpf("529.982.247-25"))
 * }
 * customer.document // => { number: "52998224725", type: "CPF" }
 * ```
 */
export const of = (document: Cpf | Cnpj): { readonly number: string; readonly type: "CPF" | "CNPJ" } => ({
  number: document,
  type: is11Digits(document) ? "CPF" : "CNPJ"
})

/**
 * Writes a document for people.
 *
 * ```ts
 * import { Document } from "effect-pix"
 *
 * Document.format(Document.cpf("52998224725")) // => "529.982.247-25"
 * Document.format(Document.cnpj("12ABC34501DE35")) // => "12.ABC.345/01DE-35"
 * ```
 */
export const format = (document: Cpf | Cnpj): string =>
  is11Digits(document) ? formatCpf(document) : formatCnpj(document)

/**
 * Writes a document with its first group and its check digits hidden, for logs and screens. PIX participants show a CPF in
 * this form (`***.982.247-**`); a CNPJ is masked in the same way.
 *
 * ```ts
 * import { Document } from "effect-pix"
 *
 * Document.mask(Document.cpf("52998224725")) // => "***.982.247-**"
 * Document.mask(Document.cnpj("12ABC34501DE35")) // => "**.ABC.345/01DE-**"
 * ```
 */
export const mask = (document: Cpf | Cnpj): string =>
  is11Digits(document) ? obfuscateCpf(document) : obfuscateCnpj(document)

/** How many characters must be shown at least: fewer characters are the same in too many documents. */
const leastShown = 4

// A masked CPF and a masked CNPJ, recognised by their punctuation.
const cpfForm = /^.{3}\..{3}\..{3}-.{2}$/u
const cnpjForm = /^.{2}\..{3}\..{3}\/.{4}-.{2}$/u

/**
 * Compares a document that the service shows, in full or masked (`***.982.247-**`), with a document that you have. For
 * example the `creditorDocument` of a withdrawal with the document of the person whom you meant to pay.
 *
 * - `true`: at least four characters are shown, and all of them are equal. For a masked document that is no proof: about one
 *   CPF in a million has the same six digits.
 * - `false`: it is another document. One shown character differs, or one is a CPF and the other a CNPJ.
 * - `undefined`: the two cannot be compared. The first is absent, shows fewer than four characters, or has another length, so
 *   that the positions of its characters are not known.
 *
 * A first argument that is not a text counts as absent; a `document` that is not a text throws a `SchemaError`.
 *
 * The service does not document whether it masks, nor how. So a character counts as hidden if a document of this kind cannot
 * have it in that position, and so does `X`, which some masks use.
 *
 * ```ts
 * import { Document } from "effect-pix"
 *
 * const cpf = Document.cpf("529.982.247-25")
 * Document.matches("52998224725", cpf) // => true
 * Document.matches("***.982.247-**", cpf) // => true
 * Document.matches("***.982.248-**", cpf) // => false
 * Document.matches("**.222.333/0001-**", cpf) // => false
 * Document.matches("***********", cpf) // => undefined
 * ```
 */
export const matches = (masked: string | undefined, document: Cpf | Cnpj): boolean | undefined => {
  const isCpf = is11Digits(document)
  const text = Predicate.isString(masked) ? masked.trim() : ""
  const places = Array.from(text.replaceAll(separators, ""))
  if (places.length !== document.length) {
    const isOther = isCpf
      ? cnpjForm.test(text) || Option.isSome(cnpjOption(text))
      : cpfForm.test(text) || Option.isSome(cpfOption(text))
    return isOther ? false : undefined
  }
  const isShown = (character: string, at: number) => (isCpf || at >= 12 ? /\d/ : /[\da-wyz]/i).test(character)
  const agrees = places.flatMap((character, at) =>
    isShown(character, at) ? [character.toUpperCase() === document[at]] : []
  )
  if (agrees.includes(false)) return false
  return agrees.length >= leastShown ? true : undefined
}
