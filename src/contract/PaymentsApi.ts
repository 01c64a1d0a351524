/**
 * The remote service as an `HttpApi`. The sandbox serves it, and the OpenAPI document is generated from it. The client
 * uses the same endpoint values and does not load this module.
 *
 * ```ts
 * import { OpenApi } from "effect/http-api"
 * import { PaymentsApi } from "effect-pix/api"
 *
 * const paths = Object.keys(OpenApi.fromApi(PaymentsApi).paths).length // => 5
 * ```
 */
import * as Schema from "effect/Schema"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { IdempotencyKey } from "./IdempotencyKey.ts"
import * as Endpoints from "./Endpoints.ts"
import { plainRequests } from "./internal/plainRequests.ts"

const credentials = {
  [Endpoints.headerNames.clientId]: Schema.String.annotateKey({ description: "The public id of the application." }),
  [Endpoints.headerNames.apiKey]: Schema.String.annotateKey({ description: "The company's secret key." })
}

const keyed = {
  ...credentials,
  [Endpoints.headerNames.idempotencyKey]: Schema.optional(IdempotencyKey).annotateKey({
    description: "One key per logical write, the same whenever it is repeated."
  })
}

/** An endpoint that is documented. */
type Entry = Exclude<(typeof Endpoints.all)[Endpoints.Operation], { readonly group: "seen" }>

type Part<E, Name extends "params" | "query" | "body"> = E extends { readonly [N in Name]: infer S extends Schema.Top }
  ? S
  : never

/** The type of the `HttpApiEndpoint` for an entry. */
type ApiEndpoint<E> = E extends Entry
  ? HttpApiEndpoint.HttpApiEndpoint<
      E["operation"],
      E["method"],
      E["path"],
      Part<E, "params">,
      Part<E, "query">,
      Part<E, "body">,
      Schema.Struct<typeof credentials>,
      E["response"]
    >
  : never

const endpointOf = (entry: Endpoints.Endpoint) => {
  const { body, method, operation, params, path, query, response, status } = entry
  const headers = Endpoints.isWrite(entry) ? keyed : credentials
  const options = { params, query, headers, success: response.pipe(HttpApiSchema.status(status)) }
  return method === "GET"
    ? HttpApiEndpoint.get(operation, path, options)
    : HttpApiEndpoint.post(operation, path, { ...options, payload: body })
}

/** The group with this name, with all its endpoints. */
const groupOf = <const Name extends Entry["group"]>(name: Name) => {
  const [first, ...rest] = Object.values(Endpoints.all)
    .filter(({ group }) => group === name)
    .map(endpointOf)
  const group = first === undefined ? HttpApiGroup.make(name) : HttpApiGroup.make(name).add(first, ...rest)
  // `map` over the entries loses the type of each one, so the type of the group is written out.
  return group as unknown as HttpApiGroup.HttpApiGroup<Name, ApiEndpoint<Extract<Entry, { readonly group: Name }>>>
}

/**
 * The five documented endpoints of the service: paths, methods, headers, query, bodies and success statuses. The lookup of a
 * withdrawal was only seen, so it is not here. The service does not document the bodies of errors (`docs/service.md`), so none
 * are declared.
 */
export class PaymentsApi extends HttpApi.make("payments")
  .add(groupOf("transactions"), groupOf("money"))
  .annotateMerge(
    OpenApi.annotations({
      title: "Payment service",
      version: "v1",
      description: "Transactions, balance and withdrawals, as the client effect-pix understands the service.",
      transform: plainRequests
    })
  ) {}
