import { assert, describe, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import { OutcomeUnknown } from "effect-pix"
import { PayoutRefusal, PayoutState, PayoutStatus } from "effect-pix/payouts"
import { Row, statusOf } from "../../src/payouts/internal/queue/row.ts"
import { failures } from "../support/payouts.ts"

const write = Schema.encodeSync(
  Schema.fromJsonString(Schema.toCodecJson(Schema.Union([PayoutRefusal, OutcomeUnknown])))
)
const failure = write(failures.refused("key"))
const unclear = write(failures.unknown("key"))

/** Every kind of row that the table can hold; times and numbers are fixed. */
const rows = PayoutState.literals.flatMap((state) =>
  [null, 5].flatMap((mayHaveLeftAt) =>
    [null, 7].flatMap((withdrawalId) =>
      [null, failure, unclear, '{"_tag":"New"}', "{"].flatMap((error) =>
        [null, "OverMaxAmount"].map((parkedBecause) =>
          Row.make({
            account: "default",
            idempotencyKey: "payout_key",
            reference: "invoice-1",
            amount: 1000,
            requestCheck: "abc",
            submittedAt: 1,
            updatedAt: 2,
            state,
            mayHaveLeftAt,
            withdrawalId,
            error,
            parkedBecause
          })
        )
      )
    )
  )
)

describe("the status of a payout", () => {
  it("fits its schema for every row, and has only the fields of its state", () => {
    const codec = Schema.toCodecJson(PayoutStatus)
    for (const row of rows) {
      const status = statusOf(row)
      const written = Schema.encodeSync(codec)(status)
      const read = Schema.decodeUnknownSync(codec)(written, { onExcessProperty: "error" })
      assert.deepStrictEqual(Object.keys(read).toSorted(), Object.keys(status).toSorted(), JSON.stringify(row))
    }
  })

  it("has the values of its row", () => {
    const [row] = rows
    assert(row !== undefined)
    assert.deepStrictEqual(statusOf({ ...row, state: "parked", mayHaveLeftAt: 5, error: failure }), {
      _tag: "Parked",
      state: "parked",
      reference: "invoice-1",
      idempotencyKey: "payout_key",
      amount: Schema.decodeUnknownSync(PayoutStatus.members[0].fields.amount)(1000),
      submittedAt: DateTime.makeUnsafe(1),
      updatedAt: DateTime.makeUnsafe(2),
      mayHaveLeftAt: DateTime.makeUnsafe(5),
      because: "Operator",
      error: failures.refused("key")
    })
  })
})
