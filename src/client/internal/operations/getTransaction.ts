/**
 * Looks a charge up. A 404 of the service means that there is no charge of this id; a page is the 404 of a load balancer. An
 * answer about another charge is not accepted.
 */
import * as Result from "effect/Result"
import { getTransaction as endpoint } from "../../../contract/Endpoints.ts"
import { TransactionNotFound, UnexpectedResponse } from "../../../contract/PaymentsError.ts"
import type { Client } from "../call/client.ts"
import { makeRoute, notAsAsked, read } from "../call/prepare.ts"

const route = makeRoute(endpoint)

const notOfService = [{ path: "", problem: "is neither empty nor JSON" }]

export const make = (client: Client) => (transactionId: string) =>
  read(client, route, {
    input: { transactionId },
    accept: (detail) =>
      detail.transactionId.toLowerCase() === transactionId.toLowerCase()
        ? Result.succeed(detail)
        : notAsAsked({ path: "transactionId", problem: "is not the id that was asked for" }),
    ownError: ({ isPage, status, unread }, fields) => {
      if (status !== 404) return undefined
      const reason = unread ?? (isPage ? "Unreadable" : undefined)
      return reason === undefined
        ? new TransactionNotFound({ ...fields, transactionId })
        : new UnexpectedResponse({ ...fields, outcome: "NoEffect", reason, issues: notOfService })
    }
  })
