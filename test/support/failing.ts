/**
 * A client for calls that fail, by a script of replies, and the rules that hold for every error.
 */
import { assert } from "@effect/vitest"
import {
  AuthError,
  BelowMinimum,
  type ConfigurationError,
  type CreateTransactionRequest,
  type FailureReason,
  GatewayFacts,
  IdempotencyConflict,
  IdempotencyKeyGen,
  InsufficientBalance,
  InvalidRequest,
  LimitReached,
  NoPixKey,
  type Operation,
  OutcomeUnknown,
  Payments,
  type PaymentsError,
  PaymentsPolicy,
  RateLimited,
  RequestRejected,
  ServiceUnavailable,
  TransactionNotFound,
  UnexpectedResponse,
  WithdrawalFailed,
  WithdrawalNotFound,
  type WithdrawalRequest,
  type WriteOptions
} from "effect-pix"
import { Context, Effect, Layer, Logger, Schema } from "effect"
import { impatientSettings } from "./policies.ts"
import { operations } from "./operations.ts"
import { credentials, scripted } from "./Wire.ts"

export type Service = Payments["Service"]

const keyOf = (operation: Operation) => operations[operation].madeKey

/** The past of a write's key: the call makes the key, or the caller gives it and says its past. */
export type Past = "made" | "None" | "Unknown"

/** The options of a write with this past. The key is the one that the call would make. */
export const optionsOf = (operation: Operation, past: Past): WriteOptions | undefined => {
  const idempotencyKey = keyOf(operation)
  return past === "made" || idempotencyKey === undefined ? undefined : { idempotencyKey, earlier: past }
}

/** A client that is built anew for each write: all have one key, and a client remembers the doubts of its keys. */
const builtForEach = (layer: Layer.Layer<Payments, ConfigurationError>) => {
  const use = <A, E>(call: (payments: Service) => Effect.Effect<A, E>) =>
    Layer.build(Layer.fresh(layer)).pipe(
      Effect.orDie,
      Effect.flatMap((context) => call(Context.get(context, Payments))),
      Effect.scoped
    )
  return Effect.map(Payments, (payments) => ({
    ...payments,
    // The overloads of the method have one implementation.
    createTransaction: ((request: CreateTransactionRequest, options?: WriteOptions) =>
      use(({ createTransaction }) => createTransaction(request, options))) as Service["createTransaction"],
    requestWithdrawal: (request: WithdrawalRequest, options?: WriteOptions) =>
      use(({ requestWithdrawal }) => requestWithdrawal(request, options))
  }))
}

/** A client for many calls, whose replies `wire` has. Each call makes the key of a first one. */
export const reusedClient = (settings: Partial<PaymentsPolicy> = {}, facts: Partial<GatewayFacts> = {}) => {
  const wire = scripted("silence")
  const layer = Payments.layer({ baseUrl: "https://gateway.example" }).pipe(
    Layer.provide([
      wire.layer,
      credentials,
      Layer.succeed(IdempotencyKeyGen, { next: (prefix) => Effect.succeed(`${prefix}_1`) }),
      PaymentsPolicy.layer({ ...impatientSettings, retryBudget: "unlimited", ...settings }),
      GatewayFacts.layer(facts)
    ])
  )
  const client = Layer.effect(Payments, builtForEach(layer)).pipe(
    Layer.provideMerge(layer),
    Layer.merge(Logger.layer([]))
  )
  return { wire, client }
}

export const statusOf = (error: PaymentsError) => ("status" in error ? error.status : undefined)
export const reasonOf = (error: PaymentsError): FailureReason | undefined =>
  "reason" in error ? error.reason : undefined

/** Every error of an operation, as JSON. */
export const codec = Schema.toCodecJson(
  Schema.Union([
    InvalidRequest,
    BelowMinimum,
    InsufficientBalance,
    LimitReached,
    NoPixKey,
    WithdrawalFailed,
    AuthError,
    TransactionNotFound,
    WithdrawalNotFound,
    IdempotencyConflict,
    RateLimited,
    RequestRejected,
    ServiceUnavailable,
    UnexpectedResponse,
    OutcomeUnknown
  ])
)

/** Checks the rules that hold for every error. */
export const isSound = (error: PaymentsError, operation: Operation) => {
  assert.strictEqual(error.operation, operation)
  assert.strictEqual(error.idempotencyKey, keyOf(operation))
  const stored = JSON.stringify(Schema.encodeSync(codec)(error))
  const back = Schema.decodeUnknownSync(codec)(JSON.parse(stored))
  assert.deepStrictEqual(back, error)
  assert.strictEqual(back.message, error.message)
  if (error.outcome === "Unknown") {
    assert.include(error.message, operations[operation].atStake ?? "no write")
    assert.include(error.message, keyOf(operation) ?? "no key")
  } else {
    assert.notMatch(error.message, /MAY (EXIST|HAVE)/)
    if (error.idempotencyKey !== undefined) {
      assert.match(error.message, /Nothing (happened|was (sent|executed))|No money moved|never followed/)
    }
  }
}
