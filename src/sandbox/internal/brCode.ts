/**
 * Writes the BR Code of a charge: a dynamic one, without accents. A value that does not fit is never shortened.
 */
import * as Result from "effect/Result"
import { crc16 } from "../../internal/crc16.ts"
import { withoutAccents } from "../../internal/withoutAccents.ts"
import { InvalidBrCode } from "../../pix/BrCode.ts"
import type { Centavos } from "../../pix/Money.ts"

const field = (id: string, value: string) => `${id}${String(value.length).padStart(2, "0")}${value}`

const toAscii = (text: string) => withoutAccents(text).replaceAll(/\s+/g, " ").trim()

const isShort = (text: string, most: number) => /^[\x20-\x7e]+$/.test(text) && text.length <= most

const reaisOf = (amount: Centavos) => `${Math.floor(amount / 100)}.${String(amount % 100).padStart(2, "0")}`

/** The receiver, the URL as host and path, and the amount in centavos, if the code states one. */
interface Charge {
  readonly merchant: { readonly name: string; readonly city: string }
  readonly url: string
  readonly amount: Centavos | undefined
}

/** The copy-and-paste text. It fails for a merchant or an amount that no code can state. */
export const writeBrCode = ({ amount, merchant, url }: Charge): Result.Result<string, InvalidBrCode> => {
  const [name, city] = [toAscii(merchant.name), toAscii(merchant.city)]
  if (!isShort(name, 25) || !isShort(city, 15)) {
    const reason = "needs a merchant's name of at most 25 and a city of at most 15 characters, in ASCII"
    return Result.fail(new InvalidBrCode({ code: "field", reason }))
  }
  if (amount !== undefined && (amount < 1 || amount > 999_999_999_999)) {
    return Result.fail(new InvalidBrCode({ code: "amount", reason: "needs an amount from 1 to 999999999999 centavos" }))
  }
  const text = [
    field("00", "01"),
    field("01", "12"),
    field("26", field("00", "br.gov.bcb.pix") + field("25", url)),
    field("52", "0000"),
    field("53", "986"),
    amount === undefined ? "" : field("54", reaisOf(amount)),
    field("58", "BR"),
    field("59", name),
    field("60", city),
    field("62", field("05", "***")),
    "6304"
  ].join("")
  return Result.succeed(text + crc16(text))
}
