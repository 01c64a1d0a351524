/**
 * The lenient reader of BR Codes: it reads every field that it can, and lists the problems.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Money from "../Money.ts"
import type { BrCode, Problem, ProblemCode } from "./brCodeModel.ts"
import { crc16 } from "./crc16.ts"
import * as tlv from "./tlv.ts"

/** The identifier of a PIX template (id 00), in lower case. */
export const gui = "br.gov.bcb.pix"

/**
 * The URL of a charge: a host name and a path. Refused is every part that could hide the real host from a person, or that
 * a client would rewrite: a scheme, an account, a port, an address of digits, a name in punycode, an escape, `..`.
 */
export const location =
  /^(?=.{1,77}$)(?:(?!xn--)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?!xn--)[a-z](?:[a-z\d-]{0,61}[a-z\d])(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'()*+,;=:-]+)+\/?$/i

/** The text that the manual writes for no `txid`. */
export const noTxid = "***"

const readAmount = (written: string): Option.Option<Money.Centavos> =>
  /^\d+(?:\.\d{0,2})?$/.test(written)
    ? Money.fromReaisOption(written.replace(/^0+(?=\d)/, "").replace(/\.$/, ""))
    : Option.none()

const readCrc = (text: string, fields: ReadonlyArray<tlv.Field>): BrCode["crc"] => {
  const last = fields.at(-1)
  if (last?.id !== "63" || !/^[\dA-F]{4}$/i.test(last.value)) {
    return { ok: false, stated: undefined, computed: crc16(`${text}6304`) }
  }
  const stated = last.value.toUpperCase()
  const computed = crc16(text.slice(0, -4))
  return { ok: stated === computed, stated, computed }
}

type Fields = ReadonlyArray<tlv.Field>

const isIn = (from: number, to: number) => (field: tlv.Field) => Number(field.id) >= from && Number(field.id) <= to

const pixTemplates = (fields: Fields, from: number, to: number, split: tlv.Split) =>
  fields
    .filter(isIn(from, to))
    .flatMap(({ value }) => Option.toArray(tlv.read(value, split)))
    .filter((template) => tlv.get(template, "00")?.toLowerCase() === gui)

const repeats = (fields: Fields) => new Set(fields.map(({ id }) => id)).size < fields.length

/** The templates: accounts, additional data, the receiver in another language, and the fields that are not reserved. */
const isTemplate = (field: tlv.Field) => isIn(26, 51)(field) || /^6[24]$/.test(field.id) || isIn(80, 99)(field)

/** Templates may hold templates: additional data does, from 50 on. */
const repeatsInside = (fields: Fields, split: tlv.Split, isNested = isTemplate): boolean =>
  fields
    .filter(isNested)
    .flatMap(({ value }) => Option.toArray(tlv.read(value, split)))
    .some((template) => repeats(template) || repeatsInside(template, split, isIn(50, 99)))

const findProblems = (
  get: (id: string) => string | undefined,
  fields: Fields,
  accounts: ReadonlyArray<Fields>,
  recurrences: ReadonlyArray<Fields>,
  crc: BrCode["crc"],
  split: tlv.Split
): ReadonlyArray<Problem> => {
  const amount = get("54")
  const [account = []] = accounts
  const urls = [...accounts, ...recurrences].flatMap((template) => tlv.get(template, "25") ?? [])
  const findings: ReadonlyArray<readonly [found: boolean, code: ProblemCode, reason: string]> = [
    [crc.stated === undefined, "crc", "does not end in a checksum"],
    [crc.stated !== undefined && !crc.ok, "crc", "has a wrong checksum"],
    [
      amount !== undefined && Option.isNone(readAmount(amount)),
      "amount",
      "states an amount that is not a number of reais with at most two decimals"
    ],
    [get("00") !== "01", "field", "does not have format 01 (id 00)"],
    [!["11", "12", undefined].includes(get("01")), "field", "has an unknown point of initiation (id 01)"],
    [get("52") === undefined, "field", "states no merchant category (id 52)"],
    [get("53") !== "986", "field", "is not in BRL (id 53)"],
    [get("58")?.toUpperCase() !== "BR", "field", "is not for Brazil (id 58)"],
    [!get("59"), "field", "states no receiver (id 59)"],
    [!get("60"), "field", "states no city (id 60)"],
    [
      Option.isNone(tlv.read(tlv.get(fields, "62") ?? "", split)),
      "field",
      "has additional data that cannot be read (id 62)"
    ],
    [repeats(fields), "field", "repeats a field"],
    [repeatsInside(fields, split), "field", "repeats a field inside a template"],
    [accounts.length > 1, "field", "has several PIX accounts"],
    [!urls.every((url) => location.test(url)), "field", "has a URL that is not a plain host and path (id 25)"],
    [tlv.get(account, "01") !== undefined && tlv.get(account, "25") !== undefined, "field", "has both a key and a URL"]
  ]
  return findings.flatMap(([found, code, reason]) => (found ? [{ code, reason }] : []))
}

const redact = (value: string | undefined, label: string) =>
  value === undefined ? undefined : Redacted.make(value, { label })

/** A way to count lengths: `raw` is the text whose units they count, `split` cuts it into units, `decode` gives a value's text. */
interface Reading {
  readonly raw: string
  readonly split: tlv.Split
  readonly decode: (value: string) => string
}

const read = (text: string, { decode, raw, split }: Reading): Result.Result<BrCode, Problem> => {
  const list = tlv.read(raw, split)
  if (Option.isNone(list)) return Result.fail(unreadable)
  const fields = list.value
  const accounts = pixTemplates(fields, 26, 51, split)
  const account = accounts[0]
  if (account === undefined) return Result.fail({ code: "not-pix", reason: "has no PIX account" })

  const stated = (from: Fields) => (id: string) => {
    const value = tlv.get(from, id)
    return value === undefined || value === "" ? undefined : decode(value)
  }
  const top = stated(fields)
  const inAccount = stated(account)
  const key = inAccount("01")
  const url = inAccount("25")
  const recurrences = pixTemplates(fields, 80, 99, split)
  const recurrenceUrl = recurrences.map((template) => stated(template)("25")).find((url) => url !== undefined)
  if (key === undefined && url === undefined && recurrenceUrl === undefined) {
    return Result.fail({ code: "not-pix", reason: "has neither a PIX key nor a URL" })
  }
  const additional = Option.getOrElse(tlv.read(tlv.get(fields, "62") ?? "", split), () => [])
  const txid = stated(additional)("05")
  const amount = top("54")
  const crc = readCrc(text, fields)
  return Result.succeed({
    kind: recurrenceUrl !== undefined ? "composite" : url !== undefined ? "dynamic" : "static",
    merchantName: top("59"),
    merchantCity: top("60"),
    postalCode: top("61"),
    mcc: top("52"),
    currency: top("53"),
    country: top("58"),
    amount: amount === undefined ? undefined : Option.getOrUndefined(readAmount(amount)),
    txid: txid === noTxid ? undefined : txid,
    pointOfInitiation: top("01"),
    key: redact(key, "key"),
    url: redact(url, "url"),
    additionalInfo: redact(inAccount("02"), "additionalInfo"),
    fss: inAccount("03"),
    recurrenceUrl: redact(recurrenceUrl, "recurrenceUrl"),
    crc,
    problems: findProblems(top, fields, accounts, recurrences, crc, split),
    fields: Redacted.make(
      fields.map(({ id, value }) => ({ id, value: decode(value) })),
      { label: "fields" }
    ),
    payload: Redacted.make(text, { label: "payload" })
  })
}

const utf8 = new TextEncoder()
const fromUtf8 = new TextDecoder("utf-8", { ignoreBOM: true })
const toBinary = (text: string) => Array.from(utf8.encode(text), (byte) => String.fromCharCode(byte)).join("")
const fromBinary = (binary: string) => fromUtf8.decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)))

