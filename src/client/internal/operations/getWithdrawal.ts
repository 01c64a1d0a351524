/**
 * Looks a withdrawal up by its number, as it was seen. A record of another number, or whose value and amount contradict each
 * other, is not accepted.
 */
import * as Result from "effect/Result"
import { getWithdrawal as endpoint } from "../../../contract/Endpoints.ts"
import { WithdrawalNotFound } from "../../../contract/PaymentsError.ts"
import { meaningOf } from "../../../contract/Status.ts"
import { type Client, statusField } from "../call/client.ts"
import { makeRoute, notAsAsked, read } from "../call/prepare.ts"
import { notFound } from "./notFound.ts"
import { valueIssues } from "./valueIssues.ts"

const route = makeRoute(endpoint)

export const make = (client: Client) => (withdrawalId: number) =>
  read(client, route, {
    input: { withdrawalId },
    accept: (detail, { misfits }) => {
      const { amount, enTransaction, id, value } = detail
      if (id !== withdrawalId) return notAsAsked({ path: "id", problem: "is not the id that was asked for" })
      const issues = amount === undefined ? [] : valueIssues(client.facts, amount, value)
      if (issues.length > 0) return notAsAsked(...issues)
      if (meaningOf(enTransaction, "payout", client.facts.statuses) === "unlisted") misfits.add(statusField)
      return Result.succeed(detail)
    },
    ownError: notFound((fields) => new WithdrawalNotFound({ ...fields, withdrawalId }))
  })
