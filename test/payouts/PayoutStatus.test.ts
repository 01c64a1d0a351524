import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { OutcomeUnknown, WithdrawalFailed } from "effect-pix"
import { PayoutRefusal, Payouts, PayoutState, PayoutStatus } from "effect-pix/payouts"
import { Row } from "../../src/payouts/internal/queue/row.ts"
import { statusOf } from "../../src/payouts/internal/queue/status.ts"
import { failures } from "../support/payoutAnswers.ts"

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
    requestCheck: "abc",
    submittedAt: 1,
    updatedAt: 2,
    ...changes
  })

it("the status of a payout fits its schema for every row that the table can hold, and has only the fields of its state", () => {
  const codec = Schema.toCodecJson(PayoutStatus)
  const values = { mayHaveLeftAt: 5, withdrawalId: 7, waitsFor: "DailyCap", parkedBecause: "OverMaxAmount" }
  for (const state of PayoutState.literals)
    for (const error of [null, failure, unclear, recordedAsFailed, '{"_tag":"New"}', "{"])
      for (const changes of [{}, values, { ...values, waitsFor: "New" }]) {
        const status = statusOf(rowOf({ state, error, ...changes }))
        const stored = Schema.encodeSync(codec)(status)
        const read = Schema.decodeUnknownSync(codec)(stored, { onExcessProperty: "error" })
        assert.sameMembers(Object.keys(read), Object.keys(status))
      }
})

/** The fields of a status that depend on its state, as one line. */
const lineOf = ({ state, ...rest }: PayoutStatus) => {
  const fields: Record<string, unknown> = { ...rest }
  const error = "error" in rest ? `${rest.error?._tag} after ${rest.error?.attempts}` : undefined
  const { because, mayHaveLeftAt, waitsFor, withdrawalId, withdrawalStatus } = fields
  const left = mayHaveLeftAt === undefined ? undefined : "may have left"
  const shown = [because, waitsFor, left, withdrawalId, withdrawalStatus, rest.asked?.step, rest.asked?.by, error]
  return [state, ...shown.filter((field) => field !== undefined).map(String)].join(" ")
}

it.each([
  ["waits for what its row says", { waitsFor: "DailyCap" }, "accepted DailyCap"],
  ["that waits for a word of a newer version shows none", { waitsFor: "New" }, "accepted"],
  ["that is accepted shows no error of a doubt", { error: unclear }, "accepted"],
  ["that is accepted shows its mark", { mayHaveLeftAt: 5 }, "accepted may have left"],
  ["that is parked shows its doubt", { state: "parked", mayHaveLeftAt: 5 }, "parked Operator may have left"],
  ["that is parked shows why", { state: "parked", parkedBecause: "NeedsApproval" }, "parked NeedsApproval"],
  ["whose refusal cannot be read waits for a person", { state: "refused", error: "{" }, "parked Unreadable"],
  ["whose refusal is none is parked", { state: "refused", error: unclear }, "parked Unreadable OutcomeUnknown after 1"],
  ["that was refused shows why", { state: "refused", error: failure }, "refused RequestRejected after 1"],
  [
    "that the service recorded as failed shows its record",
    { state: "failed", withdrawalId: 7, withdrawalStatus: "Failure", error: recordedAsFailed },
    "failed 7 Failure WithdrawalFailed after 1"
  ],
  ["that a person settled as failed shows no refusal", { state: "failed", error: failure }, "failed"],
  ["that is posted shows its record", { state: "posted", withdrawalId: 7, withdrawalStatus: "Paid" }, "posted 7 Paid"],
  ["shows the step that a person asked for", { askedStep: "Approve", askedBy: "ana" }, "accepted Approve ana"],
  [
    "in doubt has an error that says so",
    { state: "unknown", sends: 3, error: failure },
    "unknown OutcomeUnknown after 3"
  ]
] as const)("a payout %s", (_, row, line) => assert.strictEqual(lineOf(statusOf(rowOf(row))), line))

const unclearWords = "A conferir: pode ter sido pago, não pagar por outro meio antes"
it.each([
  ["posted", { state: "posted", withdrawalId: 7 }, "Registrado: saque nº 7"],
  ["posted without a number", { state: "posted" }, "Registrado"],
  ["paid", { state: "paid" }, "Pago: conferido por uma pessoa"],
  ["failed", { state: "failed" }, "Não pago: conferido por uma pessoa"],
  [
    "failed by its record",
    { state: "failed", withdrawalId: 7, error: recordedAsFailed },
    "Não pago: Recusado pelo gateway (saque nº 7)"
  ],
  ["failed, and recorded by the service", { state: "failed", withdrawalId: 7 }, unclearWords],
  ["unknown", { state: "unknown", error: unclear }, unclearWords],
  ["refused", { state: "refused", error: failure }, "Não pago: Recusado pelo gateway"],
  ["accepted", {}, "Não pago: não enviado"],
  ["accepted, with a refusal", { error: failure }, "Não pago: Recusado pelo gateway"],
  ["accepted, and may have left", { mayHaveLeftAt: 5, error: failure }, unclearWords],
  ["parked, and may have left", { state: "parked", mayHaveLeftAt: 5 }, unclearWords],
  ["parked in doubt", { state: "parked", error: unclear }, unclearWords]
] as const)("the Portuguese words for a payout that is %s say whether it may have been paid", (_, row, words) =>
  assert.strictEqual(Payouts.portuguese(statusOf(rowOf(row))), words)
)
