/**
 * Fast readers of the two most common answers: a page of the list, and a charge that was created. A reader returns the
 * same value as the schema, without the optional fields that do not fit, and reports the names of these. If a required
 * field does not fit, it returns `undefined`. Then the schema reads the answer, so that every failure has the schema's
 * message.
 */
import type * as DateTime from "effect/DateTime"
import * as Redacted from "effect/Redacted"
import { type Expiry, parseExpiry } from "../../../contract/Expiry.ts"
import type {
  CreateTransactionResponse,
  ListTransactionsResponse,
  TransactionListItem
} from "../../../contract/Transaction.ts"
import { parseInstant } from "../../../internal/utc.ts"
import { isTooDeep } from "./decode.ts"
import type { Centavos } from "../../../pix/Money.ts"

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A natural number, such as an amount or an integer id. */
export const isNatural = (value: unknown): value is Centavos => Number.isSafeInteger(value) && Number(value) >= 0

export const isText = (value: unknown): value is string => typeof value === "string"
export const isWord = (value: unknown): value is string => typeof value === "string" && value !== ""

/** The names of the fields that were left out. */
type Misfits = Set<string>

/** Reports a field whose value does not fit. */
const leaveOut = (value: unknown, name: string, misfits: Misfits): undefined => {
  if (value !== undefined && value !== null) misfits.add(name)
}

/** An optional field, or `undefined` if it is absent or does not fit. */
const optional = <A>(
  value: unknown,
  is: (value: unknown) => value is A,
  name: string,
  misfits: Misfits
): A | undefined => (is(value) ? value : leaveOut(value, name, misfits))

const instant = (value: unknown, name: string, misfits: Misfits): DateTime.Utc | undefined =>
  (isText(value) ? parseInstant(value) : undefined) ?? leaveOut(value, name, misfits)

const expiry = (value: unknown, name: string, misfits: Misfits): Expiry | undefined =>
  (isText(value) ? parseExpiry(value) : undefined) ?? leaveOut(value, name, misfits)

const redacted = (value: unknown, label: string, misfits: Misfits): Redacted.Redacted | undefined =>
  isText(value) ? Redacted.make(value, { label }) : leaveOut(value, `data.${label}`, misfits)

/** Every field of `A`. An optional field may be `undefined`. */
type Fields<A> = {
  readonly [Name in keyof A]-?: Partial<Pick<A, Name>> extends Pick<A, Name> ? A[Name] | undefined : A[Name]
}

/** Removes the fields that are `undefined`. */
const present = <A extends object>(fields: Fields<A>): A => {
  let isWhole = true
  for (const name in fields) if (fields[name] === undefined) isWhole = false
  if (isWhole) return fields as A // no field of it is `undefined`
  const found: Partial<Fields<A>> = {}
  for (const name in fields) if (fields[name] !== undefined) found[name] = fields[name]
  return found as A // only optional fields may have been `undefined`
}

type Page = typeof ListTransactionsResponse.Type
type Lead = NonNullable<TransactionListItem["lead"]>

const isFlag = (value: unknown): value is boolean => typeof value === "boolean"

// The documented forms of a customer and of a row come first: to look for absent fields takes as long as all the rest of a row.
const readLead = (lead: unknown, misfits: Misfits): Lead | undefined => {
  if (!isRecord(lead)) return leaveOut(lead, "res.items.lead", misfits)
  const { documentNumber, documentType, email, externalId, id, name, phone } = lead
  if (isWord(id) && isText(name) && isText(email) && isText(phone) && isText(documentNumber) && isText(documentType)) {
    if (isText(externalId)) return { id, externalId, name, email, phone, documentNumber, documentType }
    if (externalId === null) return { id, name, email, phone, documentNumber, documentType }
  }
  return present<Lead>({
    id: optional(id, isWord, "res.items.lead.id", misfits),
    externalId: optional(externalId, isText, "res.items.lead.externalId", misfits),
    name: optional(name, isText, "res.items.lead.name", misfits),
    email: optional(email, isText, "res.items.lead.email", misfits),
    phone: optional(phone, isText, "res.items.lead.phone", misfits),
    documentNumber: optional(documentNumber, isText, "res.items.lead.documentNumber", misfits),
    documentType: optional(documentType, isText, "res.items.lead.documentType", misfits)
  })
}

