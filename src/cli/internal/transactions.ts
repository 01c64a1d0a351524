/** What `effect-pix transactions` does: a page at a time, so that a long list needs no memory. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Payments } from "../../client/Payments.ts"
import type { TransactionListItem } from "../../contract/Transaction.ts"
import * as Money from "../../pix/Money.ts"
import * as TransactionStream from "../../transactions/TransactionStream.ts"
import { decimal } from "./amount.ts"
import { failed } from "./exit.ts"
import { hasReader, note, progress, write } from "./output.ts"
import { csvRow, jsonLine, maskEmail, maskName, maskNumber, plain, time } from "./text.ts"

interface Input {
  readonly since: Option.Option<Date>
  readonly until: Option.Option<Date>
  readonly limit: Option.Option<number>
  readonly oldestFirst: boolean
  readonly csv: boolean
  readonly full: boolean
  readonly json: boolean
}

const masks = { name: maskName, email: maskEmail, phone: maskNumber, document: maskNumber }

const personOf = ({ lead }: TransactionListItem, full: boolean) => {
  const all = { name: lead?.name, email: lead?.email, phone: lead?.phone, document: lead?.documentNumber }
  const shown = (name: keyof typeof all) => (full ? all[name] : all[name] && masks[name](all[name])) ?? ""
  return { name: shown("name"), email: shown("email"), phone: shown("phone"), document: shown("document") }
}

const header = [
  "id",
  "created_at",
  "amount_centavos",
  "amount_reais",
  "status",
  "payment_method",
  "name",
  "email",
  "phone",
  "document",
  "provider_tx_id",
  "updated_at"
]

const csvOf = (row: TransactionListItem, full: boolean): string => {
  const { document, email, name, phone } = personOf(row, full)
  return csvRow([
    `${row.id}`,
    time(row.createdAt),
    `${row.amount}`,
    decimal(row.amount),
    row.status,
    row.paymentMethod ?? "",
    name,
    email,
    phone,
    document,
    row.providerTxId ?? "",
    time(row.updatedAt)
  ])
}

const jsonOf = (row: TransactionListItem, full: boolean): string => {
  const { createdAt, updatedAt } = row
  return jsonLine({
    id: row.id,
    amount: row.amount,
    status: row.status,
    paymentMethod: row.paymentMethod,
    providerTxId: row.providerTxId,
    createdAt: createdAt && DateTime.formatIso(createdAt),
    updatedAt: updatedAt && DateTime.formatIso(updatedAt),
    customer: personOf(row, full)
  })
}

/** What is wider than its column is not cut: the columns after it move. */
const tableRow = (cells: readonly [string, string, string, string, string, string]): string => {
  const [id, created, amount, status, name, email] = cells.map(plain)
  return `${id?.padStart(8)}  ${created?.padEnd(20)}  ${amount?.padStart(14)}  ${status?.padEnd(10)}  ${name?.padEnd(20)}  ${email}\n`
}

const tableOf = (row: TransactionListItem, full: boolean): string => {
  const { email, name } = personOf(row, full)
  return tableRow([`${row.id}`, time(row.createdAt), Money.format(row.amount), row.status, name, email])
}

const formatOf = ({ csv, json }: Input) => {
  if (csv) return { head: csvRow(header), line: csvOf }
  if (json) return { head: "", line: jsonOf }
  return { head: tableRow(["ID", "CREATED", "AMOUNT", "STATUS", "NAME", "E-MAIL"]), line: tableOf }
}

export const run = Effect.fnUntraced(function* (input: Input) {
  if (input.csv && input.json) return yield* failed("Choose one of --csv and --json.")
  const { head, line } = formatOf(input)
  let count = 0
  yield* TransactionStream.pages({
    sort: input.oldestFirst ? "createdAt_asc" : "createdAt_desc",
    ...(Option.isSome(input.since) && { since: input.since.value }),
    ...(Option.isSome(input.until) && { until: input.until.value }),
    ...(Option.isSome(input.limit) && { limit: input.limit.value })
  }).pipe(
    Stream.runForEachWhile(
      Effect.fnUntraced(function* ({ rows }) {
        const start = count === 0 ? head : ""
        count += rows.length
        yield* write(start + rows.map((row) => line(row, input.full)).join(""))
        yield* progress(`${count} transaction(s)...`)
        return hasReader()
      })
    ),
    Effect.ensuring(progress(""))
  )
  if (count === 0) yield* write(head)
  if (!hasReader()) return
  yield* note(`${count} transaction(s)`)
}, Effect.provide(Payments.layerFetch))
