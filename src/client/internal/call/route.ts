/**
 * An endpoint of the contract, ready for calls: what depends on it alone is made once, for all clients.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Endpoint } from "../../../contract/Endpoints.ts"
import type { RequestIssue } from "../../../contract/PaymentsError.ts"
import { bodyDecoder, type Fast, strictEncoder } from "../wire/codec.ts"
import { deniedByEnvelope, deniedByFlag } from "../words/denial.ts"
import { metersOf } from "./telemetry.ts"
import type { Undecodable } from "./verdict.ts"

export type Issues = ReadonlyArray<RequestIssue>

/** See the head of this file. */
export interface Route<E extends Endpoint = Endpoint> {
  readonly endpoint: E
  readonly meters: ReturnType<typeof metersOf>
  /** Path and query of one object that holds the parameters and the query. */
  readonly pathOf: (input: unknown) => Result.Result<string, Issues>
  readonly decode: (body: string, misfits: Set<string>) => Result.Result<E["response"]["Type"], Undecodable>
}

export const makeRoute = <E extends Endpoint>(endpoint: E, fast?: Fast<E["response"]["Type"]>): Route<E> => ({
  endpoint,
  meters: metersOf(endpoint.operation),
  pathOf: pathWriter(endpoint),
  decode: bodyDecoder<E["response"]>(endpoint.response, {
    exact: endpoint.decimals,
    denied: endpoint.keyPrefix === undefined ? deniedByFlag : deniedByEnvelope,
    fast
  })
})

const pathWriter = ({ params, path, query }: Endpoint): Route["pathOf"] => {
  if (params === undefined && query === undefined) return () => Result.succeed(path)
  const inQuery = Object.keys(query?.fields ?? {})
  const encode = strictEncoder(Schema.Struct({ ...params?.fields, ...query?.fields }))
  return (input) =>
    Result.map(encode(input), (encoded) => {
      const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(encoded[name])))
      const given = inQuery
        .filter((name) => encoded[name] !== undefined)
        .map((name) => `${name}=${encodeURIComponent(String(encoded[name]))}`)
      return given.length === 0 ? filled : `${filled}?${given.join("&")}`
    })
}
