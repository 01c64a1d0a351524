/**
 * Looks a charge up. A 404 of the service means that there is no charge of this id. An answer about another charge is not
 * accepted.
 */
import * as Result from "effect/Result"
import { getTransaction as endpoint } from "../../../contract/Endpoints.ts"
import { TransactionNotFound } from "../../../contract/PaymentsError.ts"
import type { Client } from "../call/client.ts"
import { makeRoute, notAsAsked, read } from "../call/prepare.ts"
import { notFound } from "./notFound.ts"

const route = makeRoute(endpoint)

export const make = (client: Client) => (transactionId: string) =>
  read(client, route, {
    input: { transactionId },
    accept: (detail) =>
      detail.transactionId.toLowerCase() === transactionId.toLowerCase()
        ? Result.succeed(detail)
        : notAsAsked({ path: "transactionId", problem: "is not the id that was asked for" }),
    ownError: notFound((fields) => new TransactionNotFound({ ...fields, transactionId }))
  })
