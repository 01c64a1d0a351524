import { assert, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import { Money, OutcomeUnknown } from "effect-pix"
import { PayoutRefusal, PayoutState, PayoutStatus } from "effect-pix/payouts"
import { Row, statusOf } from "../../src/payouts/internal/queue/row.ts"
import { failures } from "../support/payouts.ts"

const write = Schema.encodeSync(
  Schema.fromJsonString(Schema.toCodecJson(Schema.Union([PayoutRefusal, OutcomeUnknown])))
)
const failure = write(failures.refused("key"))
const unclear = write(failures.unknown("key"))

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
  for (const state of PayoutState.literals)
    for (const mayHaveLeftAt of [null, 5])
      for (const withdrawalId of [null, 7])
        for (const error of [null, failure, unclear, '{"_tag":"New"}', "{"])
          for (const [waitsFor, parkedBecause] of [
            [null, null],
            ["DailyCap", "OverMaxAmount"],
            ["New", null]
          ] as const) {
            const row = rowOf({ state, mayHaveLeftAt, withdrawalId, error, waitsFor, parkedBecause })
            const status = statusOf(row)
            const read = Schema.decodeUnknownSync(codec)(Schema.encodeSync(codec)(status), {
              onExcessProperty: "error"
            })
            assert.deepStrictEqual(Object.keys(read).toSorted(), Object.keys(status).toSorted(), JSON.stringify(row))
          }
})

const common = {
  reference: "invoice-1",
  idempotencyKey: "payout_key",
  amount: Money.centavos(1000),
  submittedAt: DateTime.makeUnsafe(1),
  updatedAt: DateTime.makeUnsafe(2)
}
const left = DateTime.makeUnsafe(5)
const cases: ReadonlyArray<readonly [title: string, row: Partial<Row>, status: object]> = [
  [
    "waits for what its row says",
    { waitsFor: "DailyCap" },
    { _tag: "Accepted", state: "accepted", waitsFor: "DailyCap" }
  ],
  ["that waits for a word of a newer version shows none", { waitsFor: "New" }, { _tag: "Accepted", state: "accepted" }],
  [
    "that is parked shows its doubt, its error and the operator where nothing else parked it",
    { state: "parked", mayHaveLeftAt: 5, error: failure },
    { _tag: "Parked", state: "parked", because: "Operator", mayHaveLeftAt: left, error: failures.refused("key") }
  ],
  [
    "whose refusal cannot be read waits for a person",
    { state: "refused", error: "{" },
    { _tag: "Parked", state: "parked", because: "Unreadable" }
  ],
  [
    "whose refusal is none waits for a person",
    { state: "refused", error: unclear },
    { _tag: "Parked", state: "parked", because: "Unreadable", error: failures.unknown("key") }
  ],
  ["that is accepted shows no error of a doubt", { error: unclear }, { _tag: "Accepted", state: "accepted" }],
  [
    "that is posted shows its withdrawal",
    { state: "posted", withdrawalId: 7, withdrawalStatus: "Awaiting", error: failure },
    { _tag: "Posted", state: "posted", withdrawalId: 7, withdrawalStatus: "Awaiting" }
  ],
  [
    "shows the step that a person asked for",
    { askedStep: "Approve", askedBy: "ana" },
    { _tag: "Accepted", state: "accepted", asked: { step: "Approve", by: "ana" } }
  ],
  [
    "in doubt without an error that says so has one",
    { state: "unknown", mayHaveLeftAt: 5, sends: 3 },
    {
      _tag: "Unknown",
      state: "unknown",
      mayHaveLeftAt: left,
      error: new OutcomeUnknown({
        operation: "requestWithdrawal",
        attempts: 3,
        idempotencyKey: "payout_key",
        outcome: "Unknown",
        reason: "Unrecognised"
      })
    }
  ]
]
it.each(cases)("a payout %s", (_, row, status) =>
  assert.deepStrictEqual<object>(statusOf(rowOf(row)), { ...common, ...status })
)
