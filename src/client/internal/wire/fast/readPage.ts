/**
 * Reads a page of the list, as `ListTransactionsResponse` does.
 */
import type { ListTransactionsResponse, TransactionListItem } from "../../../../contract/Transaction.ts"
import { type Building, instantOf, isAbsent, isNatural, isRecord, isText, isTextOrAbsent, isWord } from "./plain.ts"

type Lead = NonNullable<TransactionListItem["lead"]>

const readLead = (value: unknown): Lead | undefined => {
  if (!isRecord(value)) return undefined
  const { documentNumber, documentType, email, externalId, id, name, phone } = value
  if (
    id === "" ||
    !isTextOrAbsent(id) ||
    !isTextOrAbsent(externalId) ||
    !isTextOrAbsent(name) ||
    !isTextOrAbsent(email) ||
    !isTextOrAbsent(phone) ||
    !isTextOrAbsent(documentNumber) ||
    !isTextOrAbsent(documentType)
  ) {
    return undefined
  }
  const lead: Building<Lead> = {}
  if (!isAbsent(id)) lead.id = id
  if (!isAbsent(externalId)) lead.externalId = externalId
  if (!isAbsent(name)) lead.name = name
  if (!isAbsent(email)) lead.email = email
  if (!isAbsent(phone)) lead.phone = phone
  if (!isAbsent(documentNumber)) lead.documentNumber = documentNumber
  if (!isAbsent(documentType)) lead.documentType = documentType
  return lead
}

const readItem = (value: unknown): TransactionListItem | undefined => {
  if (!isRecord(value)) return undefined
  const { amount, id, leadId, paymentMethod, providerTxId, status } = value
  if (
    !isNatural(id) ||
    !isNatural(amount) ||
    !isText(status) ||
    !(isWord(leadId) || isAbsent(leadId)) ||
    !isTextOrAbsent(paymentMethod) ||
    !isTextOrAbsent(providerTxId)
  ) {
    return undefined
  }
  const lead = isAbsent(value["lead"]) ? undefined : readLead(value["lead"])
  const createdAt = isAbsent(value["createdAt"]) ? undefined : instantOf(value["createdAt"])
  const updatedAt = isAbsent(value["updatedAt"]) ? undefined : instantOf(value["updatedAt"])
  if (
    (lead === undefined && !isAbsent(value["lead"])) ||
    (createdAt === undefined && !isAbsent(value["createdAt"])) ||
    (updatedAt === undefined && !isAbsent(value["updatedAt"]))
  ) {
    return undefined
  }
  // What most services send: all of it. One shape is faster to make and to read.
  if (
    lead !== undefined &&
    createdAt !== undefined &&
    updatedAt !== undefined &&
    isText(leadId) &&
    isText(paymentMethod) &&
    isText(providerTxId)
  ) {
    return { id, leadId, lead, amount, status, paymentMethod, providerTxId, createdAt, updatedAt }
  }
  const item: Building<TransactionListItem> & Pick<TransactionListItem, "amount" | "id" | "status"> = {
    id,
    amount,
    status
  }
  if (!isAbsent(leadId)) item.leadId = leadId
  if (lead !== undefined) item.lead = lead
  if (!isAbsent(paymentMethod)) item.paymentMethod = paymentMethod
  if (!isAbsent(providerTxId)) item.providerTxId = providerTxId
  if (createdAt !== undefined) item.createdAt = createdAt
  if (updatedAt !== undefined) item.updatedAt = updatedAt
  return item
}

/** Reads a page that is plain. */
export const readPage = (json: unknown): typeof ListTransactionsResponse.Type | undefined => {
  if (!isRecord(json) || !isRecord(json["res"])) return undefined
  const { ok, res } = json
  const { currentPage, items, pageSize, totalItems, totalPages } = res
  if (
    !(isAbsent(ok) || typeof ok === "boolean") ||
    !Array.isArray(items) ||
    !isNatural(totalItems) ||
    !isNatural(totalPages) ||
    !isNatural(currentPage) ||
    !isNatural(pageSize)
  ) {
    return undefined
  }
  const read: Array<TransactionListItem> = []
  for (const row of items) {
    const item = readItem(row)
    if (item === undefined) return undefined
    read.push(item)
  }
  const page = { items: read, totalItems, totalPages, currentPage, pageSize }
  return isAbsent(ok) ? { res: page } : { ok, res: page }
}
