/**
 * Looks a charge up. Its 404 says that there is none of this id; an answer about another one is no answer.
 */
import * as Result from "effect/Result"
import { getTransaction as endpoint } from "../../../contract/Endpoints.ts"
import { ofLookup } from "../call/toError.ts"
import { notAsAsked, reading, type Wiring } from "./operation.ts"

const reader = reading(endpoint)

export const make = (wiring: Wiring) => {
  const read = reader(wiring)
  return (transactionId: string) =>
    read(
      { transactionId },
      {
        accept: (detail) =>
          detail.transactionId.toLowerCase() === transactionId.toLowerCase()
            ? Result.succeed(detail)
            : notAsAsked({ path: "transactionId", problem: "is not the id that was asked for" }),
        own: ofLookup(transactionId)
      }
    )
}
