import { deepStrictEqual } from "node:assert"
import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Equal, Hash, Option, Schema } from "effect"
import { TransactionListItem } from "../../src/contract/Transaction.ts"
import { drawn } from "../support/seed.ts"

const Timestamp = TransactionListItem.fields.createdAt.schema
const decode = Schema.decodeUnknownOption(Timestamp)

/** Reads a text as milliseconds; `undefined` if it is refused. */
const read = (text: string) => Option.getOrUndefined(Option.map(decode(text), DateTime.toEpochMillis))

const good: ReadonlyArray<readonly [text: string, utc: string]> = [
  ["2026-11-21T12:00:00Z", "2026-11-21T12:00:00.000Z"],
  ["2026-11-21T12:00:00.1239999Z", "2026-11-21T12:00:00.123Z"],
  ["2026-11-21T12:00:00.123456789-03:00", "2026-11-21T15:00:00.123Z"],
  ["2026-10-31T23:59:59.999-03:00", "2026-11-01T02:59:59.999Z"],
  ["2026-01-01T00:00:00+05:30", "2025-12-31T18:30:00.000Z"],
  ["2026-11-30T00:00:00-00:00", "2026-11-30T00:00:00.000Z"],
  ["1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"],
  ["0001-01-01T00:00:00", "0001-01-01T00:00:00.000Z"],
  ["9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999Z"],
  ["2026-11-21T24:00:00Z", "2026-11-22T00:00:00.000Z"],
  ["2026-11-21", "2026-11-21T00:00:00.000Z"],
  ["2026-11-21 12:00:00", "2026-11-21T12:00:00.000Z"],
  ["2026-11-21T12:00-03", "2026-11-21T15:00:00.000Z"],
  ["2026-11-21T12:00:00,5-0330", "2026-11-21T15:30:00.500Z"],
  ["2026-11-21t12:00:00z", "2026-11-21T12:00:00.000Z"]
]

const bad = [
  ..."2026-02-29T12:00:00Z 2026-02-30 2026-02-31T12:00:00-03:00 2100-02-29T12:00:00".split(" "),
  ..."2026-11-31T12:00:00.1234567 2026-00-10T12:00:00Z 2026-13-01T12:00:00Z 2026-11-00T12:00:00Z".split(" "),
  ..."2026-11-32 2026-11-21T12:00:00+73:66 2026-11-21T12:00:00+24:00 2026-11-21T12:00:00-03:60".split(" "),
  ..."2026-11-21T12:00+2500 2026-11-21T24:00:00.001Z 2026-11-21T24:01:00Z 2026-11-21T25:00:00Z".split(" "),
  ..."2026-11-21T12:60:00Z 2026-11-21T12:00:60Z 2026-11-21T12:00:00.Z 2026-11-21T12Z 2026-11-21Z".split(" "),
  ..."2026-11-21-03:00 +002026-11-21T12:00:00Z 2026-1١-21T12:00:00Z 21/11/2026 1795262400".split(" "),
  "2026-04-31 12:00",
  "2026-11-21T12:00:00Z ",
  "Sat, 21 Nov 2026 12:00:00 GMT",
  ""
]

describe("a timestamp of the wire", () => {
  it.each(good)("%s is read as %s, which is what is sent", (text, utc) => {
    assert.strictEqual(read(text), Date.parse(utc))
    assert.strictEqual(Schema.encodeSync(Timestamp)(DateTime.makeUnsafe(utc)), utc)
  })

  it.each(bad)("%j is refused, and the error says what is expected", (text) => {
    assert.isUndefined(read(text))
    assert.match(String(Schema.decodeUnknownResult(Timestamp)(text)), /an ISO 8601 timestamp/)
  })

  it("a time that is read is like one that Effect makes, before and after its parts were asked for", () => {
    for (const text of ["2026-11-21T12:00:00.123-03:00", "2026-11-21T15:00:00,123Z"]) {
      const [time, effects] = [Schema.decodeSync(Timestamp)(text), DateTime.makeUnsafe("2026-11-21T15:00:00.123Z")]
      for (let again = 0; again < 2; again++) {
        deepStrictEqual(time, effects)
        deepStrictEqual({ at: [effects] }, { at: [time] })
        assert.isTrue(Equal.equals(time, effects) && Equal.equals(effects, time))
        assert.strictEqual(Hash.hash(time), Hash.hash(effects))
        assert.deepStrictEqual(Object.entries(time), Object.entries(effects))
        assert.deepStrictEqual({ ...time }, { ...effects })
        assert.strictEqual(JSON.stringify(time), JSON.stringify(effects))
        assert.strictEqual(inspect(time), inspect(effects))
        assert.isTrue(DateTime.isDateTime(time) && DateTime.isUtc(time))
        for (const name of Object.getOwnPropertyNames(effects)) assert.isTrue(name in time, name)
        assert.deepStrictEqual(DateTime.toPartsUtc(time), DateTime.toPartsUtc(effects))
      }
      const day = { days: 11 }
      assert.isTrue(Equal.equals(DateTime.add(time, day), DateTime.add(effects, day)))
      const zone = { timeZone: "America/Sao_Paulo" }
      assert.strictEqual(
        DateTime.formatIsoZoned(DateTime.makeZonedUnsafe(time, zone)),
        DateTime.formatIsoZoned(DateTime.makeZonedUnsafe(effects, zone))
      )
    }
  })

  it("each day of two centuries is read as Date reads it", () => {
    const count = (Date.UTC(2101, 2, 2) - Date.UTC(1899, 11, 1)) / 86_400_000
    for (const day of drawn(Array.from({ length: count }, (_, at) => Date.UTC(1899, 11, 1 + at))))
      assert.strictEqual(read(new Date(day).toISOString()), day)
  })
})
