/**
 * Transactions: the request for a charge, and the three shapes in which the service shows a transaction (on creation,
 * in a list, in a lookup). Source: `docs/service.md`.
 *
 * - Every amount here is an integer number of **centavos**.
 * - Requests are strict: a field that the contract does not name is refused before anything is sent.
 * - Responses are open: unknown fields and status words are accepted, and of the documented fields only identity,
 *   amount and status are required.
 * - In an answer of the service, null in an optional field counts as absent. The client removes it before it decodes, so
 *   these schemas refuse it, but where it is documented: they read what they have encoded.
 * - The status words differ between the shapes. The service does not document how they map, so nothing translates them.
 */

import * as Schema from "effect/Schema"
import { isUnsafeName } from "./internal/unsafeName.ts"
import { IntegerId, openWord, TextId, Timestamp, withExtra } from "../internal/wire.ts"
import { Centavos } from "../pix/Money.ts"
import { CurrencyOrBrl } from "./Currency.ts"
import { ExpiryTime } from "./Expiry.ts"
import { CreatedStatus, DetailStatus, ListStatus } from "./StatusWords.ts"

/** The forms that the texts of a request must have. */
export const patterns = {
  email: /^[^\s@]+@[^\s@]+$/,
  phone: /^\d{1,20}$/,
  postbackUrl: /^https?:\/\/[^\s/]\S{0,2000}$/i,
  ip: /^(?:\d{1,3}(?:\.\d{1,3}){3}|(?=[0-9a-f.]*:)[0-9a-f:.]*)$/i
} as const

const atLeastOne = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1, { expected: "a whole number from 1" }))

/** The payer's document: its number and its type, such as `CPF` or `CNPJ`. */
export const CustomerDocument = Schema.Struct({
  number: TextId,
  type: openWord(["CPF", "CNPJ"]).check(Schema.isNonEmpty())
})
export interface CustomerDocument extends Schema.Schema.Type<typeof CustomerDocument> {}

/** The payer. The service's minimal example has name and e-mail, so these two are required. */
export const Customer = Schema.Struct({
  /** Your own identifier of the customer. */
  id: Schema.optional(TextId),
  name: TextId,
  email: Schema.String.check(Schema.isPattern(patterns.email, { expected: "an e-mail address" })),
  document: Schema.optional(CustomerDocument),
  /** Digits only. */
  phone: Schema.optional(Schema.String.check(Schema.isPattern(patterns.phone, { expected: "a phone of digits only" }))),
  /** Your own reference for the customer. */
  externalRef: Schema.optional(TextId)
})
export interface Customer extends Schema.Schema.Type<typeof Customer> {}

const PostbackUrl = Schema.String.check(
  Schema.isPattern(patterns.postbackUrl, { expected: "an address that begins with https:// or http://" })
)

/** One thing sold. `unitPrice` is in centavos. */
export const Item = Schema.Struct({
  title: TextId,
  unitPrice: Centavos,
  quantity: atLeastOne,
  /** Whether it is a physical good. */
  tangible: Schema.optional(Schema.Boolean),
  /** Your own reference for the item. It was seen in the field, and is not documented. */
  externalRef: Schema.optional(TextId)
})
export interface Item extends Schema.Schema.Type<typeof Item> {}

/** A request whose parts have named types: compiler messages then show the names. */
type Named<Request> = Omit<Request, "customer" | "items"> & {
  readonly customer: Customer
  readonly items?: ReadonlyArray<Item> | undefined
}

const fields = <const Method extends "PIX" | "BOLETO" | "CREDIT_CARD">(method: Method) => ({
  /** The total, in centavos. */
  amount: Centavos,
  currency: CurrencyOrBrl,
  paymentMethod: Schema.Literal(method),
  installments: Schema.optional(atLeastOne),
  customer: Customer,
  items: Schema.optional(Schema.Array(Item)),
  traceable: Schema.optional(Schema.Boolean),
  /** The payer's IP address. */
  ip: Schema.optional(Schema.String.check(Schema.isPattern(patterns.ip, { expected: "an IP address" }))),
  /**
   * Where the service sends the webhooks of this charge. **It was seen in the field, and is not documented**: ask your gateway.
   * It may hold the secret of a path, so it is shown nowhere; give it as `Redacted` if you log your requests.
   */
  postbackUrl: Schema.optional(Schema.Union([PostbackUrl, Schema.RedactedFromValue(PostbackUrl)]))
})

/** The names that an undocumented field may not have: those of the contract, and `extra`. */
const takenNames: ReadonlySet<string> = new Set(["pix", "extra", ...Object.keys(fields("PIX"))])

/**
 * The fields of a charge that the contract does not show, by name. They are sent
 * unchanged, on the same level as the documented fields.
 */
