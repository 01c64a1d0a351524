import { assert, describe, test } from "vitest"
import { meaningOf, type Words } from "../../src/contract/Status.ts"
import { isFailure, plainWord } from "../../src/contract/StatusWords.ts"

/** The words of each column, as gateways write them. */
const listed = {
  charge: {
    open: "Awaiting, AWAITING, awaiting, WAITING_PAYMENT, waitingPayment, Waiting Payment, waiting-payment, PENDING, pénding",
    paid: "Paid, PAID, paid, PÁID",
    refunded: "Refunded, REFUNDED, re_funded",
    closed: "Cancelled, CANCELLED, Failed, fáiled, Expired, EXPIRED, Expirado, EXPIRADO"
  },
  payout: {
    open: "Awaiting, Pending, PENDING, Processing, PROCESSING",
    paid: "Successful, SUCCESSFUL, successful",
    failed: "Failure, FAILURE, failure, FAIL-URE",
    returned: "Refunded, refunded, REFUNDED"
  }
} as const

/** Words that name an attempt, a request, a part or a denial, and words that other gateways use. */
const others = `RefundFailed, EstornoRecusado, ReturnRequested, REFUND_PENDING, DEVOLUCAO_EM_ANALISE, CancelFailed, CANCEL_REQUESTED,
  FailedToCancel, CancelamentoRecusado, FailedRetrying, PartiallyRefunded, PartiallyPaid, ParcialmenteEstornado, Cancellation_Pending,
  RefundReversed, NotPaid, Unpaid, Not Failed, sem falha, PaymentFailed, Pago, Paga, Liquidado, Confirmed, Completed, Settled, Success,
  Canceled, Cancelada, Estornado, Devolvido, Returned, Rejected, Recusado, UnderReview, EM_ANALISE, Paid out, Paidd, xPaid, 1, OK, ?, -,
  Paid\u200b, Pa\ufeffid, Refu\u034fnded, Failure\ufe0f, Can\u00adcelled, Succe\u2060ssful, Refunded\u00b4, \uff30\uff41\uff49\uff44`
const split = (words: string) => words.split(/,\s*/)

describe("the table of statuses", () => {
  for (const record of ["charge", "payout"] as const) {
    const rows = Object.entries(listed[record]).flatMap(([meaning, words]) =>
      split(words).map((word) => [word, meaning] as const)
    )
    test.each(rows)(`says of a ${record} that %s is %s`, (word, meaning) => {
      // The overloads are for one record each.
      assert.strictEqual(record === "charge" ? meaningOf(word, "charge") : meaningOf(word, "payout"), meaning)
    })
  }

  test.each(split(others))("has no column for %s", (word) => {
    assert.deepStrictEqual([meaningOf(word, "charge"), meaningOf(word, "payout")], ["unlisted", "unlisted"])
  })

  test("has a column of each record of its own", () => {
    const crossed = (["Paid", "Cancelled", "Failed", "Expired"] as const).map((word) => meaningOf(word, "payout"))
    assert.deepStrictEqual(new Set(crossed), new Set(["unlisted"]))
    assert.deepStrictEqual(
      ["Successful", "Processing", "Failure"].map((word) => meaningOf(word, "charge")),
      ["unlisted", "unlisted", "unlisted"]
    )
  })

  test("asks the words of the user first, in the column of their record", () => {
    const words: Words = {
      charge: { paid: ["Liquidada"], closed: ["Vencida", "Não pago"], open: ["Failed"] },
      payout: { failed: ["Estornado"], paid: ["Liquidada"] }
    }
    assert.deepStrictEqual(
      ["LIQUIDADA", "vencida", "NAO_PAGO", "failed", "Estornado", "Paid"].map((word) =>
        meaningOf(word, "charge", words)
      ),
      ["paid", "closed", "closed", "open", "unlisted", "paid"]
    )
    assert.deepStrictEqual(
      ["estornado", "Liquidada", "Vencida", "Failure"].map((word) => meaningOf(word, "payout", words)),
      ["failed", "paid", "unlisted", "failed"]
    )
  })

  test("knows whole words of failure, in two languages, and no compound", () => {
    const failures = split("Failed, FAILURE, Rejected, recusado, Não Realizado, CANCELADA, Estornado, canceled, Erro")
    assert.deepStrictEqual(failures.filter(isFailure), failures)
    assert.deepStrictEqual(split("PaymentFailed, NotFailed, sem erros, RefundFailed, Awaiting").filter(isFailure), [])
  })

  test("shows one plain word, and nothing that may be a name or a number", () => {
    assert.deepStrictEqual(
      ["EM_ANALISE", "Análise-2", "MARIA SILVA", "52998224725", "a@b", "x".repeat(41), ""].map(plainWord),
      ["EM_ANALISE", ...Array.from({ length: 6 }, () => undefined)]
    )
  })
})