const unreadable: Problem = { code: "tlv", reason: "is cut off or not a BR Code" }

// A QR code holds less.
const maxLength = 8192

const toUnits: tlv.Split = (text) => text.split("")
const toCodePoints: tlv.Split = (text) => Array.from(text)
const same = (value: string) => value

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text)

/**
 * Reads a code whose lengths count UTF-16 units, code points or UTF-8 bytes. The first reading without problems wins, then
 * one whose checksum is correct, then any.
 */
export const readBrCode = (payload: string): Result.Result<BrCode, Problem> => {
  if (!Predicate.isString(payload) || payload.length > maxLength) return Result.fail(unreadable)
  const text = payload.trim()
  const byUnits = read(text, { raw: text, split: toUnits, decode: same })
  if (isAscii(text)) return byUnits
  const readings = [
    byUnits,
    read(text, { raw: text, split: toCodePoints, decode: same }),
    read(text, { raw: toBinary(text), split: toUnits, decode: fromBinary })
  ]
  const codes = readings.flatMap((reading) => Option.toArray(Result.getSuccess(reading)))
  const best = codes.find(({ problems }) => problems.length === 0) ?? codes.find(({ crc }) => crc.ok) ?? codes[0]
  return best === undefined ? byUnits : Result.succeed(best)
}
