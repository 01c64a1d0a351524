/**
 * The lenient reader of BR Codes: it reads every field that it can, and lists the problems.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Money from "../Money.ts"
import type { BrCode, Problem, ProblemCode } from "./brCodeModel.ts"
import { maxCodeLength } from "../../internal/bounds.ts"
import { crc16 } from "../../internal/crc16.ts"
import { isDirectoryKey } from "./pixKeyKinds.ts"
import * as tlv from "./tlv.ts"

/** The identifier of a PIX account (id 00), in lower case. */
const gui = "br.gov.bcb.pix"

/**
 * The URL of a charge: a host name and a path. Refused is every part that could hide the real host from a person, or that
 * a client would rewrite: a scheme, an account, a port, an address of digits, a name in punycode, an escape, `..`.
 */
const location =
  /^(?=.{1,77}$)(?:(?!xn--)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?!xn--)[a-z](?:[a-z\d-]{0,61}[a-z\d])(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'()*+,;=:-]+)+\/?$/i

const readAmount = (written: string): Option.Option<Money.Centavos> =>
  /^\d+(?:\.\d{0,2})?$/.test(written)
    ? Money.fromReaisOption(written.replace(/^0+(?=\d)/, "").replace(/\.$/, ""))
    : Option.none()

type Fields = ReadonlyArray<tlv.Field>

const readCrc = (text: string, fields: Fields): BrCode["crc"] => {
  const last = fields.at(-1)
  if (last?.id !== "63" || !/^[\dA-F]{4}$/i.test(last.value)) {
    return { ok: false, stated: undefined, computed: crc16(`${text}6304`) }
  }
  const stated = last.value.toUpperCase()
  const computed = crc16(text.slice(0, -4))
  return { ok: stated === computed, stated, computed }
}

const isAccount = ({ id }: tlv.Field) => id >= "26" && id <= "51"

/** Accounts, additional data, the receiver in another language, and the fields that are not reserved. */
const isTemplate = (field: tlv.Field) => isAccount(field) || /^(?:6[24]|[89]\d)$/.test(field.id)

/** The fields of the templates that can be read. */
const templates = (fields: Fields, is: (field: tlv.Field) => boolean) =>
  fields.filter(is).flatMap(({ value }) => Option.toArray(tlv.read(value)))

const repeats = (fields: Fields) => new Set(fields.map(({ id }) => id)).size < fields.length

/** Templates may hold templates: additional data does, from 50 on. */
const repeatsInside = (fields: Fields, is = isTemplate): boolean =>
  templates(fields, is).some((template) => repeats(template) || repeatsInside(template, ({ id }) => id >= "50"))

const findProblems = (
  get: (id: string) => string | undefined,
  fields: Fields,
  accounts: ReadonlyArray<Fields>,
  crc: BrCode["crc"]
): ReadonlyArray<Problem> => {
  const amount = get("54")
  const [account = []] = accounts
  const key = tlv.get(account, "01")
  const urls = accounts.flatMap((template) => tlv.get(template, "25") ?? [])
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
    [Option.isNone(tlv.read(tlv.get(fields, "62") ?? "")), "field", "has additional data that cannot be read (id 62)"],
    [repeats(fields), "field", "repeats a field"],
    [repeatsInside(fields), "field", "repeats a field inside a template"],
    [accounts.length > 1, "field", "has several PIX accounts"],
    [!urls.every((url) => location.test(url)), "field", "has a URL that is not a plain host and path (id 25)"],
    [key !== undefined && !isDirectoryKey(key), "field", "has a key that no bank can look up (id 01)"],
    [key !== undefined && tlv.get(account, "25") !== undefined, "field", "has both a key and a URL"]
  ]
  return findings.flatMap(([found, code, reason]) => (found ? [{ code, reason }] : []))
}

const redact = (value: string | undefined, label: string) =>
  value === undefined ? undefined : Redacted.make(value, { label })

const unreadable: Problem = { code: "tlv", reason: "is cut off or not a BR Code" }

/** Reads a text whose characters are what the lengths count. `decode` returns the text of a value. */
const read = (text: string, raw: string, decode: (value: string) => string): Result.Result<BrCode, Problem> => {
  const list = tlv.read(raw)
  if (Option.isNone(list)) return Result.fail(unreadable)
  const fields = list.value
  const accounts = templates(fields, isAccount).filter((template) => tlv.get(template, "00")?.toLowerCase() === gui)
  const account = accounts[0]
  if (account === undefined) return Result.fail({ code: "not-pix", reason: "has no PIX account" })

  const stated = (from: Fields) => (id: string) => decode(tlv.get(from, id) ?? "") || undefined
  const top = stated(fields)
  const inAccount = stated(account)
  const key = inAccount("01")
  const url = inAccount("25")
  if (key === undefined && url === undefined) {
    return Result.fail({ code: "not-pix", reason: "has neither a PIX key nor a URL" })
  }
  const additional = Option.getOrElse(tlv.read(tlv.get(fields, "62") ?? ""), () => [])
  const txid = stated(additional)("05")
  const crc = readCrc(text, fields)
  return Result.succeed({
    kind: url === undefined ? "static" : "dynamic",
    merchantName: top("59"),
    merchantCity: top("60"),
    postalCode: top("61"),
    mcc: top("52"),
    currency: top("53"),
    country: top("58"),
    amount: Option.getOrUndefined(readAmount(top("54") ?? "")),
    txid: txid === "***" ? undefined : txid,
    pointOfInitiation: top("01"),
    key: redact(key, "key"),
    url: redact(url, "url"),
    additionalInfo: redact(inAccount("02"), "additionalInfo"),
    crc,
    problems: findProblems(top, fields, accounts, crc),
    fields: Redacted.make(
      fields.map(({ id, value }) => ({ id, value: decode(value) })),
      { label: "fields" }
    ),
    payload: Redacted.make(text, { label: "payload" })
  })
}

const utf8 = new TextEncoder()
const fromUtf8 = new TextDecoder("utf-8", { ignoreBOM: true })
/** The bytes of a text, each as one character, and the text of such bytes. */
const toBinary = (text: string) => Array.from(utf8.encode(text), (byte) => String.fromCharCode(byte)).join("")
const fromBinary = (binary: string) => fromUtf8.decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)))

// A QR code holds less.

/**
 * Reads a code whose lengths count UTF-16 units or UTF-8 bytes. A reading without problems wins, then one whose checksum
 * is correct, then the first.
 */
export const readBrCode = (payload: string): Result.Result<BrCode, Problem> => {
  if (!Predicate.isString(payload) || payload.length > maxCodeLength) return Result.fail(unreadable)
  const text = payload.trim()
  const byUnits = read(text, text, (value) => value)
  if (/^\p{ASCII}*$/u.test(text)) return byUnits
  const codes = [byUnits, read(text, toBinary(text), fromBinary)].flatMap((reading) =>
    Option.toArray(Result.getSuccess(reading))
  )
  const best = codes.find(({ problems }) => problems.length === 0) ?? codes.find(({ crc }) => crc.ok) ?? codes[0]
  return best === undefined ? byUnits : Result.succeed(best)
}
