/** `effect-pix transactions`: prints the company's transactions. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { TransactionListItem } from "../contract/Transaction.ts"
import * as Money from "../pix/Money.ts"
import * as TransactionStream from "../transactions/TransactionStream.ts"
import { client } from "./internal/client.ts"
import { flag, format, full, periodOf } from "./internal/flags.ts"
import { type Columns, printCounted } from "./internal/list.ts"
import { maskPerson, type Person } from "./internal/text.ts"

/** A row, with the payer as it is printed. */
interface Row extends TransactionListItem {
  readonly person: Person
}

const columns: Columns<Row> = {
  noun: "transaction(s)",
  columns: [
    [({ id }) => id, "id", "ID", -8],
    [({ createdAt }) => createdAt, "created_at", "CREATED", 20],
    [({ amount }) => Money.format(amount), undefined, "AMOUNT", -14],
    [({ amount }) => amount, "amount_centavos"],
    [({ amount }) => Money.toReais(amount), "amount_reais"],
    [({ status }) => status, "status", "STATUS", 10],
    [({ paymentMethod = "" }) => paymentMethod, "payment_method"],
    [({ person }) => person.name ?? "", "name", "NAME", 20],
    [({ person }) => person.email ?? "", "email", "E-MAIL"],
    [({ person }) => person.phone ?? "", "phone"],
    [({ person }) => person.document ?? "", "document"],
    [({ providerTxId = "" }) => providerTxId, "provider_tx_id"],
    [({ updatedAt }) => updatedAt, "updated_at"]
  ],
  json: ({ amount, createdAt, id, paymentMethod, person, providerTxId, status, updatedAt }) => ({
    id,
    amount,
    status,
    paymentMethod,
    providerTxId,
    createdAt,
    updatedAt,
    customer: person
  })
}

export const transactions = Command.make(
  "transactions",
  {
    ...periodOf("Created"),
    oldestFirst: flag("oldest-first", "Oldest first, which is the surest order for an export. Default: newest first"),
    full,
    ...format
  },
  Effect.fnUntraced(function* ({ full, oldestFirst, since, until, ...format }) {
    const rowOf = (item: TransactionListItem): Row => {
      const { documentNumber, email, name, phone } = item.lead ?? {}
      const person = { name, email, phone, document: documentNumber }
      return { ...item, person: full ? person : maskPerson(person) }
    }
    const pages = TransactionStream.pages({
      sort: oldestFirst ? "createdAt_asc" : "createdAt_desc",
      since: Option.getOrUndefined(since),
      until: Option.getOrUndefined(until),
      limit: Option.getOrUndefined(format.limit)
    })
    const rows = Stream.flatMap(pages, (page) => Stream.fromIterable(page.rows.map(rowOf)))
    yield* printCounted(rows, columns, format)
  }, Effect.provide(client))
).pipe(
  Command.withDescription("List the company's transactions"),
  Command.withExamples([
    { command: "effect-pix transactions --limit 20", description: "the newest twenty" },
    {
      command: "effect-pix transactions --since 2026-11-01 --oldest-first --csv > november.csv",
      description: "an export"
    }
  ])
)
