/**
 * Plays all schedules of a program, one after the other, and collects the findings.
 */
import * as Effect from "effect/Effect"
import type { RehearsalOptions } from "../RehearsalOptions.ts"
import type { RehearsalFinding, RehearsalReport, RehearsedRule, UndecidedSchedule } from "../RehearsalReport.ts"
import type { Called } from "./calls.ts"
import { play, type Played } from "./play.ts"
import { allRules, type RuleName } from "./rules.ts"
import { isOfStep, type Schedule, schedulesOf, undisturbed } from "./schedules.ts"

/** The page of the package that explains a rule. */
const pageOf = (rule: string) => `node_modules/effect-pix/docs/rehearsal.md#${rule}`

const finding = (
  { legend, schedule, story }: Pick<Played, "schedule" | "story" | "legend">,
  rule: string,
  problems: ReadonlyArray<string>,
  page?: string
): ReadonlyArray<RehearsalFinding> => (problems.length === 0 ? [] : [{ schedule, rule, page, problems, story, legend }])

const findingsOf = (played: Played, plain: Played): ReadonlyArray<RehearsalFinding> => [
  ...allRules
    .filter(([, { reasonToSkip }]) => reasonToSkip?.(plain) === undefined)
    .flatMap(([rule, { check }]) => finding(played, rule, check(played, plain), pageOf(rule))),
  ...Object.entries(played.own).flatMap(([rule, problem]) =>
    finding(played, rule, problem === undefined ? [] : [problem])
  )
]

const checkedRules = (plain: Played): ReadonlyArray<RehearsedRule> => [
  ...allRules.map(([rule, { reasonToSkip }]) => ({ rule, notChecked: reasonToSkip?.(plain) })),
  ...Object.keys(plain.own).map((rule) => ({ rule, notChecked: undefined }))
]

/** A finding for each rule that has to be checked and was not. It has no story. */
const uncheckedOf = (rules: ReadonlyArray<RehearsedRule>, checks: ReadonlyArray<string>) =>
  rules
    .filter(({ notChecked, rule }) => notChecked !== undefined && checks.includes(rule))
    .flatMap(({ notChecked, rule }) => {
      const problem = `This rule has to be checked, and was not: ${notChecked}.`
      return finding({ schedule: undisturbed.name, story: [], legend: [] }, rule, [problem], pageOf(rule))
    })

const undecidedReason =
  "It ends only where real work is waited for: a file, a socket or a thread, which is not in the rehearsal's time."

/**
 * Plays schedules of one program. A run that does not end is played again, slowly: if it only waited for real work, it ends
 * then. If it does not, real work is not the reason, and later runs are played once.
 */
const makePlayer = <A, E, S>(program: Effect.Effect<A, E, Called | S>, options: RehearsalOptions<S>) => {
  let isFast = false
  return Effect.fnUntraced(function* (schedule: Schedule) {
    const played = yield* play(program, options, schedule)
    if (played.end !== "NotEnded" || isFast) return { played, isDecided: true }
    const slow = yield* play(program, options, schedule, true)
    isFast = slow.end === "NotEnded"
    return { played, isDecided: isFast }
  })
}

const unknownSchedule = (only: string, schedules: ReadonlyArray<Schedule>) => {
  const known = schedules.map(({ name }) => `\n  ${name}`).join("")
  return new Error(`Rehearsal: the program has no schedule ${JSON.stringify(only)}. It has these:${known}`)
}

/** See `Rehearsal.run`. */
export const run = Effect.fnUntraced(function* <A, E, S>(
  program: Effect.Effect<A, E, Called | S>,
  options: RehearsalOptions<S>,
  /** The rules that have to be checked, where the options name none. */
  defaultChecks: (plain: Played) => ReadonlyArray<RuleName> = () => []
) {
  const player = makePlayer(program, options)
  const plain = yield* player(undisturbed)
  // A run that does not end may not have made all its calls.
  const all = [undisturbed, ...(plain.played.end === "NotEnded" ? [] : schedulesOf(plain.played))]
  const { only } = options
  const schedules = all.filter(({ name }) => (only ?? name) === name)
  if (only !== undefined && schedules.length === 0) return yield* Effect.die(unknownSchedule(only, all))

  const findings: Array<RehearsalFinding> = []
  const undecided: Array<UndecidedSchedule> = []
  for (const schedule of schedules) {
    const { isDecided, played } = schedule === undisturbed ? plain : yield* player(schedule)
    if (isDecided) findings.push(...findingsOf(played, plain.played))
    else undecided.push({ schedule: schedule.name, why: undecidedReason })
  }
  const rules = checkedRules(plain.played)
  const report: RehearsalReport = {
    schedules: schedules.length,
    steps: schedules.filter(isOfStep).length,
    calls: plain.played.calls.map(({ number, operation }) => `${number} ${operation}`),
    rules,
    findings: [...uncheckedOf(rules, options.checks ?? defaultChecks(plain.played)), ...findings],
    undecided
  }
  return report
})
