/**
 * Reads one page of the company's transactions.
 */
import * as Result from "effect/Result"
import { listTransactions as endpoint } from "../../../contract/Endpoints.ts"
import type { ListOptions, TransactionPage } from "../../../contract/Transaction.ts"
import type { Undecodable } from "../call/verdict.ts"
import { readPage } from "../wire/fast/readPage.ts"
import { reading, type Wiring } from "./operation.ts"

const reader = reading(endpoint, readPage)

export const make = (wiring: Wiring) => {
  const read = reader(wiring)
  return (options: ListOptions = {}) =>
    read(options, { accept: ({ res }): Result.Result<TransactionPage, Undecodable> => Result.succeed(res) })
}
