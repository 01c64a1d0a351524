/** Looks up a transaction, prints it, and waits for a charge. */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { meaningOf } from "../../contract/Status.ts"
import type { TransactionDetail } from "../../contract/Transaction.ts"
import * as TransactionWait from "../../transactions/TransactionWait.ts"
import { inBoth } from "./amount.ts"
import { codes, failed } from "./exit.ts"
import { note, writeResult } from "./output.ts"
import { fieldLines, maskPerson, plain, time } from "./text.ts"

interface Format {
  readonly json: boolean
  readonly full: boolean
}

/** Writes a transaction to stdout. */
export const printDetail = (detail: TransactionDetail, { full, json }: Format) => {
  const { createdAt, enPaymentSystem, enStatusTransaction, id, lead, transactionId, updateDate, value } = detail
  const person = { name: lead?.name, email: lead?.email, phone: lead?.phone, document: lead?.document }
  const customer = full ? person : maskPerson(person)
  const data = {
    transactionId,
    id,
    amount: value,
    status: enStatusTransaction,
    paymentSystem: enPaymentSystem,
    companyId: detail.companyId,
    createdAt,
    updatedAt: updateDate,
    customer
  }
  const text = fieldLines({
    Transaction: transactionId,
    "Row id": id,
    Amount: inBoth(value),
    Status: enStatusTransaction,
    "Paid by": enPaymentSystem,
    Created: time(createdAt),
    Updated: time(updateDate),
    Customer: customer.name,
    "E-mail": customer.email,
    Phone: customer.phone,
    Document: customer.document
  })
  return writeResult(json, data, text)
}

/** Waits for a charge: writes its status to stderr and the last detail to stdout. Fails if the charge is not paid. */
export const waitUntilPaid = Effect.fnUntraced(function* (
  transactionId: string,
  format: Format,
  expiresAt?: DateTime.Utc
) {
  yield* note("Waiting for the end of the charge.")
  const detail = yield* TransactionWait.final(transactionId, { expiresAt })
  yield* note(`The charge is ${plain(detail.enStatusTransaction)}.`)
  yield* printDetail(detail, format)
  if (meaningOf(detail.enStatusTransaction, "charge") !== "paid")
    return yield* failed("The charge ended without being paid.", codes.NotPaid)
})
