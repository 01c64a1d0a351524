/**
 * Reads one page of the company's transactions.
 */
import * as Result from "effect/Result"
import { listTransactions as endpoint } from "../../../contract/Endpoints.ts"
import type { ListOptions, TransactionPage } from "../../../contract/Transaction.ts"
import type { Client } from "../call/client.ts"
import { read } from "../call/prepare.ts"
import { makeRoute } from "../call/route.ts"
import type { Undecodable } from "../call/verdict.ts"
import { readPage } from "../wire/fast/readPage.ts"

const route = makeRoute(endpoint, readPage)

export const make =
  (client: Client) =>
  (options: ListOptions = {}) =>
    read(client, route, {
      input: options,
      accept: ({ res }): Result.Result<TransactionPage, Undecodable> => Result.succeed(res)
    })
