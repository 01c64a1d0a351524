/**
 * Reads the answer to a charge, as `CreateTransactionResponse` does.
 */
import type { CreateTransactionResponse } from "../../../../contract/Transaction.ts"
import { instant, isNatural, isRecord, isText, isWord, leaveOut, type Misfits, optional, present } from "./plain.ts"

type Response = typeof CreateTransactionResponse.Type
type Data = Response["data"]
type Pix = NonNullable<Data["pix"]>

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value)

const readPix = (pix: unknown, misfits: Misfits): Pix | undefined =>
  isRecord(pix)
    ? present<Pix>({
        qrcode: optional(pix["qrcode"], isText, "data.pix.qrcode", misfits),
        expirationDate: instant(pix["expirationDate"], "data.pix.expirationDate", misfits)
      })
    : leaveOut(pix, "data.pix", misfits)

const documented: ReadonlySet<string> = new Set(["id", "amount", "paymentMethod", "status", "pix", "companyId"])

/** The fields that the contract does not name; `undefined` where one of them needs care. */
const readExtra = (data: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined => {
  const extra: Record<string, unknown> = {}
  for (const name of Object.keys(data)) {
    if (documented.has(name)) continue
    if (name === "__proto__") return undefined
    extra[name] = data[name]
  }
  return extra
}

const readData = (data: unknown, misfits: Misfits): Data | undefined => {
  if (!isRecord(data)) return undefined
  const { amount, id, status } = data
  const extra = readExtra(data)
  if (!isWord(id) || !isNatural(amount) || !isText(status) || extra === undefined) return undefined
  return present<Data>({
    id,
    amount,
    paymentMethod: optional(data["paymentMethod"], isText, "data.paymentMethod", misfits),
    status,
    pix: readPix(data["pix"], misfits),
    companyId: optional(data["companyId"], isNatural, "data.companyId", misfits),
    extra
  })
}

/** Reads the answer to a charge. */
export const readCharge = (json: unknown, misfits: Misfits): Response | undefined => {
  if (!isRecord(json)) return undefined
  const data = readData(json["data"], misfits)
  return data === undefined
    ? undefined
    : present<Response>({
        data,
        status: optional(json["status"], isInteger, "status", misfits),
        message: optional(json["message"], isText, "message", misfits),
        companyId: optional(json["companyId"], isNatural, "companyId", misfits)
      })
}
