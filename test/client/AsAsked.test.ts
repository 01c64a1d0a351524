/**
 * An answer with the status of a success counts as a success only if it is about the request and reports no failure.
 */
import { assert, describe, it } from "@effect/vitest"
import { type CreateTransactionRequest, Money, Payments, type PaymentsError, PaymentsPolicy } from "effect-pix"
import { Effect, Result } from "effect"
import {
  charge,
  createTransaction,
  created,
  detail,
  getTransaction,
  listed,
  record,
  requestWithdrawal
} from "../support/operations.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"

type Use = (payments: Payments["Service"]) => Effect.Effect<unknown, PaymentsError>

const { call: create } = createTransaction
const { call: look } = getTransaction
const { call: withdraw } = requestWithdrawal

/** Calls a service that gives this answer to every request, and counts the requests. */
const answered = (status: number, body: unknown, use: Use) =>
  Effect.gen(function* () {
    const { layer, sent } = scripted(respond(status, body))
    const result = yield* Effect.result(Effect.flatMap(Payments, use)).pipe(Effect.provide(paymentsOn(layer)))
    return { result, requests: sent.length }
  })

const failureOf = (status: number, body: unknown, use: Use) =>
  Effect.map(answered(status, body, use), ({ requests, result }) => {
    assert.strictEqual(requests, 1)
    return Result.getOrThrow(Result.flip(result))
  })

const recordWith = (change: object) => ({ ...record("wd_1"), ...change })
const pixCharge = (change: object) => ({ ...created, data: { ...created.data, ...change } })

