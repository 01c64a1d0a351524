import { assert, describe, it } from "@effect/vitest"
import { DateTime, Result, Schema } from "effect"
import * as EndToEndId from "../../src/pix/EndToEndId.ts"

const parse = (text: string) => Result.getOrThrow(EndToEndId.parse(text))

describe("EndToEndId.parse", () => {
  it("parse reads ISPB, minute and suffix of Bacen's examples", () => {
    const id = parse("E12345678202009091221abcdef12345")
    assert.strictEqual(id.kind, "payment")
    assert.strictEqual(id.ispb, "12345678")
    assert.strictEqual(DateTime.formatIso(id.at), "2020-09-09T12:21:00.000Z")
    assert.strictEqual(id.suffix, "abcdef12345")
    assert.strictEqual(parse("E12345678202009091221kkkkkkkkkkk").suffix, "kkkkkkkkkkk")
  })

  it("parse reads returns, ISPBs with letters, and leap days", () => {
    const id = parse("D12ABC678202402292359ABCdef12345")
    assert.strictEqual(id.kind, "return")
    assert.strictEqual(id.ispb, "12ABC678")
    assert.strictEqual(DateTime.formatIso(id.at), "2024-02-29T23:59:00.000Z")
    assert.strictEqual(id.suffix, "ABCdef12345")
  })

  it.each([
    ["Bacen's example of 34 characters", "E88631478202009091221ghijk78901234"],
    ["the directory's example of a 34th day", "E9999901012341234123412345678900"],
    ["a lower-case e", "e12345678202009091221abcdef12345"],
    ["a suffix with a hyphen", "E12345678202009091221abcdef-2345"],
    ["a lower-case ISPB", "E1234567a202009091221abcdef12345"],
    ["a line break", "E12345678202009091221abcdef12345\n"],
    ["nothing", ""],
    ["the 31st of February", "E12345678202102311221abcdef12345"],
    ["the 29th of February of a common year", "E12345678202102291221abcdef12345"],
    ["a 13th month", "E12345678202013091221abcdef12345"],
    ["a 25th hour", "E12345678202009092421abcdef12345"],
    ["a 61st minute", "E12345678202009091260abcdef12345"]
  ])("parse refuses %s without quoting it", (_, text) => {
    const refused = EndToEndId.parse(text)
    assert.isTrue(Result.isFailure(refused))
    if (Result.isFailure(refused)) {
      assert.instanceOf(refused.failure, EndToEndId.InvalidEndToEndId)
      assert.notMatch(refused.failure.message, /\d{4}/)
    }
  })

  it.prop("parse returns a value or a typed error for any text", [Schema.String], ([any]) => {
    for (const text of [any, `E12345678${any}abcdef12345`, `E12345678202009091221${any}`]) {
      const read = EndToEndId.parse(text)
      assert.isTrue(Result.isSuccess(read) || read.failure instanceof EndToEndId.InvalidEndToEndId)
    }
  })
})
