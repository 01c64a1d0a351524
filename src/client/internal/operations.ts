/**
 * The five operations: their inputs checked, their requests prepared, their answers and failures given their types.
 */
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { BalanceOptions } from "../../contract/Balance.ts"
import type { Problem } from "../../pix/BrCode.ts"
import * as ChargeCode from "../ChargeCode.ts"
import type { ApiCredentials, Credentials } from "../Credentials.ts"
import { IdempotencyKey, type WriteOptions } from "../../contract/IdempotencyKey.ts"
import type { IdempotencyKeyGen, IdempotencyKeyPrefix } from "../IdempotencyKeyGen.ts"
import * as PaymentsError from "../../contract/PaymentsError.ts"
import { fromPair, isPixKey, toPair } from "../../pix/PixKey.ts"
import type { CreatedTransaction, CreateTransactionRequest, ListOptions } from "../../contract/Transaction.ts"
import { minimumWithdrawal, type Withdrawal, type WithdrawalRequest } from "../../contract/Withdrawal.ts"
import { bodyDecoder, bodyEncoder, type JsonBody, strictEncoder, textsIn } from "./codec.ts"
import * as Endpoints from "../../contract/Endpoints.ts"
import * as Pipeline from "./pipeline.ts"
import { answered, readError, writeError } from "./toError.ts"
import { type Failure, isAboutCredentials } from "./verdict.ts"

export interface OperationsOptions {
  readonly client: HttpClient.HttpClient
  readonly credentials: Credentials["Service"]
  readonly keys: IdempotencyKeyGen["Service"]
  readonly origin: URL
  readonly companyId: number | undefined
}

type Issues = ReadonlyArray<PaymentsError.RequestIssue>

const { headerNames } = Endpoints
const json = "application/json"

const invalid = (operation: PaymentsError.Operation, issues: Issues, idempotencyKey?: string) =>
  new PaymentsError.InvalidRequest({
    operation,
    attempts: 0,
    outcome: "NotSent",
    issues,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey })
  })

/** The input as it goes over the wire, or why it cannot. */
const orInvalid = <A>(operation: PaymentsError.Operation, result: Result.Result<A, Issues>, idempotencyKey?: string) =>
  Effect.fromResult(Result.mapError(result, (issues) => invalid(operation, issues, idempotencyKey)))

const keyCodec = strictEncoder(Schema.Struct({ idempotencyKey: Schema.optional(IdempotencyKey) }))

const unsound = (problems: ReadonlyArray<Problem>) => ({
  reason: "UnsoundBrCode" as const,
  issues: problems.map(({ reason }) => ({ path: "data.pix.qrcode", problem: reason }))
})

const otherKey = { path: "idempotencyKey", problem: "is not the key that was sent" }

const companyRequired: Issues = [
  { path: "companyId", problem: "is required, since the client was not configured with one" }
]

/** What is wrong with how a withdrawal names its key, or the pair to send. */
const pairOf = (request: WithdrawalRequest): Result.Result<object, Issues> => {
  if (!Predicate.isObject(request)) return Result.fail([{ path: "", problem: "Expected a withdrawal request" }])
  const { pixKey, pixKeyType } = request
  if (pixKey === undefined) {
    return pixKeyType === undefined
      ? Result.succeed({})
      : Result.fail([{ path: "pixKeyType", problem: "needs a pixKey beside it" }])
  }
  if (isPixKey(pixKey)) {
    return pixKeyType === undefined
      ? Result.succeed(toPair(pixKey))
      : Result.fail([{ path: "pixKeyType", problem: "is already said by the PixKey value" }])
  }
  if (typeof pixKey !== "string" || typeof pixKeyType !== "string") {
    return Result.fail([
      { path: "pixKeyType", problem: "is required beside a pixKey that is plain text: its kind is never guessed" }
    ])
  }
  return Result.mapBoth(fromPair(pixKey, pixKeyType), {
    onSuccess: toPair,
    onFailure: ({ reason }) => [{ path: "pixKey", problem: reason }]
  })
}

const headersOf = ({ apiKey, clientId }: ApiCredentials) => ({
  [headerNames.accept]: json,
  [headerNames.clientId]: clientId,
  [headerNames.apiKey]: Redacted.value(apiKey)
})

