/**
 * Reads the body of an answer with success by its schema.
 *
 * - An optional field that does not fit does not make an answer unusable: it counts as absent, and its name is reported.
 *   A required field (identity, amount, status) that does not fit makes it unusable.
 * - Decimal amounts have every digit that was written. `JSON.parse` turns `12345678901234567.89` into
 *   `12345678901234568`. A reviver is given the source text of each number (ECMAScript's JSON.parse source text access:
 *   Node 22, Chrome 114), so a number that would lose digits stays a text; `Money.ReaisFromJson` reads both.
 *
 * Gotcha: the `SyntaxError` for malformed JSON quotes the text. Its message is put into no error and no log.
 */
import type * as DateTime from "effect/DateTime"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import type { RequestIssue } from "../../../contract/Outcome.ts"
import { issuesOf, keysOf } from "../../../contract/RequestIssues.ts"
import { maxDepth, maxParts } from "../../../internal/bounds.ts"
import { isExactNumber } from "../../../internal/decimal.ts"
import { toUtcText } from "../../../internal/utc.ts"
import type { Undecodable } from "../call/state.ts"

/** A number that may lose digits as a float: of 16 characters or more, or with an exponent of three digits. */
const longNumber = /[\d.]{16}|[\d.][eE][-+]?\d{3}/

// The third argument is not in TypeScript's lib, and older engines do not pass it.
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

const partsIn = (text: string): number => {
  let parts = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    // `[` and `{`. Those in texts are counted too.
    if (code === 0x5b || code === 0x7b) parts++
  }
  return parts
}

/** Whether an answer has more lists and objects than are parsed. */
const hasTooMany = (text: string): boolean => text.length > maxParts && partsIn(text) > maxParts

/**
 * Parses JSON. A number of the `exact` fields, at any depth, becomes its source text if the number alone would lose
 * digits. Throws what `JSON.parse` throws, and for more lists and objects than any answer has.
 */
export const parseJson = (text: string, exact: ReadonlySet<string> | undefined): unknown => {
  if (hasTooMany(text)) throw new SyntaxError("too many lists and objects")
  if (exact === undefined || !longNumber.test(text)) return JSON.parse(text)
  const reviver: Reviver = (key, value, context) =>
    Predicate.isNumber(value) &&
    exact.has(key) &&
    context?.source !== undefined &&
    !isExactNumber(value, context.source)
      ? context.source
      : value
  return JSON.parse(text, reviver)
}

const isTime = (ast: SchemaAST.AST) => SchemaAST.isString(ast) && ast.annotations?.["format"] === "date-time"

/**
 * Prepares parsed JSON for its schema, at any depth. With a zone, a time without an offset is written in UTC; without one, null is
 * removed from each optional field that the schema names, where it counts as absent. An undocumented field stays as it is.
 */
type Preparation = (json: unknown, zone: DateTime.TimeZone | undefined) => void

