/**
 * The five kinds of PIX keys: for each, the texts that it accepts, the directory's form, and the mask.
 */
import type * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Document from "../Document.ts"
import { maxEmailLength } from "../../internal/bounds.ts"
import { hasOtherHyphen, plainHyphens, visibleText } from "./typed.ts"
import { isValidLandlinePhone, isValidMobilePhone } from "./brazilianUtils.ts"

/** The five kinds of key, by their names on the wire (`docs/service.md`). */
export const PixKeyType = Schema.Literals(["CPF", "CNPJ", "EMAIL", "PHONE", "EVP"])
export type PixKeyType = typeof PixKeyType.Type

/** Key and kind as the service writes them, in plain text. */
export interface Pair {
  /** The key, in plain text. */
  readonly pixKey: string
  /** Its kind, by its name on the wire. */
  readonly pixKeyType: PixKeyType
}

interface Kind {
  /** The key in the directory's form, or the mistake in the text, as a predicate. */
  readonly read: (input: string) => Result.Result<string, string>
  readonly mask: (value: string) => string
}

// The patterns of DICT's API definition (github.com/bacen/pix-dict-api).
const emailPattern =
  /^[a-z0-9.!#$&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/
const phonePattern = /^\+[1-9][0-9]\d{1,14}$/
const evpPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const notA = (expected: string) => Result.fail(`is not a valid ${expected}`)

const document = (read: (input: string) => Option.Option<string>, expected: string) => (input: string) =>
  Result.fromOption(read(input), () => `is not a valid ${expected}`)

const readEmail = (input: string): Result.Result<string, string> => {
  const text = visibleText(input)
  // An address with a hyphen in its place would be another address.
  if (hasOtherHyphen(text)) return Result.fail("has a sign that looks like a hyphen, and is none")
  // The text is tested before `toLowerCase`, which turns the Kelvin sign into the letter k.
  const isPlain = text.length <= maxEmailLength && /^[\x21-\x7e]+$/.test(text)
  const address = text.toLowerCase()
  return isPlain && emailPattern.test(address)
    ? Result.succeed(address)
    : notA(`e-mail address (at most ${maxEmailLength} characters)`)
}

const readEvp = (input: string): Result.Result<string, string> => {
  const uuid = plainHyphens(input).toLowerCase()
  return evpPattern.test(uuid) ? Result.succeed(uuid) : notA("EVP (a UUID)")
}

const phoneExpected = "phone (+ and country code, or a Brazilian mobile number with its area code)"

// A trunk zero is dialled only inside the country and is not part of the number. "(0)" cannot mean anything else.
const trunkZero = /^(\+55|\(\+55\))?\(0\)/

const readPhone = (input: string): Result.Result<string, string> => {
  const written = plainHyphens(input)
    .replaceAll(/[\s.-]/g, "")
    .replace(trunkZero, "$1")
  const text = written.replaceAll(/[()]/g, "")
  if (text.startsWith("+") && !text.startsWith("+55")) {
    return phonePattern.test(text) && !written.includes("(0)") ? Result.succeed(text) : notA(phoneExpected)
  }
  const national = text.replace(/^\+55/, "")
  if (/^\d{11}$/.test(national) && isValidMobilePhone(national)) return Result.succeed(`+55${national}`)
  return /^\d{10}$/.test(national) && isValidLandlinePhone(national)
    ? Result.fail("is a landline (in Brazil only a mobile phone can be a key)")
    : notA(phoneExpected)
}

const maskPhone = (phone: string): string =>
  phone.startsWith("+55")
    ? `+55 ** *****-${phone.slice(-4)}`
    : `+***${phone.slice(-Math.min(4, Math.floor(phone.length / 4)))}`

/** The kinds by their names on the wire. */
export const kinds = {
  CPF: {
    read: document(Document.cpfOption, "CPF (11 digits with check digits)"),
    mask: (value) => Document.mask(Document.cpf(value))
  },
  CNPJ: {
    read: document(Document.cnpjOption, "CNPJ (14 digits or letters, the last two check digits)"),
    mask: (value) => Document.mask(Document.cnpj(value))
  },
  EMAIL: {
    read: readEmail,
    mask: (value) => value.replace(/^(.)[^@]*@(.).*$/, "$1***@$2***")
  },
  PHONE: {
    read: readPhone,
    mask: maskPhone
  },
  EVP: {
    read: readEvp,
    mask: (value) => `${value.slice(0, 8)}-****-****-****-************`
  }
} satisfies Readonly<Record<string, Kind>>

/**
 * Whether a text is a key as the directory stores it, of any kind: what a bank can look up. Letters may be in either case. A
 * phone is any of DICT's pattern: the directory decides about landlines.
 */
export const isDirectoryKey = (text: string): boolean =>
  phonePattern.test(text) ||
  Object.values(kinds).some(({ read }) => Result.getOrUndefined(read(text))?.toLowerCase() === text.toLowerCase())

/** Whether a value is the name of one of the five kinds. */
export const isPixKeyType = (type: unknown): type is PixKeyType =>
  Predicate.isString(type) && Object.hasOwn(kinds, type)
