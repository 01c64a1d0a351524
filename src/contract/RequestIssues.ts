/**
 * Converts schema issues to the issues of errors: the path, and the value that was expected there. No value is shown,
 * and no key that the caller chose: a key of `metadata` may be a person's data.
 */

import type * as Arr from "effect/Array"
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type { RequestIssue } from "./Outcome.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()
const fieldsWithOwnKeys: ReadonlySet<string> = new Set(["metadata", "extra"])
/** The name of a field, or an index. A longer number could be a document. */
const plainName = /^(?:[A-Za-z_]\w{0,39}|\d{1,4})$/

/** The keys of an issue's path, as the formatter of the standard schema gives it. */
export const keysOf = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>): ReadonlyArray<PropertyKey> =>
  path.map((part) => (typeof part === "object" ? part.key : part))

const pathOf = (path: ReadonlyArray<PropertyKey>): string => {
  const keys = path.map(String)
  const own = keys.findIndex((key) => fieldsWithOwnKeys.has(key))
  return (own === -1 ? keys : keys.slice(0, own + 1)).map((key) => (plainName.test(key) ? key : "?")).join(".")
}

/** What is wrong with a field that a request does not have. */
export const noField = "is no field of this request"

/** The schema's message about a mistake, as a predicate after the name of the field. */
const predicateOf = (message: string): string => {
  if (message === "Missing key") return "is missing"
  if (message === "Expected no excess property") return noField
  const [, expected] = /^Expected (.*)$/s.exec(message) ?? []
  if (expected === undefined) return message.replace(/^Metadata /, "")
  const article = /^(?:string|number|boolean)$/.test(expected) ? "a " : /^(?:object|array)$/.test(expected) ? "an " : ""
  return `must be ${article}${expected.replaceAll(" | ", " or ")}`
}

const maxIssues = 10

const refused = "was refused"

/** What an answer says of a field of the request; `words` are masked. */
export const refusedField = (path: string, words: string): RequestIssue => ({
  path,
  problem: words === "" ? refused : `${refused}: ${words}`
})

/** An issue without the words of the service. */
export const withoutServiceWords = ({ path, problem }: RequestIssue): RequestIssue => ({
  path,
  problem: problem.startsWith(`${refused}: `) ? refused : problem
})

/** The issues of a schema error, at most ten unless it is said otherwise. */
export const issuesOf = (error: Schema.SchemaError, most = maxIssues): Arr.NonEmptyReadonlyArray<RequestIssue> =>
  // A schema error has an issue.
  format(error.issue)
    .issues.slice(0, most)
    .map(({ message, path = [] }) => ({
      path: pathOf(keysOf(path)),
      problem: predicateOf(message)
    })) as unknown as Arr.NonEmptyReadonlyArray<RequestIssue>
