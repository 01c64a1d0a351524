/**
 * Reads one page of the company's transactions.
 */
import * as Result from "effect/Result"
import { listTransactions as endpoint } from "../../../contract/Endpoints.ts"
import type { ListOptions, TransactionPage } from "../../../contract/Transaction.ts"
import type { Client } from "../call/client.ts"
import { makeRoute, read } from "../call/prepare.ts"
import type { Undecodable } from "../call/state.ts"
import { readPage } from "../wire/fastReaders.ts"

const route = makeRoute(endpoint, readPage)

export const make =
  (client: Client) =>
  (options: ListOptions = {}) =>
    read(client, route, {
      input: options,
      accept: ({ res }): Result.Result<TransactionPage, Undecodable> => Result.succeed(res)
    })
