/**
 * Prepares the input of an operation for sending: makes the path, the key and the bytes of the call, and the reader of
 * its answer.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { invalidRequest } from "../../../contract/Options.ts"
import type { Endpoint } from "../../../contract/Endpoints.ts"
import { IdempotencyKey } from "../../../contract/IdempotencyKey.ts"
import type {
  InvalidRequest,
  PaymentsError,
  ReadError,
  RequestIssue,
  WriteError
} from "../../../contract/PaymentsError.ts"
import { issuesOf } from "../../../contract/RequestIssues.ts"
import { isUnclear, type Unclear, type WriteOptions } from "../../../contract/WriteOptions.ts"
import { bodyDecoder, type FastReader, parseJson } from "../wire/decode.ts"
import { type SeenPaths, seenIn } from "../wire/seen.ts"
import { run } from "./call.ts"
import type { Client } from "./client.ts"
import { type OwnError, readError, writeError } from "./error.ts"
import type { Asked, Doubt, Issues, Route, Undecodable } from "./state.ts"

const notWritable: Issues = [{ path: "", problem: "cannot be written as JSON" }]

/** Checks and encodes an input by a schema, to the last field: what the schema does not name is refused. */
const strictEncoder = <S extends Schema.ConstraintEncoder<unknown>>(schema: S) => {
  const encode = Schema.encodeUnknownResult(schema)
  return (input: unknown): Result.Result<S["Encoded"], Issues> =>
    Result.flatMap(
      // An input that contains itself overflows the stack: it is not JSON.
      Result.try({ try: () => encode(input, { onExcessProperty: "error", errors: "all" }), catch: () => notWritable }),
      Result.mapError(issuesOf)
    )
}

/** More characters than any request of the contract needs. */
const maxBody = 65_536

const tooLong = [{ path: "", problem: `is longer than ${maxBody} characters of JSON` }]

/**
 * Checks a body by a schema, as `strictEncoder` does, and writes it as JSON, bounded. `fast` writes a plain input as
 * the schema would. For any other input it returns `undefined`: then the schema writes it.
 */
export const bodyEncoder = (
  schema: Schema.ConstraintEncoder<unknown>,
  fast?: (input: unknown) => string | undefined
) => {
  const encode = strictEncoder(schema)
  return (input: unknown): Result.Result<string, Issues> => {
    const plain = fast?.(input)
    const text =
      plain !== undefined
        ? Result.succeed(plain)
        : Result.flatMap(encode(input), (encoded) =>
            Result.try({ try: () => JSON.stringify(encoded), catch: () => notWritable })
          )
    return Result.flatMap(text, (json) => (json.length > maxBody ? Result.fail(tooLong) : Result.succeed(json)))
  }
}

/**
 * Prepares an endpoint for calls. `fast` reads its plain answers in place of the schema. `findExcess` says what an answer has more of
 * than the contract lets it have.
 */
export const makeRoute = <E extends Endpoint>(
  endpoint: E,
  fast?: FastReader<E["response"]["Type"]>,
  findExcess?: (json: unknown) => RequestIssue | undefined
): Route<E> => ({
  endpoint,
  pathOf: pathEncoder(endpoint),
  decode: bodyDecoder<E["response"]>(endpoint.response, {
    exact: endpoint.decimals,
    fast,
    findExcess
  })
})

const pathEncoder = ({ params, path, query }: Endpoint): Route["pathOf"] => {
  if (params === undefined && query === undefined) return () => Result.succeed(path)
  const queryNames = Object.keys(query?.fields ?? {})
  const encode = strictEncoder(Schema.Struct({ ...params?.fields, ...query?.fields }))
  return (input) =>
    Result.map(encode(input), (encoded) => {
      const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(encoded[name])))
      const given = queryNames
        .filter((name) => encoded[name] !== undefined)
        .map((name) => `${name}=${encodeURIComponent(String(encoded[name]))}`)
      return given.length === 0 ? filled : `${filled}?${given.join("&")}`
    })
}

/** The failure for an answer with success that is not about the request. */
export const notAsAsked = (...issues: Issues): Result.Result<never, Undecodable> =>
  Result.fail({ reason: "NotAsAsked", issues })

/** Whether an answer names another company than the client's own, if both are known. */
export const isOtherCompany = (client: Client, { companyId }: { readonly companyId?: number | undefined }): boolean =>
  companyId !== undefined && client.companyId !== undefined && companyId !== client.companyId

export const otherCompany: RequestIssue = { path: "companyId", problem: "is not the company of this client" }

interface Read<Answer, A, Own extends PaymentsError> {
  /** The parameters and the query. */
  readonly input: unknown
  /** Accepts the answer, or fails with the reason why it is not an answer to the request. */
  readonly accept: (answer: Answer, asked: Pick<Answered, "misfits">) => Result.Result<A, Undecodable>
  /** Returns an error that only this operation has. */
  readonly ownError?: OwnError<Own>
}

/** Checks the input of a read and sends it. */
export const read = <E extends Endpoint, A, Own extends PaymentsError = never>(
  client: Client,
  route: Route<E>,
  { accept, input, ownError }: Read<E["response"]["Type"], A, Own>
): Effect.Effect<A, ReadError | Own> => {
  const { operation } = route.endpoint
  const path = route.pathOf(input)
  if (Result.isFailure(path)) return Effect.fail(invalidRequest(operation, path.failure))
  return run(client, route, {
    idempotencyKey: undefined,
    doubt: undefined,
    asked: undefined,
    path: path.success,
    text: undefined,
    body: undefined,
    decode: (text, misfits) =>
      Result.flatMap(route.decode(text, misfits, client.zone), (answer) => accept(answer, { misfits })),
    toError: (call, failed) => readError(call, failed, ownError)
  })
}

