/**
 * The lenient reader of BR Codes: what can be read is read, and what is wrong with it is listed.
 */
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type { BrCode, Problem, ProblemCode } from "../BrCode.ts"
import * as Money from "../Money.ts"
import { crc16 } from "./crc16.ts"
import * as tlv from "./tlv.ts"

/** The mark of a PIX template, in lower case. */
export const gui = "br.gov.bcb.pix"

/** What stands for no `txid`. */
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

const pixTemplates = (fields: ReadonlyArray<tlv.Field>, from: number, to: number) =>
  fields
    .filter(({ id }) => Number(id) >= from && Number(id) <= to)
    .flatMap(({ value }) => Option.toArray(tlv.read(value)))
    .filter((template) => tlv.get(template, "00")?.toLowerCase() === gui)

const findProblems = (
  get: (id: string) => string | undefined,
  fields: ReadonlyArray<tlv.Field>,
  account: ReadonlyArray<tlv.Field>,
  accounts: number,
  crc: BrCode["crc"]
): ReadonlyArray<Problem> => {
  const amount = get("54")
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
    [new Set(fields.map(({ id }) => id)).size < fields.length, "field", "repeats a field"],
    [accounts > 1, "field", "has several PIX accounts"],
    [tlv.get(account, "01") !== undefined && tlv.get(account, "25") !== undefined, "field", "has both a key and a URL"]
  ]
  return findings.flatMap(([found, code, reason]) => (found ? [{ code, reason }] : []))
}

const hidden = (value: string | undefined, label: string) =>
  value === undefined ? undefined : Redacted.make(value, { label })

const read = (text: string, raw: string, decode: (value: string) => string): Result.Result<BrCode, Problem> => {
  const list = tlv.read(raw)
  if (Option.isNone(list)) return Result.fail({ code: "tlv", reason: "is cut off or not a BR Code" })
  const fields = list.value
  const accounts = pixTemplates(fields, 26, 51)
  const account = accounts[0]
  if (account === undefined) return Result.fail({ code: "not-pix", reason: "has no PIX account" })

  const stated = (from: ReadonlyArray<tlv.Field>) => (id: string) => {
    const value = tlv.get(from, id)
    return value === undefined || value === "" ? undefined : decode(value)
  }
  const top = stated(fields)
  const inAccount = stated(account)
  const key = inAccount("01")
  const url = inAccount("25")
  const recurrenceUrl = pixTemplates(fields, 80, 99)
    .map((template) => stated(template)("25"))
    .find((url) => url !== undefined)
  if (key === undefined && url === undefined && recurrenceUrl === undefined) {
    return Result.fail({ code: "not-pix", reason: "has neither a PIX key nor a URL" })
  }
  const additional = Option.getOrElse(tlv.read(tlv.get(fields, "62") ?? ""), () => [])
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
    key: hidden(key, "key"),
    url: hidden(url, "url"),
    additionalInfo: hidden(inAccount("02"), "additionalInfo"),
    fss: inAccount("03"),
    recurrenceUrl: hidden(recurrenceUrl, "recurrenceUrl"),
    crc,
    problems: findProblems(top, fields, account, accounts.length, crc),
    fields: Redacted.make(
      fields.map(({ id, value }) => ({ id, value: decode(value) })),
      { label: "fields" }
    ),
    payload: Redacted.make(text, { label: "payload" })
  })
}

const utf8 = new TextEncoder()
const fromUtf8 = new TextDecoder()
const toBinary = (text: string) => Array.from(utf8.encode(text), (byte) => String.fromCharCode(byte)).join("")
const fromBinary = (binary: string) => fromUtf8.decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)))

/** Reads a code whose lengths count characters or, failing that, UTF-8 bytes. */
export const readBrCode = (payload: string): Result.Result<BrCode, Problem> => {
  const text = payload.trim()
  const byCharacters = read(text, text, (value) => value)
  const binary = toBinary(text)
  if (binary === text || (Result.isSuccess(byCharacters) && byCharacters.success.crc.ok)) return byCharacters
  const byBytes = read(text, binary, fromBinary)
  return Result.isSuccess(byBytes) && (byBytes.success.crc.ok || Result.isFailure(byCharacters))
    ? byBytes
    : byCharacters
}