const readRow = (row: unknown, misfits: Misfits): TransactionListItem | undefined => {
  if (!isRecord(row)) return undefined
  const { amount, id, leadId, paymentMethod, providerTxId, status } = row
  if (!isNatural(id) || !isNatural(amount) || !isText(status)) return undefined
  const lead = readLead(row["lead"], misfits)
  const createdAt = instant(row["createdAt"], "res.items.createdAt", misfits)
  // A row that never changed has the same text twice.
  const isUnchanged = createdAt !== undefined && row["updatedAt"] === row["createdAt"]
  const updatedAt = isUnchanged ? createdAt : instant(row["updatedAt"], "res.items.updatedAt", misfits)
  if (isWord(leadId) && lead !== undefined && isText(paymentMethod) && isText(providerTxId) && createdAt && updatedAt)
    return { id, leadId, lead, amount, status, paymentMethod, providerTxId, createdAt, updatedAt }
  return present<TransactionListItem>({
    id,
    leadId: optional(leadId, isWord, "res.items.leadId", misfits),
    lead,
    amount,
    status,
    paymentMethod: optional(paymentMethod, isText, "res.items.paymentMethod", misfits),
    providerTxId: optional(providerTxId, isText, "res.items.providerTxId", misfits),
    createdAt,
    updatedAt
  })
}

/** Reads a page. */
export const readPage = (json: unknown, misfits: Misfits): Page | undefined => {
  if (!isRecord(json) || !isRecord(json["res"])) return undefined
  const { currentPage, items, pageSize, totalItems, totalPages } = json["res"]
  if (
    !Array.isArray(items) ||
    !isNatural(totalItems) ||
    !isNatural(totalPages) ||
    !isNatural(currentPage) ||
    !isNatural(pageSize)
  ) {
    return undefined
  }
  const ok = optional(json["ok"], isFlag, "ok", misfits)
  const rows: Array<TransactionListItem> = []
  for (const item of items) {
    const row = readRow(item, misfits)
    if (row === undefined) return undefined
    rows.push(row)
  }
  return present<Page>({ ok, res: { items: rows, totalItems, totalPages, currentPage, pageSize } })
}

type Response = typeof CreateTransactionResponse.Type
type Data = Response["data"]
type Pix = NonNullable<Data["pix"]>

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value)

const readPix = (pix: unknown, misfits: Misfits): Pix | undefined =>
  isRecord(pix)
    ? present<Pix>({
        qrcode: optional(pix["qrcode"], isText, "data.pix.qrcode", misfits),
        expirationDate: expiry(pix["expirationDate"], "data.pix.expirationDate", misfits),
        brcode: optional(pix["brcode"], isText, "data.pix.brcode", misfits),
        payloadBase64: optional(pix["payloadBase64"], isText, "data.pix.payloadBase64", misfits),
        expiresAt: expiry(pix["expiresAt"], "data.pix.expiresAt", misfits)
      })
    : leaveOut(pix, "data.pix", misfits)

const documented: ReadonlySet<string> = new Set(
  "id amount paymentMethod status pix companyId externalRef refundedAmount postbackUrl".split(" ")
)

/** The fields that the contract does not name; `undefined` where one of them needs care. */
const readExtra = (data: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined => {
  const extra: Record<string, unknown> = {}
  for (const name of Object.keys(data)) {
    if (documented.has(name)) continue
    if (name === "__proto__" || isTooDeep(data[name])) return undefined
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
    externalRef: optional(data["externalRef"], isText, "data.externalRef", misfits),
    refundedAmount: optional(data["refundedAmount"], isNatural, "data.refundedAmount", misfits),
    postbackUrl: redacted(data["postbackUrl"], "postbackUrl", misfits),
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
