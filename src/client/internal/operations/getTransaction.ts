/**
 * Looks a charge up. Its 404 says that there is none of this id.
 */
import * as Result from "effect/Result"
import { getTransaction as endpoint } from "../../../contract/Endpoints.ts"
import { ofLookup } from "../toError.ts"
import { reading, type Wiring } from "./operation.ts"

export const make = (wiring: Wiring) => {
  const read = reading(wiring, endpoint)
  return (transactionId: string) =>
    read(
      { transactionId },
      {
        accept: Result.succeed,
        own: ofLookup(transactionId)
      }
    )
}
