/**
 * Reads the balance of a company: the one that is named, or that of the layer.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { BalanceOptions } from "../../../contract/Balance.ts"
import { getBalance as endpoint } from "../../../contract/Endpoints.ts"
import { invalid } from "../call/toError.ts"
import { reading, type Wiring } from "./operation.ts"

const notNamed = invalid(endpoint.operation, [
  { path: "companyId", problem: "is required, since the client was not configured with one" }
])

const reader = reading(endpoint)

export const make = (wiring: Wiring) => {
  const read = reader(wiring)
  const named = (options: BalanceOptions) =>
    Predicate.isObject(options) && options["companyId"] === undefined
      ? { ...options, companyId: wiring.companyId }
      : options
  return (options: BalanceOptions = {}) => {
    // Options that throw when they are read are none.
    const asked = Result.getOrUndefined(Result.try(() => named(options)))
    return Predicate.isObject(asked) && asked["companyId"] === undefined
      ? Effect.fail(notNamed)
      : read(asked, { accept: Result.succeed })
  }
}
