/** Writes and reads BR Codes for the tests, and gives those of manuals and of gateways. */
import { Redacted, Result, Schema } from "effect"
import * as BrCode from "../../src/pix/BrCode.ts"
import table from "../tables/brCodes.json" with { type: "json" }

export const evp = "123e4567-e12b-12d1-a456-426655440000"

/**
 * `codes`: examples of the manuals and of bacen/pix-api, and codes that gateways answered, each with all that it says.
 * `recurrence`: one that requests no payment. `placeholders`: ones of documentation, with a placeholder in place of the
 * checksum. `broken`: ones of documentation, with wrong lengths. `urls` and `wrongUrls`: URLs that a code may and may not have.
 */
export const { broken, codes, placeholders, recurrence, urls, wrongUrls } = table

/** The examples that are changed in tests. */
export const vectors = { staticKey: codes["a static key"].payload, dynamicUrl: codes["a dynamic URL"].payload }

export const parse = (payload: string) => Result.getOrThrow(BrCode.parse(payload))
/** The code, where it has no problem. */
export const verified = (payload: string): Result.Result<BrCode.BrCode, BrCode.Problem> =>
  Result.flatMap(BrCode.parse(payload), (code) =>
    code.problems[0] === undefined ? Result.succeed(code) : Result.fail(code.problems[0])
  )
export const tlv = (id: string, value: string, length = value.length) =>
  `${id}${String(length).padStart(2, "0")}${value}`
/** CRC-16/CCITT-FALSE of the bytes, in four capital hexadecimal digits. */
const crc16 = (text: string) => {
  let crc = 0xffff
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : ((crc << 1) ^ 0x1021) & 0xffff
  }
  return (crc & 0xffff).toString(16).toUpperCase().padStart(4, "0")
}
export const withCrc = (text: string) => `${text}6304${crc16(`${text}6304`)}`
export const reveal = (hidden: Redacted.Redacted | undefined) =>
  hidden === undefined ? undefined : Redacted.value(hidden)

const skippedFields = new Set(["crc", "fields", "payload", "problems"])

/** The fields of a code in plain text, without the undefined ones. */
export const plain = (code: BrCode.BrCode): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries({
      ...code,
      key: reveal(code.key),
      url: reveal(code.url),
      additionalInfo: reveal(code.additionalInfo)
    }).filter(([name, value]) => value !== undefined && !skippedFields.has(name))
  )

export const usual = {
  mcc: "0000",
  currency: "986",
  country: "BR",
  merchantName: "Fulano de Tal",
  merchantCity: "BRASILIA"
}

export const text = (pattern: RegExp) => Schema.String.check(Schema.isPattern(pattern))
const amount = Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999_999_999 })))
const merchant = { merchantName: text(/^[A-Z][A-Za-z0-9]{0,24}$/), merchantCity: text(/^[A-Z][a-z]{0,14}$/), amount }
export const StaticOptions = Schema.Struct({
  ...merchant,
  key: text(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
  txid: Schema.optional(text(/^[A-Za-z0-9]{1,25}$/)),
  additionalInfo: Schema.optional(text(/^[a-z0-9]{1,37}$/))
})
export const DynamicOptions = Schema.Struct({
  ...merchant,
  url: text(/^[a-z]{1,9}\.[a-z]{2,5}\/qr\/v2\/[0-9a-f]{1,32}$/)
})

/** Writes a code as the manual says. All texts are ASCII, and fit. */
export const generate = (options: typeof StaticOptions.Type | typeof DynamicOptions.Type): string => {
  const { amount, merchantCity, merchantName } = options
  const isDynamic = "url" in options
  const account = isDynamic
    ? tlv("25", options.url)
    : tlv("01", options.key) + (options.additionalInfo === undefined ? "" : tlv("02", options.additionalInfo))
  return withCrc(
    [
      tlv("00", "01"),
      isDynamic ? tlv("01", "12") : "",
      tlv("26", tlv("00", "br.gov.bcb.pix") + account),
      tlv("52", "0000"),
      tlv("53", "986"),
      amount === undefined ? "" : tlv("54", (amount / 100).toFixed(2)),
      tlv("58", "BR"),
      tlv("59", merchantName),
      tlv("60", merchantCity),
      tlv("62", tlv("05", isDynamic ? "***" : (options.txid ?? "***")))
    ].join("")
  )
}
