/**
 * Writes a PIX charge. The result has the same bytes as that of the schema `PixTransactionRequest`.
 */
import { currencyPattern } from "../../../contract/Currency.ts"
import { patterns } from "../../../contract/Transaction.ts"
import { isNatural, isText, isWord } from "./fastReaders.ts"

type Plain = Readonly<Record<string, unknown>>

/** Whether a value is an object literal that has only fields with these names. */
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
const isPostbackUrl = orAbsent(fits(patterns.postbackUrl))
const isCountOrAbsent = orAbsent(isCount)
const isFlagOrAbsent = orAbsent(isFlag)
const isWordOrAbsent = orAbsent(isWord)

const chargeNames: ReadonlySet<PropertyKey> = new Set(
  "amount currency paymentMethod installments customer items traceable ip postbackUrl pix".split(" ")
)
const customerNames: ReadonlySet<PropertyKey> = new Set("id name email document phone externalRef".split(" "))
const documentNames: ReadonlySet<PropertyKey> = new Set(["number", "type"])
const itemNames: ReadonlySet<PropertyKey> = new Set(["title", "unitPrice", "quantity", "tangible", "externalRef"])
const pixNames: ReadonlySet<PropertyKey> = new Set(["expiresInDays"])

const readDocument = (value: unknown) => {
  if (!isPlain(value, documentNames)) return undefined
  const { number, type } = value
  return isWord(number) && isWord(type) ? { number, type } : undefined
}

const readCustomer = (value: unknown) => {
  if (!isPlain(value, customerNames)) return undefined
  const { document, email, externalRef, id, name, phone } = value
  if (!isWord(name) || !isEmail(email) || !isWordOrAbsent(id) || !isPhone(phone) || !isWordOrAbsent(externalRef)) {
    return undefined
  }
  const written = document === undefined ? undefined : readDocument(document)
  return document !== undefined && written === undefined
    ? undefined
    : { id, name, email, document: written, phone, externalRef }
}

const readItems = (value: unknown) => {
  if (!Array.isArray(value)) return undefined
  const items: Array<object> = []
  for (const item of value) {
    if (!isPlain(item, itemNames)) return undefined
    const { externalRef, quantity, tangible, title, unitPrice } = item
    if (!isWord(title) || !isNatural(unitPrice) || !isCount(quantity)) return undefined
    if (!isFlagOrAbsent(tangible) || !isWordOrAbsent(externalRef)) return undefined
    items.push({ title, unitPrice, quantity, tangible, externalRef })
  }
  return items
}

const readPix = (value: unknown) => {
  if (!isPlain(value, pixNames)) return undefined
  const { expiresInDays } = value
  return isCountOrAbsent(expiresInDays) ? { expiresInDays } : undefined
}

/** Writes the JSON of a plain PIX charge. Returns `undefined` for any other request. */
export const writePixCharge = (request: unknown): string | undefined => {
  if (!isPlain(request, chargeNames)) return undefined
  const {
    amount,
    currency = "BRL",
    customer,
    installments,
    ip,
    items,
    paymentMethod,
    pix,
    postbackUrl,
    traceable
  } = request
  if (
    paymentMethod !== "PIX" ||
    !isNatural(amount) ||
    !isCurrency(currency) ||
    !isCountOrAbsent(installments) ||
    !isFlagOrAbsent(traceable) ||
    !isIp(ip) ||
    !isPostbackUrl(postbackUrl)
  ) {
    return undefined
  }
  const checkedCustomer = readCustomer(customer)
  const checkedItems = items === undefined ? undefined : readItems(items)
  const checkedPix = pix === undefined ? undefined : readPix(pix)
  return checkedCustomer === undefined ||
    (items !== undefined && checkedItems === undefined) ||
    (pix !== undefined && checkedPix === undefined)
    ? undefined
    : // The order is that of the schema's fields. A field that is `undefined` is not written.
      JSON.stringify({
        amount,
        currency,
        paymentMethod,
        installments,
        customer: checkedCustomer,
        items: checkedItems,
        traceable,
        ip,
        postbackUrl,
        pix: checkedPix
      })
}
