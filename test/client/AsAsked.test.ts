/**
 * An answer with the status of a success counts as a success only if it is about the request and reports no failure.
 */
import { assert, describe } from "@effect/vitest"
import { type CreateTransactionRequest, Money, Payments, type PaymentsError, PaymentsPolicy } from "effect-pix"
import { Effect, Logger, Metric, Result } from "effect"
import {
  charge,
  companyId,
  createTransaction,
  created,
  detail,
  getTransaction,
  listed,
  record,
  requestWithdrawal,
  withdrawal
} from "../support/operations.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"

type Use = (payments: Payments["Service"]) => Effect.Effect<unknown, PaymentsError>

const { call: create } = createTransaction
const { call: look } = getTransaction
const { call: withdraw } = requestWithdrawal

/** Calls a service that gives this answer to every request, and counts the requests. */
const answered = (status: number, body: unknown, use: Use) =>
  Effect.gen(function* () {
    const { layer, sent } = scripted(respond(status, body))
    const result = yield* Effect.result(Effect.flatMap(Payments, use)).pipe(
      Effect.provide(paymentsOn(layer, { baseUrl: "https://gateway.example", companyId }))
    )
    return { result, requests: sent.length }
  })

const failureOf = (status: number, body: unknown, use: Use) =>
  Effect.map(answered(status, body, use), ({ requests, result }) => {
    assert.strictEqual(requests, 1)
    return Result.getOrThrow(Result.flip(result))
  })

/** Calls with a request that changes while its answer is under way. */
const changedMeanwhile = <Request extends object>(
  request: Request,
  change: Partial<Request>,
  [status, body]: readonly [status: number, body: unknown],
  use: (payments: Payments["Service"], request: Request) => Effect.Effect<unknown, PaymentsError>
) => {
  const given = { ...request }
  const response = () => {
    Object.assign(given, change)
    return new Response(JSON.stringify(body), { status })
  }
  return Effect.result(Effect.flatMap(Payments, (payments) => use(payments, given))).pipe(
    Effect.provide(paymentsOn(scripted({ response }).layer, { baseUrl: "https://gateway.example", companyId }))
  )
}

const recordWith = (change: object) => ({ ...record("wd_1"), ...change })
const pixCharge = (change: object) => ({ ...created, data: { ...created.data, ...change } })

describe("a withdrawal answered with success", () => {
  const unlike: ReadonlyArray<readonly [string, object, string]> = [
    ["a value of nothing", { value: 0 }, "value"],
    ["a negative value", { value: -10 }, "value"],
    ["a value one centavo above the amount", { value: 10.01 }, "value"],
    ["the amount in centavos for its value", { value: 1000 }, "value"],
    ["a status of failure", { enTransaction: "Failed" }, "enTransaction"],
    ["another company", { companyId: 8 }, "companyId"],
    ["another payee", { pixKey: "joao@example.com" }, "pixKey"]
  ]

  effect.each(unlike)(
    "a withdrawal answered with success and %s has an unknown outcome, and its error shows the recorded values",
    function* ([, change, path]) {
      const body = recordWith(change)
      const error = yield* failureOf(201, body, withdraw)
      assert.strictEqual(error._tag, "OutcomeUnknown")
      if (error._tag !== "OutcomeUnknown") return
      assert.strictEqual(error.reason, "NotAsAsked")
      assert.deepStrictEqual(
        error.issues?.map((issue) => issue.path),
        [path]
      )
      assert.deepStrictEqual({ ...error.seen }, { id: "55", value: String(body.value), status: body.enTransaction })
      assert.strictEqual(error.idempotencyKey, "wd_1")
    }
  )

  const alike: ReadonlyArray<readonly [string, object]> = [
    ["the value that was asked for", { value: 10 }],
    ["a value below the amount, as after a fee", { value: 0.01 }],
    [
      "codes that say nothing",
      { code: 1000, errorCode: "00", errorMessage: "none", failureReason: null, isError: false }
    ],
    ["a result of zero", { result: 0 }],
    ["a status of zero", { status: 0 }],
    ["a code of 500", { code: 500 }],
    ["a status of 422, which a withdrawal does not have", { status: 422, statusCode: "500" }],
    ["ok: false, which a withdrawal does not have", { ok: false, success: false }],
    ["errors that are not documented", { error: "E-17", errors: [{ code: 3 }], hasError: true, rejectReason: "risco" }],
    ["flags of success and no errors", { ok: true, success: true, error: null, errors: [], status: 201 }],
    ["its company", { companyId: 7 }],
    ["a company that is null", { companyId: null }]
  ]

  effect.each(alike)("a withdrawal answered with success and %s is a withdrawal", function* ([, change]) {
    const { requests, result } = yield* answered(201, recordWith(change), withdraw)
    assert.isTrue(Result.isSuccess(result))
    assert.strictEqual(requests, 1)
  })

  effect("a withdrawal with a value above the amount is accepted if the policy accepts that", function* () {
    const asked: Array<readonly [number, string]> = []
    const acceptValue: PaymentsPolicy["acceptValue"] = (about) => {
      asked.push([about.asked, Money.format(about.value)])
      return Money.ReaisOrder(about.value, Money.reais("12")) < 0
    }
    const policy = Effect.provideService(PaymentsPolicy, PaymentsPolicy.make({ acceptValue }))
    const under = yield* policy(answered(201, recordWith({ value: 11.5 }), withdraw))
    assert.isTrue(Result.isSuccess(under.result))
    const over = yield* policy(failureOf(201, recordWith({ value: 12.5 }), withdraw))
    assert.strictEqual(over.outcome, "Unknown")
    assert.deepStrictEqual(
      asked.map(([amount]) => amount),
      [1000, 1000]
    )
  })

  effect(
    "a withdrawal has an unknown outcome if the policy's predicate throws, or if the value is not above zero",
    function* () {
      const throwing = PaymentsPolicy.make({ acceptValue: () => assert.fail("no") })
      const above = failureOf(201, recordWith({ value: 11 }), withdraw)
      assert.strictEqual((yield* Effect.provideService(above, PaymentsPolicy, throwing)).outcome, "Unknown")
      const all = PaymentsPolicy.make({ acceptValue: () => true })
      const negative = failureOf(201, recordWith({ value: -1 }), withdraw)
      assert.strictEqual((yield* Effect.provideService(negative, PaymentsPolicy, all)).outcome, "Unknown")
    }
  )

  effect("a withdrawal whose echoed key differs only in case is about another key", function* () {
    const error = yield* failureOf(201, record("WD_1"), withdraw)
    assert.strictEqual(error._tag === "OutcomeUnknown" && error.reason, "KeyMismatch")
  })
})

