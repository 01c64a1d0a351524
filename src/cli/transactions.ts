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
import { type Columns, printList } from "./internal/list.ts"
import { hasReader, note } from "./internal/output.ts"
import { maskPerson, type Person, time } from "./internal/text.ts"

/** A row, with the payer as it is printed. */
interface Row extends TransactionListItem {
  readonly person: Person
}

const columns: Columns<Row> = {
  noun: "transactions",
  table: {
    ID: [-8, ({ id }) => `${id}`],
    CREATED: [20, ({ createdAt }) => time(createdAt)],
    AMOUNT: [-14, ({ amount }) => Money.format(amount)],
    STATUS: [10, ({ status }) => status],
    NAME: [20, ({ person }) => person.name ?? ""],
    "E-MAIL": [0, ({ person }) => person.email ?? ""]
  },
  csv: {
    id: ({ id }) => `${id}`,
    created_at: ({ createdAt }) => createdAt,
    amount_centavos: ({ amount }) => amount,
    amount_reais: ({ amount }) => Money.toReais(amount),
    status: ({ status }) => status,
    payment_method: ({ paymentMethod }) => paymentMethod ?? "",
    name: ({ person }) => person.name ?? "",
    email: ({ person }) => person.email ?? "",
    phone: ({ person }) => person.phone ?? "",
    document: ({ person }) => person.document ?? "",
    provider_tx_id: ({ providerTxId }) => providerTxId ?? "",
    updated_at: ({ updatedAt }) => updatedAt
  },
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
    const count = yield* printList(rows, columns, format)
    if (hasReader()) yield* note(`${count} transaction(s)`)
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
