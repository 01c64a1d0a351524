/** Checks of single values that several answers have: times, decimals, words. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Timestamp } from "../../../internal/wire.ts"
import { type Findings, formOf, places, word } from "./findings.ts"

const isTime = (text: string) => Option.isSome(Schema.decodeOption(Timestamp)(text))
const hasOffset = (text: string) => /(?:Z|[+-]\d{2}(?::?\d{2})?)$/i.test(text.slice(10))

/** `offset`: whether the description shows these with one. */
export const checkTimes = (findings: Findings, name: string, values: ReadonlyArray<unknown>, offset: boolean): void => {
  const texts = values.filter((value) => typeof value === "string")
  if (texts.length === 0)
    return findings.tell("skipped", `${name}: timestamps are ISO 8601`, places.times, "there is none")
  const bad = [...new Set(texts.filter((text) => !isTime(text)).map(formOf))]
  findings.expect(bad.length === 0, `${name}: timestamps are ISO 8601`, places.times, `their form is ${bad.join(", ")}`)
  const bare = [...new Set(texts.filter((text) => isTime(text) && !hasOffset(text)).map(formOf))]
  const what = `${name}: timestamps say their offset from UTC`
  if (bare.length === 0) findings.tell("holds", what, places.times)
  else findings.tell(offset ? "wrong" : "note", what, places.times, `their form is ${bare.join(", ")}: read as UTC`)
}

/** Words that are not documented are taken, so they are worth knowing; `closed` ones decide something. */
export const checkWords = (
  findings: Findings,
  name: string,
  values: ReadonlyArray<unknown>,
  known: ReadonlyArray<string>,
  closed: boolean
): void => {
  const strange = [...new Set(values.filter((value) => typeof value !== "string" || !known.includes(value)).map(word))]
  const what = `${name}: ${known.join(", ")}`
  if (values.length === 0) return findings.tell("skipped", what, places.words, "there is none")
  if (strange.length === 0) return findings.tell("holds", what, places.words)
  findings.tell(closed ? "wrong" : "note", what, places.words, `also ${strange.slice(0, 20).join(", ")}`)
}

/** Decimals are read from the text: a number of JavaScript has lost their digits already. */
export const checkDecimals = (findings: Findings, text: string, fields: ReadonlySet<string>): void => {
  for (const field of fields) {
    const [, quote, digits] = new RegExp(String.raw`"${field}"\s*:\s*("?)(-?\d[\d.eE+-]*)`).exec(text) ?? []
    if (digits === undefined) continue
    const decimals = /\.(\d+)/.exec(digits)?.[1]?.replace(/(?<!0)0+$/, "").length ?? 0
    const what = `Balance: ${field} is in reais with at most two decimals`
    findings.expect(decimals <= 2, what, places.decimals, `it has ${decimals}, and no number of centavos is it`)
    const plain = `Balance: ${field} is a plain number`
    if (quote === '"') findings.tell("note", plain, places.decimals, "it is a text: taken")
    else if (/e/i.test(digits)) findings.tell("note", plain, places.decimals, "it is written with an exponent: taken")
    else findings.tell("holds", plain, places.decimals)
  }
}
