import { assert, describe, it } from "@effect/vitest"
import { DateTime, Option, Schema } from "effect"
import { Timestamp } from "../../src/internal/wire.ts"
import { runs, seed, seeded } from "../support/seed.ts"

/** How many random texts are read. */
const texts = runs(1500, 20_000)

const decode = Schema.decodeUnknownOption(Timestamp)

/** Reads a text as milliseconds; `undefined` if it is refused. */
const read = (text: string) => Option.getOrUndefined(Option.map(decode(text), DateTime.toEpochMillis))

const good: ReadonlyArray<readonly [text: string, utc: string]> = [
  ["2026-11-21T12:00:00Z", "2026-11-21T12:00:00.000Z"],
  ["2026-11-21T12:00:00.1Z", "2026-11-21T12:00:00.100Z"],
  ["2026-11-21T12:00:00.1239999Z", "2026-11-21T12:00:00.123Z"],
  ["2026-11-21T12:00:00.1234567", "2026-11-21T12:00:00.123Z"],
  ["2026-11-21T12:00:00.123456789-03:00", "2026-11-21T15:00:00.123Z"],
  ["2026-10-31T23:59:59.999-03:00", "2026-11-01T02:59:59.999Z"],
  ["2026-01-01T00:00:00+05:30", "2025-12-31T18:30:00.000Z"],
  ["2026-11-30T00:00:00-00:00", "2026-11-30T00:00:00.000Z"],
  ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"],
  ["2000-02-29T12:00:00Z", "2000-02-29T12:00:00.000Z"],
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

  const form =
    /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:Z|([+-])(\d\d)(?::?(\d\d))?)?)?$/i

  /** The expected milliseconds by the calendar of `Date`, which moves a day that does not exist to the next month. */
  const expected = (text: string): number | undefined => {
    const match = form.exec(text)
    if (match === null) return undefined
    const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
      .slice(1, 7)
      .map((n) => Number(n ?? 0))
    const [fraction = "", sign, hours = 0, minutes = 0] = match.slice(7)
    const date = new Date(0)
    date.setUTCFullYear(year, month - 1, day)
    const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
    const isMidnight = hour === 24 && minute === 0 && second === 0 && Number(fraction) === 0
    const fits =
      (hour <= 23 || isMidnight) && minute <= 59 && second <= 59 && Number(hours) <= 23 && Number(minutes) <= 59
    if (!exists || !fits) return undefined
    date.setUTCHours(hour, minute, second, Number(fraction.padEnd(3, "0").slice(0, 3)))
    return date.getTime() - (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60_000 : 60_000)
  }

  it(`a random text is read like the calendar of Date or refused, in ${texts} texts`, () => {
    const random = seeded(seed)
    const two = (limit: number) => String(random.below(limit)).padStart(2, "0")
    const valid = () => {
      const date = `${random.pick(["2026", "2024", "1900", "2000", "0000", "9999"])}-${two(14)}-${two(33)}`
      const seconds = random.pick(["", ":00", `:${two(61)}`, `:${two(60)}.${two(100)}`, ":00.1234567"])
      const zone = random.pick(["", "Z", "z", `+${two(26)}:${two(62)}`, `-${two(26)}`, `-${two(26)}${two(62)}`])
      const time = `${two(25)}:${two(random.pick([61, 1]))}${seconds}${zone}`
      return random.pick([date, `${date}T${time}`, `${date} ${time}`])
    }
    const mutated = (text: string) => {
      const at = random.below(text.length + 1)
      const char = random.pick(["", "0", "3", "9", "-", "+", ":", ".", ",", "T", "Z", " ", "١"])
      return text.slice(0, at) + char + text.slice(at + random.below(3))
    }
    let taken = 0
    for (let run = 0; run < texts; run++) {
      const text = random.next() < 0.5 ? valid() : mutated(valid())
      const millis = expected(text)
      assert.strictEqual(read(text), millis, text)
      if (millis !== undefined) taken++
    }
    assert.isAbove(taken, texts / 10)
  })
})