/** The body of a write, which was checked. */
export interface Body<Sent> {
  /** Absent if the endpoint has no body. */
  readonly text: string | undefined
  /** The values of the body with which the answer is compared: the caller may change the request meanwhile. */
  readonly sent: Sent
}

/** The call that an answer to a write is about. */
export interface Answered {
  /** The text of the answer. */
  readonly answered: string
  readonly idempotencyKey: string
  /** Takes the name of a field that is not as the contract says, and does not make the answer unusable. */
  readonly misfits: Set<string>
}

interface Write<Answer, Sent, A, Own extends PaymentsError> {
  /** The parameters and the query, if the endpoint has any. */
  readonly input?: unknown
  /** Checks the request and writes the body. */
  readonly encode: (idempotencyKey: string) => Result.Result<Body<Sent>, InvalidRequest | Own>
  /** The paths of the id, the amount and the status in the answer. */
  readonly seenPaths: SeenPaths
  readonly accept: (answer: Answer, sent: Sent, answered: Answered) => Result.Result<A, Undecodable>
  /** Returns an error that only this operation has. */
  readonly ownError?: (...refusal: [...Parameters<OwnError<Own>>, sent: Sent]) => Own | undefined
}

const encoder = new TextEncoder()

/** Checks the input of a write and sends it under its key. */
export const write = <E extends Endpoint, Sent extends Asked | undefined, A, Own extends PaymentsError = never>(
  client: Client,
  route: Route<E>,
  options: WriteOptions | undefined,
  { accept, encode, input, ownError, seenPaths }: Write<E["response"]["Type"], Sent, A, Own>
): Effect.Effect<A, WriteError | Own> => {
  const { decimals, operation } = route.endpoint
  const seen = (answered: string) => seenIn(answered, seenPaths, (json) => parseJson(json, decimals))
  return Effect.flatMap(
    keyOf(client, route.endpoint, options),
    ({ doubt, idempotencyKey }): Effect.Effect<A, WriteError | Own> => {
      const path = route.pathOf(input)
      if (Result.isFailure(path)) return Effect.fail(invalidRequest(operation, path.failure, idempotencyKey))
      const body = encode(idempotencyKey)
      if (Result.isFailure(body)) return Effect.fail(body.failure)
      const { sent, text } = body.success
      return run(client, route, {
        idempotencyKey,
        doubt,
        asked: sent,
        path: path.success,
        text,
        body: text === undefined ? undefined : encoder.encode(text),
        decode: (answered, misfits) =>
          route.decode(answered, misfits, client.zone).pipe(
            Result.flatMap((answer) => accept(answer, sent, { answered, idempotencyKey, misfits })),
            Result.mapError((undecodable) => ({
              ...undecodable,
              seen: seen(answered)
            }))
          ),
        seen,
        toError: (call, failed) =>
          writeError<Own>(call, idempotencyKey, failed, (refused, fields) => ownError?.(refused, fields, sent))
      })
    }
  )
}

const UnclearError = Schema.declare(isUnclear, {
  expected: "an OutcomeUnknown or an IdempotencyConflict, decoded by its schema if it was stored"
})

const isKey = Schema.is(IdempotencyKey)

/** Options as a caller without types may give them. */
interface Options {
  readonly idempotencyKey?: string | undefined
  readonly earlier?: "None" | "Unknown" | undefined
  readonly after?: Unclear | undefined
}

/** Schema filters of options: each is a rule, and the sentence for options that break it. */
const rule = (isKept: (options: Options) => boolean, message: string) => Schema.makeFilter(isKept, { message })

const checkOptions = strictEncoder(
  Schema.Struct({
    idempotencyKey: Schema.optional(IdempotencyKey),
    earlier: Schema.optional(Schema.Literals(["None", "Unknown"])),
    after: Schema.optional(UnclearError)
  }).check(
    rule(
      ({ after, idempotencyKey }) => idempotencyKey !== undefined || after !== undefined,
      "must have an idempotencyKey or `after`: a key that is missing would be a new one"
    ),
    rule(
      ({ after, earlier }) => after === undefined || earlier !== "None",
      'must not say `earlier: "None"` beside `after`: the earlier call may have been executed'
    ),
    rule(
      ({ after, idempotencyKey }) =>
        after === undefined ||
        (isKey(after.idempotencyKey) && (idempotencyKey === undefined || idempotencyKey === after.idempotencyKey)),
      "must have the idempotencyKey of `after`, or none, and that must be a valid key"
    )
  )
)

interface Keyed {
  readonly idempotencyKey: string
  readonly doubt: Doubt | undefined
}

/** Returns the key of a write and its doubt. A key that is made for this call has none. */
const keyOf = (client: Client, { keyPrefix = "tx", operation }: Endpoint, options: WriteOptions | undefined) => {
  if (options === undefined) {
    return Effect.map(client.keys.next(keyPrefix), (made): Keyed => ({ idempotencyKey: made, doubt: undefined }))
  }
  const checked = checkOptions(options)
  if (Result.isFailure(checked)) return Effect.fail(invalidRequest(operation, checked.failure))
  const { after, earlier, idempotencyKey = after?.idempotencyKey ?? "" } = checked.success
  if (after !== undefined && after.operation !== operation) {
    return Effect.fail(invalidRequest(operation, [{ path: "after", problem: `must be of an earlier ${operation}` }]))
  }
  const doubt = { fingerprint: after?.fingerprint, firstSentAt: after?.firstSentAt?.epochMilliseconds }
  return Effect.succeed<Keyed>({ idempotencyKey, doubt: earlier === "None" ? undefined : doubt })
}
