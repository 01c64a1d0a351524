/**
 * Reads one page of the company's transactions.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { largestPage, listTransactions as endpoint } from "../../../contract/Endpoints.ts"
import type { ListOptions, TransactionPage } from "../../../contract/Transaction.ts"
import type { Client } from "../call/client.ts"
import { makeRoute, notAsAsked, read } from "../call/prepare.ts"
import type { Undecodable } from "../call/state.ts"
import { readPage } from "../wire/fastReaders.ts"

/** The rows of an answer. Before they are known to be few, none is read: an answer of 4 MiB has place for a million. */
const rowsOf = (json: unknown): unknown =>
  Predicate.isObject(json) && Predicate.hasProperty(json["res"], "items") ? json["res"].items : undefined

const route = makeRoute(endpoint, readPage, (json) => {
  const rows = rowsOf(json)
  return Array.isArray(rows) && rows.length > largestPage
    ? { path: "res.items", problem: `has more than the ${largestPage} rows that a page may have` }
    : undefined
})

export const make =
  (client: Client) =>
  (options: ListOptions = {}) =>
    read(client, route, {
      input: options,
      accept: ({ ok, res }): Result.Result<TransactionPage, Undecodable> =>
        ok === false ? notAsAsked({ path: "ok", problem: "is false" }) : Result.succeed(res)
    })
