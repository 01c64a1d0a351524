import { assert, describe, it } from "@effect/vitest"
import {
  AuthError,
  BelowMinimum,
  IdempotencyConflict,
  InsufficientBalance,
  InvalidRequest,
  Money,
  NoPixKey,
  OutcomeUnknown,
  type PaymentsError,
  RateLimited,
  RequestRejected,
  ServiceUnavailable,
  TransactionNotFound,
  UnexpectedResponse
} from "effect-pix"
import { Duration, Schema } from "effect"
import { codec } from "../support/failing.ts"
import { transactionId } from "../support/operations.ts"

describe("the errors of Payments", () => {
  const common = { operation: "requestWithdrawal", attempts: 2, idempotencyKey: "wd_1" } as const
  const answered = { ...common, status: 422, serviceMessage: "Não", outcome: "Rejected" } as const
  // The duration of the longest `Retry-After`: more milliseconds than a safe integer.
  const huge = Duration.nanos(99_999_999_999_999_000_000_000n)
  const errors: ReadonlyArray<PaymentsError> = [
    new InvalidRequest({ ...common, outcome: "NotSent", issues: [{ path: "amount", problem: "x" }] }),
    new BelowMinimum({ ...common, outcome: "NotSent", amount: Money.centavos(999), minimum: Money.centavos(1000) }),
    new AuthError(answered),
    new NoPixKey(answered),
    new InsufficientBalance(answered),
    new TransactionNotFound({ ...answered, operation: "getTransaction", transactionId }),
    new IdempotencyConflict({ ...answered, outcome: "Unknown" }),
    new RateLimited({ ...answered, retryAfter: huge }),
    new RequestRejected(answered),
    new ServiceUnavailable({ ...common, outcome: "NotSent", reason: "NoConnection", retryAfter: huge }),
    new UnexpectedResponse({
      operation: "getBalance",
      attempts: 1,
      status: 200,
      outcome: "NoEffect",
      reason: "TooLarge",
      issues: []
    }),
    new OutcomeUnknown({ ...common, outcome: "Unknown", reason: "Interrupted", retryAfter: Duration.millis(1500) })
  ]

  it.each(errors.map((error) => [error._tag, error] as const))(
    "%s can be stored as JSON and read back",
    (tag, error) => {
      const stored = JSON.stringify(Schema.encodeSync(codec)(error))
      const back = Schema.decodeUnknownSync(codec)(JSON.parse(stored))
      assert.strictEqual(back._tag, tag)
      assert.deepStrictEqual(back, error)
      assert.strictEqual(back.message, error.message)
      assert.instanceOf(back, Error)
    }
  )

  const concerns: Record<PaymentsError["_tag"], PaymentsError["concerns"]> = {
    InvalidRequest: "Request",
    BelowMinimum: "Request",
    AuthError: "Setup",
    NoPixKey: "Request",
    InsufficientBalance: "Balance",
    TransactionNotFound: "Request",
    IdempotencyConflict: "Request",
    RateLimited: "Service",
    RequestRejected: "Request",
    ServiceUnavailable: "Service",
    UnexpectedResponse: "Service",
    OutcomeUnknown: "Service"
  }

  it.each(errors.map((error) => [error._tag, error] as const))(
    "%s says what has to change, also when it was read back",
    (tag, error) => {
      assert.strictEqual(error.concerns, concerns[tag])
      assert.strictEqual(Schema.decodeSync(codec)(Schema.encodeSync(codec)(error)).concerns, concerns[tag])
    }
  )

  it("RequestRejected of a redirect concerns the setup: the base URL is wrong", () => {
    assert.strictEqual(new RequestRejected({ ...answered, status: 308 }).concerns, "Setup")
  })
})

describe("the message of an error", () => {
  const common = { operation: "requestWithdrawal", attempts: 1, idempotencyKey: "wd_1" } as const

  it("a message says in plain words when to try again", () => {
    const limited = (retryAfter: Duration.Duration) =>
      new RateLimited({ ...common, outcome: "Rejected", status: 429, retryAfter }).message
    assert.include(limited(Duration.seconds(119.2)), "ask again in 120 second(s)")
    assert.include(limited(Duration.zero), "ask again now")
    assert.include(limited(Duration.millis(1e23)), "ask again in more than a day")
    const unknown = { ...common, outcome: "Unknown", reason: "ServerError", status: 503 } as const
    const waiting = new OutcomeUnknown({ ...unknown, retryAfter: Duration.seconds(5) })
    assert.include(waiting.message, "The service asks to try again in 5 second(s).")
  })

  it("a message of NoPixKey says that the reason is only probable if the service gave no words", () => {
    const refused = { ...common, outcome: "Rejected", status: 400 } as const
    assert.include(new NoPixKey(refused).message, "probably because no PIX key is on file (HTTP 400")
    for (const words of [{ serviceMessage: "Sem chave PIX" }, { serviceCode: "NO_PIX_KEY" }]) {
      assert.notInclude(new NoPixKey({ ...refused, ...words }).message, "probably")
    }
  })

  it("a message of a refusal says that it is about this call only, and names its key", () => {
    const { message } = new RequestRejected({ ...common, outcome: "Rejected", status: 422 })
    assert.include(message, "Nothing was executed by this call (idempotency key wd_1)")
  })

  it("a message of a conflict says to ask again with the same key, and not to send another one", () => {
    const { message } = new IdempotencyConflict({ ...common, outcome: "Unknown", status: 409 })
    assert.include(message, "MONEY MAY HAVE MOVED")
    assert.include(message, "with the same key")
    assert.include(message, "wd_1")
  })

  it("a message shows what the service said, and its code", () => {
    const refused = { ...common, outcome: "Rejected", status: 422 } as const
    const said = (more: object) => new RequestRejected({ ...refused, ...more }).message
    assert.include(said({ serviceMessage: "Não", serviceCode: "E1" }), `The service said: "Não" (code E1).`)
    assert.include(said({ serviceCode: "E1" }), "The service gave the code E1.")
    assert.notInclude(said({}), "The service gave")
  })
})
