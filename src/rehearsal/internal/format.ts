/**
 * Writes a report as text.
 */
import type { RehearsalFinding, RehearsalReport, RehearsedRule } from "../RehearsalReport.ts"
import { formatLine, type ShortName } from "./story.ts"

/** The table of the package's page that explains each rule. */
const page = "node_modules/effect-pix/docs/rehearsal.md#the-rules"

/** Writes the short names of ids. Only those that the text has are in the legend. */
const shorten = (text: string, legend: ReadonlyArray<ShortName>): string => {
  const used = legend.filter(({ id }) => text.includes(id))
  // A longer id first: another one may be its beginning.
  const byLength = used.toSorted((a, b) => b.id.length - a.id.length)
  const short = byLength.reduce((short, { id, name }) => {
    const [noun = ""] = name.split(" ")
    const after = name.slice(noun.length)
    return short
      .replaceAll(` ${noun} ${id}`, ` ${name}`)
      .replaceAll(`Charge ${id}`, `Charge${after}`)
      .replaceAll(id, name)
  }, text)
  return [short, ...used.map(({ id, name }) => `${name.padStart(15)}  ${id}`)].join("\n")
}

export const formatFinding = ({ legend, problems, rule, schedule, story }: RehearsalFinding): string =>
  [
    shorten([`${rule}: ${problems.join(" ")}`, ...story.map(formatLine)].join("\n"), legend),
    `To play it alone: { only: ${JSON.stringify(schedule)} }`
  ].join("\n")

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`

/** How many schedules with the same finding are listed. */
const mostListed = 5

/** The story of the first finding of a rule, and the other schedules that break it. */
const formatRule = ([first, ...others]: ReadonlyArray<RehearsalFinding>): ReadonlyArray<string> => {
  if (first === undefined) return []
  const left = others.length - mostListed
  return [
    "",
    formatFinding(first),
    ...others.slice(0, mostListed).map(({ schedule }) => `  also in: ${schedule}`),
    ...(left > 0 ? [`  also in ${count(left, "more schedule")}`] : [])
  ]
}

/** The rules that were not checked, with the reason that several of them may have. */
const formatUnchecked = (rules: ReadonlyArray<RehearsedRule>): ReadonlyArray<string> =>
  [...new Set(rules.map(({ notChecked }) => notChecked).filter((reason) => reason !== undefined))].map((reason) => {
    const names = rules.filter(({ notChecked }) => notChecked === reason).map(({ rule }) => rule)
    return `Not checked: ${names.join(", ")}: ${reason}.`
  })

/** `missing`: the rules that have to be checked, and were not. */
export const formatReport = (
  { findings, rules, schedules, undecided, writes }: RehearsalReport,
  missing: ReadonlyArray<string> = []
): string => {
  const found = [...new Set(findings.map(({ rule }) => rule))].map((rule) =>
    findings.filter((finding) => finding.rule === rule)
  )
  return [
    `${count(schedules, "schedule")}. Undisturbed, ${writes.succeeded} of ${count(writes.made, "write")} succeeded.`,
    `${count(findings.length, "finding")}.`,
    ...(writes.succeeded === 0
      ? ["Where nothing goes wrong, nothing was paid or charged: nothing of it was rehearsed."]
      : []),
    ...(missing.length === 0
      ? []
      : [
          `Has to be checked, and was not: ${missing.join(", ")}. Declare what they need, or name the rules that have to be checked: { checks: [...] }.`
        ]),
    ...found.flatMap(formatRule),
    ...(found.length === 0 ? [] : ["", `The rules: ${page}`]),
    ...formatUnchecked(rules),
    ...undecided.map(({ schedule, why }) => `Undecided: ${schedule}. ${why}`)
  ].join("\n")
}
