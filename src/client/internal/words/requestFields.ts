/**
 * The names of the fields that the contract documents for a request. They are no person's data, so an answer's words about
 * them may be shown.
 */
import * as SchemaAST from "effect/SchemaAST"
import type { Endpoint } from "../../../contract/Endpoints.ts"
import { foldName } from "./fold.ts"

/** Returns the path that a text or a list of keys consists of, in the contract's spelling; `undefined` if a key of it is none of its fields. */
export type PathOf = (written: unknown) => ReadonlyArray<string> | undefined

const namesIn = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  if (SchemaAST.isUnion(ast)) return ast.types.flatMap(namesIn)
  if (SchemaAST.isArrays(ast)) return [...ast.elements, ...ast.rest].flatMap(namesIn)
  if (!SchemaAST.isObjects(ast)) return []
  return ast.propertySignatures.flatMap(({ name, type }) => [String(name), ...namesIn(type)])
}

/** An index, or the sign for each. A longer number could be a document. */
const index = /^(?:\d{1,4}|\*)$/
/** What frameworks call the whole request, before the name of a field. */
const whole = /^(?:body|data|attributes|request)$/
/** The signs between the keys of a path: `customer.email`, `$.items[0]`, `#/pixKey`, `customer[email]`. */
const signs = /[.$#/[\]'"]+/
const longest = 200

const keysIn = (written: unknown): ReadonlyArray<string> => {
  if (Array.isArray(written)) return written.slice(0, 20).map(String)
  return typeof written === "string" && written.length <= longest
    ? written.split(signs).filter((key) => key !== "")
    : []
}

const makePathOf = ({ body, params, query }: Endpoint): PathOf => {
  const schemas = [body, params, query].flatMap((schema) => (schema === undefined ? [] : [schema]))
  const names = schemas.flatMap(({ ast }) => namesIn(SchemaAST.toEncoded(ast)))
  const fields = new Map(names.map((name) => [foldName(name), name]))
  return (written) => {
    const keys = keysIn(written)
    const path = keys.slice(keys.findIndex((key) => !whole.test(foldName(key))))
    const known = path.flatMap((key) =>
      (index.test(key) ? [key] : [fields.get(foldName(key))]).filter((name) => name !== undefined)
    )
    return known.length === path.length && known.some((key) => !index.test(key)) ? known : undefined
  }
}

const made = new Map<Endpoint, PathOf>()

/** Reads paths of the fields of an endpoint's request: in any case, with `_` and `-` or without. */
export const pathOfRequest = (endpoint: Endpoint): PathOf => {
  const found = made.get(endpoint) ?? makePathOf(endpoint)
  made.set(endpoint, found)
  return found
}
