/**
 * Reads one page of the company's transactions.
 */
import * as Result from "effect/Result"
import { listTransactions as endpoint } from "../../../contract/Endpoints.ts"
import type { ListOptions, TransactionPage } from "../../../contract/Transaction.ts"
import type { Client } from "../call/client.ts"
import { makeRoute, notAsAsked, read } from "../call/prepare.ts"
import type { Undecodable } from "../call/state.ts"
import { readPage } from "../wire/fastReaders.ts"

const route = makeRoute(endpoint, readPage)

export const make =
  (client: Client) =>
  (options: ListOptions = {}) =>
    read(client, route, {
      input: options,
      accept: ({ ok, res }): Result.Result<TransactionPage, Undecodable> =>
        ok === false ? notAsAsked({ path: "ok", problem: "is false" }) : Result.succeed(res)
    })
