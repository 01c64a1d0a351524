/**
 * Schema issues as the errors show them: where, and what was expected there. Never a value, and no key that a caller
 * made up: a key of `metadata` may be a person's data.
 */

import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type { RequestIssue } from "./Outcome.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()
const callersOwn: ReadonlySet<string> = new Set(["metadata", "extra"])
/** The name of a field, or an index: no number that could be a document. */
const plainName = /^(?:[A-Za-z_]\w{0,39}|\d{1,4})$/

const pathOf = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>): string => {
  const keys = path.map((part) => String(typeof part === "object" ? part.key : part))
  const own = keys.findIndex((key) => callersOwn.has(key))
  return (own === -1 ? keys : keys.slice(0, own + 1)).map((key) => (plainName.test(key) ? key : "?")).join(".")
}

const most = 10

/** At most ten issues. */
export const issuesOf = (error: Schema.SchemaError): ReadonlyArray<RequestIssue> =>
  format(error.issue)
    .issues.slice(0, most)
    .map(({ message, path }) => ({ path: pathOf(path ?? []), problem: message }))
