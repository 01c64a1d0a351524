import { assert, it } from "@effect/vitest"
import * as Status from "../../src/contract/Status.ts"

const detail = ["Awaiting", "Paid", "Cancelled", "Failed", "Refunded"]
const others = ["WAITING_PAYMENT", "PENDING", "Released", "PAID", "paid", "awaiting", "", "constructor"]

it("a detail is Open while it is Awaiting, Final after that, and Unknown in any other word", () => {
  assert.deepStrictEqual(detail.map(Status.progressOfDetail), ["Open", "Final", "Final", "Final", "Final"])
  assert.isTrue(detail.every(Status.isDetailWord))
  for (const word of others)
    assert.deepStrictEqual([Status.progressOfDetail(word), Status.isDetailWord(word)], ["Unknown", false])
})

it("a withdrawal is never known to be final", () => {
  assert.strictEqual(Status.progressOfWithdrawal("Awaiting"), "Open")
  for (const word of [...detail.slice(1), ...others]) assert.strictEqual(Status.progressOfWithdrawal(word), "Unknown")
})
