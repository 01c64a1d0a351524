/**
 * The place of a request: the path of an endpoint filled, its query written. By the endpoint's schemas alone, so that no
 * operation puts a path together by hand.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Endpoint } from "../../../contract/Endpoints.ts"
import type { RequestIssue } from "../../../contract/PaymentsError.ts"
import { strictEncoder } from "./codec.ts"

type Issues = ReadonlyArray<RequestIssue>

/**
 * Writes path and query of an endpoint from one object that holds its parameters and its query. A member of the query
 * that is absent is not written.
 */
export const placeOf = ({ params, path, query }: Endpoint): ((input: unknown) => Result.Result<string, Issues>) => {
  if (params === undefined && query === undefined) return () => Result.succeed(path)
  const inQuery = Object.keys(query?.fields ?? {})
  const encode = strictEncoder(Schema.Struct({ ...params?.fields, ...query?.fields }))
  return (input) =>
    Result.map(encode(input), (encoded) => {
      const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(encoded[name])))
      const asked = inQuery
        .filter((name) => encoded[name] !== undefined)
        .map((name) => `${name}=${encodeURIComponent(String(encoded[name]))}`)
      return asked.length === 0 ? filled : `${filled}?${asked.join("&")}`
    })
}
