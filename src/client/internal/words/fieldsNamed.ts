/**
 * Finds the fields of the request that the body of a refusal names. The service documents no shape, so this reads the common
 * ones of frameworks. The names decide only what is shown: no rule about money reads them. They are no person's data, so an answer's words
 * about them may be shown.
 */
import * as Predicate from "effect/Predicate"
import * as SchemaAST from "effect/SchemaAST"
import type { Endpoint } from "../../../contract/Endpoints.ts"
import { maxRefusalLength } from "../../../internal/bounds.ts"
import * as Message from "./serviceMessage.ts"

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
  const fields = new Map(names.map((name) => [Message.foldName(name), name]))
  return (written) => {
    const keys = keysIn(written)
    const path = keys.slice(keys.findIndex((key) => !whole.test(Message.foldName(key))))
    const known = path.flatMap((key) =>
      (index.test(key) ? [key] : [fields.get(Message.foldName(key))]).filter((name) => name !== undefined)
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

/** A field that is named, and what is said of it, unmasked; empty for nothing. */
export interface NamedField {
  readonly path: string
  readonly words: string
}

/**
 * Where a value stands: below the path of a field; whether what is there can only be an error; and whether it is a record of
 * errors by field, so that a member `description` is the field and not the words.
 */
interface Place {
  readonly path: ReadonlyArray<string>
  readonly isError: boolean
  readonly isRecord?: boolean
  readonly depth: number
}

/** The names of members, folded, whose text or list of keys is the path of a field. */
const placeKeys =
  /^(?:field|fieldname|campo|nomecampo|property\w*|propriedade|param|parameter|parametro|path|pointer|loc|location|instancepath|datapath|attribute|atributo|name|nome|key|member|source|identifier)$/
/** The names of members with a text of an error. In an object without one, each text is about the field of its name. */
const sayingKeys = new Set([...Message.messageKeys, ...Message.detailKeys, ...Message.codeKeys, "title", "type"])
/** The names of members that hold errors. Any other one, such as `value`, may repeat the request. */
const errorKeys = new Set([
  ...Message.messageKeys,
  ...Message.detailKeys,
  ...Message.errorKeys,
  ...Message.listKeys,
  "children",
  "fields",
  "invalidparams",
  "keys",
  "members"
])

const isTexts = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(Predicate.isString)

/** Paths in a text, as the one of System.Text.Json: `Path: $.amount | LineNumber: 0`. */
const pathInText = /\$\.[\w.[\]-]{1,200}|[\w-]{1,40}(?:\.[\w-]{1,40}|\[\d{1,4}\]){1,8}/g

const inText = (text: string, pathOf: PathOf, { depth, isError, path }: Place): ReadonlyArray<NamedField> => {
  const json = Message.parse(text)
  if (json !== undefined) return fieldsIn(json.value, pathOf, { path, isError, depth: depth + 1 })
  if (path.length > 0) return []
  const whole = isError ? pathOf(text) : undefined
  if (whole !== undefined) return [{ path: whole.join("."), words: "" }]
  const paths = (text.match(pathInText) ?? []).slice(0, Message.maxMembers).map(pathOf)
  return paths.flatMap((found) => (found === undefined ? [] : [{ path: found.join("."), words: text }]))
}

/** The path that an error gives in a member, as `{ field: "pixKey" }` or `{ source: { pointer: "/pixKey" } }`. */
const placeOf = (members: ReadonlyArray<Message.Member>, pathOf: PathOf) =>
  members
    .filter(([name]) => placeKeys.test(Message.foldName(name)))
    .flatMap(([, value]) => (Predicate.isObject(value) ? Object.values(value) : [value]))
    .map(pathOf)
    .find((path) => path !== undefined)

/** The fields below a field, or else the field itself. */
const orItself = (inner: ReadonlyArray<NamedField>, value: unknown, { isError, path }: Place) => {
  const words = inner.length > 0 ? "" : Message.wordsOf(Message.saidIn(value, "errors"))
  return inner.length === 0 && (isError || words !== "") ? [{ path: path.join("."), words }] : inner
}

const inField = (value: unknown, pathOf: PathOf, at: Place): ReadonlyArray<NamedField> => {
  const items = Array.isArray(value) ? value.slice(0, Message.maxMembers) : []
  const inner = items.some(Predicate.isObject)
    ? items.flatMap((item, index) => fieldsIn(item, pathOf, { ...at, path: [...at.path, String(index)] }))
    : fieldsIn(value, pathOf, at)
  return orItself(inner, value, { ...at, isError: false })
}

const inObject = (value: object, pathOf: PathOf, at: Place): ReadonlyArray<NamedField> => {
  const members = Object.entries(value).slice(0, Message.maxMembers)
  const place = placeOf(members, pathOf)
  const here = { path: [...at.path, ...(place ?? [])], depth: at.depth + 1 }
  const isSaying = members.some(([name, text]) => Predicate.isString(text) && sayingKeys.has(Message.foldName(name)))
  const isRecord =
    at.isError && (!isSaying || (at.isRecord === true && members.every(([name]) => pathOf(name) !== undefined)))
  const inner = members.flatMap(([name, member]) => {
    const folded = Message.foldName(name)
    if (place !== undefined && placeKeys.test(folded)) return []
    const field = pathOf(name)
    if (field !== undefined && (isRecord || isTexts(member))) {
      return inField(member, pathOf, { ...here, path: [...here.path, ...field], isError: true })
    }
    const isError = Message.wrapperKeys.includes(folded) ? at.isError : errorKeys.has(folded)
    return fieldsIn(member, pathOf, {
      ...here,
      isError,
      isRecord: folded === "fields" || Message.listKeys.includes(folded)
    })
  })
  return place === undefined ? inner : orItself(inner, value, { ...here, isError: at.isError })
}

const fieldsIn = (value: unknown, pathOf: PathOf, at: Place): ReadonlyArray<NamedField> => {
  if (at.depth > Message.maxDepth) return []
  if (typeof value === "string") return inText(value.trim(), pathOf, at)
  if (Array.isArray(value)) {
    return value
      .slice(0, Message.maxMembers)
      .flatMap((item) => fieldsIn(item, pathOf, { ...at, isRecord: false, depth: at.depth + 1 }))
  }
  return Predicate.isObject(value) ? inObject(value, pathOf, at) : []
}

const most = 10

/** Returns the fields that a body names, at most ten, each once. Never throws. */
export const fieldsNamed = (body: string, pathOf: PathOf): ReadonlyArray<NamedField> => {
  const found = fieldsIn(body.slice(0, maxRefusalLength), pathOf, { path: [], isError: false, depth: 0 })
  return [...new Map(found.map((field) => [field.path, field])).values()].slice(0, most)
}

/** A message with the names of the fields before what is said of them. */
export const withFields = (message: string, fields: ReadonlyArray<NamedField>): string =>
  [...new Set(fields.map(({ words }) => words))].reduce((text, words) => {
    const said = text.split(/[\s:,;'"]+/)
    const paths = fields.filter((field) => field.words === words).map(({ path }) => path)
    const names = paths.filter((path) => !said.includes(path)).join(", ")
    if (names === "") return text
    return words !== "" && text.includes(words)
      ? text.replace(words, () => `${names}: ${words}`)
      : [text, [names, words].filter((part) => part !== "").join(": ")].filter((part) => part !== "").join("; ")
  }, message)
