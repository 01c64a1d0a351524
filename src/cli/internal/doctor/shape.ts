/**
 * Whether a value is as a schema of the contract says: fields that are missing, that do not fit, or that nobody
 * documented. Fields are named, their values are not shown.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { type Findings, kindOf } from "./findings.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The names of fields are the contract's, or the service's: one that could be somebody's number is not shown. */
const fieldName = (name: string) => (/^[A-Za-z_]\w{0,39}$/.test(name) && !/\d{4}/.test(name) ? name : "?")

/** An object's fields, also behind "or null". */
const objectOf = (ast: SchemaAST.AST): SchemaAST.Objects | undefined => {
  if (SchemaAST.isObjects(ast)) return ast
  return SchemaAST.isUnion(ast) ? ast.types.map(objectOf).find(Predicate.isNotUndefined) : undefined
}

const strangers = (ast: SchemaAST.AST, value: unknown, path: string): ReadonlyArray<string> => {
  if (SchemaAST.isArrays(ast) && Array.isArray(value)) {
    const [item] = ast.rest
    return item === undefined ? [] : value.flatMap((each) => strangers(item, each, `${path}[]`))
  }
  const object = objectOf(ast)
  if (object === undefined || !Predicate.isObject(value)) return []
  const known = new Map(object.propertySignatures.map(({ name, type }) => [String(name), type]))
  return Object.entries(value).flatMap(([name, field]) => {
    const type = known.get(name)
    const at = path === "" ? fieldName(name) : `${path}.${fieldName(name)}`
    return type === undefined ? [at] : strangers(type, field, at)
  })
}

const keysOf = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>): ReadonlyArray<string> =>
  path.map((part) => String(typeof part === "object" ? part.key : part))

const nameOf = (keys: ReadonlyArray<string>): string =>
  keys
    .map((key) => (/^\d+$/.test(key) ? "[]" : `.${fieldName(key)}`))
    .join("")
    .replace(/^\./, "")

const at = (value: unknown, keys: ReadonlyArray<string>): unknown =>
  keys.reduce((parent, key) => (Predicate.isObjectOrArray(parent) ? Reflect.get(parent, key) : undefined), value)

/** Whether the contract lets a field be missing: then one that does not fit is left out, and the answer is taken. */
const isOptional = (ast: SchemaAST.AST, keys: ReadonlyArray<string>): boolean => {
  const [key, ...rest] = keys
  if (key === undefined) return false
  if (SchemaAST.isArrays(ast)) {
    const [item] = ast.rest
    return item !== undefined && isOptional(item, rest)
  }
  const field = objectOf(ast)?.propertySignatures.find(({ name }) => String(name) === key)
  if (field === undefined) return false
  return SchemaAST.isOptional(field.type) || isOptional(field.type, rest)
}

/** Compares an answer with its schema. */
export const checkShape = (
  findings: Findings,
  name: string,
  schema: Schema.Codec<unknown, unknown>,
  value: unknown,
  where: string
): void => {
  const { ast } = Schema.toEncoded(schema)
  const decoded = Schema.decodeUnknownResult(schema, { errors: "all" })(value)
  const issues = Result.isSuccess(decoded) ? [] : format(decoded.failure.issue).issues
  const [optional, required] = [new Set<string>(), new Set<string>()]
  for (const { path = [] } of issues) {
    const keys = keysOf(path)
    const seen = `${nameOf(keys) || "the answer"} is ${kindOf(at(value, keys))}`
    ;(isOptional(ast, keys) ? optional : required).add(seen)
  }
  const say = (seen: ReadonlySet<string>, what: string) =>
    findings.expect(seen.size === 0, `${name}: ${what}`, where, [...seen].slice(0, 20).join("; "))
  say(required, "identity, amount and status are there, and of their documented types (else the answer is refused)")
  say(optional, "the optional fields are of their documented types (else they are left out)")
  const unknown = [...new Set(strangers(ast, value, ""))]
  const noStrangers = `${name}: only documented fields`
  if (unknown.length === 0) findings.tell("holds", noStrangers, where)
  else findings.tell("note", noStrangers, where, `also ${unknown.slice(0, 30).join(", ")}: ignored`)
}
