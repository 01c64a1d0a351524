/**
 * Removes null from the request bodies of an OpenAPI document. The JSON Schema of an optional field allows null, but no
 * field of the contract's requests may be null: a request leaves an optional field out.
 */
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"

const isNull = (schema: unknown): boolean => Predicate.isObject(schema) && Reflect.get(schema, "type") === "null"

const withoutNull = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withoutNull)
  if (!Predicate.isObject(schema)) return schema
  const { anyOf, ...rest } = Record.map({ ...schema }, withoutNull)
  if (!Array.isArray(anyOf)) return rest
  const [first, ...others] = anyOf.filter((option) => !isNull(option))
  return others.length === 0 && Predicate.isObject(first)
    ? { ...rest, ...first }
    : { ...rest, anyOf: [first, ...others] }
}

/** Rewrites each `requestBody` in a part of a document. */
export const plainRequests = (part: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Record.map(part, (value, name) => {
    if (name === "requestBody") return withoutNull(value)
    return Predicate.isObject(value) ? plainRequests({ ...value }) : value
  })
