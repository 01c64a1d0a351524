/**
 * Compares the values of an answer with the contract: shapes, times, words and decimals. A finding names the fields and the
 * forms of their values. It shows no value, except words of a vocabulary.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { parseInstant } from "../../../internal/utc.ts"
import { type Findings, places } from "./findings.ts"

/** Shows a word of a vocabulary. A value that does not look like a word is not shown. */
const word = (value: unknown): string =>
  typeof value === "string" && /^[A-Za-z][A-Za-z_-]{0,29}$/.test(value) ? value : `(${kindOf(value)})`

/** The JSON type of a value. */
export const kindOf = (value: unknown): string => {
  if (value === null) return "null"
  if (value === undefined) return "nothing"
  if (Array.isArray(value)) return "a list"
  if (typeof value === "object") return "an object"
  if (typeof value === "string") return value === "" ? "an empty text" : "a text"
  if (typeof value === "number") return numberKind(value)
  return `a ${typeof value}`
}

const numberKind = (value: number): string => {
  if (!Number.isInteger(value)) return "a number with decimals"
  if (!Number.isSafeInteger(value)) return "a number too large to be exact"
  return value < 0 ? "a negative number" : "a whole number"
}

/** The form of a text: 9 for each digit, x for each letter except T and Z. */
const formOf = (text: string): string =>
  text
    .slice(0, 40)
    .replaceAll(/\d/g, "9")
    .replaceAll(/(?![TZ])\p{L}/gu, "x")
    .replaceAll(/[^\w:.,+/ -]/gu, "?")

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The name of a field. A name that could be a person's number is not shown. */
const fieldName = (name: string) => (/^[A-Za-z_]\w{0,39}$/.test(name) && !/\d{4}/.test(name) ? name : "?")

/** The object type of a schema, also if it is in a union with null. */
const objectOf = (ast: SchemaAST.AST): SchemaAST.Objects | undefined => {
  if (SchemaAST.isObjects(ast)) return ast
  return SchemaAST.isUnion(ast) ? ast.types.map(objectOf).find(Predicate.isNotUndefined) : undefined
}

/** The fields that the contract does not document. */
const undocumented = (ast: SchemaAST.AST, value: unknown, path: string): ReadonlyArray<string> => {
  if (SchemaAST.isArrays(ast) && Array.isArray(value)) {
    const [item] = ast.rest
    return item === undefined ? [] : value.flatMap((each) => undocumented(item, each, `${path}[]`))
  }
  const object = objectOf(ast)
  if (object === undefined || !Predicate.isObject(value)) return []
  const known = new Map(object.propertySignatures.map(({ name, type }) => [String(name), type]))
  return Object.entries(value).flatMap(([name, field]) => {
    const type = known.get(name)
    const at = path === "" ? fieldName(name) : `${path}.${fieldName(name)}`
    return type === undefined ? [at] : undocumented(type, field, at)
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

/** Whether a field is optional: the client leaves out an optional field that does not fit, and accepts the answer. */
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
  const expectNone = (seen: ReadonlySet<string>, what: string) =>
    findings.expect(seen.size === 0, `${name}: ${what}`, where, [...seen].slice(0, 20).join("; "))
  expectNone(
    required,
    "identity, amount and status are there, and of their documented types (else the answer is refused)"
  )
  expectNone(optional, "the optional fields are of their documented types (else they are left out)")
  const unknown = [...new Set(undocumented(ast, value, ""))]
  const onlyDocumented = `${name}: only documented fields`
  if (unknown.length === 0) findings.add("holds", onlyDocumented, where)
  else findings.add("note", onlyDocumented, where, `also ${unknown.slice(0, 30).join(", ")}: ignored`)
}

const isTime = (text: string) => parseInstant(text) !== undefined
const hasOffset = (text: string) => /(?:Z|[+-]\d{2}(?::?\d{2})?)$/i.test(text.slice(10))

/** Checks timestamps. `offset`: the service interface shows them with an offset. */
export const checkTimes = (findings: Findings, name: string, values: ReadonlyArray<unknown>, offset: boolean): void => {
  const texts = values.filter((value) => typeof value === "string")
  if (texts.length === 0)
    return findings.add("skipped", `${name}: timestamps are ISO 8601`, places.times, "there is none")
  const bad = [...new Set(texts.filter((text) => !isTime(text)).map(formOf))]
  findings.expect(bad.length === 0, `${name}: timestamps are ISO 8601`, places.times, `their form is ${bad.join(", ")}`)
  const bare = [...new Set(texts.filter((text) => isTime(text) && !hasOffset(text)).map(formOf))]
  const what = `${name}: timestamps say their offset from UTC`
  if (bare.length === 0) findings.add("holds", what, places.times)
  else findings.add(offset ? "wrong" : "note", what, places.times, `their form is ${bare.join(", ")}: read as UTC`)
}

/** Checks words. The client accepts undocumented words, so they are wrong only if the vocabulary is `closed`. */
export const checkWords = (
  findings: Findings,
  name: string,
  values: ReadonlyArray<unknown>,
  known: ReadonlyArray<string>,
  closed: boolean
): void => {
  const unknown = [...new Set(values.filter((value) => typeof value !== "string" || !known.includes(value)).map(word))]
  const what = `${name}: ${known.join(", ")}`
  if (values.length === 0) return findings.add("skipped", what, places.words, "there is none")
  if (unknown.length === 0) return findings.add("holds", what, places.words)
  findings.add(closed ? "wrong" : "note", what, places.words, `also ${unknown.slice(0, 20).join(", ")}`)
}

/** Checks decimals in the text of the answer: a JavaScript number has already lost digits. */
export const checkDecimals = (findings: Findings, text: string, fields: ReadonlySet<string>): void => {
  for (const field of fields) {
    const [, quote, digits] = new RegExp(String.raw`"${field}"\s*:\s*("?)(-?\d[\d.eE+-]*)`).exec(text) ?? []
    if (digits === undefined) continue
    const decimals = /\.(\d+)/.exec(digits)?.[1]?.replace(/(?<!0)0+$/, "").length ?? 0
    const what = `Balance: ${field} is in reais with at most two decimals`
    findings.expect(decimals <= 2, what, places.decimals, `it has ${decimals}, and no number of centavos is it`)
    const plain = `Balance: ${field} is a plain number`
    if (quote === '"') findings.add("note", plain, places.decimals, "it is a text: taken")
    else if (/e/i.test(digits)) findings.add("note", plain, places.decimals, "it is written with an exponent: taken")
    else findings.add("holds", plain, places.decimals)
  }
}
