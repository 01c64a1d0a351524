import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Status from "../../src/contract/Status.ts"

// The words of docs/service.md.
const vocabularies = {
  created: { schema: Status.CreatedStatus, words: ["WAITING_PAYMENT"] },
  list: { schema: Status.ListStatus, words: ["PENDING"] },
  detail: { schema: Status.DetailStatus, words: ["Awaiting", "Paid", "Cancelled", "Failed", "Refunded"] },
  withdrawal: { schema: Status.WithdrawalStatus, words: ["Awaiting"] },
  balance: { schema: Status.BalanceStatus, words: ["Released"] }
}

describe("Status", () => {
  for (const [place, { schema, words }] of Object.entries(vocabularies)) {
    it(`the vocabulary of ${place} accepts its own words and unknown ones`, () => {
      for (const word of [...words, "SomethingNew"]) assert.strictEqual(Schema.decodeUnknownSync(schema)(word), word)
      assert.throws(() => Schema.decodeUnknownSync(schema)(200))
    })
  }

  it("a detail is Open while it is Awaiting, and Final once it is Paid, Cancelled, Failed or Refunded", () => {
    assert.deepStrictEqual(vocabularies.detail.words.map(Status.progressOfDetail), [
      "Open",
      "Final",
      "Final",
      "Final",
      "Final"
    ])
  })

  it("a withdrawal is never known to be final", () => {
    assert.strictEqual(Status.progressOfWithdrawal("Awaiting"), "Open")
    for (const word of ["Paid", "Failed", "Cancelled", "Refunded", "Released"]) {
      assert.strictEqual(Status.progressOfWithdrawal(word), "Unknown")
    }
  })

  it("the words of another vocabulary are unknown to the detail, whatever their case", () => {
    for (const word of ["WAITING_PAYMENT", "PENDING", "Released", "PAID", "paid", "awaiting", "", "constructor"]) {
      assert.strictEqual(Status.progressOfDetail(word), "Unknown")
      assert.isFalse(Status.isDetailWord(word))
    }
    assert.isTrue(vocabularies.detail.words.every(Status.isDetailWord))
  })
})
