import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { OutcomeUnknown, WithdrawalFailed } from "effect-pix"
import { PayoutStatus } from "effect-pix/payouts"
import { Row } from "../../src/payouts/internal/machine/row.ts"
import { PayoutRefusal } from "../../src/payouts/Payout.ts"
import { PayoutBecause } from "../../src/payouts/PayoutBecause.ts"
import { PayoutState } from "../../src/payouts/PayoutState.ts"
import { statusOf } from "../../src/payouts/internal/machine/status.ts"
import { failures } from "../support/payoutAnswers.ts"
import { wordsOf } from "../support/payoutStore.ts"

const write = Schema.encodeSync(
  Schema.fromJsonString(Schema.toCodecJson(Schema.Union([PayoutRefusal, OutcomeUnknown])))
)
const failure = write(failures.refused("key"))
const unclear = write(failures.unknown("key"))
const recordedAsFailed = write(
  new WithdrawalFailed({
    operation: "requestWithdrawal",
    attempts: 1,
    outcome: "Rejected",
    status: 201,
    withdrawalId: 7,
    withdrawalStatus: "Failure"
  })
)

/** A row of fixed times and numbers. */
const rowOf = (changes: Partial<Row>) =>
  Row.make({
    account: "default",
    idempotencyKey: "payout_key",
    reference: "invoice-1",
    amount: 1000,
    submittedAt: 1,
    updatedAt: 2,
    ...changes
  })

it("the status of a payout fits its schema for every row that the table can hold, and has only the fields of its state", () => {
  const codec = Schema.toCodecJson(PayoutStatus)
  const ended = {
    endedBy: "lookup",
    endedAt: 6,
    endToEndId: "E1",
    value: "10.5",
    contradicted: true,
    word: "Failure"
  }
  const before = { notBefore: 5 }
  const values = {
    mayHaveLeftAt: 5,
    withdrawalId: 7,
    ...ended,
    ...before
  }
  for (const state of PayoutState.literals)
    for (const error of [null, failure, unclear, recordedAsFailed, '{"_tag":"New"}', "{"])
      for (const because of [null, "New", ...PayoutBecause.literals])
        for (const endedAs of [null, "unlisted", "paid", "failed", "returned"]) {
          const status = statusOf(rowOf({ state, error, because, endedAs, ...(because !== null && values) }))
          const stored = Schema.encodeSync(codec)(status)
          const read = Schema.decodeUnknownSync(codec)(stored, { onExcessProperty: "error" })
          assert.sameMembers(Object.keys(read), Object.keys(status))
        }
})

it("the status of a payout whose value another version wrote has none", () => {
  const status = statusOf(rowOf({ state: "posted", value: "much" }))
  assert.isFalse("value" in status)
})

/** The fields of a status that depend on its state, as one line. */
const lineOf = ({ state, ...rest }: PayoutStatus) => {
  const fields: Record<string, unknown> = { ...rest }
  const until = "underWayUntil" in rest ? `until ${rest.underWayUntil?.epochMilliseconds}` : undefined
  const error = "error" in rest ? `${rest.error?._tag} after ${rest.error?.attempts}` : undefined
  const { because, mayHaveLeftAt, withdrawalId, withdrawalStatus } = fields
  const left = mayHaveLeftAt === undefined ? undefined : "may have left"
  const shown = [because, left, until, withdrawalId, withdrawalStatus, error]
  return [state, ...shown.filter((field) => field !== undefined).map(String)].join(" ")
}

it.each([
  ["waits for what its row says", { because: "DailyCap" }, "accepted DailyCap"],
  ["that waits for a word of a newer version shows none", { because: "New" }, "accepted"],
  ["that is accepted shows no error of a doubt", { error: unclear }, "accepted"],
  [
    "whose request is under way shows until when, and no error",
    { state: "unknown", mayHaveLeftAt: 5, underWayUntil: 9, error: unclear },
    "unknown may have left until 9"
  ],
  ["that is parked shows its doubt", { state: "parked", mayHaveLeftAt: 5 }, "parked Operator may have left"],
  ["that is parked shows why", { state: "parked", because: "OverCap" }, "parked OverCap"],
  ["whose refusal cannot be read waits for a person", { state: "refused", error: "{" }, "parked Unreadable"],
  ["whose refusal is none is parked", { state: "refused", error: unclear }, "parked Unreadable OutcomeUnknown after 1"],
  ["that was refused shows why", { state: "refused", error: failure }, "refused RequestRejected after 1"],
  [
    "that the service recorded as failed shows its record",
    { state: "failed", withdrawalId: 7, word: "Failure", error: recordedAsFailed },
    "failed 7 Failure WithdrawalFailed after 1"
  ],
  ["that a person settled as failed shows no refusal", { state: "failed", error: failure }, "failed"],
  ["that is posted shows its record", { state: "posted", withdrawalId: 7, word: "Paid" }, "posted 7 Paid"],
  [
    "in doubt has an error that says so",
    { state: "unknown", sends: 3, error: failure },
    "unknown OutcomeUnknown after 3"
  ]
] as const)("a payout %s", (_, row, line) => assert.strictEqual(lineOf(statusOf(rowOf(row))), line))

