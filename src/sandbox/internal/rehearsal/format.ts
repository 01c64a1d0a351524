/**
 * A report as a person reads it.
 */
import type { RehearsalFinding, RehearsalReport } from "../../RehearsalReport.ts"
import { formatLine } from "./story.ts"

export const formatFinding = ({ page, problems, rule, schedule, story }: RehearsalFinding): string =>
  [
    `${rule}: ${problems.join(" ")}`,
    ...story.map(formatLine),
    ...(page === undefined ? [] : [`The rule: ${page}`]),
    `To play it alone: { only: ${JSON.stringify(schedule)} }`
  ].join("\n")

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`

const firstOfEachRule = (findings: ReadonlyArray<RehearsalFinding>) =>
  findings
    .filter(({ rule }, index) => findings.findIndex((other) => other.rule === rule) === index)
    .flatMap((first) => {
      const others = findings.filter((other) => other !== first && other.rule === first.rule)
      return ["", formatFinding(first)].concat(others.map(({ schedule }) => `  also in: ${schedule}`))
    })

export const formatReport = ({ calls, findings, rules, schedules, undecided }: RehearsalReport): string =>
  [
    `${count(schedules, "schedule")} of ${count(calls.length, "call")}: ${count(findings.length, "finding")}.`,
    ...firstOfEachRule(findings),
    ...(findings.length === 0 ? [] : [""]),
    ...rules.flatMap(({ notChecked, rule }) =>
      notChecked === undefined ? [] : [`Not checked: ${rule}, ${notChecked}.`]
    ),
    ...undecided.map(({ schedule, why }) => `Undecided: ${schedule}. ${why}`)
  ].join("\n")
