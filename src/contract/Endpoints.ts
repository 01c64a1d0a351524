/**
 * The contract as plain values: the one place that defines the operations with their methods, paths, headers and success
 * statuses. The client sends requests by these values, and the errors read from them what a write may have done.
 * `PaymentsApi` is the `HttpApi` made of those that are documented, for the sandbox and the OpenAPI document.
 *
 * Details: the entry of an endpoint is also the only place that says whether it has a body, is a write, or has parameters.
 * Source: `docs/service.md`.
 */
import * as Schema from "effect/Schema"
import { Balance } from "./Balance.ts"
import { CurrencyOrBrl } from "./Currency.ts"
import {
  CreateTransactionRequest,
  CreateTransactionResponse,
  ListTransactionsResponse,
  TransactionDetail,
  TransactionSort
} from "./Transaction.ts"
import { WithdrawalDetail, WithdrawalRecord, WithdrawalRequestBody } from "./Withdrawal.ts"
import { opaqueId, IntegerId } from "../internal/wire.ts"

/** The names of the headers that are sent. Header names have no case. */
export const headerNames = {
  clientId: "x-client-id",
  apiKey: "x-api-key",
  accept: "accept",
  contentType: "content-type",
  idempotencyKey: "idempotency-key",
  cacheControl: "cache-control"
} as const

/** The operations: the five of `Payments`, by the names of their methods, and `getWithdrawal` of `WithdrawalLookup`. */
export const Operation = Schema.Literals([
  "createTransaction",
  "getTransaction",
  "listTransactions",
  "getBalance",
  "requestWithdrawal",
  "getWithdrawal"
])
export type Operation = typeof Operation.Type

type Fields = { readonly [name: string]: Schema.Codec<unknown, unknown> }

/** One endpoint: all that a client needs to send a request, and all that a server needs to answer it. */
export interface Endpoint {
  readonly operation: Operation
  /** The group of `PaymentsApi` that the endpoint belongs to. `seen`: it is not documented, so it is not in `PaymentsApi`. */
  readonly group: "transactions" | "money" | "seen"
  readonly method: "GET" | "POST"
  /** Parameters are written `:name`. */
  readonly path: `/${string}`
  /** Only for a write, which is sent under an idempotency key: the prefix of the keys that are made for it. */
  readonly keyPrefix?: "tx" | "wd"
  /** The success status. */
  readonly status: 200 | 201
  /** The parameters of the path. */
  readonly params?: Schema.Struct<Fields>
  readonly query?: Schema.Struct<Fields>
  readonly body?: Schema.Codec<unknown, unknown>
  readonly response: Schema.Codec<unknown, unknown>
  /** The fields of the response that are decimals: they are parsed without losing a digit. */
  readonly decimals?: ReadonlySet<string>
}

/** Whether an endpoint is a write, which is sent under an idempotency key. */
export const isWrite = ({ keyPrefix }: Endpoint): boolean => keyPrefix !== undefined

/** The id of a charge: it must not change the path of the request. */
const ChargeId = Schema.String.check(
  Schema.isPattern(opaqueId, { expected: "an id of 1 to 64 letters, digits, _ and -" })
)

/** The most rows that a page may have (`docs/service.md`). */
export const largestPage = 100

/** How many rows a page holds. */
const PageSize = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: largestPage }, { expected: `a whole number from 1 to ${largestPage}` })
)

/** The number of a page, from 1. */
const PageNumber = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1, { expected: "a whole number from 1" }))

export const createTransaction = {
  operation: "createTransaction",
  group: "transactions",
  method: "POST",
  path: "/api/v1/transactions/create",
  keyPrefix: "tx",
  status: 200,
  body: CreateTransactionRequest,
  response: CreateTransactionResponse
} as const satisfies Endpoint

export const listTransactions = {
  operation: "listTransactions",
  group: "transactions",
  method: "GET",
  path: "/api/Transaction/company/transactions",
  status: 200,
  query: Schema.Struct({
    page: Schema.optional(PageNumber),
    pageSize: Schema.optional(PageSize),
    sort: Schema.optional(TransactionSort)
  }),
  response: ListTransactionsResponse
} as const satisfies Endpoint

export const getTransaction = {
  operation: "getTransaction",
  group: "transactions",
  method: "GET",
  path: "/api/Transaction/transactionByTransactionId/:transactionId",
  status: 200,
  params: Schema.Struct({ transactionId: ChargeId }),
  response: TransactionDetail
} as const satisfies Endpoint

export const getBalance = {
  operation: "getBalance",
  group: "money",
  method: "GET",
  path: "/api/Balance/balance/:companyId",
  status: 200,
  params: Schema.Struct({ companyId: IntegerId }),
  query: Schema.Struct({ currency: CurrencyOrBrl }),
  response: Balance,
  decimals: new Set(["accBalance", "accBalanceCredit", "accBalanceCreditAwaiting"])
} as const satisfies Endpoint

export const requestWithdrawal = {
  operation: "requestWithdrawal",
  group: "money",
  method: "POST",
  path: "/api/Withdraw/request",
  keyPrefix: "wd",
  status: 201,
  body: WithdrawalRequestBody,
  response: WithdrawalRecord,
  decimals: new Set(["value"])
} as const satisfies Endpoint

export const getWithdrawal = {
  operation: "getWithdrawal",
  group: "seen",
  method: "GET",
  path: "/api/Withdraw/:withdrawalId",
  status: 200,
  params: Schema.Struct({ withdrawalId: IntegerId }),
  response: WithdrawalDetail,
  decimals: new Set(["value", "providerAmount"])
} as const satisfies Endpoint

/** All endpoints, by operation: those that are documented, and the one that was seen. */
export const all = {
  createTransaction,
  listTransactions,
  getTransaction,
  getBalance,
  requestWithdrawal,
  getWithdrawal
} as const satisfies { readonly [Name in Operation]: Endpoint & { readonly operation: Name } }
