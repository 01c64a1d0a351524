/**
 * Writes a PIX charge, as `PixTransactionRequest` does, to the byte.
 */
import { currencyPattern } from "../../../contract/Currency.ts"
import { patterns } from "../../../contract/Transaction.ts"
import { isNatural, isText, isWord } from "./fastReaders.ts"

type Plain = Readonly<Record<string, unknown>>

/** Whether it is an object literal that has no other fields than these. */
const isPlain = (value: unknown, names: ReadonlySet<PropertyKey>): value is Plain => {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false
  for (const name of Reflect.ownKeys(value)) if (!names.has(name)) return false
  return true
}

const isCount = (value: unknown) => isNatural(value) && value >= 1
const isFlag = (value: unknown) => typeof value === "boolean"
const fits = (pattern: RegExp) => (value: unknown) => isText(value) && pattern.test(value)
const orAbsent = (is: (value: unknown) => boolean) => (value: unknown) => value === undefined || is(value)

const isEmail = fits(patterns.email)
const isCurrency = fits(currencyPattern)
const isPhone = orAbsent(fits(patterns.phone))
const isIp = orAbsent(fits(patterns.ip))
const isCountOrAbsent = orAbsent(isCount)
const isFlagOrAbsent = orAbsent(isFlag)
const isWordOrAbsent = orAbsent(isWord)

const chargeNames: ReadonlySet<PropertyKey> = new Set(
  "amount currency paymentMethod installments customer items traceable ip pix".split(" ")
)
const customerNames: ReadonlySet<PropertyKey> = new Set("id name email document phone externalRef".split(" "))
const documentNames: ReadonlySet<PropertyKey> = new Set(["number", "type"])
const itemNames: ReadonlySet<PropertyKey> = new Set(["title", "unitPrice", "quantity", "tangible"])
const pixNames: ReadonlySet<PropertyKey> = new Set(["expiresInDays"])

const documentOf = (value: unknown) => {
  if (!isPlain(value, documentNames)) return undefined
  const { number, type } = value
  return isWord(number) && isWord(type) ? { number, type } : undefined
}

const customerOf = (value: unknown) => {
  if (!isPlain(value, customerNames)) return undefined
  const { document, email, externalRef, id, name, phone } = value
  if (!isWord(name) || !isEmail(email) || !isWordOrAbsent(id) || !isPhone(phone) || !isWordOrAbsent(externalRef)) {
    return undefined
  }
  const written = document === undefined ? undefined : documentOf(document)
  return document !== undefined && written === undefined
    ? undefined
    : { id, name, email, document: written, phone, externalRef }
}

const itemsOf = (value: unknown) => {
  if (!Array.isArray(value)) return undefined
  const items: Array<object> = []
  for (const item of value) {
    if (!isPlain(item, itemNames)) return undefined
    const { quantity, tangible, title, unitPrice } = item
    if (!isWord(title) || !isNatural(unitPrice) || !isCount(quantity) || !isFlagOrAbsent(tangible)) return undefined
    items.push({ title, unitPrice, quantity, tangible })
  }
  return items
}

const pixOf = (value: unknown) => {
  if (!isPlain(value, pixNames)) return undefined
  const { expiresInDays } = value
  return isCountOrAbsent(expiresInDays) ? { expiresInDays } : undefined
}

/** The JSON of a PIX charge that is plain. */
export const writePixCharge = (request: unknown): string | undefined => {
  if (!isPlain(request, chargeNames)) return undefined
  const { amount, currency = "BRL", customer, installments, ip, items, paymentMethod, pix, traceable } = request
  if (
    paymentMethod !== "PIX" ||
    !isNatural(amount) ||
    !isCurrency(currency) ||
    !isCountOrAbsent(installments) ||
    !isFlagOrAbsent(traceable) ||
    !isIp(ip)
  ) {
    return undefined
  }
  const whom = customerOf(customer)
  const what = items === undefined ? undefined : itemsOf(items)
  const how = pix === undefined ? undefined : pixOf(pix)
  return whom === undefined || (items !== undefined && what === undefined) || (pix !== undefined && how === undefined)
    ? undefined
    : // The order is that of the schema's fields; what is undefined is not written.
      JSON.stringify({
        amount,
        currency,
        paymentMethod,
        installments,
        customer: whom,
        items: what,
        traceable,
        ip,
        pix: how
      })
}
