/**
 * Reads one page of the company's transactions.
 */
import * as Result from "effect/Result"
import { listTransactions as endpoint } from "../../../contract/Endpoints.ts"
import type { ListOptions, TransactionPage } from "../../../contract/Transaction.ts"
import type { Undecodable } from "../verdict.ts"
import { readPage } from "../fast/readPage.ts"
import { reading, type Wiring } from "./operation.ts"

export const make = (wiring: Wiring) => {
  const read = reading(wiring, endpoint, readPage)
  return (options: ListOptions = {}) =>
    read(options, { accept: ({ res }): Result.Result<TransactionPage, Undecodable> => Result.succeed(res) })
}
