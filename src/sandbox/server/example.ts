/**
 * Examples made from an OpenAPI document: values of a schema, and requests as `curl` commands.
 */
import { writeCurl } from "../internal/curl.ts"

/** The fields of a JSON schema that are read. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly format?: string
  readonly pattern?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly contentSchema?: JsonSchema
}

export type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>

interface Parameter {
  readonly name: string
  readonly in: "query" | "header" | "path" | "cookie"
  readonly required: boolean
  readonly schema: JsonSchema
}

/** The fields of an operation that are read. */
export interface Operation {
  readonly operationId: string
  readonly tags: ReadonlyArray<string>
  readonly description?: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}

/** The fields of a document that are read. */
export interface Document {
  readonly info: { readonly title: string; readonly description?: string }
  readonly tags: ReadonlyArray<{ readonly name: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

/** The name of the schema in a reference. */
export const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1)

/** Examples by the name of a field, for fields whose schema is any string or any integer. */
const samples: Readonly<Record<string, string | number>> = {
  amount: 2500,
  value: 2500,
  id: 1,
  companyId: 1,
  name: "Maria Silva",
  email: "maria@example.com",
  pixKey: "52998224725",
  url: "http://127.0.0.1:3000/webhooks"
}

const constantCase = (name: string) => name.replaceAll(/([a-z])(?=[A-Z])/g, "$1_").toUpperCase()

/**
 * An example of a schema: with `all` it has the optional fields and one element of each array, with `required` only the
 * required fields.
 */
export const exampleOf = (
  { components }: Document,
  schema: JsonSchema,
  fields: "all" | "required",
  name = ""
): unknown => {
  const example = (part: JsonSchema, name: string): unknown => {
    if (part.$ref !== undefined) return example(components.schemas[nameOf(part.$ref)] ?? {}, name)
    if (part.enum !== undefined) return part.enum[0]
    if (part.anyOf !== undefined) {
      const members = part.anyOf.filter(({ type }) => type !== "null")
      return example(members.find((member) => member.enum !== undefined) ?? members[0] ?? {}, name)
    }
    switch (part.type) {
      case "object":
        return Object.fromEntries(
          Object.entries(part.properties ?? {})
            .filter(([field]) => fields === "all" || part.required?.includes(field) === true)
            .map(([field, inner]) => [field, example(inner, field)])
        )
      case "array":
        return fields === "all" ? [example(part.items ?? {}, name)] : []
      case "string":
        return part.format === "date-time" ? "2026-11-21T12:00:00Z" : String(samples[name] ?? constantCase(name))
      case "integer":
      case "number":
        return Number(samples[name] ?? Math.max(part.minimum ?? 1, 1))
      case "boolean":
        return true
      default:
        return {}
    }
  }
  return example(schema, name)
}

/** A request of an operation with its required values, as a command. */
export const curlOf = (
  document: Document,
  method: string,
  url: string,
  { parameters, requestBody, responses }: Operation
): string => {
  const valuesIn = (place: Parameter["in"]) =>
    parameters
      .filter((parameter) => parameter.required && parameter.in === place)
      .map(({ name, schema }): [string, string] => [name, String(exampleOf(document, schema, "required", name))])
  const filled = valuesIn("path").reduce((path, [name, value]) => path.replace(`{${name}}`, value), url)
  const search = new URLSearchParams(valuesIn("query")).toString()
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1]
  const body = requestBody?.content["application/json"]?.schema
  return writeCurl({
    method,
    url: search === "" ? filled : `${filled}?${search}`,
    headers: Object.fromEntries([
      ...Object.keys(success?.content ?? {}).map((mediaType) => ["accept", mediaType]),
      ...valuesIn("header"),
      ...(body === undefined ? [] : [["content-type", "application/json"]])
    ]),
    body: body === undefined ? "" : JSON.stringify(exampleOf(document, body, "required"))
  })
}
