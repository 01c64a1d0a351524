/**
 * Writes a report as text.
 */
import type { RehearsalFinding, RehearsalReport, RehearsedRule } from "../RehearsalReport.ts"
import { fold } from "./fold.ts"
import { betterRules } from "./rules.ts"
import { formatLine, type ShortName } from "./story.ts"

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

export const formatFinding = ({ legend, page, problems, rule, schedule, story }: RehearsalFinding): string =>
  [
    shorten([`${rule}: ${problems.join(" ")}`, ...fold(story).map(formatLine)].join("\n"), legend),
    ...(page === undefined ? [] : [`The rule: ${page}`]),
    `To play it alone: { only: ${JSON.stringify(schedule)} }`
  ].join("\n")

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`

/** How many schedules with the same finding are listed. */
const mostListed = 5

/** The story of one finding of a rule, and the other schedules that break it. */
const formatRule = ([first, ...others]: ReadonlyArray<RehearsalFinding>): ReadonlyArray<string> => {
  if (first === undefined) return []
  const isAlways = first.schedule === "undisturbed"
  const listed = isAlways ? [] : others.slice(0, mostListed)
  const left = others.length - listed.length
  return [
    "",
    formatFinding(first),
    ...listed.map(({ schedule }) => `  also in: ${schedule}`),
    ...(left > 0
      ? [`  also in ${left} ${isAlways ? "disturbed" : "more"} ${left === 1 ? "schedule" : "schedules"}`]
      : [])
  ]
}

/**
 * The findings rule by rule. The story of a rule is of a schedule in which no other rule tells the cause better. Where there is
 * none, the rule comes last, in one line.
 */
const formatFindings = (findings: ReadonlyArray<RehearsalFinding>): ReadonlyArray<string> => {
  const broken = new Map<string, Set<string>>()
  for (const { rule, schedule } of findings) broken.set(schedule, (broken.get(schedule) ?? new Set()).add(rule))
  const better: Readonly<Record<string, ReadonlyArray<string>>> = betterRules
  const betterThan = ({ rule, schedule }: RehearsalFinding) =>
    (better[rule] ?? []).find((other) => broken.get(schedule)?.has(other))
  const rules = [...new Set(findings.map(({ rule }) => rule))].map((rule) => {
    const all = findings.filter((finding) => finding.rule === rule)
    return { all, rule, own: all.filter((finding) => betterThan(finding) === undefined) }
  })
  const secondary = rules
    .filter(({ own }) => own.length === 0)
    .map(({ all, rule }) => {
      const causes = new Set(all.map(betterThan))
      return `${rule} is broken too, in ${count(all.length, "schedule")}: see ${[...causes].join(", ")}.`
    })
  return [...rules.flatMap(({ own }) => formatRule(own)), ...(secondary.length === 0 ? [] : ["", ...secondary])]
}

/** The rules that were not checked, with the reason that several of them may have. */
const formatUnchecked = (rules: ReadonlyArray<RehearsedRule>): ReadonlyArray<string> =>
  [...new Set(rules.map(({ notChecked }) => notChecked).filter((reason) => reason !== undefined))].map((reason) => {
    const names = rules.filter(({ notChecked }) => notChecked === reason).map(({ rule }) => rule)
    return `Not checked: ${names.join(", ")}: ${reason}.`
  })

/** What was played, in words: only what there was. */
const playedOf = ({ schedules, steps }: Pick<RehearsalReport, "schedules" | "steps">): string =>
  [
    ...(schedules > steps ? [count(schedules - steps, "schedule")] : []),
    ...(steps > 0 ? [count(steps, "step")] : [])
  ].join(", ")

export const formatReport = ({ findings, rules, schedules, steps, undecided }: RehearsalReport): string => {
  const unchecked = rules.filter(({ notChecked }) => notChecked !== undefined).map(({ rule }) => rule)
  const missing = findings.filter(({ story }) => story.length === 0)
  const found = findings.filter(({ story }) => story.length > 0)
  return [
    `${playedOf({ schedules, steps })}. Not checked: ${unchecked.length === 0 ? "nothing" : unchecked.join(", ")}.`,
    `${count(found.length, "finding")}.`,
    ...(missing.length === 0
      ? []
      : [
          `Has to be checked, and was not: ${missing.map(({ rule }) => rule).join(", ")}. Declare what they need, or name the rules that have to be checked: { checks: [...] }.`
        ]),
    ...formatFindings(found),
    ...(found.length === 0 ? [] : [""]),
    ...formatUnchecked(rules),
    ...undecided.map(({ schedule, why }) => `Undecided: ${schedule}. ${why}`)
  ].join("\n")
}
