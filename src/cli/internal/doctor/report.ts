/** The findings for people: on the terminal, and as a page that can be attached to an issue. */
import type { Finding, Verdict } from "./findings.ts"

const labels: Record<Verdict, string> = { holds: "ok   ", wrong: "WRONG", note: "note ", skipped: "skip " }
const order: ReadonlyArray<Verdict> = ["wrong", "note", "skipped", "holds"]

const lineOf = ({ seen, verdict, what, where }: Finding): string =>
  `${labels[verdict]}  ${what}${seen === undefined ? "" : `: ${seen}`}${verdict === "holds" ? "" : `\n         in ${where}`}`

export const countsOf = (findings: ReadonlyArray<Finding>): string => {
  const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length
  return `${count("holds")} hold, ${count("wrong")} wrong, ${count("note")} to know, ${count("skipped")} not checked`
}

export const textOf = (findings: ReadonlyArray<Finding>): string => findings.map(lineOf).join("\n")

const cell = (text: string) => text.replaceAll("|", String.raw`\|`)

/** Markdown. `about` says what was run, where and when. */
export const reportOf = (findings: ReadonlyArray<Finding>, about: ReadonlyArray<string>): string => {
  const rows = order.flatMap((verdict) =>
    findings
      .filter((finding) => finding.verdict === verdict)
      .map(({ seen = "", what, where }) => `| ${labels[verdict].trim()} | ${cell(what)} | ${cell(seen)} | ${where} |`)
  )
  return [
    "# effect-pix doctor",
    "",
    ...about.map((line) => `- ${line}`),
    `- ${countsOf(findings)}`,
    "",
    "It holds names of fields, words of vocabularies and forms of values; no values, no address, no credentials.",
    "",
    "| verdict | assumption | seen | where |",
    "| --- | --- | --- | --- |",
    ...rows,
    ""
  ].join("\n")
}
