/** How the command reads amounts, and writes text for sheets, terminals and shells. */
import { describe, expect, test } from "@effect/vitest"
import { Option } from "effect"
import { execFileSync } from "node:child_process"
import { Money } from "effect-pix"
import { decimal, inBoth, parseAmount } from "../../src/cli/internal/amount.ts"
import { csvRow, jsonLine, maskEmail, maskName, maskNumber, plain, shellWord } from "../../src/cli/internal/text.ts"

describe("an amount of the command line", () => {
  test.each([
    ["2500", 2500],
    ["25,00", 2500],
    ["25.00", 2500],
    ["R$ 1.234,56", 123_456],
    ["0,01", 1]
  ] as const)("%s is %i centavos", (text, centavos) => {
    expect(Option.getOrUndefined(parseAmount(text))).toBe(centavos)
  })

  test.each([
    "",
    "25,0",
    "25,000",
    "1.234",
    "1,234.56",
    "-25,00",
    "1e3",
    "0x10",
    "２５",
    "12.345.678",
    "99999999999999999999"
  ])("%s could mean two things, or nothing, and is refused", (text) => {
    expect(Option.isNone(parseAmount(text))).toBe(true)
  })

  test("an amount is shown in both units, and to machines with two decimals and a point", () => {
    expect(inBoth(Money.centavos(123_456))).toBe("R$ 1.234,56 (123456 centavos)")
    expect(decimal(Money.reais("1234.5"))).toBe("1234.50")
    expect(decimal(Money.reais("-0.505"))).toBe("-0.505")
  })
})

describe("a cell of a CSV file", () => {
  test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\u200b=1", "＝1"])(
    "%j, which a sheet would run, is made a text",
    (formula) => {
      expect(csvRow([formula])).toBe(`"'${formula}"\r\n`)
    }
  )

  test("commas, quotes and line breaks stay in their cell", () => {
    expect(csvRow(["a,b", 'say "hi"', "two\nlines", "plain"])).toBe('"a,b","say ""hi""","two\nlines",plain\r\n')
  })
})

describe("text on a terminal", () => {
  test("escape codes, direction marks and line breaks of a gateway's text are not passed on", () => {
    expect(plain("a\u001b[2Jb\u202ec\nd\u2028e")).toBe("a?[2Jb?c?d?e")
  })

  test("escape codes and direction marks are made inert in CSV and JSON, which stay valid", () => {
    const hostile = "a\u001b[2J\u009b1m\u202eb\nc"
    expect(csvRow([hostile])).toBe('"a?[2J?1m?b\nc"\r\n')
    const line = jsonLine({ hostile })
    expect(line.trimEnd()).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(JSON.parse(line)).toEqual({ hostile })
  })

  test("names, e-mails and numbers are masked so that a person cannot be recognised", () => {
    expect(maskName("Maria da Silva")).toBe("M*** d*** S***")
    expect(maskEmail("maria@example.com")).toBe("m***@e***")
    expect(maskNumber("52998224725")).toBe("***25")
    expect(maskNumber("12345")).toBe("***")
  })
})

describe("a word for a shell", () => {
  test.each(["plain", "it's", "a b", '"', "$HOME", "`id`", "a\nb", "*", "", "R$ 10,00", "!x", "--x=y;z"])(
    "%j is the same after a shell has parsed it",
    (word) => {
      expect(execFileSync("sh", ["-c", `printf %s ${shellWord(word)}`], { encoding: "utf8" })).toBe(word)
    }
  )
})
