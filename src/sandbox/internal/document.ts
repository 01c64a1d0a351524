/**
 * The gateway's OpenAPI document as the sandbox serves it: the contract, and the refusals of the sandbox, which say that
 * they are made up. The service documents no refusal, so the contract has none.
 */
import * as OpenApi from "effect/http-api/OpenApi"
import * as Endpoints from "../../contract/Endpoints.ts"
import { PaymentsApi } from "../../contract/PaymentsApi.ts"

const why = {
  400: "the request breaks the contract",
  401: "credentials are missing or wrong",
  403: "the host name is none that the sandbox allows",
  404: "there is no such transaction or company",
  405: "the path has another method, which `Allow` names",
  406: "`Accept` is not application/json",
  413: "the body is over 1 MiB",
  415: "`Content-Type` is not application/json",
  422:
    "another body under a used idempotency key, another currency than BRL, a withdrawal under the minimum, over the " +
    "balance, or without any PIX key",
  500: "the sandbox has a defect, which its log shows"
}
type Status = keyof typeof why

/** The statuses of an endpoint's refusals, by its entry in the contract. */
const refusalsOf = ({ body, keyPrefix, params, query }: Endpoints.Endpoint): ReadonlyArray<Status> => [
  400,
  401,
  403,
  ...(params === undefined ? [] : ([404] as const)),
  406,
  ...(body === undefined ? [] : ([413, 415] as const)),
  ...(keyPrefix === undefined && query?.fields["currency"] === undefined ? [] : ([422] as const)),
  500
]

const methods = ["get", "post"] as const

/** An operation's id is its name, after the name of its group. */
const nameOf = (operationId: string) => operationId.slice(operationId.indexOf(".") + 1) as Endpoints.Operation

const refusal = (status: Status) => ({
  description: `Made up by the sandbox, do not rely on it: ${why[status]}.`,
  content: { "application/json": { schema: { $ref: "#/components/schemas/SandboxRefusal" } } }
})

const schema = {
  type: "object",
  description: "A refusal of the sandbox. The service shows no body of an error.",
  properties: { message: { type: "string" }, status: { type: "integer" } },
  required: ["message", "status"],
  additionalProperties: false
} as const

/** The document, with paths relative to the sandbox. */
const gatewayDocument = (): OpenApi.OpenAPISpec => {
  const spec = OpenApi.fromApi(PaymentsApi)
  const paths = Object.entries(spec.paths).map(([path, item]) => {
    const operations = methods.flatMap((method) => {
      const operation = item[method]
      if (operation === undefined) return []
      const made = refusalsOf(Endpoints.all[nameOf(operation.operationId)]).map(
        (status) => [status, refusal(status)] as const
      )
      return [[method, { ...operation, responses: { ...Object.fromEntries(made), ...operation.responses } }] as const]
    })
    return [path, Object.fromEntries(operations)] as const
  })
  return {
    ...spec,
    info: {
      ...spec.info,
      title: `${spec.info.title}, as the sandbox plays it`,
      description: [spec.info.description, "Every refusal in this document is the sandbox's own."].join("\n\n")
    },
    servers: [{ url: "/" }],
    paths: Object.fromEntries(paths),
    components: { ...spec.components, schemas: { ...spec.components.schemas, SandboxRefusal: schema } }
  }
}

/** The contract as an API, with the document of the sandbox. */
export const GatewayApi: typeof PaymentsApi = PaymentsApi.annotate(OpenApi.Transform, gatewayDocument)
