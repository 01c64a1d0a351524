/**
 * The `metadata` of a withdrawal: your own data, sent with the payout and returned in its webhook.
 *
 * The service takes a string or an object, and stores an object as a JSON string (`docs/service.md`). So
 * the webhook returns text even if an object was sent: {@link codec} decodes it to your own type.
 *
 * Gotchas:
 * - The bound on the size is this library's. The service documents none.
 * - The service stores metadata, and may show it in panels and logs: send a reference, not a person's data.
 * - No failure repeats the content of the metadata.
 */
declare module "./Metadata.ts" {}

import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { maxTextLength } from "../internal/bounds.ts"
import { isUnsafeName } from "./internal/unsafeName.ts"

/** The metadata that may be sent: a string, or an object that JSON can hold. */
export type Metadata = string | Schema.JsonObject

// Escapes make stored text longer than the sent text: `"` can become `\u0022`, and `\\u0022` when encoded twice.
const maxStoredLength = maxTextLength * 8

const tooBig = `must not be larger than ${maxTextLength} bytes, nor contain itself`
const notJson = "must hold JSON values only: strings, finite numbers, booleans, null, arrays and plain objects"
const notMetadata = "must be a string or a JSON object"
const notStored = "must be a JSON object, or the JSON text of one"

// The prototype of a plain object is null or some realm's Object.prototype, whose own prototype is null.
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

const isScalar = (value: unknown): boolean =>
  value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)

/** The members of a list or a plain object, of a scalar none; `undefined` for what JSON cannot hold. */
const membersOf = (value: unknown): Iterable<readonly [key: string | number, member: unknown]> | undefined => {
  if (isScalar(value)) return []
  if (Array.isArray(value)) return value.entries()
  return Predicate.isObject(value) && isPlain(value) ? Object.entries(value) : undefined
}

const bytesOf = (value: unknown): number =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value)).length

/** Reads no more than `maxTextLength`, without recursion, so that no depth, cycle or graph can exhaust the machine. */
const findProblem = (root: unknown): string | undefined => {
  if (typeof root !== "string" && !Predicate.isObject(root)) return notMetadata
  const rest: Array<unknown> = [root]
  let size = 0
  while (rest.length > 0 && size <= maxTextLength) {
    const value = rest.pop()
    if (typeof value === "string") size += value.length
    const members = membersOf(value)
    if (members === undefined) return notJson
    for (const [key, member] of members) {
      if (isUnsafeName(key)) return `must not have the key "${key}"`
      // A member takes at least two characters.
      size += typeof key === "string" ? key.length + 2 : 2
      if (size > maxTextLength) return tooBig
      rest.push(member)
    }
  }
  return size > maxTextLength || bytesOf(root) > maxTextLength ? tooBig : undefined
}

const findStoredProblem = (root: unknown): string | undefined => {
  if (typeof root !== "string") return findProblem(root)
  return root.length > maxStoredLength ? tooBig : undefined
}

const hasNoProblem = (problem: string | undefined, _u: unknown): _u is Metadata => problem === undefined

// The issue is made without the input, which `reportInput` would show.
const issue = (problem: string | undefined) => new SchemaIssue.InvalidValue({ message: `Metadata ${problem}` })

const declare = (find: (u: unknown) => string | undefined, description: string): Schema.declare<Metadata> =>
  Schema.declareConstructor<Metadata>()(
    [],
    () => (input) => {
      const problem = find(input)
      return hasNoProblem(problem, input) ? Effect.succeed(input) : Effect.fail(issue(problem))
    },
    {
      expected: "a string or a JSON object",
      description,
      toCodec: () =>
        Schema.link<Metadata>()(Schema.Union([Schema.String, Schema.JsonObject]), {
          decode: SchemaGetter.passthrough(),
          encode: SchemaGetter.passthrough()
        })
    }
  )

/**
 * The `metadata` that may be sent: a string, or an object of JSON values.
 *
 * Refused, with a message that names the rule and never the content: more than 4096 bytes, an
 * object that contains itself, anything that JSON cannot hold (`undefined`, `NaN`, a bigint, a function, a `Date` or
 * another class), and the keys `__proto__`, `constructor` and `prototype` at any depth.
 *
 * ```ts
 * import { Metadata } from "effect-pix"
 * import { Schema } from "effect"
 *
 * const accepts = Schema.is(Metadata.Metadata)
 *
 * accepts("invoice-42") // => true
 * accepts({ invoice: 42, tags: ["rent"] }) // => true
 * accepts({ dueAt: new Date(0) }) // => false
 * accepts(JSON.parse('{"__proto__":{"admin":true}}')) // => false
 * ```
 */
export const Metadata: Schema.declare<Metadata> = declare(findProblem, "Custom data, returned in the webhook")

const Stored = declare(findStoredProblem, "Custom data as the service stores it: an object becomes its JSON")

const parse = (text: string) => Result.try((): unknown => JSON.parse(text))

const readStored = (stored: Metadata): Result.Result<Schema.Json, SchemaIssue.Issue> => {
  let value: unknown = stored
  for (let times = 0; times < 2 && typeof value === "string"; times++) {
    const parsed = parse(value)
    if (Result.isFailure(parsed)) return Result.fail(issue(notStored))
    value = parsed.success
  }
  return Predicate.isObject(value) ? checked(value) : Result.fail(issue(notStored))
}

const checked = (value: unknown): Result.Result<Metadata, SchemaIssue.Issue> => {
  const problem = findProblem(value)
  return hasNoProblem(problem, value) ? Result.succeed(value) : Result.fail(issue(problem))
}

/**
 * A codec between your own type and `metadata`. `schema` is any schema of an object; its members may be of any type that
 * has a JSON form (dates, decimals, ...).
 *
 * - Encoding returns the object for the request, within the bounds of {@link Metadata}.
 * - Decoding accepts the forms that a webhook may hold: the JSON text, the object itself, or text that was encoded
 *   twice. The bounds of {@link Metadata} are checked first, then `schema`. A webhook is not authenticated: treat the
 *   result as a hint.
 *
 * ```ts
 * import { Metadata } from "effect-pix"
 * import { Schema } from "effect"
 *
 * const Payout = Metadata.codec(Schema.Struct({ invoice: Schema.String, attempt: Schema.Int }))
 *
 * const metadata = Schema.encodeSync(Payout)({ invoice: "A-42", attempt: 1 })
 * const sent = metadata // => { invoice: "A-42", attempt: 1 }
 *
 * const returned = '{"invoice":"A-42","attempt":1}'
 * Schema.decodeSync(Payout)(returned) // => { invoice: "A-42", attempt: 1 }
 * ```
 */
export const codec = <S extends Schema.Constraint & { readonly Encoded: { readonly [key: string]: unknown } }>(
  schema: S
): Schema.Codec<S["Type"], Metadata, S["DecodingServices"], S["EncodingServices"]> =>
  Stored.pipe(
    Schema.decodeTo(Schema.toCodecJson(schema), {
      decode: SchemaGetter.transformEffect((stored: Metadata) => Effect.fromResult(readStored(stored))),
      encode: SchemaGetter.transformEffect((value: Schema.Json) =>
        Effect.fromResult(Predicate.isObject(value) ? checked(value) : Result.fail(issue(notMetadata)))
      )
    })
  )
