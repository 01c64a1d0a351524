/** What each error of `Payments` says, stores and shows. */
import { assert, describe, it } from "@effect/vitest"
import {
  AuthError,
  BelowMinimum,
  IdempotencyConflict,
  IdempotencyKey,
  InsufficientBalance,
  InvalidRequest,
  LimitReached,
  Money,
  NoPixKey,
  OutcomeUnknown,
  type PaymentsError,
  RateLimited,
  RequestRejected,
  ServiceUnavailable,
  TransactionNotFound,
  UnexpectedResponse,
  WithdrawalFailed,
  WithdrawalNotFound
} from "effect-pix"
import { Cause, Duration, Effect, ErrorReporter, Schema } from "effect"
import { effect } from "../support/effect.ts"
import { codec } from "../support/failing.ts"
import { transactionId } from "../support/operations.ts"

const common = { operation: "requestWithdrawal", attempts: 2, idempotencyKey: "wd_1" } as const
const refusal = { ...common, status: 422, outcome: "Rejected" } as const
const said = { ...refusal, serviceMessage: "Não" } as const
const unknown = { ...common, outcome: "Unknown" } as const
const limited = (retryAfter: Duration.Duration) => new RateLimited({ ...refusal, status: 429, retryAfter })
// The duration of the longest `Retry-After`: more milliseconds than a safe integer.
const huge = Duration.nanos(99_999_999_999_999_000_000_000n)
const unsound = { operation: "getBalance", attempts: 1, status: 200, outcome: "NoEffect" } as const

const rejected = (more: Partial<RequestRejected>) => new RequestRejected({ ...said, ...more })
const doubt = (more: Pick<OutcomeUnknown, "reason"> & Partial<OutcomeUnknown>) =>
  new OutcomeUnknown({ ...unknown, ...more })
const small = { amount: Money.centavos(999), minimum: Money.centavos(1000) }

/** Each error, what has to change before another try, and words that its message must have. */
const rows: ReadonlyArray<readonly [PaymentsError, PaymentsError["concerns"], ...ReadonlyArray<string>]> = [
  [
    new InvalidRequest({ ...common, outcome: "NotSent", issues: [{ path: "amount", problem: "x" }] }),
    "Request",
    "amount x"
  ],
  [new BelowMinimum({ ...common, outcome: "NotSent", ...small }), "Request"],
  [new AuthError(said), "Setup"],
  [new NoPixKey(said), "Request", "the service has none on file"],
  [new NoPixKey({ ...refusal, serviceCode: "NO_PIX_KEY" }), "Request", "the service has none on file"],
  [new NoPixKey(refusal), "Request", "probably because no PIX key is on file"],
  [new InsufficientBalance(said), "Balance"],
  [
    new WithdrawalFailed({ ...said, status: 201, withdrawalId: 7184, withdrawalStatus: "Failure" }),
    "Request",
    "withdrawal 7184",
    "the record says Failure",
    "under a new key"
  ],
  [new LimitReached(said), "Balance", "when the limit is over"],
  [new TransactionNotFound({ ...said, operation: "getTransaction", transactionId }), "Request"],
  [
    new WithdrawalNotFound({ ...said, operation: "getWithdrawal", status: 404, withdrawalId: 7184 }),
    "Request",
    "no withdrawal 7184",
    "or has no lookup of withdrawals",
    "proves nothing about a payment"
  ],
  [
    new IdempotencyConflict({ ...said, outcome: "Unknown" }),
    "Request",
    "MONEY MAY HAVE MOVED",
    "with the same key",
    "wd_1"
  ],
  [limited(huge), "Service", "ask again in more than a day"],
  [limited(Duration.days(1)), "Service", "ask again in 86400 second(s)"],
  [limited(Duration.seconds(119.2)), "Service", "ask again in 120 second(s)"],
  [limited(Duration.zero), "Service", "ask again now"],
  [new RequestRejected(refusal), "Request", "Nothing was executed by this call (idempotency key wd_1)"],
  [rejected({}), "Request", `The service said: "Não".`],
  [rejected({ serviceMessage: "Não!" }), "Request", `The service said: "Não!"`],
  [rejected({ serviceMessage: "Não.", serviceCode: "E1" }), "Request", `The service said: "Não." (code E1).`],
  [new RequestRejected({ ...refusal, serviceCode: "E1" }), "Request", "The service gave the code E1."],
  [
    new RequestRejected({ ...refusal, issues: [{ path: "pixKey", problem: "was refused" }] }),
    "Request",
    "The service named: pixKey."
  ],
  [rejected({ status: 308 }), "Setup", "the base URL is wrong"],
  [rejected({ status: 407 }), "Setup", "the credentials of the proxy"],
  [new ServiceUnavailable({ ...common, outcome: "NotSent", reason: "NoConnection", retryAfter: huge }), "Service"],
  [new UnexpectedResponse({ ...unsound, reason: "TooLarge", issues: [] }), "Service"],
  [doubt({ reason: "ServerError", status: 503 }), "Service", "MONEY MAY HAVE MOVED"],
  [doubt({ reason: "Timeout", retryAfter: Duration.seconds(5) }), "Service", "asks to try again in 5 second(s)."],
  [doubt({ reason: "Interrupted" }), "Service"],
  [
    doubt({ reason: "EarlierUnknown" }),
    "Service",
    "this call sent nothing, but the result of an earlier call with the same key"
  ]
]

describe("an error", () => {
  it.each(rows.map(([error, ...rest]) => [error.message, error, ...rest] as const))(
    "says %j, says what has to change, and can be stored as JSON and read back",
    (message, error, concerns, ...words) => {
      for (const one of words) assert.include(message, one)
      assert.notMatch(message, /undefined|\.\.|!\.|"\.?$(?<!\.|!")/)
      const back = Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeSync(codec)(error))))
      assert.deepStrictEqual(back, error)
      assert.instanceOf(back, Error)
      for (const one of [error, back]) assert.deepStrictEqual([one.message, one.concerns], [message, concerns])
    }
  )

  effect.each([
    ["Error", "502", doubt({ reason: "ServerError", status: 502 })],
    ["Info", "422", new RequestRejected(said)],
    ["Info", "308", new RequestRejected({ ...said, status: 308 })],
    ["Warn", "NoConnection", new ServiceUnavailable({ ...common, outcome: "NotSent", reason: "NoConnection" })],
    [
      "Info",
      "WithdrawalFailed",
      new WithdrawalFailed({ ...said, status: 201, withdrawalId: 7184, withdrawalStatus: "failure" })
    ],
    ["Info", "429", limited(Duration.seconds(7))]
  ] as const)(
    "has for ErrorReporter the severity %s, and attributes without message and key",
    function* ([severity, type, error]) {
      const reported: Array<unknown> = []
      const reporter = ErrorReporter.make(({ attributes, severity }) => void reported.push([severity, attributes]))
      yield* ErrorReporter.report(Cause.fail(error)).pipe(Effect.provide(ErrorReporter.layer([reporter])))
      const attributes = {
        "payments.operation": "requestWithdrawal",
        "payments.attempts": 2,
        "payments.outcome": error.outcome,
        "payments.error": error._tag,
        "error.type": type,
        "payments.idempotency_key_hash": IdempotencyKey.fingerprint("wd_1"),
        ...(error._tag === "RateLimited" && { "payments.retry_after": 7 })
      }
      assert.deepStrictEqual(reported, [[severity, attributes]])
    }
  )
})