export const UndocumentedFields = Schema.Record(Schema.String, Schema.Json).check(
  Schema.makeFilter((extra) => {
    const taken = Object.keys(extra).find((name) => takenNames.has(name) || isUnsafeName(name))
    return taken === undefined || { path: [taken], issue: "Expected only fields that the contract does not name" }
  })
)

/**
 * A PIX charge. Amounts are in centavos. Amount, method and the customer's name and e-mail are enough.
 *
 * `expiresInDays` says after how many days the charge expires. Fields that your gateway has and the contract does not name, as
 * `metadata` or `shipping`, go under `extra`; they are sent unchanged.
 *
 * Gotcha: it has no documented field for an order of yours: `customer.id` and `customer.externalRef` are the customer's, and
 * `metadata` is a withdrawal's. Store the `id` of the answer with your order. `OrderCharge.get` says what to store.
 */
export const PixTransactionRequest = withExtra({
  ...fields("PIX"),
  pix: Schema.optional(Schema.Struct({ expiresInDays: Schema.optional(atLeastOne) })),
  extra: Schema.optional(UndocumentedFields)
})
export interface PixTransactionRequest extends Named<Schema.Schema.Type<typeof PixTransactionRequest>> {}

/** A BOLETO charge. Amounts are in centavos. Its payload is not documented: put other fields under `extra`; they are sent unchanged. */
export const BoletoTransactionRequest = withExtra({
  ...fields("BOLETO"),
  extra: Schema.optional(UndocumentedFields)
})
export interface BoletoTransactionRequest extends Named<Schema.Schema.Type<typeof BoletoTransactionRequest>> {}

/** A card charge. Amounts are in centavos. Its payload is not documented: put other fields under `extra`; they are sent unchanged. */
export const CreditCardTransactionRequest = withExtra({
  ...fields("CREDIT_CARD"),
  extra: Schema.optional(UndocumentedFields)
})
export interface CreditCardTransactionRequest extends Named<Schema.Schema.Type<typeof CreditCardTransactionRequest>> {}

/**
 * The request for a charge, by payment method. Amounts are in centavos.
 *
 * Gotcha: it has no field for an order of yours: `customer.id` and `customer.externalRef` are the customer's. Store the `id`
 * of the answer with your order.
 */
export const CreateTransactionRequest = Schema.Union([
  PixTransactionRequest,
  BoletoTransactionRequest,
  CreditCardTransactionRequest
])
export type CreateTransactionRequest = PixTransactionRequest | BoletoTransactionRequest | CreditCardTransactionRequest

const pixCode = {
  /** The copy-and-paste text of the QR code. */
  qrcode: Schema.optionalKey(Schema.String),
  /** The time until which the charge can be paid. */
  expirationDate: Schema.optionalKey(ExpiryTime)
}

const created = {
  /** The `transactionId` of the lookup. */
  id: TextId,
  /** In centavos. */
  amount: Centavos,
  paymentMethod: Schema.optionalKey(openWord(["PIX", "BOLETO", "CREDIT_CARD"])),
  status: CreatedStatus,
  pix: Schema.optionalKey(Schema.Struct(pixCode)),
  companyId: Schema.optionalKey(IntegerId),
  /** A reference of yours that came back. It was seen in the field, and is not documented. */
  externalRef: Schema.optionalKey(Schema.String),
  /** What was refunded, in centavos. It was seen in the field, and is not documented. */
  refundedAmount: Schema.optionalKey(Centavos),
  /** The `postbackUrl` of the request. It was seen in the field, and is not documented. It may hold a secret: `Redacted.value` shows it. */
  postbackUrl: Schema.optionalKey(Schema.RedactedFromValue(Schema.String, { label: "postbackUrl" })),
  /** The fields that are not documented, unchanged. */
  extra: Schema.Record(Schema.String, Schema.Unknown)
}

/** The code and the expiry of a charge under each of the names that the service was seen to give them. */
const pixAnswer = {
  ...pixCode,
  /** Seen in place of `qrcode`. */
  brcode: Schema.optionalKey(Schema.String),
  /** Seen beside `brcode`: the same text in base64. */
  payloadBase64: Schema.optionalKey(Schema.String),
  /** Seen in place of `expirationDate`. */
  expiresAt: Schema.optionalKey(ExpiryTime)
}

/** The create operation's answer: `{ data, status, message }`. */
export const CreateTransactionResponse = Schema.Struct({
  data: withExtra({ ...created, pix: Schema.optionalKey(Schema.Struct(pixAnswer)) }),
  status: Schema.optionalKey(Schema.Int),
  message: Schema.optionalKey(Schema.String),
  companyId: Schema.optionalKey(IntegerId)
})

/**
 * A charge that was created. Its `amount` is in centavos.
 *
 * PIX charges have `pix`, whose `qrcode` is the copy-and-paste text. Undocumented fields are under `extra`.
 * `idempotencyKey` is the key with which the charge was sent.
 */
