/** A transaction that was looked up, as lines and as JSON. */
import * as DateTime from "effect/DateTime"
import type { TransactionDetail } from "../../contract/Transaction.ts"
import { inBoth } from "./amount.ts"
import { maskEmail, maskName, maskNumber, plain, time } from "./text.ts"

const same = (text: string) => text

/** What is written about a person: masked, unless all is asked for. */
const personOf = ({ lead }: TransactionDetail, full: boolean) => {
  const masked = (text: string | undefined, mask: (text: string) => string) =>
    text === undefined ? undefined : (full ? same : mask)(text)
  return {
    name: masked(lead?.name, maskName),
    email: masked(lead?.email, maskEmail),
    phone: masked(lead?.phone, maskNumber),
    document: masked(lead?.document, maskNumber)
  }
}

export const detailJson = (detail: TransactionDetail, full: boolean): unknown => ({
  transactionId: detail.transactionId,
  id: detail.id,
  amount: detail.value,
  status: detail.enStatusTransaction,
  paymentSystem: detail.enPaymentSystem,
  companyId: detail.companyId,
  createdAt: detail.createdAt && DateTime.formatIso(detail.createdAt),
  updatedAt: detail.updateDate && DateTime.formatIso(detail.updateDate),
  customer: personOf(detail, full)
})

export const detailText = (detail: TransactionDetail, full: boolean): string => {
  const person = personOf(detail, full)
  const lines: ReadonlyArray<readonly [string, string | undefined]> = [
    ["Transaction", detail.transactionId],
    ["Row id", `${detail.id}`],
    ["Amount", inBoth(detail.value)],
    ["Status", detail.enStatusTransaction],
    ["Paid by", detail.enPaymentSystem],
    ["Created", time(detail.createdAt)],
    ["Updated", time(detail.updateDate)],
    ["Customer", person.name],
    ["E-mail", person.email],
    ["Phone", person.phone],
    ["Document", person.document]
  ]
  return lines.flatMap(([name, value]) => (value ? [`${name.padEnd(12)} ${plain(value)}`] : [])).join("\n")
}
