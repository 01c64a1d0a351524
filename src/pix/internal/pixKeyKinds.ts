/**
 * What each kind of PIX key accepts, the directory's form of it, and its mask.
 */
import { isValidLandlinePhone } from "@brazilian-utils/brazilian-utils/is-valid-landline-phone"
import { isValidMobilePhone } from "@brazilian-utils/brazilian-utils/is-valid-mobile-phone"
import * as Option from "effect/Option"
import * as Document from "../Document.ts"
import type { PixKeyType } from "../PixKey.ts"

interface Kind {
  readonly expected: string
  readonly read: (input: string) => Option.Option<string>
  readonly mask: (value: string) => string
}

// The patterns of DICT's API definition (github.com/bacen/pix-dict-api).
const emailPattern =
  /^[a-z0-9.!#$&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/
const phonePattern = /^\+[1-9][0-9]\d{1,14}$/
export const evpPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const maxEmailLength = 77

const matching = (pattern: RegExp) => Option.liftPredicate((text: string) => pattern.test(text))

const readEmail = (input: string): Option.Option<string> =>
  Option.some(input.trim()).pipe(
    // Before the case is changed: the Kelvin sign would become the letter k.
    Option.filter((text) => text.length <= maxEmailLength && /^[\x21-\x7e]+$/.test(text)),
    Option.map((text) => text.toLowerCase()),
    Option.flatMap(matching(emailPattern))
  )

const readPhone = (input: string): Option.Option<string> => {
  const text = input.replaceAll(/[\s().-]/g, "")
  if (text.startsWith("+")) return matching(phonePattern)(text)
  // Without a country code the digits may be another document's: they must be a Brazilian phone in every respect.
  return /^\d{10,11}$/.test(text) && (isValidMobilePhone(text, { version: 2 }) || isValidLandlinePhone(text))
    ? Option.some(`+55${text}`)
    : Option.none()
}

const maskPhone = (phone: string): string =>
  /^\+55\d{10,11}$/.test(phone)
    ? `+55 ** *****-${phone.slice(-4)}`
    : `+***${phone.slice(-Math.min(4, Math.floor(phone.length / 4)))}`

export const kinds: { readonly [Type in PixKeyType]: Kind } = {
  CPF: {
    expected: "CPF (11 digits with check digits)",
    read: Document.cpfOption,
    mask: (value) => Document.mask(Document.cpf(value))
  },
  CNPJ: {
    expected: "CNPJ (14 digits or letters, the last two check digits)",
    read: Document.cnpjOption,
    mask: (value) => Document.mask(Document.cnpj(value))
  },
  EMAIL: {
    expected: `e-mail address (at most ${maxEmailLength} characters)`,
    read: readEmail,
    mask: (value) => value.replace(/^(.)[^@]*@(.).*$/, "$1***@$2***")
  },
  PHONE: {
    expected: "phone (+ and country code, or a Brazilian mobile or landline number with its area code)",
    read: readPhone,
    mask: maskPhone
  },
  EVP: {
    expected: "EVP (a UUID)",
    read: (input) => matching(evpPattern)(input.trim().toLowerCase()),
    mask: (value) => `${value.slice(0, 8)}-****-****-****-************`
  }
}
