/** `effect-pix transactions`, `transaction`, `withdrawal` and `balance`: what a gateway has, which they only read. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import { Payments } from "../client/Payments.ts"
import { WithdrawalLookup } from "../client/WithdrawalLookup.ts"
import { meaningOf } from "../contract/Status.ts"
import type { TransactionDetail, TransactionListItem } from "../contract/Transaction.ts"
import { displayMessage } from "../internal/mask.ts"
import * as Money from "../pix/Money.ts"
import * as PixKey from "../pix/PixKey.ts"
import * as TransactionStream from "../transactions/TransactionStream.ts"
import * as TransactionWait from "../transactions/TransactionWait.ts"
import { decimal, inBoth } from "./internal/amount.ts"
import { client } from "./internal/client.ts"
import { codes, failed } from "./internal/exit.ts"
import { flag, format, full, json, periodOf, wait } from "./internal/flags.ts"
import { type Columns, printCounted } from "./internal/list.ts"
import { note, writeFields } from "./internal/output.ts"
import { maskNumber, maskPerson, type Person, plain } from "./internal/text.ts"

interface Row extends TransactionListItem {
  /** The payer, as it is printed. */
  readonly person: Person
}

const inJson = ["id", "amount", "status", "paymentMethod", "providerTxId", "createdAt", "updatedAt"] as const

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

interface Shown {
  readonly json: boolean
  readonly full: boolean
}

const printDetail = (detail: TransactionDetail, { full, json }: Shown) => {
  const { lead, value } = detail
  const person = { name: lead?.name, email: lead?.email, phone: lead?.phone, document: lead?.document }
  const customer = full ? person : maskPerson(person)
  return writeFields(json, [
    ["Transaction", "transactionId", detail.transactionId],
    ["Row id", "id", detail.id],
    ["Amount", "amount", value, inBoth(value)],
    ["Status", "status", detail.enStatusTransaction],
    ["Paid by", "paymentSystem", detail.enPaymentSystem],
    ["", "companyId", detail.companyId],
    ["Created", "createdAt", detail.createdAt],
    ["Updated", "updatedAt", detail.updateDate],
    ["", "customer", customer],
    ["Customer", "", customer.name],
    ["E-mail", "", customer.email],
    ["Phone", "", customer.phone],
    ["Document", "", customer.document]
  ])
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

/** The key of the record, masked; a text that is no key of its kind as a number is. */
const maskKey = (pixKey: string, type: string | undefined) =>
  Result.match(PixKey.fromPair(pixKey, type ?? ""), { onSuccess: String, onFailure: () => maskNumber(pixKey) })

const withdrawal = Command.make(
  "withdrawal",
  {
    id: Argument.Int("id").pipe(Argument.withDescription("The number that the service answered to the withdrawal")),
    full,
    json
  },
  Effect.fnUntraced(function* ({ full, id, json }) {
    const { get } = yield* WithdrawalLookup
    const detail = yield* get(id)
    const { amount, creditorDocument: document, description, pixKey, providerErrorDescription: reason } = detail
    // The words of a record may have what was sent.
    const sent = [pixKey, document, description].flatMap((text) => (text === undefined ? [] : [text]))
    yield* writeFields(json, [
      ["Withdrawal", "id", id],
      ["Status", "status", detail.enTransaction],
      ["Amount", "amount", amount, amount && inBoth(amount)],
      ["Value", "value", decimal(detail.value), Money.format(detail.value)],
      ["Key", "idempotencyKey", detail.idempotencyKey],
      ["End-to-end id", "endToEndId", detail.providerEndToEndId],
      ["", "companyId", detail.companyId],
      ["Created", "createdAt", detail.createdAt],
      ["Updated", "updatedAt", detail.updateDate],
      ["PIX key", "pixKey", full ? pixKey : pixKey && maskKey(pixKey, detail.pixKeyType)],
      ["Document", "document", full ? document : document && maskNumber(document)],
      ["Description", "description", full ? description : undefined],
      ["Reason", "reason", full ? reason : reason && displayMessage(reason, () => sent)]
    ])
  }, Effect.provide(client))
).pipe(
  Command.withDescription(
    "Look a withdrawal up, where the gateway can.\n\n" +
      "  This lookup was seen, and is not documented: effect-pix doctor --withdrawal ID says whether yours has it."
  ),
  Command.withShortDescription("Look a withdrawal up, where the gateway can")
)

/** An amount in reais, for machines and for people. */
const inReais = (value: Money.Reais | undefined) => [value && decimal(value), value && Money.format(value)] as const

const balance = Command.make(
  "balance",
  {
    company: Flag.Int("company").pipe(
      Flag.withDescription("The id of the company. Default: PAYMENTS_COMPANY_ID"),
      Flag.optional
    ),
    json
  },
  Effect.fnUntraced(function* ({ company, json }) {
    const payments = yield* Payments
    const noCompany = failed("No company is named: set PAYMENTS_COMPANY_ID, or give --company. Nothing was sent.")
    const found = yield* payments
      .getBalance({ companyId: Option.getOrUndefined(company) })
      // Without a company no other input can be invalid.
      .pipe(Effect.catchTag("InvalidRequest", (error) => Effect.fail(Option.isNone(company) ? noCompany : error)))
    const { accBalance, accBalanceCredit, accBalanceCreditAwaiting, companyId, currency, enBalanceStatus } = found
    const isReleased = enBalanceStatus.toLowerCase() === "released"
    const state = `${plain(enBalanceStatus)}${isReleased ? "" : ": not released, do not pay out yet"}`
    yield* writeFields(json, [
      ["", "companyId", companyId],
      ["", "currency", currency],
      ["", "status", enBalanceStatus],
      ["Available", "available", decimal(accBalance), `${Money.format(accBalance)}  (${state})`],
      ["Credit", "credit", ...inReais(accBalanceCredit)],
      ["Awaiting", "awaiting", ...inReais(accBalanceCreditAwaiting)]
    ])
  }, Effect.provide(client))
).pipe(Command.withDescription("Show the company's balance"))

export const reads = [transactions, transaction, withdrawal, balance] as const