const unclearWords = "A conferir: pode ter sido pago, não pagar por outro meio antes"
const elsewhere = "Não pague de outro modo"
/** 2026-12-05 in São Paulo, and still so when it is the 6th by UTC. */
const fifth = Date.UTC(2026, 11, 6, 1)
const byLookup = { endedBy: "lookup", endedAt: fifth } as const
it.each([
  ["posted", { state: "posted", withdrawalId: 7 }, "Enviado, ainda não confirmado: saque nº 7"],
  ["posted without a number", { state: "posted" }, "Enviado, ainda não confirmado"],
  [
    "posted, and claimed to have failed",
    { state: "posted", endedAs: "failed" },
    "Enviado, ainda não confirmado. A conferir: um aviso diz que falhou"
  ],
  [
    "posted, and claimed to have come back",
    { state: "posted", endedAs: "returned" },
    "Enviado, ainda não confirmado. A conferir: um aviso diz que foi devolvido"
  ],
  ["posted, and a word of it is not listed", { state: "posted", endedAs: "unlisted" }, "Enviado, ainda não confirmado"],
  [
    "paid, and claimed to have come back",
    { state: "paid", endedBy: "person", endedAs: "returned" },
    "Pago: conferido por uma pessoa. A conferir: um aviso diz que foi devolvido"
  ],
  [
    "failed, and claimed to be paid",
    { state: "failed", endedBy: "person", endedAs: "paid" },
    "Não pago: conferido por uma pessoa. A conferir: um aviso diz que foi pago"
  ],
  ["paid by a person's word", { state: "paid", endedBy: "person" }, "Pago: conferido por uma pessoa"],
  ["paid by a lookup", { state: "paid", ...byLookup }, "Pago: confirmado pelo gateway em 05/12/2026"],
  ["failed by a person's word", { state: "failed", endedBy: "person" }, "Não pago: conferido por uma pessoa"],
  [
    "failed by its record",
    { state: "failed", withdrawalId: 7, error: recordedAsFailed, endedBy: "answer" },
    "Não pago: recusado pelo gateway (saque nº 7)"
  ],
  [
    "failed, and paid by the service",
    { state: "failed", withdrawalId: 7, contradicted: true },
    "A conferir: o gateway diz o contrário do que está registrado, não pagar por outro meio antes"
  ],
  ["returned", { state: "returned", ...byLookup }, "Devolvido em 05/12/2026"],
  [
    "returned by a person's word",
    { state: "returned", endedBy: "person", endedAt: fifth },
    "Devolvido em 05/12/2026, conferido por uma pessoa"
  ],
  ["unknown", { state: "unknown", error: unclear }, unclearWords],
  ["refused", { state: "refused", error: failure }, "Não pago: recusado pelo gateway"],
  ["cancelled", { state: "cancelled" }, "Cancelado: nada foi enviado"],
  ["accepted", {}, `Na fila: será pago sozinho. ${elsewhere}`],
  ["accepted, with a refusal", { error: failure }, `Na fila: será pago sozinho (recusado pelo gateway). ${elsewhere}`],
  ["accepted, without a balance", { because: "Balance" }, `Na fila: será pago sozinho (falta saldo). ${elsewhere}`],
  [
    "accepted for a day",
    { because: "NotBefore", notBefore: fifth },
    `Na fila: será pago sozinho em 05/12/2026. ${elsewhere}`
  ],
  ["under way", { state: "unknown", mayHaveLeftAt: 5, underWayUntil: 9 }, unclearWords],
  ["parked, and may have left", { state: "parked", mayHaveLeftAt: 5 }, unclearWords],
  ["parked in doubt", { state: "parked", error: unclear }, unclearWords],
  [
    "parked by a person",
    { state: "parked", because: "Operator" },
    "Não enviado: espera a decisão de uma pessoa (parado por uma pessoa)"
  ]
] as const)("the Portuguese words for a payout that is %s say whether it may have been paid", (_, row, words) =>
  assert.strictEqual(wordsOf(statusOf(rowOf(row))), words)
)