export const CreatedTransaction = Schema.Struct({ ...created, idempotencyKey: Schema.String })
export interface CreatedTransaction extends Schema.Schema.Type<typeof CreatedTransaction> {}

/**
 * A PIX charge that was created, always with its code. Amounts are in centavos. `createTransaction` returns it for a request whose `paymentMethod` is
 * `PIX`.
 */
export const CreatedPixTransaction = Schema.Struct({
  ...CreatedTransaction.fields,
  pix: Schema.Struct({
    /** The copy-and-paste text of the QR code. */
    qrcode: Schema.NonEmptyString,
    /** The time until which the charge can be paid. */
    expirationDate: Schema.optionalKey(ExpiryTime)
  })
})
export interface CreatedPixTransaction extends Schema.Schema.Type<typeof CreatedPixTransaction> {}

/** The customer, as a list shows it. */
const ListLead = Schema.Struct({
  id: Schema.optionalKey(TextId),
  /** The service documents null where the customer has none. The client reads it as absent. */
  externalId: Schema.optionalKey(Schema.NullOr(Schema.String)),
  name: Schema.optionalKey(Schema.String),
  email: Schema.optionalKey(Schema.String),
  phone: Schema.optionalKey(Schema.String),
  documentNumber: Schema.optionalKey(Schema.String),
  documentType: Schema.optionalKey(Schema.String)
})

/** A row of the list. `amount` is in centavos; `id` is the id of the row, not the `transactionId`. */
export const TransactionListItem = Schema.Struct({
  /** The row's own id, which a lookup does not take. */
  id: IntegerId,
  leadId: Schema.optionalKey(TextId),
  lead: Schema.optionalKey(ListLead),
  /** In centavos. */
  amount: Centavos,
  /** In the vocabulary of the list, which does not show whether a charge is paid: look it up. */
  status: ListStatus,
  paymentMethod: Schema.optionalKey(openWord(["PIX"])),
  providerTxId: Schema.optionalKey(Schema.String),
  createdAt: Schema.optionalKey(Timestamp),
  updatedAt: Schema.optionalKey(Timestamp)
})
export interface TransactionListItem extends Schema.Schema.Type<typeof TransactionListItem> {}

/** One page of the company's transactions. Amounts are in centavos. */
export const TransactionPage = Schema.Struct({
  items: Schema.Array(TransactionListItem),
  totalItems: Schema.Natural,
  totalPages: Schema.Natural,
  currentPage: Schema.Natural,
  pageSize: Schema.Natural
})
export interface TransactionPage extends Omit<Schema.Schema.Type<typeof TransactionPage>, "items"> {
  readonly items: ReadonlyArray<TransactionListItem>
}

/** The list operation's answer: `{ ok, res }`. */
export const ListTransactionsResponse = Schema.Struct({
  ok: Schema.optionalKey(Schema.Boolean),
  res: TransactionPage
})

/** The order of a list: newest first, or oldest first. */
export const TransactionSort = Schema.Literals(["createdAt_desc", "createdAt_asc"])
export type TransactionSort = typeof TransactionSort.Type

/** Which page of the list to read. */
export interface ListOptions {
  /** From 1. Default: the service's, 1. */
  readonly page?: number | undefined
  /** 1 to 100. Default: the service's, 50. */
  readonly pageSize?: number | undefined
  /** Default: the service's, newest first. */
  readonly sort?: TransactionSort | undefined
}

/** The customer, as a lookup shows it. */
const DetailLead = Schema.Struct({
  id: Schema.optionalKey(IntegerId),
  name: Schema.optionalKey(Schema.String),
  email: Schema.optionalKey(Schema.String),
  phone: Schema.optionalKey(Schema.String),
  document: Schema.optionalKey(Schema.String)
})

/** The result of the lookup of a transaction. `value` is in centavos. */
export const TransactionDetail = Schema.Struct({
  /** The integer id of the record: not the one that a lookup takes. */
  id: IntegerId,
  leadId: Schema.optionalKey(IntegerId),
  lead: Schema.optionalKey(DetailLead),
  companyId: Schema.optionalKey(IntegerId),
  /** In centavos. */
  value: Centavos,
  /** The id of the lookup: the `id` of the created charge. */
  transactionId: TextId,
  /** `Awaiting`, `Paid`, `Cancelled`, `Failed`, `Refunded`, or a word that is not documented. */
  enStatusTransaction: DetailStatus,
  enPaymentSystem: Schema.optionalKey(openWord(["Pix", "Boleto", "CreditCard"])),
  updateDate: Schema.optionalKey(Timestamp),
  createdAt: Schema.optionalKey(Timestamp)
})
export interface TransactionDetail extends Schema.Schema.Type<typeof TransactionDetail> {}
