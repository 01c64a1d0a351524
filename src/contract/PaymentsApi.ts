/**
 * The remote service as an `HttpApi`: what the sandbox serves and the OpenAPI document is printed from. The client
 * sends by the same endpoint values and does not load this module.
 *
 * ```ts
 * import { OpenApi } from "effect/http-api"
 * import { PaymentsApi } from "effect-pix/api"
 *
 * const paths = Object.keys(OpenApi.fromApi(PaymentsApi).paths).length // => 5
 * ```
 */
import * as Schema from "effect/Schema"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { IdempotencyKey } from "./IdempotencyKey.ts"
import * as Endpoints from "./Endpoints.ts"

const credentials = {
  [Endpoints.headerNames.clientId]: Schema.String.annotateKey({ description: "The public id of the application." }),
  [Endpoints.headerNames.apiKey]: Schema.String.annotateKey({ description: "The company's secret key." })
}

const keyed = {
  ...credentials,
  [Endpoints.headerNames.idempotencyKey]: Schema.optional(IdempotencyKey).annotateKey({
    description: "One key per logical write, the same whenever it is repeated."
  })
}

const { createTransaction, getBalance, getTransaction, listTransactions, requestWithdrawal } = Endpoints

/** The transactions: create, list, look up (service interface, sections 4.1 to 4.3). */
const Transactions = HttpApiGroup.make("transactions").add(
  HttpApiEndpoint.post(createTransaction.operation, createTransaction.path, {
    headers: keyed,
    payload: createTransaction.body,
    success: createTransaction.response.pipe(HttpApiSchema.status(createTransaction.status))
  }),
  HttpApiEndpoint.get(listTransactions.operation, listTransactions.path, {
    headers: credentials,
    query: listTransactions.query,
    success: listTransactions.response.pipe(HttpApiSchema.status(listTransactions.status))
  }),
  HttpApiEndpoint.get(getTransaction.operation, getTransaction.path, {
    headers: credentials,
    params: getTransaction.params,
    success: getTransaction.response.pipe(HttpApiSchema.status(getTransaction.status))
  })
)

/** The money: balance and withdrawal (service interface, sections 4.4 and 4.5). */
const Money = HttpApiGroup.make("money").add(
  HttpApiEndpoint.get(getBalance.operation, getBalance.path, {
    headers: credentials,
    params: getBalance.params,
    query: getBalance.query,
    success: getBalance.response.pipe(HttpApiSchema.status(getBalance.status))
  }),
  HttpApiEndpoint.post(requestWithdrawal.operation, requestWithdrawal.path, {
    headers: keyed,
    payload: requestWithdrawal.body,
    success: requestWithdrawal.response.pipe(HttpApiSchema.status(requestWithdrawal.status))
  })
)

/**
 * The five endpoints of the service: paths, methods, headers, query, bodies and success statuses. The bodies of errors
 * are not documented (service interface, section 7) and so not declared.
 */
export class PaymentsApi extends HttpApi.make("payments")
  .add(Transactions, Money)
  .annotateMerge(
    OpenApi.annotations({
      title: "Payment service",
      version: "v1",
      description: "Transactions, balance and withdrawals, as the client effect-pix understands the service."
    })
  ) {}
