/**
 * What the operations share: an endpoint of the contract made a call. A read checks its input and sends; a write has
 * its key first.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Endpoint } from "../../../contract/Endpoints.ts"
import { IdempotencyKey, type WriteOptions } from "../../../contract/IdempotencyKey.ts"
import type { InvalidRequest, PaymentsError, RequestIssue, WriteError } from "../../../contract/PaymentsError.ts"
import type { IdempotencyKeyGen, IdempotencyKeyPrefix } from "../../IdempotencyKeyGen.ts"
import type { PaymentsPolicy } from "../../PaymentsPolicy.ts"
import type { Undecodable } from "../call/verdict.ts"
import { bodyDecoder, type Fast, parser, strictEncoder } from "../wire/codec.ts"
import { deniedByEnvelope, deniedByFlag } from "../words/denial.ts"
import { misfitsOf } from "../wire/misfits.ts"
import type { Runner } from "../call/pipeline.ts"
import type { Route } from "../call/call.ts"
import { placeOf } from "../wire/request.ts"
import { type Places, seenIn } from "../wire/seen.ts"
import { invalid, type OwnError, readError, writeError } from "../call/toError.ts"

const encoder = new TextEncoder()

/** What an operation is built with. */
export interface Wiring {
  readonly runner: (route: Route) => Runner
  readonly keys: IdempotencyKeyGen["Service"]
  /** The company of the layer. */
  readonly companyId: number | undefined
}

export type Issues = ReadonlyArray<RequestIssue>

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

/** A call, and the fields of its answer that did not fit: told once it has succeeded. */
const telling = <A, E>(
  call: Effect.Effect<A, E>,
  misfits: ReadonlyArray<string>,
  tell: (fields: ReadonlyArray<string>) => Effect.Effect<void>
) => Effect.tap(call, () => (misfits.length === 0 ? Effect.void : tell(misfits)))

/**
 * A read of an endpoint, by the object that holds its parameters and its query. What depends on the endpoint alone is
 * built once, for all clients.
 */
export const reading = <E extends Endpoint>(endpoint: E, fast?: Fast<E["response"]["Type"]>) => {
  const { decimals, operation, response } = endpoint
  const place = placeOf(endpoint)
  const decode = bodyDecoder<E["response"]>(response, { exact: decimals, denied: deniedByFlag, fast })
  return (wiring: Wiring) => {
    const run = wiring.runner(endpoint)
    const tell = misfitsOf(operation)
    return <A, Own extends PaymentsError = never>(
      input: unknown,
      { accept, own }: Reading<E["response"]["Type"], A, Own>
    ) => {
      const path = place(input)
      if (Result.isFailure(path)) return Effect.fail(invalid(operation, path.failure))
      const misfits: Array<string> = []
      const call = run({
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
      return telling(call, misfits, tell)
    }
  }
}

const unreadable = [{ path: "", problem: "it throws when it is read" }]

/** What a write sends, and does with its answer. */
interface Writing<Answer, A, Own extends PaymentsError> {
  /** Its parameters and its query, where the endpoint has such. */
  readonly input?: unknown
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

/** How an endpoint is written to. */
interface WritingOptions<E extends Endpoint> {
  /** Of the keys that are made for it. */
  readonly prefix: IdempotencyKeyPrefix
  /** Where its answer shows what it is about. */
  readonly places: Places
  readonly fast?: Fast<E["response"]["Type"]>
}

/** A write to an endpoint. What depends on the endpoint alone is built once, for all clients. */
export const writing = <E extends Endpoint>(endpoint: E, { fast, places, prefix }: WritingOptions<E>) => {
  const { decimals, operation, response } = endpoint
  const place = placeOf(endpoint)
  const decode = bodyDecoder<E["response"]>(response, { exact: decimals, denied: deniedByEnvelope, fast })
  const parse = parser(decimals)
  return ({ keys, runner }: Wiring) => {
    const run = runner(endpoint)
    const tell = misfitsOf(operation)
    const keyOf = (options: WriteOptions | undefined) => {
      if (options === undefined) return keys.next(prefix)
      const checked = checkOptions(options)
      if (Result.isFailure(checked)) return Effect.fail(invalid(operation, checked.failure))
      const { idempotencyKey } = checked.success
      return idempotencyKey === undefined ? keys.next(prefix) : Effect.succeed(idempotencyKey)
    }
    return <A, Own extends PaymentsError = never>(
      options: WriteOptions | undefined,
      { accept, input, own, prepare }: Writing<E["response"]["Type"], A, Own>
    ) =>
      Effect.flatMap(keyOf(options), (idempotencyKey): Effect.Effect<A, WriteError | Own> => {
        const path = place(input)
        if (Result.isFailure(path)) return Effect.fail(invalid(operation, path.failure, idempotencyKey))
        const body = Result.getOrElse(
          Result.try(() => prepare(idempotencyKey)),
          () => Result.fail(invalid(operation, unreadable, idempotencyKey))
        )
        if (Result.isFailure(body)) return Effect.fail(body.failure)
        const misfits: Array<string> = []
        const call = run({
          idempotencyKey,
          earlier: options?.earlier !== undefined,
          path: path.success,
          body: encoder.encode(body.success),
          decode: (text, policy) =>
            decode(text, (field) => misfits.push(field)).pipe(
              Result.flatMap((value) => accept(value, idempotencyKey, policy)),
              Result.mapError((undecodable) => ({ ...undecodable, seen: seenIn(text, places, parse) }))
            ),
          toError: (failure) => writeError(operation, idempotencyKey, failure, own)
        })
        return telling(call, misfits, tell)
      })
  }
}
