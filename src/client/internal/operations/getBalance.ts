/**
 * Reads the balance of a company: the one that is named, or that of the layer.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { BalanceOptions } from "../../../contract/Balance.ts"
import { getBalance as endpoint } from "../../../contract/Endpoints.ts"
import { invalid, type Wiring, reading } from "./operation.ts"

const notNamed = invalid(endpoint.operation, [
  { path: "companyId", problem: "is required, since the client was not configured with one" }
])

export const make = (wiring: Wiring) => {
  const read = reading(wiring, endpoint)
  return (options?: BalanceOptions) => {
    const { companyId = wiring.companyId, ...query } = options ?? {}
    return companyId === undefined ? Effect.fail(notNamed) : read({ companyId, ...query }, { accept: Result.succeed })
  }
}
