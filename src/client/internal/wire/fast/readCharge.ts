/**
 * Reads the answer to a charge, as `CreateTransactionResponse` does.
 */
import type { CreateTransactionResponse } from "../../../../contract/Transaction.ts"
import { type Building, instantOf, isAbsent, isNatural, isRecord, isText, isTextOrAbsent, isWord } from "./plain.ts"

type Response = typeof CreateTransactionResponse.Type
type Data = Response["data"]
type Pix = NonNullable<Data["pix"]>

const readPix = (value: unknown): Pix | undefined => {
  if (!isRecord(value) || !isTextOrAbsent(value["qrcode"])) return undefined
  const pix: Building<Pix> = {}
  if (!isAbsent(value["qrcode"])) pix.qrcode = value["qrcode"]
  if (isAbsent(value["expirationDate"])) return pix
  const expirationDate = instantOf(value["expirationDate"])
  return expirationDate === undefined ? undefined : { ...pix, expirationDate }
}

const documented: ReadonlySet<string> = new Set(["id", "amount", "paymentMethod", "status", "pix", "companyId"])

/** The fields that the contract does not name; `undefined` where one of them needs care. */
const readExtra = (data: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined => {
  const extra: Record<string, unknown> = {}
  for (const name of Object.keys(data)) {
    if (documented.has(name)) continue
    if (name === "extra" || name === "__proto__") return undefined
    extra[name] = data[name]
  }
  return extra
}

const readData = (data: Readonly<Record<string, unknown>>): Data | undefined => {
  const { amount, companyId, id, paymentMethod, status } = data
  if (
    !isWord(id) ||
    !isNatural(amount) ||
    !isText(status) ||
    !isTextOrAbsent(paymentMethod) ||
    !(isNatural(companyId) || isAbsent(companyId))
  ) {
    return undefined
  }
  const extra = readExtra(data)
  if (extra === undefined) return undefined
  const read: Building<Data> & Pick<Data, "amount" | "extra" | "id" | "status"> = { id, amount, status, extra }
  if (!isAbsent(paymentMethod)) read.paymentMethod = paymentMethod
  if (!isAbsent(companyId)) read.companyId = companyId
  if (isAbsent(data["pix"])) return read
  const pix = readPix(data["pix"])
  return pix === undefined ? undefined : { ...read, pix }
}

/** Reads the answer to a charge that is plain. */
export const readCharge = (json: unknown): Response | undefined => {
  if (!isRecord(json) || !isRecord(json["data"])) return undefined
  const { companyId, message, status } = json
  if (
    !(isAbsent(status) || isInteger(status)) ||
    !isTextOrAbsent(message) ||
    !(isNatural(companyId) || isAbsent(companyId))
  ) {
    return undefined
  }
  const data = readData(json["data"])
  if (data === undefined) return undefined
  const response: Building<Response> & Pick<Response, "data"> = { data }
  if (!isAbsent(status)) response.status = status
  if (!isAbsent(message)) response.message = message
  if (!isAbsent(companyId)) response.companyId = companyId
  return response
}

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value)
