/** `effect-pix transactions`: prints the company's transactions. It holds one page at a time, so a long list needs no more memory. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { TransactionListItem } from "../contract/Transaction.ts"
import * as Money from "../pix/Money.ts"
import * as TransactionStream from "../transactions/TransactionStream.ts"
import { client } from "./internal/client.ts"
import { decimal } from "./internal/amount.ts"
import { failed } from "./internal/exit.ts"
import { flag, full, json, limit } from "./internal/flags.ts"
import { hasReader, note, progress, write } from "./internal/output.ts"
import { csvRow, jsonLine, maskPerson, type Person, tableRow, time } from "./internal/text.ts"

/** A format of the output: `head` is written before the first row. */
interface Format {
  readonly head: string
  readonly line: (row: TransactionListItem, person: Person) => string
}

const csv: Format = {
  head: csvRow([
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
  ]),
  line: (row, { document = "", email = "", name = "", phone = "" }) =>
    csvRow([
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

const jsonLines: Format = {
  head: "",
  line: ({ amount, createdAt, id, paymentMethod, providerTxId, status, updatedAt }, customer) =>
    jsonLine({
      id,
      amount,
      status,
      paymentMethod,
      providerTxId,
      createdAt,
      updatedAt,
      customer
    })
}

const row = tableRow(-8, 20, -14, 10, 20, 0)

const table: Format = {
  head: row("ID", "CREATED", "AMOUNT", "STATUS", "NAME", "E-MAIL"),
  line: ({ amount, createdAt, id, status }, { email = "", name = "" }) =>
    row(`${id}`, time(createdAt), Money.format(amount), status, name, email)
}

const timeFlag = (name: string, description: string) =>
  Flag.Date(name).pipe(Flag.withMetavar("time"), Flag.withDescription(description), Flag.optional)

export const transactions = Command.make(
  "transactions",
  {
    since: timeFlag("since", "Created at this time or later, as 2026-11-01 (UTC) or 2026-11-01T00:00:00-03:00"),
    until: timeFlag("until", "Created before this time"),
    limit,
    oldestFirst: flag("oldest-first", "Oldest first, which is the surest order for an export. Default: newest first"),
    asCsv: flag("csv", "Comma-separated values, safe to open in a sheet"),
    full,
    json
  },
  Effect.fnUntraced(function* ({ asCsv, full, json, limit, oldestFirst, since, until }) {
    if (asCsv && json) return yield* failed("Choose one of --csv and --json.")
    const { head, line } = asCsv ? csv : json ? jsonLines : table
    const lineOf = (row: TransactionListItem) => {
      const { documentNumber, email, name, phone } = row.lead ?? {}
      const person = { name, email, phone, document: documentNumber }
      return line(row, full ? person : maskPerson(person))
    }
    let count = 0
    yield* TransactionStream.pages({
      sort: oldestFirst ? "createdAt_asc" : "createdAt_desc",
      since: Option.getOrUndefined(since),
      until: Option.getOrUndefined(until),
      limit: Option.getOrUndefined(limit)
    }).pipe(
      Stream.runForEachWhile(
        Effect.fnUntraced(function* ({ rows }) {
          const start = count === 0 ? head : ""
          count += rows.length
          yield* write(start + rows.map(lineOf).join(""))
          yield* progress(`${count} transaction(s)...`)
          return hasReader()
        })
      ),
      Effect.ensuring(progress(""))
    )
    if (count === 0) yield* write(head)
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
