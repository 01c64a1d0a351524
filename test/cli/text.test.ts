/** How the command reads amounts, and writes text for sheets, terminals and shells. */
import { expect, test } from "@effect/vitest"
import { Cause, DateTime, Option } from "effect"
import { Money } from "effect-pix"
import { decimal, inBoth, parseAmount } from "../../src/cli/internal/amount.ts"
import { failedOf } from "../../src/cli/internal/exit.ts"
import { ageOf, csvRow, jsonLine, mask, plain, shellWord } from "../../src/cli/internal/text.ts"

test.each([
  ["2500", 2500],
  ["25,00", 2500],
  ["25.00", 2500],
  ["R$ 1.234,56", 123_456],
  ["0,01", 1]
])("the amount %j is %i centavos", (text, centavos) => {
  expect(Option.getOrUndefined(parseAmount(text))).toBe(centavos)
})

test.each(" 25,0 25,000 1.234 1,234.56 -25,00 1e3 0x10 ２５ 12.345.678 99999999999999999999".split(" "))(
  "the amount %j could mean two things, or nothing, and is refused",
  (text) => {
    expect(Option.isNone(parseAmount(text))).toBe(true)
  }
)

test.each([
  [0, "0s"],
  [59, "59s"],
  [3600, "1h"],
  [3905, "1h 5m"],
  [93_600, "1d 2h"],
  [-5, "0s"]
])("an age of %i seconds is %s", (seconds, words) => {
  expect(ageOf(DateTime.makeUnsafe(0), seconds * 1000)).toBe(words)
})

test.each(["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\u200b=1", "＝1"])(
  "%j, which a sheet would run, is made a text in CSV",
  (formula) => {
    expect(csvRow([formula])).toBe(`"'${formula}"\r\n`)
  }
)

test("commas, quotes and line breaks stay in their cell of CSV", () => {
  expect(csvRow(["a,b", 'say "hi"', "two\nlines", "plain"])).toBe('"a,b","say ""hi""","two\nlines",plain\r\n')
})

test("escape codes and direction marks of a gateway's text reach no terminal, and CSV and JSON stay valid", () => {
  expect(plain("a\u001b[2Jb\u202ec\nd\u2028e\ud800f")).toBe("a?[2Jb?c?d?e?f")
  const hostile = "a\u001b[2J\u009b1m\u202eb\nc"
  expect(csvRow([hostile])).toBe('"a?[2J?1m?b\nc"\r\n')
  const line = jsonLine({ hostile })
  expect(line.trimEnd()).not.toMatch(/[\p{Cc}\u202e]/u)
  expect(JSON.parse(line)).toEqual({ hostile })
})

test("names, e-mails and numbers are masked so that a person cannot be recognised", () => {
  expect(["Maria da Silva", "maria@example.com", "@", "52998224725"].map(mask)).toEqual([
    "M*** d*** S***",
    "m***@e***",
    "@",
    "5***"
  ])
})

test("a word that a shell would change is quoted, and no other", () => {
  for (const word of ["plain", "a/b-c_d.e", "--x=y", "R@%+:,1"]) expect(shellWord(word)).toBe(word)
  for (const word of ["a b", '"', "$HOME", "`id`", "a\nb", "*", "", "!x", "x;y"])
    expect(shellWord(word)).toBe(`'${word}'`)
  expect(shellWord("it's")).toBe(String.raw`'it'\''s'`)
})

test("an error that nobody foresaw is named, without its words, which may hold a secret", () => {
  for (const error of [new TypeError("hunter2"), Object.assign(new TypeError("hunter2"), { outcome: "odd" })])
    expect(failedOf(Cause.die(error))).toMatchObject({
      code: 1,
      message: expect.stringMatching(/^(?!.*hunter2).*TypeError/)
    })
  expect(failedOf(Cause.die({ outcome: "Rejected" }))?.message).toContain("something that is no error")
})

test("an amount is shown in both units, and to machines with two decimals and a point", () => {
  expect(inBoth(Money.centavos(123_456))).toBe("R$ 1.234,56 (123456 centavos)")
  expect(decimal(Money.reais("1234.5"))).toBe("1234.50")
  expect(decimal(Money.reais("-0.505"))).toBe("-0.505")
})
