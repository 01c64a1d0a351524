/**
 * Runs all schedules of a program, one after the other, and collects what is broken.
 */
import * as Effect from "effect/Effect"
import type { Payments } from "../../../client/Payments.ts"
import type { RehearsalOptions } from "../../RehearsalOptions.ts"
import type { RehearsalFinding, RehearsalReport, RehearsedRule, UndecidedSchedule } from "../../RehearsalReport.ts"
import { play, type Played } from "./play.ts"
import { allRules } from "./rules.ts"
import { type Schedule, schedulesOf, undisturbed } from "./schedules.ts"

/** Where a rule is explained: a page of the package. */
const pageOf = (rule: string) => `node_modules/effect-pix/docs/rehearsing.md#${rule}`

const findingsOf = (played: Played, plain: Played): ReadonlyArray<RehearsalFinding> => {
  const { schedule, story } = played
  const library = allRules
    .filter(([, { whyNot }]) => whyNot?.(plain) === undefined)
    .map(([rule, { check }]) => ({ schedule, rule, page: pageOf(rule), problems: check(played, plain), story }))
  const own = Object.entries(played.own).map(([rule, problem]) => ({
    schedule,
    rule,
    page: undefined,
    problems: problem === undefined ? [] : [problem],
    story
  }))
  return [...library, ...own].filter(({ problems }) => problems.length > 0)
}

const checkedRules = (plain: Played): ReadonlyArray<RehearsedRule> => [
  ...allRules.map(([rule, { whyNot }]) => ({ rule, notChecked: whyNot?.(plain) })),
  ...Object.keys(plain.own).map((rule) => ({ rule, notChecked: undefined }))
]

const whyUndecided = ({ end, isEscaped }: Played): string | undefined =>
  end === "NotEnded" && isEscaped
    ? "The program waits for work outside of Effect's clock (a file, a socket, a thread), so whether it ends cannot be said."
    : undefined

const choose = (schedules: ReadonlyArray<Schedule>, only: string | undefined): ReadonlyArray<Schedule> => {
  if (only === undefined) return schedules
  const chosen = schedules.filter(({ name }) => name === only)
  if (chosen.length > 0) return chosen
  const known = schedules.map(({ name }) => `\n  ${name}`).join("")
  throw new Error(`Rehearsal: the program has no schedule ${JSON.stringify(only)}. It has these:${known}`)
}

/** The undisturbed run, and the schedules that it leads to. One that does not end has none: its calls are not all known. */
const learn = Effect.fnUntraced(function* <A, E, S>(
  program: Effect.Effect<A, E, Payments | S>,
  options: RehearsalOptions<S>
) {
  const plain = yield* play(program, options, undisturbed)
  const schedules = plain.end === "NotEnded" ? [] : schedulesOf(plain)
  return { plain, schedules: choose([undisturbed, ...schedules], options.only) }
})

/** See `Rehearsal.run`. */
export const run = Effect.fnUntraced(function* <A, E, S>(
  program: Effect.Effect<A, E, Payments | S>,
  options: RehearsalOptions<S>
) {
  const { plain, schedules } = yield* learn(program, options)
  const findings: Array<RehearsalFinding> = []
  const undecided: Array<UndecidedSchedule> = []
  for (const schedule of schedules) {
    const played = schedule === undisturbed ? plain : yield* play(program, options, schedule)
    const why = whyUndecided(played)
    if (why === undefined) findings.push(...findingsOf(played, plain))
    else undecided.push({ schedule: schedule.name, why })
  }
  const report: RehearsalReport = {
    schedules: schedules.length,
    calls: plain.calls.map(({ number, operation }) => `${number} ${operation}`),
    rules: checkedRules(plain),
    findings,
    undecided
  }
  return report
})
