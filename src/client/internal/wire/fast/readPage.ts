/**
 * Reads a page of the list, as `ListTransactionsResponse` does.
 */
import type { ListTransactionsResponse, TransactionListItem } from "../../../../contract/Transaction.ts"
import { instant, isNatural, isRecord, isText, isWord, leaveOut, type Misfits, optional, present } from "./plain.ts"

type Page = typeof ListTransactionsResponse.Type
type Lead = NonNullable<TransactionListItem["lead"]>

const isFlag = (value: unknown): value is boolean => typeof value === "boolean"

const readLead = (lead: unknown, misfits: Misfits): Lead | undefined =>
  isRecord(lead)
    ? present<Lead>({
        id: optional(lead["id"], isWord, "res.items.lead.id", misfits),
        externalId: optional(lead["externalId"], isText, "res.items.lead.externalId", misfits),
        name: optional(lead["name"], isText, "res.items.lead.name", misfits),
        email: optional(lead["email"], isText, "res.items.lead.email", misfits),
        phone: optional(lead["phone"], isText, "res.items.lead.phone", misfits),
        documentNumber: optional(lead["documentNumber"], isText, "res.items.lead.documentNumber", misfits),
        documentType: optional(lead["documentType"], isText, "res.items.lead.documentType", misfits)
      })
    : leaveOut(lead, "res.items.lead", misfits)

const readRow = (row: unknown, misfits: Misfits): TransactionListItem | undefined => {
  if (!isRecord(row)) return undefined
  const { amount, id, status } = row
  if (!isNatural(id) || !isNatural(amount) || !isText(status)) return undefined
  return present<TransactionListItem>({
    id,
    leadId: optional(row["leadId"], isWord, "res.items.leadId", misfits),
    lead: readLead(row["lead"], misfits),
    amount,
    status,
    paymentMethod: optional(row["paymentMethod"], isText, "res.items.paymentMethod", misfits),
    providerTxId: optional(row["providerTxId"], isText, "res.items.providerTxId", misfits),
    createdAt: instant(row["createdAt"], "res.items.createdAt", misfits),
    updatedAt: instant(row["updatedAt"], "res.items.updatedAt", misfits)
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
