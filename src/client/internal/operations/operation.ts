/**
 * What the operations share: an endpoint of the contract made a call. A read checks its input and sends; a write has
 * its key first.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Endpoint } from "../../../contract/Endpoints.ts"
import { IdempotencyKey, type WriteOptions } from "../../../contract/IdempotencyKey.ts"
import {
  InvalidRequest,
  type Operation,
  type PaymentsError,
  type RequestIssue,
  type WriteError
} from "../../../contract/PaymentsError.ts"
import type { IdempotencyKeyGen, IdempotencyKeyPrefix } from "../../IdempotencyKeyGen.ts"
import type { PaymentsPolicy } from "../../PaymentsPolicy.ts"
import type { Undecodable } from "../verdict.ts"
import { bodyDecoder, parser, strictEncoder } from "../codec.ts"
import { deniedByEnvelope, deniedByFlag } from "../denial.ts"
import { misfitsOf } from "../misfits.ts"
import type { Runner } from "../pipeline.ts"
import type { Route } from "../run.ts"
import { placeOf } from "../request.ts"
import { type Places, seenIn } from "../seen.ts"
import { type OwnError, readError, writeError } from "../toError.ts"

/** What an operation is built with. */
export interface Wiring {
  readonly runner: (route: Route) => Runner
  readonly keys: IdempotencyKeyGen["Service"]
  /** The company of the layer. */
  readonly companyId: number | undefined
}

export type Issues = ReadonlyArray<RequestIssue>

/** The error of an input that breaks the contract. */
export const invalid = (operation: Operation, issues: Issues, idempotencyKey?: string) =>
  new InvalidRequest({
    operation,
    attempts: 0,
    outcome: "NotSent",
    issues,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey })
  })

/** An answer with success that is about something else. */
export const notAsAsked = (...issues: Issues): Result.Result<never, Undecodable> =>
  Result.fail({ reason: "NotAsAsked", issues })

/** What a read does with its answer. */
interface Reading<Answer, A, Own extends PaymentsError> {
  /** Takes the answer, or says why it is not one to what was asked. */
  readonly accept: (answer: Answer) => Result.Result<A, Undecodable>
  /** The errors that only this operation has. */
  readonly own?: OwnError<Own>
}

/** Reads a plain answer without its schema; `undefined`: ask the schema. */
type Fast<E extends Endpoint> = (json: unknown) => E["response"]["Type"] | undefined

/** A read of an endpoint, by the object that holds its parameters and its query. */
export const reading = <E extends Endpoint>(wiring: Wiring, endpoint: E, fast?: Fast<E>) => {
  const { operation } = endpoint
  const run = wiring.runner(endpoint)
  const place = placeOf(endpoint)
  const tell = misfitsOf(operation)
  const decode = bodyDecoder<E["response"]>(endpoint.response, { exact: endpoint.decimals, denied: deniedByFlag, fast })
  return <A, Own extends PaymentsError = never>(
    input: unknown,
    { accept, own }: Reading<E["response"]["Type"], A, Own>
  ) => {
    const path = place(input)
    if (Result.isFailure(path)) return Effect.fail(invalid(operation, path.failure))
    const misfits: Array<string> = []
    const answer = run({
      idempotencyKey: undefined,
      earlier: false,
      path: path.success,
      body: undefined,
      decode: (text) =>
        Result.flatMap(
          decode(text, (field) => misfits.push(field)),
          accept
        ),
      toError: (failure) => readError(operation, failure, own)
    })
    return Effect.tap(answer, () => (misfits.length === 0 ? Effect.void : tell(misfits)))
  }
}

const unreadable = [{ path: "", problem: "it throws when it is read" }]

/** What a write sends, and does with its answer. */
interface Writing<Answer, A, Own extends PaymentsError> {
  /** The body to send. */
  readonly prepare: (idempotencyKey: string) => Result.Result<string, InvalidRequest | Own>
  /** Takes the answer, or says why it is not one to what was asked. */
  readonly accept: (answer: Answer, idempotencyKey: string, policy: PaymentsPolicy) => Result.Result<A, Undecodable>
  /** The errors that only this operation has. */
  readonly own?: OwnError<Own>
}

const checkOptions = strictEncoder(
  Schema.Struct({
    idempotencyKey: Schema.optional(IdempotencyKey),
    earlier: Schema.optional(Schema.Literal("Unknown"))
  }).check(
    Schema.makeFilter(({ earlier, idempotencyKey }) => earlier === undefined || idempotencyKey !== undefined, {
      expected: "an idempotencyKey beside `earlier`: the key of that call"
    })
  )
)

/** A write to an endpoint without parameters. `places` is where its answer shows what it is about. */
export const writing = <E extends Endpoint>(
  { keys, runner }: Wiring,
  endpoint: E,
  prefix: IdempotencyKeyPrefix,
  places: Places,
  fast?: Fast<E>
) => {
  const { operation, path } = endpoint
  const run = runner(endpoint)
  const tell = misfitsOf(operation)
  const decode = bodyDecoder<E["response"]>(endpoint.response, {
    exact: endpoint.decimals,
    denied: deniedByEnvelope,
    fast
  })
  const parse = parser(endpoint.decimals)
  const keyOf = (options: WriteOptions | undefined) => {
    if (options === undefined) return keys.next(prefix)
    const checked = checkOptions(options)
    if (Result.isFailure(checked)) return Effect.fail(invalid(operation, checked.failure))
    const { idempotencyKey } = checked.success
    return idempotencyKey === undefined ? keys.next(prefix) : Effect.succeed(idempotencyKey)
  }
  return <A, Own extends PaymentsError = never>(
    options: WriteOptions | undefined,
    { accept, own, prepare }: Writing<E["response"]["Type"], A, Own>
  ) =>
    Effect.flatMap(keyOf(options), (idempotencyKey): Effect.Effect<A, WriteError | Own> => {
      const body = Result.getOrElse(
        Result.try(() => prepare(idempotencyKey)),
        () => Result.fail(invalid(operation, unreadable, idempotencyKey))
      )
      if (Result.isFailure(body)) return Effect.fail(body.failure)
      const misfits: Array<string> = []
      const answer = run({
        idempotencyKey,
        earlier: options?.earlier !== undefined,
        path,
        body: body.success,
        decode: (text, policy) =>
          decode(text, (field) => misfits.push(field)).pipe(
            Result.flatMap((value) => accept(value, idempotencyKey, policy)),
            Result.mapError((undecodable) => ({ ...undecodable, seen: seenIn(text, places, parse) }))
          ),
        toError: (failure) => writeError(operation, idempotencyKey, failure, own)
      })
      return Effect.tap(answer, () => (misfits.length === 0 ? Effect.void : tell(misfits)))
    })
}
