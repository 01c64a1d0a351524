/** `effect-pix transactions`, `transaction`, `withdrawal` and `balance`: what a gateway has, which they only read. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import { Payments } from "../client/Payments.ts"
import { WithdrawalLookup } from "../client/WithdrawalLookup.ts"
import { meaningOf } from "../contract/Status.ts"
import type { TransactionDetail, TransactionListItem } from "../contract/Transaction.ts"
import * as Money from "../pix/Money.ts"
import * as TransactionStream from "../transactions/TransactionStream.ts"
import * as TransactionWait from "../transactions/TransactionWait.ts"
import { decimal, inBoth } from "./internal/amount.ts"
import { client } from "./internal/client.ts"
import { codes, failed } from "./internal/exit.ts"
import { flag, format, full, json, optional, periodOf, wait } from "./internal/flags.ts"
import { type Columns, printCounted } from "./internal/list.ts"
import { note, writeRecord } from "./internal/output.ts"
import { plain, shownPerson, time } from "./internal/text.ts"

interface Row extends TransactionListItem {
  /** The payer, as it is printed. */
  readonly person: Readonly<Record<string, string | undefined>>
}

const inJson = ["id", "amount", "status", "paymentMethod", "providerTxId", "createdAt", "updatedAt"] as const

const columns: Columns<Row> = {
  noun: "transaction(s)",
  columns: [
    ["Id", ({ id }) => id, -8],
    ["", ({ createdAt }) => time(createdAt), 20, "Created"],
    ["Created at", ({ createdAt }) => createdAt],
    ["Amount centavos", ({ amount }) => amount],
    ["Amount reais", ({ amount }) => Money.toReais(amount), -14, "Amount"],
    ["Status", ({ status }) => status, 10],
    ["Payment method", ({ paymentMethod }) => paymentMethod],
    ["Name", ({ person }) => person["name"], 20],
    ["E-mail", ({ person }) => person["email"], 0],
    ["Phone", ({ person }) => person["phone"]],
    ["Document", ({ person }) => person["document"]],
    ["Provider tx id", ({ providerTxId }) => providerTxId],
    ["Updated at", ({ updatedAt }) => updatedAt]
  ],
  json: ({ person: customer, ...row }) => ({ ...Struct.pick(row, inJson), customer })
}

const transactions = Command.make(
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
      return { ...item, person: shownPerson(person, full) }
    }
    const pages = TransactionStream.pages({
      sort: oldestFirst ? "createdAt_asc" : "createdAt_desc",
      since,
      until,
      limit: format.limit
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

interface Shown {
  readonly json: boolean
  readonly full: boolean
}

const printDetail = (detail: TransactionDetail, { full, json }: Shown) => {
  const { createdAt, id, lead, transactionId, value } = detail
  const { document, email, name, phone } = lead ?? {}
  const customer = shownPerson({ name, email, phone, document }, full)
  const data = {
    transactionId,
    id,
    amount: value,
    status: detail.enStatusTransaction,
    paymentSystem: detail.enPaymentSystem,
    companyId: detail.companyId,
    createdAt,
    updatedAt: detail.updateDate,
    customer
  }
  return writeRecord(json, data, { ...data, amount: inBoth(value), customer: undefined, ...customer })
}

/** Waits for a charge: writes its status to stderr and the last detail to stdout. Fails if the charge is not paid. */
export const waitUntilPaid = Effect.fnUntraced(function* (
  transactionId: string,
  shown: Shown,
  expiresAt?: DateTime.Utc
) {
  yield* note("Waiting for the end of the charge.")
  const detail = yield* TransactionWait.final(transactionId, { expiresAt })
  yield* note(`The charge is ${plain(detail.enStatusTransaction)}.`)
  yield* printDetail(detail, shown)
  if (meaningOf(detail.enStatusTransaction, "charge") !== "paid")
    return yield* failed("The charge ended without being paid.", codes.NotPaid)
})

const transaction = Command.make(
  "transaction",
  {
    id: Argument.String("id").pipe(
      Argument.withDescription("The id that the creation of the charge answered, not the id of a list's row")
    ),
    wait,
    full,
    json
  },
  Effect.fnUntraced(function* ({ id, wait, ...shown }) {
    if (wait) return yield* waitUntilPaid(id, shown)
    const payments = yield* Payments
    yield* printDetail(yield* payments.getTransaction(id), shown)
  }, Effect.provide(client))
).pipe(Command.withDescription("Look a transaction up, or wait for it"))

const withdrawal = Command.make(
  "withdrawal",
  {
    id: Argument.Int("id").pipe(Argument.withDescription("The number that the service answered to the withdrawal")),
    full,
    json
  },
  Effect.fnUntraced(function* ({ full, id, json }) {
    const lookup = yield* WithdrawalLookup
    const { creditorDocument: document, enTransaction: status, pixKey, value, ...detail } = yield* lookup.get(id)
    const data = {
      id,
      status,
      ...Struct.pick(detail, ["idempotencyKey", "companyId", "createdAt"]),
      endToEndId: detail.providerEndToEndId,
      ...shownPerson({ pixKey, document }, full)
    }
    yield* writeRecord(json, { ...data, value: decimal(value) }, { ...data, value: Money.format(value) })
  }, Effect.provide(client))
).pipe(Command.withDescription("Look a withdrawal up, where the gateway has this undocumented lookup"))

const balance = Command.make(
  "balance",
  {
    company: Flag.Int("company").pipe(
      Flag.withDescription("The id of the company. Default: PAYMENTS_COMPANY_ID"),
      optional
    ),
    json
  },
  Effect.fnUntraced(function* ({ company, json }) {
    const payments = yield* Payments
    const noCompany = failed("No company is named: set PAYMENTS_COMPANY_ID, or give --company. Nothing was sent.")
    const { accBalance, accBalanceCredit, accBalanceCreditAwaiting, companyId, currency, enBalanceStatus } =
      yield* payments
        .getBalance({ companyId: company })
        // Without a company no other input can be invalid.
        .pipe(Effect.catchTag("InvalidRequest", (error) => Effect.fail(company === undefined ? noCompany : error)))
    const amounts = { available: accBalance, credit: accBalanceCredit, awaiting: accBalanceCreditAwaiting }
    const data = { companyId, currency, status: enBalanceStatus }
    const isReleased = enBalanceStatus.toLowerCase() === "released"
    yield* writeRecord(
      json,
      { ...data, ...Record.map(amounts, (amount) => amount && decimal(amount)) },
      {
        ...data,
        status: isReleased ? enBalanceStatus : `${enBalanceStatus}: not released, do not pay out yet`,
        ...Record.map(amounts, (amount) => amount && Money.format(amount))
      }
    )
  }, Effect.provide(client))
).pipe(Command.withDescription("Show the company's balance"))

export const reads = [transactions, transaction, withdrawal, balance] as const
