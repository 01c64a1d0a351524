/**
 * Decoders and encoders of one endpoint, built once.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { RequestIssue } from "../../../contract/PaymentsError.ts"
import { issuesOf } from "../../../contract/RequestIssues.ts"
import type { Undecodable } from "../call/verdict.ts"
import { parseExact } from "./exactJson.ts"
import { forgiving } from "./forgive.ts"

const notJson: Undecodable = { reason: "Unreadable", issues: [{ path: "", problem: "the body is not JSON" }] }

/** Reads JSON. The numbers of the `exact` fields keep every digit that was written. Throws what `JSON.parse` throws. */
export const parser =
  (exact: ReadonlySet<string> | undefined) =>
  (text: string): unknown =>
    exact === undefined ? JSON.parse(text) : parseExact(text, exact)

/**
 * Reads an answer as its schema would, without the optional fields that do not fit, and adds their names to `misfits`.
 * `undefined` for all that it does not take: then the schema is asked.
 */
export type Fast<A> = (json: unknown, misfits: Set<string>) => A | undefined

interface BodyDecoderOptions<A> {
  readonly exact: ReadonlySet<string> | undefined
  /** Where the body says that it is no success; `undefined` where it does not. */
  readonly denied: (json: unknown) => RequestIssue | undefined
  readonly fast?: Fast<A> | undefined
}

/** Reads a body of JSON by a schema. An optional field that does not fit is left out, and its name is added to `misfits`. */
export const bodyDecoder = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  { denied, exact, fast }: BodyDecoderOptions<S["Type"]>
) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all" })
  const parse = parser(exact)
  return (text: string, misfits: Set<string>): Result.Result<S["Type"], Undecodable> => {
    // The cause quotes the body: it is dropped here.
    const json = Result.try({ try: () => parse(text), catch: () => notJson })
    if (Result.isFailure(json)) return Result.fail(json.failure)
    const issue = denied(json.success)
    if (issue !== undefined) return Result.fail({ reason: "NotAsAsked", issues: [issue] })
    const read = fast?.(json.success, misfits)
    if (read !== undefined) return Result.succeed(read)
    misfits.clear()
    return Result.mapError(forgiving(json.success, decode, misfits), (error) => ({
      reason: "Unreadable",
      issues: issuesOf(error)
    }))
  }
}

const notWritable = [{ path: "", problem: "it cannot be written as JSON" }]

/** Checks and encodes an input by a schema, to the last field: what the schema does not name is refused. */
export const strictEncoder = <S extends Schema.ConstraintEncoder<unknown>>(schema: S) => {
  const encode = Schema.encodeUnknownResult(schema)
  return (input: unknown): Result.Result<S["Encoded"], ReadonlyArray<RequestIssue>> =>
    Result.flatMap(
      // An input that contains itself overflows the stack: it is no JSON.
      Result.try({ try: () => encode(input, { onExcessProperty: "error", errors: "all" }), catch: () => notWritable }),
      Result.mapError(issuesOf)
    )
}

/** More than any request of the contract needs. */
const maxBody = 65_536

const tooLong = [{ path: "", problem: `it is longer than ${maxBody} characters of JSON` }]

/**
 * Checks an input by a schema, as `strictEncoder` does, and writes it as JSON, bounded. `fast` writes what is plain as
 * the schema would; `undefined` for all else: then the schema is asked.
 */
export const bodyEncoder = (
  schema: Schema.ConstraintEncoder<unknown>,
  fast?: (input: unknown) => string | undefined
) => {
  const encode = strictEncoder(schema)
  const write = (input: unknown): Result.Result<string, ReadonlyArray<RequestIssue>> => {
    // An input may throw when it is read: the schema says so then.
    const plain = Result.getOrUndefined(Result.try(() => fast?.(input)))
    return plain !== undefined
      ? Result.succeed(plain)
      : Result.flatMap(encode(input), (encoded) =>
          Result.try({ try: () => JSON.stringify(encoded), catch: () => notWritable })
        )
  }
  return (input: unknown): Result.Result<string, ReadonlyArray<RequestIssue>> =>
    Result.flatMap(write(input), (text) => (text.length > maxBody ? Result.fail(tooLong) : Result.succeed(text)))
}