describe("a PIX charge answered with success", () => {
  const unlike: ReadonlyArray<readonly [string, object, string]> = [
    ["another amount", { amount: 2501 }, "data.amount"],
    ["another method", { paymentMethod: "BOLETO" }, "data.paymentMethod"],
    ["a status of failure", { status: "payment-failed" }, "data.status"],
    ["another company", { companyId: 8 }, "companyId"]
  ]

  effect.each(unlike)(
    "a PIX charge answered with success and %s has an unknown outcome, and its error shows the recorded values",
    function* ([, change, path]) {
      const { data } = pixCharge(change)
      const error = yield* failureOf(200, { data }, create)
      assert.strictEqual(error._tag, "OutcomeUnknown")
      if (error._tag !== "OutcomeUnknown") return
      assert.strictEqual(error.reason, "NotAsAsked")
      assert.deepStrictEqual(
        error.issues?.map((issue) => issue.path),
        [path]
      )
      assert.deepStrictEqual({ ...error.seen }, { id: data.id, value: String(data.amount), status: data.status })
    }
  )

  effect.each([400, 422, 500, 599])(
    "a PIX charge in an envelope of status %d has an unknown outcome",
    function* (status) {
      const error = yield* failureOf(200, { ...created, status }, create)
      assert(error._tag === "OutcomeUnknown")
      assert.deepStrictEqual([error.reason, error.issues?.[0]?.path], ["NotAsAsked", "status"])
    }
  )

  effect("a PIX charge in an envelope of another company has an unknown outcome", function* () {
    const error = yield* failureOf(200, { ...created, companyId: 8 }, create)
    assert.deepStrictEqual(error._tag === "OutcomeUnknown" && error.issues?.[0]?.path, "companyId")
  })

  effect.each([
    { ok: false, success: false, error: "not today", code: 500, result: 0 },
    { status: 0 },
    { status: 201 },
    { status: 1000 },
    { status: "FAILED" },
    { companyId: 7 }
  ])("a PIX charge in an envelope with %j is a charge", function* (change) {
    const { result } = yield* answered(200, { ...created, ...change }, create)
    assert.isTrue(Result.isSuccess(result))
  })

  effect("a PIX charge whose method differs only in case is accepted", function* () {
    const { result } = yield* answered(200, pixCharge({ paymentMethod: "pix" }), create)
    assert.isTrue(Result.isSuccess(result))
  })
})

effect(
  "a card charge whose answer reports a refusal is returned as a charge, since its answer is not documented",
  function* () {
    const card: CreateTransactionRequest = { ...charge, paymentMethod: "CREDIT_CARD" }
    const body = pixCharge({ amount: 2600, paymentMethod: "CreditCard", status: "REFUSED", pix: undefined })
    const { result } = yield* answered(200, body, (payments) => payments.createTransaction(card))
    assert.isTrue(Result.isSuccess(result))
  }
)