const preparationOf = (ast: SchemaAST.AST): Preparation | undefined => {
  if (SchemaAST.isArrays(ast)) {
    const [item] = ast.rest.map(preparationOf)
    return item && ((json, zone) => Array.isArray(json) && json.forEach((each) => item(each, zone)))
  }
  if (!SchemaAST.isObjects(ast)) return undefined
  const fields = ast.propertySignatures.map(({ name, type }) => ({
    name,
    isOptional: SchemaAST.isOptional(type),
    isTime: isTime(type),
    prepareInside: preparationOf(type)
  }))
  return (json, zone) => {
    if (!Predicate.isObject(json)) return
    for (const { isOptional, isTime, name, prepareInside } of fields) {
      const value: unknown = Reflect.get(json, name)
      if (value === null && isOptional && zone === undefined) Reflect.deleteProperty(json, name)
      else if (isTime && zone !== undefined && Predicate.isString(value))
        Reflect.set(json, name, toUtcText(value, zone))
      else prepareInside?.(value, zone)
    }
  }
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

type Path = ReadonlyArray<PropertyKey>

/** An echoed key that is not a text cannot be the key that was sent, so the answer may be for another request. */
const neverOptional: ReadonlySet<PropertyKey> = new Set(["idempotencyKey"])

const child = (value: unknown, key: PropertyKey): unknown =>
  Predicate.isObjectOrArray(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined

/** Removes the field at the path. If that field is missing, removes the field that should have held it. */
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
 * Decodes, without the optional fields that do not fit. Changes `json`. `decode` names all issues. The name of each field
 * that was left out is added to `misfits`.
 */
const decodeWithoutMisfits = <A>(
  json: unknown,
  decode: (json: unknown) => Result.Result<A, Schema.SchemaError>,
  misfits: Set<string>
): Result.Result<A, Schema.SchemaError> => {
  const first = decode(json)
  const found: Array<string> = []
  let decoded = first
  for (let pass = 0; pass < passes && Result.isFailure(decoded); pass++) {
    for (const { path = [] } of format(decoded.failure.issue).issues) {
      const removed = remove(json, keysOf(path))
      if (removed === undefined) return first
      found.push(nameOf(removed))
    }
    decoded = decode(json)
  }
  if (Result.isFailure(decoded)) return first
  for (const name of found) misfits.add(name)
  return decoded
}

/**
 * Reads an answer as its schema would, without the optional fields that do not fit, and adds their names to `misfits`.
 * `undefined` for an answer that it cannot read: then the schema reads it.
 */
export type FastReader<A> = (json: unknown, misfits: Set<string>) => A | undefined

interface BodyDecoderOptions<A> {
  readonly exact: ReadonlySet<string> | undefined
  readonly fast?: FastReader<A> | undefined
  /** Says what an answer has too much of, before it is decoded. */
  readonly findExcess?: ((json: unknown) => RequestIssue | undefined) | undefined
}

const isDeeper = (value: unknown, depth: number): boolean =>
  Predicate.isObjectOrArray(value) && (depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1)))

/** Whether a value overflows the stack of who writes it again. */
export const isTooDeep = (value: unknown): boolean => isDeeper(value, maxDepth)

const tooDeep: Undecodable = { reason: "Unreadable", issues: [{ path: "", problem: "is nested too deep" }] }

const notJson: Undecodable = { reason: "Unreadable", issues: [{ path: "", problem: "is not JSON" }] }

const tooMany: Undecodable = {
  reason: "Unreadable",
  issues: [{ path: "", problem: `has more than ${maxParts} lists and objects` }]
}

/**
 * Reads a body of JSON by a schema. A time without an offset is one of `zone`, by default of UTC. An optional field that does not fit is left out, and its name is added to `misfits`.
 */
export const bodyDecoder = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  { exact, fast, findExcess }: BodyDecoderOptions<S["Type"]>
) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all" })
  const prepare = preparationOf(Schema.toEncoded(schema).ast)
  return (text: string, misfits: Set<string>, zone?: DateTime.TimeZone): Result.Result<S["Type"], Undecodable> => {
    const json = Result.try({ try: () => parseJson(text, exact), catch: () => (hasTooMany(text) ? tooMany : notJson) })
    if (Result.isFailure(json)) return Result.fail(json.failure)
    const excess = findExcess?.(json.success)
    if (excess !== undefined) return Result.fail({ reason: "NotAsAsked", issues: [excess] })
    if (zone !== undefined) prepare?.(json.success, zone)
    const read = fast?.(json.success, misfits)
    if (read !== undefined) return Result.succeed(read)
    misfits.clear()
    // A short text cannot be nested that deep as to matter, and a fast reader returns nothing that is.
    if (text.length > 4096 && isTooDeep(json.success)) return Result.fail(tooDeep)
    prepare?.(json.success, undefined)
    return Result.mapError(decodeWithoutMisfits(json.success, decode, misfits), (error) => ({
      reason: "Unreadable",
      issues: issuesOf(error)
    }))
  }
}
