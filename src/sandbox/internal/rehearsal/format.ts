/**
 * Writes a report as text.
 */
import type { RehearsalFinding, RehearsalReport } from "../../RehearsalReport.ts"
import { formatLine, type StoryLine } from "./story.ts"

/** The words of a lookup's line without its number. Repeated lookups have the same words. */
const wordsOf = ({ text }: StoryLine) => /^call \d+ getTransaction: (.*)$/.exec(text)?.[1]

/** How many lines after the lookup at an index repeat it. A lookup has two lines: a question and its answer. */
const repeatedFrom = (story: ReadonlyArray<StoryLine>, index: number): number => {
  const [question, answer] = story.slice(index, index + 2).map(wordsOf)
  if (question === undefined || answer === undefined) return 0
  let end = index + 2
  while (
    story
      .slice(end, end + 2)
      .map(wordsOf)
      .join("\n") === `${question}\n${answer}`
  )
    end += 2
  return end - index - 2
}

/** The lines of a story. Repeated lookups with one answer are shown as the first one and their number. */
const formatStory = (story: ReadonlyArray<StoryLine>): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (let index = 0; index < story.length; index++) {
    const repeated = repeatedFrom(story, index)
    lines.push(...story.slice(index, index + 1).map(formatLine))
    if (repeated < 4) continue
    const last = story.slice(index + 1 + repeated, index + 2 + repeated)
    lines.push(...story.slice(index + 1, index + 2).map(formatLine))
    lines.push(...last.map(({ at }) => formatLine({ at, text: `the same ${repeated / 2} times more, until now` })))
    index += repeated + 1
  }
  return lines
}

export const formatFinding = ({ page, problems, rule, schedule, story }: RehearsalFinding): string =>
  [
    `${rule}: ${problems.join(" ")}`,
    ...formatStory(story),
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