describe("a read answered with success", () => {
  effect("a lookup whose answer is about another transaction is an unexpected response", function* () {
    const error = yield* failureOf(200, { ...detail, transactionId: "00000000-0000-4000-8000-000000000000" }, look)
    assert.strictEqual(error._tag, "UnexpectedResponse")
    if (error._tag !== "UnexpectedResponse") return
    assert.strictEqual(error.reason, "NotAsAsked")
    assert.deepStrictEqual(error.issues, [{ path: "transactionId", problem: "is not the id that was asked for" }])
  })

  effect("a lookup whose answer differs only in the case of the id is accepted", function* () {
    const other = { ...detail, transactionId: detail.transactionId.toUpperCase() }
    assert.isTrue(Result.isSuccess((yield* answered(200, other, look)).result))
  })
})

effect("a list whose answer has ok: false is an unexpected response", function* () {
  const list: Use = (payments) => payments.listTransactions()
  const error = yield* failureOf(200, { ...listed, ok: false }, list)
  assert.strictEqual(error._tag === "UnexpectedResponse" && error.reason, "NotAsAsked")
  for (const change of [{ success: false }, { ok: "false" }, { error: "E1" }]) {
    assert.isTrue(Result.isSuccess((yield* answered(200, { ...listed, ...change }, list)).result))
  }
})

describe("the status of a withdrawal answered with success", () => {
  effect.each([
    ..."Failed FAILED failed payment.failed PaymentFailed PAYMENT_FAILED Cancelled canceled CANCELLED Refunded".split(
      " "
    ),
    ..."refunded Rejected rejected transfer-rejected".split(" "),
    "Transfer rejected",
    "refunded (partially)"
  ])("the status %s leaves the outcome unknown", function* (enTransaction) {
    const error = yield* failureOf(201, recordWith({ enTransaction }), withdraw)
    assert.strictEqual(error._tag === "OutcomeUnknown" && error.reason, "NotAsAsked")
  })

  effect.each(
    `AWAITING_PAYMENT Pending Processing Paid PAGO Approved Completed SUCESSO em_análise Created Queued Scheduled Sent
     Settled Confirmed Accepted Released Open NO_ERROR not_failed OK Cancelable CANCELLABLE Refundable NotRejected Unfailed
     FALHOU REJEITADO CANCELADO Error Expired Returned BLOCKED timed_out EM_PROCESSAMENTO`.split(/\s+/)
  )("the status %s is that of a withdrawal, and is kept, counted and logged as a warning", function* (enTransaction) {
    const warnings: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => void (logLevel === "Warn" && warnings.push(String(message))))
    const [first, second, counted] = yield* Effect.gen(function* () {
      const { layer } = scripted(respond(201, recordWith({ enTransaction })))
      return yield* Effect.gen(function* () {
        const payments = yield* Payments
        const pay = () => payments.requestWithdrawal(withdrawal, { idempotencyKey: "wd_1" })
        return [yield* pay(), yield* pay(), yield* Metric.snapshot] as const
      }).pipe(Effect.provide(paymentsOn(layer)))
    }).pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(Metric.MetricRegistry, new Map()))
    assert.deepStrictEqual([first.enTransaction, second.enTransaction], [enTransaction, enTransaction])
    assert.strictEqual(warnings.length, 2)
    for (const line of warnings) assert.match(line, /enTransaction of the answer is no documented status/)
    const misfit = counted.find(({ id }) => id === "effect_pix_misfits")
    assert.include(misfit?.attributes, { operation: "requestWithdrawal", field: "enTransaction" })
    assert.strictEqual(misfit !== undefined && "count" in misfit.state && Number(misfit.state.count), 2)
  })

  effect("the documented status is logged by no warning", function* () {
    const lines: Array<unknown> = []
    const logger = Logger.make(({ message }) => void lines.push(message))
    const { result } = yield* Effect.provide(answered(201, recordWith({}), withdraw), Logger.layer([logger]))
    assert.isTrue(Result.isSuccess(result))
    assert.deepStrictEqual(lines, [])
  })
})

describe("a request that its caller changes while it is under way", () => {
  effect("the answer to a charge is compared with the amount that was sent", function* () {
    const result = yield* changedMeanwhile(charge, { amount: Money.centavos(1) }, [200, created], (payments, request) =>
      payments.createTransaction(request)
    )
    assert.isTrue(Result.isSuccess(result))
  })

  effect("the error of a refused withdrawal holds the amount that was sent", function* () {
    const result = yield* changedMeanwhile(
      withdrawal,
      { amount: Money.centavos(5) },
      [422, { message: "O valor do saque é menor que o valor mínimo" }],
      (payments, request) => payments.requestWithdrawal(request)
    )
    const error = Result.getOrThrow(Result.flip(result))
    assert.strictEqual(error._tag, "BelowMinimum")
    assert.propertyVal(error, "amount", withdrawal.amount)
  })
})