describe("a withdrawal answered with success", () => {
  const unlike: ReadonlyArray<readonly [string, object, string]> = [
    ["a value of nothing", { value: 0 }, "value"],
    ["a negative value", { value: -10 }, "value"],
    ["a value one centavo above the amount", { value: 10.01 }, "value"],
    ["the amount in centavos for its value", { value: 1000 }, "value"],
    ["a status of failure", { enTransaction: "Failed" }, "enTransaction"],
    ["a status of failure in Portuguese", { enTransaction: "REJEITADO_PELO_BANCO" }, "enTransaction"],
    ["ok: false beside a good record", { ok: false }, "ok"],
    ["success: false beside a good record", { success: false }, "success"],
    ["an error beside a good record", { error: "E-17" }, "error"],
    ["errors beside a good record", { errors: [{ code: 3 }] }, "errors"],
    ["a status of error beside a good record", { status: 422 }, "status"],
    ["a status of error in words", { status: "error" }, "status"],
    ["a status of error as text", { statusCode: "500" }, "statusCode"],
    ["a flag in another case", { Success: false }, "Success"],
    ["a flag by another name", { isSuccess: false }, "isSuccess"],
    ["a flag of zero", { success: 0 }, "success"],
    ["a flag in words", { ok: "Não" }, "ok"],
    ["a flag of an error", { hasError: true }, "hasError"],
    ["the message of an error", { errorMessage: "Conta bloqueada" }, "errorMessage"],
    ["the code of an error", { error_code: "E17" }, "error_code"],
    ["a reason of a refusal", { rejectReason: "risco" }, "rejectReason"],
    ["an error by a name that holds digits", { error52998224725: "x" }, "error"],
    ["a result of failure", { result: "FAILED" }, "result"],
    ["a code of HTTP", { code: 422 }, "code"],
    ["an error in what it wraps", { result: { fault: "x" } }, "result.fault"],
    ["a status of what was suspended", { enTransaction: "Suspenso" }, "enTransaction"],
    ["a status of what was annulled", { enTransaction: "Anulado" }, "enTransaction"],
    ["a status of what could not be done", { enTransaction: "NotExecuted" }, "enTransaction"]
  ]

  it.effect.each(unlike)(
    "a withdrawal answered with success and %s has an unknown outcome, and its error shows the recorded values",
    ([, change, path]) =>
      Effect.gen(function* () {
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
      })
  )

  const alike: ReadonlyArray<readonly [string, object]> = [
    ["the value that was asked for", { value: 10 }],
    ["a value below the amount, as after a fee", { value: 0.01 }],
    ["a status that is not known", { enTransaction: "EM_PROCESSAMENTO" }],
    ["a status of success", { enTransaction: "TRANSFERRED" }],
    [
      "codes that say nothing",
      { code: 1000, errorCode: "00", errorMessage: "none", failureReason: null, isError: false }
    ],
    ["words for what is not done yet", { enTransaction: "Unpaid" }],
    ["flags of success and no errors", { ok: true, success: true, error: null, errors: [], status: 201 }]
  ]

  it.effect.each(alike)("a withdrawal answered with success and %s is a withdrawal", ([, change]) =>
    Effect.gen(function* () {
      const { requests, result } = yield* answered(201, recordWith(change), withdraw)
      assert.isTrue(Result.isSuccess(result))
      assert.strictEqual(requests, 1)
    })
  )

  it.effect("a withdrawal with a value above the amount is accepted if the policy accepts that", () =>
    Effect.gen(function* () {
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
  )

  it.effect(
    "a withdrawal has an unknown outcome if the policy's predicate throws, or if the value is not above zero",
    () =>
      Effect.gen(function* () {
        const throwing = PaymentsPolicy.make({ acceptValue: () => assert.fail("no") })
        const above = failureOf(201, recordWith({ value: 11 }), withdraw)
        assert.strictEqual((yield* Effect.provideService(above, PaymentsPolicy, throwing)).outcome, "Unknown")
        const all = PaymentsPolicy.make({ acceptValue: () => true })
        const negative = failureOf(201, recordWith({ value: -1 }), withdraw)
        assert.strictEqual((yield* Effect.provideService(negative, PaymentsPolicy, all)).outcome, "Unknown")
      })
  )

  it.effect("a withdrawal whose echoed key differs only in case is about another key", () =>
    Effect.gen(function* () {
      const error = yield* failureOf(201, record("WD_1"), withdraw)
      assert.strictEqual(error._tag === "OutcomeUnknown" && error.reason, "KeyMismatch")
    })
  )
})

describe("a PIX charge answered with success", () => {
  const unlike: ReadonlyArray<readonly [string, object, string]> = [
    ["another amount", { amount: 2501 }, "data.amount"],
    ["another method", { paymentMethod: "BOLETO" }, "data.paymentMethod"],
    ["a status of failure", { status: "payment-refused" }, "data.status"],
    ["success: false inside", { success: false }, "data.success"],
    ["an error inside", { error: { code: "X" } }, "data.error"]
  ]

  it.effect.each(unlike)(
    "a PIX charge answered with success and %s has an unknown outcome, and its error shows the recorded values",
    ([, change, path]) =>
      Effect.gen(function* () {
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
      })
  )

  const denied: ReadonlyArray<readonly [string, object]> = [
    ["ok: false", { ok: false }],
    ["success: false", { success: false }],
    ["an error", { error: "not today" }],
    ["a status of error", { status: 400 }]
  ]

  it.effect.each(denied)("a PIX charge in an envelope that says %s has an unknown outcome", ([, change]) =>
    Effect.gen(function* () {
      const error = yield* failureOf(200, { ...created, ...change }, create)
      assert.strictEqual(error._tag === "OutcomeUnknown" && error.reason, "NotAsAsked")
    })
  )

  it.effect("a PIX charge whose method differs only in case is accepted", () =>
    Effect.gen(function* () {
      const { result } = yield* answered(200, pixCharge({ paymentMethod: "pix" }), create)
      assert.isTrue(Result.isSuccess(result))
    })
  )
})

it.effect(
  "a card charge whose answer reports a refusal is returned as a charge, since its answer is not documented",
  () =>
    Effect.gen(function* () {
      const card: CreateTransactionRequest = { ...charge, paymentMethod: "CREDIT_CARD" }
      const body = pixCharge({ amount: 2600, paymentMethod: "CreditCard", status: "REFUSED", pix: undefined })
      const { result } = yield* answered(200, body, (payments) => payments.createTransaction(card))
      assert.isTrue(Result.isSuccess(result))
    })
)

describe("a read answered with success", () => {
  it.effect("a lookup whose answer is about another transaction is an unexpected response", () =>
    Effect.gen(function* () {
      const error = yield* failureOf(200, { ...detail, transactionId: "00000000-0000-4000-8000-000000000000" }, look)
      assert.strictEqual(error._tag, "UnexpectedResponse")
      if (error._tag !== "UnexpectedResponse") return
      assert.strictEqual(error.reason, "NotAsAsked")
      assert.deepStrictEqual(error.issues, [{ path: "transactionId", problem: "is not the id that was asked for" }])
    })
  )

  it.effect("a lookup whose answer differs only in the case of the id is accepted", () =>
    Effect.gen(function* () {
      const other = { ...detail, transactionId: detail.transactionId.toUpperCase() }
      assert.isTrue(Result.isSuccess((yield* answered(200, other, look)).result))
    })
  )
})

it.effect("a list whose answer has ok: false is an unexpected response", () =>
  Effect.gen(function* () {
    for (const change of [{ ok: false }, { success: false }]) {
      const error = yield* failureOf(200, { ...listed, ...change }, (payments) => payments.listTransactions())
      assert.strictEqual(error._tag === "UnexpectedResponse" && error.reason, "NotAsAsked")
    }
  })
)

describe("the status of a withdrawal answered with success", () => {
  it.effect.each(
    `Error ERRO INTERNAL_ERROR PaymentError erro_interno Failed falha FALHOU payment.failed Rejected REJEITADA rejeição
     Cancelled canceled CANCELADO Refused recusado RECUSA Denied negada NEGADO Expired expirou EXPIRADO Returned
     devolvido DEVOLUÇÃO Devolvida estornado Reversed Refunded reembolsado chargeback Declined Aborted Invalid inválido
     Insufficient_Funds unauthorized nãoAutorizado not_authorized Voided BLOCKED timed_out KO indeferido unsuccessful`.split(
      /\s+/
    )
  )("the status %s leaves the outcome unknown", (enTransaction) =>
    Effect.gen(function* () {
      const error = yield* failureOf(201, recordWith({ enTransaction }), withdraw)
      assert.strictEqual(error._tag === "OutcomeUnknown" && error.reason, "NotAsAsked")
    })
  )

  it.effect.each(
    `Awaiting AWAITING_PAYMENT Pending Processing Paid PAGO Approved aprovado Completed concluído Success SUCESSO
     Transferred TRANSFERIDO transferência_realizada em_análise Created Queued Scheduled agendado Sent enviado Settled
     liquidado Confirmed confirmado Accepted aceito Released Open NO_ERROR sem_erros not_failed OK Unblocked
     desbloqueado term_accepted in_progress EM_ANDAMENTO authorized autorizado Available`.split(/\s+/)
  )("the status %s is that of a withdrawal", (enTransaction) =>
    Effect.gen(function* () {
      const { result } = yield* answered(201, recordWith({ enTransaction }), withdraw)
      assert.isTrue(Result.isSuccess(result))
    })
  )
})
