import { assert, describe } from "@effect/vitest"
import { meaningOf, type Meaning, progressOfDetail } from "../../src/contract/Status.ts"
import { isPaid } from "../../src/contract/StatusWords.ts"
import { test } from "vitest"

/** Statuses as gateways write them, separated by commas. */
const words: Readonly<Record<Meaning, string>> = {
  open: `Awaiting, AWAITING, awaiting, WAITING_PAYMENT, waitingPayment, Pending, PENDING, Processing, PROCESSING, Pendente,
    PENDENTE, Processando, Em processamento, EM_PROCESSAMENTO, emProcessamento, em-processamento`,
  paid: `Successful, SUCCESSFUL, successful, Success, Paid, PAID, Confirmed, Settled, Completed, COMPLETED, Pago, PAGO, Paga,
    Realizado, Realizada, Concluído, CONCLUIDO, Concluida, Liquidado, LIQUIDADA`,
  failed: `Failed, FAILED, fáiled, fAiLeD, Failure, failure, FAILURE, PaymentFailed, PAYMENT_FAILED, PIXFailed, Failing, Error, ERROR,
    ProviderError, Erro, Erro no banco, Errors, Falha, FALHOU, falhado, Recusado, RECUSADA, Rejeitado, rejeição, Rejected, REJECTED,
    transfer-rejected, Declined, Denied, Negado, NEGADA, Cancelled, Canceled, CANCELADO, cancelamento, NAO_REALIZADO, NãoRealizado,
    não concluído, nao pago, NOT_PAID, notCompleted, Not Successful, no success, sem sucesso, nao foi realizado, Unsuccessful,
    unpaid, Refused, PAYMENT_REFUSED, Voided, Aborted, Indeferido, Anulado, Insucesso, not failed but cancelled`,
  returned: `Refunded, REFUNDED, PartiallyRefunded, refund, Estornado, ESTORNADA, Estorno, Devolvido, DEVOLVIDA, devolução, Returned,
    ReturnedByPayee, Reversed, REVERSAL, REVERSO`,
  // Each is a success of a withdrawal.
  unlisted: `Authorised, Approved, Created, Queued, UnderReview, OnHold, Scheduled, Agendado, Sent, Enviado, Accepted, Aceito, Requested,
    Done, 1, OK, Not Failed, NotFailed, no errors, NoErrors, sem erros, sem falha, não recusado, not refused, Avoided, nao cancelado, NOT_REFUNDED,
    Unfailing, Prereturned, Cancelable, CANCELLABLE, Refundable, cancelável, terror, infalible, x, EM_ANALISE, PartiallyPaid, Paid out`
}
const rows = Object.entries(words).flatMap(([meaning, texts]) =>
  texts.split(",").map((word) => [word.trim(), meaning] as const)
)

describe("the vocabulary of statuses", () => {
  test.each(rows)("%s means %s", (word, meaning) => {
    assert.strictEqual(meaningOf(word), meaning)
  })

  test("reads a text of any length", () => {
    assert.strictEqual(meaningOf("a".repeat(1_000_000)), "unlisted")
    assert.strictEqual(meaningOf("aA_".repeat(300_000)), "unlisted")
  })

  test("never takes a word for Paid that is neither documented nor listed", () => {
    const paid = rows.filter(([, meaning]) => meaning === "paid").map(([word]) => word)
    assert.deepStrictEqual(
      paid.filter((word) => isPaid(word)),
      ["Paid"]
    )
    assert.isTrue(isPaid("SUCCESSFUL", { paid: ["Successful"] }))
    assert.isFalse(isPaid("Successful now", { paid: ["Successful"] }))
  })

  test("ends waiting for a word that says what became of the money", () => {
    const progress = (status: string) => progressOfDetail(status, { paid: ["Liquidado"] })
    assert.deepStrictEqual(
      ["Awaiting", "PENDENTE", "Paid", "liquidado", "Cancelada", "Estornado", "Successful", "UnderReview"].map(
        progress
      ),
      ["Open", "Open", "Final", "Final", "Final", "Final", "Unknown", "Unknown"]
    )
  })
})
