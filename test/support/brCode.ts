/** Shared by the tests of BR Codes: the published examples by name, and helpers that write and read a code. */
import { Redacted, Result, Schema } from "effect"
import * as BrCode from "../../src/pix/BrCode.ts"

export const evp = "123e4567-e12b-12d1-a456-426655440000"

// The examples of the manuals and of bacen/pix-api; the last one is a community example.
export const vectors = {
  staticKey:
    "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D",
  dynamicUrl:
    "00020101021226700014br.gov.bcb.pix2548pix.example.com/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***630464E4",
  amongOthers:
    "00020104141234567890123426580014BR.GOV.BCB.PIX0136123e4567-e12b-12d1-a456-42665544000027300012BR.COM.OUTRO011001234567895204000053039865406123.455802BR5917NOME DO RECEBEDOR6008BRASILIA61087007490062190515RP12345678-201980390012BR.COM.OUTRO01190123.ABCD.3456.WXYZ6304AD38",
  recurrenceOnly:
    "00020126180014br.gov.bcb.pix5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/2353c790eefb11eaadc10242ac120002630462C9",
  urlAndRecurrence:
    "00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/94ed2badcbc04c15b0bb7fa35319489063047741",
  dueUrlAndRecurrence:
    "00020101021226810014br.gov.bcb.pix2559pix.example.com/qr/v2/cobv/1e6c54d3ec9449b7a7fc53b6b0f998e75204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/3ffa640fa4f14080adccb949fa2dc0d06304A441",
  keyAndRecurrence:
    "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865406100.505802BR5913Fulano de Tal6008BRASILIA62070503***80740014br.gov.bcb.pix2552pix.example.com/rec/2353c790eefb11eaadc10242ac12000263042875",
  longCity:
    "00020126580014br.gov.bcb.pix0136bee05743-4291-4f3c-9259-595df1307ba1520400005303986540510.005802BR5914Alexandre Lima6019Presidente Prudente62180514Um-Id-Qualquer6304D475"
}

export const parse = (payload: string) => Result.getOrThrow(BrCode.parse(payload))
export const verified = (payload: string) => Result.flatMap(BrCode.parse(payload), BrCode.verify)
export const tlv = (id: string, value: string, length = value.length) =>
  `${id}${String(length).padStart(2, "0")}${value}`
export const withCrc = (text: string) => `${text}6304${BrCode.crc(`${text}6304`)}`
export const reveal = (hidden: Redacted.Redacted | undefined) =>
  hidden === undefined ? undefined : Redacted.value(hidden)

const skippedFields = new Set(["crc", "fields", "payload", "problems"])

/** The fields of a code in plain text, without the undefined ones. */
export const plain = (code: BrCode.BrCode) =>
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
