/**
 * An optional field that does not fit does not make an answer unusable: it counts as absent, and its name is reported.
 * A required field (identity, amount, status) that does not fit does.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

type Path = ReadonlyArray<PropertyKey>

/** An echoed key that is no text is not the key that was sent: whose answer it is then is not known. */
const neverOptional: ReadonlySet<PropertyKey> = new Set(["idempotencyKey"])

const child = (value: unknown, key: PropertyKey): unknown =>
  Predicate.isObjectOrArray(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined

/** Removes the field at the path or, where that is missing already, the one that should have held it. */
const remove = (json: unknown, path: Path): Path | undefined => {
  for (let length = path.length; length > 0; length--) {
    const key = path[length - 1]
    const parent = path.slice(0, length - 1).reduce(child, json)
    if (key === undefined || Array.isArray(parent) || neverOptional.has(key)) return undefined
    if (Predicate.isObject(parent) && Object.hasOwn(parent, key)) {
      return Reflect.deleteProperty(parent, key) ? path.slice(0, length) : undefined
    }
  }
  return undefined
}

/** The name of a field, without the numbers of its rows. */
const nameOf = (path: Path): string => path.filter((key) => !/^\d+$/.test(String(key))).join(".")

/** Deeper than any shape of the contract. */
const passes = 6

/**
 * Decodes, without the optional fields that do not fit. Changes `json`. `decode` names all issues. The
 * name of each field that was left out is added to `misfits`.
 */
export const forgiving = <A>(
  json: unknown,
  decode: (json: unknown) => Result.Result<A, Schema.SchemaError>,
  misfits: Set<string>
): Result.Result<A, Schema.SchemaError> => {
  const first = decode(json)
  const found: Array<string> = []
  let decoded = first
  for (let pass = 0; pass < passes && Result.isFailure(decoded); pass++) {
    for (const { path = [] } of format(decoded.failure.issue).issues) {
      const removed = remove(
        json,
        path.map((part) => (typeof part === "object" ? part.key : part))
      )
      if (removed === undefined) return first
      found.push(nameOf(removed))
    }
    decoded = decode(json)
  }
  if (Result.isFailure(decoded)) return first
  for (const name of found) misfits.add(name)
  return decoded
}
