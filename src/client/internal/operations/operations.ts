/**
 * All operations, on one pipeline.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type { Credentials } from "../../Credentials.ts"
import type { IdempotencyKeyGen } from "../../IdempotencyKeyGen.ts"
import * as CreateTransaction from "./createTransaction.ts"
import * as GetBalance from "./getBalance.ts"
import * as GetTransaction from "./getTransaction.ts"
import * as ListTransactions from "./listTransactions.ts"
import * as RequestWithdrawal from "./requestWithdrawal.ts"
import * as Pipeline from "../call/pipeline.ts"

export interface OperationsOptions {
  readonly client: HttpClient.HttpClient
  readonly credentials: Credentials["Service"]
  readonly keys: IdempotencyKeyGen["Service"]
  readonly origin: URL
  readonly companyId: number | undefined
}

export const makeOperations = Effect.fnUntraced(function* (options: OperationsOptions) {
  const { client, companyId, credentials, keys, origin } = options
  const runner = yield* Pipeline.make({ client, credentials, origin })
  const wiring = { runner, keys, companyId }
  return {
    createTransaction: CreateTransaction.make(wiring),
    getTransaction: GetTransaction.make(wiring),
    listTransactions: ListTransactions.make(wiring),
    getBalance: GetBalance.make(wiring),
    requestWithdrawal: RequestWithdrawal.make(wiring)
  }
})