export const makeOperations = Effect.fnUntraced(function* (options: OperationsOptions) {
  const { client, credentials, keys, origin } = options
  const runner = yield* Pipeline.make({ client, credentials, origin })
  const base = `${origin.origin}${origin.pathname.replace(/\/+$/, "")}`

  const get = (path: string) => (current: ApiCredentials) =>
    HttpClientRequest.makeWith(
      "GET",
      `${base}${path}`,
      UrlParams.empty,
      Option.none(),
      Headers.fromRecordUnsafe(headersOf(current)),
      HttpBody.empty
    )
  const post = (path: string, body: JsonBody, idempotencyKey: string) => (current: ApiCredentials) =>
    HttpClientRequest.makeWith(
      "POST",
      `${base}${path}`,
      UrlParams.empty,
      Option.none(),
      Headers.fromRecordUnsafe({
        ...headersOf(current),
        [headerNames.contentType]: json,
        [headerNames.idempotencyKey]: idempotencyKey
      }),
      body.bytes
    )

  const keyOf = (operation: PaymentsError.Operation, prefix: IdempotencyKeyPrefix, given: WriteOptions | undefined) =>
    Effect.flatMap(orInvalid(operation, keyCodec(given ?? {})), ({ idempotencyKey }) =>
      idempotencyKey === undefined ? keys.next(prefix) : Effect.succeed(idempotencyKey)
    )

  const read = <A, E extends PaymentsError.PaymentsError>(
    run: Pipeline.Runner,
    path: string,
    decode: Pipeline.Call<A, E>["decode"],
    toError: (failure: Failure) => E
  ) => run<A, E>({ idempotencyKey: undefined, request: get(path), decode, personalData: () => [], toError })

  const makeCreate = () => {
    const { body, operation, path, response } = Endpoints.createTransaction
    const run = runner(Endpoints.createTransaction)
    const [pix, boleto, card] = body.members
    const encoders = { PIX: bodyEncoder(pix), BOLETO: bodyEncoder(boleto), CREDIT_CARD: bodyEncoder(card) }
    /** By the method, so that what is wrong is said of that method's request and not of all three. */
    const encode = (request: CreateTransactionRequest): Result.Result<JsonBody, Issues> => {
      const method = Predicate.isObject(request) ? request.paymentMethod : undefined
      return method !== undefined && Object.hasOwn(encoders, method)
        ? encoders[method](request)
        : Result.fail([{ path: "paymentMethod", problem: `Expected one of ${Object.keys(encoders).join(", ")}` }])
    }
    const decode = bodyDecoder(response)
    return Effect.fnUntraced(function* (request: CreateTransactionRequest, given?: WriteOptions) {
      const idempotencyKey = yield* keyOf(operation, "tx", given)
      const encoded = yield* orInvalid(operation, encode(request), idempotencyKey)
      return yield* run({
        idempotencyKey,
        request: post(path, encoded, idempotencyKey),
        personalData: () => textsIn(encoded.text),
        decode: (text, policy) =>
          Result.flatMap(decode(text), ({ companyId, data }) => {
            const created: CreatedTransaction = {
              ...(companyId === undefined ? {} : { companyId }),
              ...data,
              idempotencyKey
            }
            const mustBeSound = policy.brCode === "require" && request.paymentMethod === "PIX"
            const { problems } = mustBeSound ? ChargeCode.of(created, request.amount) : { problems: [] }
            return problems.length === 0 ? Result.succeed(created) : Result.fail(unsound(problems))
          }),
        toError: (failure) => writeError(operation, idempotencyKey, failure)
      })
    })
  }

  const makeGet = () => {
    const { operation, params, path, response } = Endpoints.getTransaction
    const run = runner(Endpoints.getTransaction)
    const encode = strictEncoder(params)
    const decode = bodyDecoder(response)
    return Effect.fnUntraced(function* (transactionId: string) {
      yield* orInvalid(operation, encode({ transactionId }))
      const place = path.replace(":transactionId", encodeURIComponent(transactionId))
      return yield* read(run, place, decode, (failure) =>
        failure.verdict._tag === "Refused" && failure.verdict.status === 404
          ? new PaymentsError.TransactionNotFound({
              ...answered(operation, failure, failure.verdict),
              outcome: "Rejected",
              transactionId
            })
          : readError(operation, failure)
      )
    })
  }

  const makeList = () => {
    const { operation, path, query, response } = Endpoints.listTransactions
    const run = runner(Endpoints.listTransactions)
    const encode = strictEncoder(query)
    const decode = bodyDecoder(response)
    const unsuccessful = {
      reason: "Unreadable",
      issues: [{ path: "ok", problem: "the answer says that it is not ok" }]
    } as const
    return Effect.fnUntraced(function* (list?: ListOptions) {
      const { page, pageSize, sort } = yield* orInvalid(operation, encode(list ?? {}))
      const asked = UrlParams.toString(UrlParams.fromInput({ page, pageSize, sort }))
      return yield* read(
        run,
        asked === "" ? path : `${path}?${asked}`,
        (text) =>
          Result.flatMap(decode(text), ({ ok, res }) =>
            ok === false ? Result.fail(unsuccessful) : Result.succeed(res)
          ),
        (failure) => readError(operation, failure)
      )
    })
  }

  const makeBalance = () => {
    const { operation, params, path, query, response } = Endpoints.getBalance
    const run = runner(Endpoints.getBalance)
    const encodeParams = strictEncoder(params)
    const encodeQuery = strictEncoder(query)
    const decode = bodyDecoder(response, new Set(["accBalance", "accBalanceCredit", "accBalanceCreditAwaiting"]))
    return Effect.fnUntraced(function* (balance?: BalanceOptions) {
      const { companyId = options.companyId, ...rest } = balance ?? {}
      if (companyId === undefined) return yield* invalid(operation, companyRequired)
      yield* orInvalid(operation, encodeParams({ companyId }))
      const { currency = "BRL" } = yield* orInvalid(operation, encodeQuery(rest))
      const place = `${path.replace(":companyId", String(companyId))}?currency=${currency}`
      return yield* read(run, place, decode, (failure) => readError(operation, failure))
    })
  }

  const makeWithdraw = () => {
    const { body, operation, path, response } = Endpoints.requestWithdrawal
    const run = runner(Endpoints.requestWithdrawal)
    const encode = bodyEncoder(body)
    const decode = bodyDecoder(response, new Set(["value"]))

    const refusal = (request: WithdrawalRequest, idempotencyKey: string, failure: Failure) => {
      const { verdict } = failure
      if (verdict._tag === "Refused" && !isAboutCredentials(verdict) && verdict.status !== 429) {
        const fields = { ...answered(operation, failure, verdict), outcome: "Rejected" } as const
        if (verdict.cause === "InsufficientBalance") return new PaymentsError.InsufficientBalance(fields)
        if (verdict.cause === "BelowMinimum") {
          return new PaymentsError.BelowMinimum({ ...fields, amount: request.amount, minimum: minimumWithdrawal })
        }
        if (request.pixKey === undefined && verdict.isNoPixKey) return new PaymentsError.NoPixKey(fields)
      }
      return writeError(operation, idempotencyKey, failure)
    }

    return Effect.fnUntraced(function* (request: WithdrawalRequest, given?: WriteOptions) {
      const idempotencyKey = yield* keyOf(operation, "wd", given)
      const pair = yield* orInvalid(operation, pairOf(request), idempotencyKey)
      const { pixKey: _, pixKeyType: __, ...rest } = request
      const encoded = yield* orInvalid(operation, encode({ ...rest, ...pair }), idempotencyKey)
      if (request.amount < minimumWithdrawal) {
        return yield* new PaymentsError.BelowMinimum({
          operation,
          attempts: 0,
          idempotencyKey,
          outcome: "NotSent",
          amount: request.amount,
          minimum: minimumWithdrawal
        })
      }
      return yield* run({
        idempotencyKey,
        request: post(path, encoded, idempotencyKey),
        personalData: () => textsIn(encoded.text),
        decode: (text) =>
          Result.flatMap(decode(text), (record) =>
            record.idempotencyKey === undefined || record.idempotencyKey === idempotencyKey
              ? Result.succeed<Withdrawal>({ ...record, idempotencyKey })
              : Result.fail({ reason: "KeyMismatch" as const, issues: [otherKey] })
          ),
        toError: (failure) => refusal(request, idempotencyKey, failure)
      })
    })
  }

  return {
    createTransaction: makeCreate(),
    getTransaction: makeGet(),
    listTransactions: makeList(),
    getBalance: makeBalance(),
    requestWithdrawal: makeWithdraw()
  }
})
