/**
 * Reads the balance of a company: the one that the call names, else the one of the layer.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { invalidRequest } from "../../../contract/Options.ts"
import type { BalanceOptions } from "../../../contract/Balance.ts"
import { getBalance as endpoint } from "../../../contract/Endpoints.ts"
import type { Client } from "../call/client.ts"
import { makeRoute, read } from "../call/prepare.ts"

const route = makeRoute(endpoint)

const notNamed = invalidRequest(endpoint.operation, [
  { path: "companyId", problem: "is required, since the client was not configured with one" }
])

export const make =
  (client: Client) =>
  (options: BalanceOptions = {}) => {
    const withCompany = () =>
      Predicate.isObject(options) && options["companyId"] === undefined
        ? { ...options, companyId: client.companyId }
        : options
    // Options that throw when they are read count as absent.
    const input = Result.getOrUndefined(Result.try(withCompany))
    return Predicate.isObject(input) && input["companyId"] === undefined
      ? Effect.fail(notNamed)
      : read(client, route, { input, accept: Result.succeed })
  }
