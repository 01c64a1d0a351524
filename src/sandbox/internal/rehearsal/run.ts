/**
 * Plays all schedules of a program, one after the other, and collects the findings.
 */
import * as Effect from "effect/Effect"
import type { Payments } from "../../../client/Payments.ts"
import type { RehearsalOptions } from "../../RehearsalOptions.ts"
import type { RehearsalFinding, RehearsalReport, RehearsedRule, UndecidedSchedule } from "../../RehearsalReport.ts"
import { play, type Played } from "./play.ts"
import { allRules } from "./rules.ts"
import { type Schedule, schedulesOf, undisturbed } from "./schedules.ts"

/** The page of the package that explains a rule. */
const pageOf = (rule: string) => `node_modules/effect-pix/docs/rehearsal.md#${rule}`

const findingsOf = (played: Played, plain: Played): ReadonlyArray<RehearsalFinding> => {
  const { schedule, story } = played
  const library = allRules
    .filter(([, { reasonToSkip }]) => reasonToSkip?.(plain) === undefined)
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
  ...allRules.map(([rule, { reasonToSkip }]) => ({ rule, notChecked: reasonToSkip?.(plain) })),
  ...Object.keys(plain.own).map((rule) => ({ rule, notChecked: undefined }))
]

const choose = (schedules: ReadonlyArray<Schedule>, only: string | undefined): ReadonlyArray<Schedule> => {
  if (only === undefined) return schedules
  const chosen = schedules.filter(({ name }) => name === only)
  if (chosen.length > 0) return chosen
  const known = schedules.map(({ name }) => `\n  ${name}`).join("")
  throw new Error(`Rehearsal: the program has no schedule ${JSON.stringify(only)}. It has these:${known}`)
}

const undecidedReason =
  "It ends only where real work is waited for: a file, a socket or a thread, which is not in the rehearsal's time."

/**
 * Plays schedules of one program. A run that does not end is played again, slowly: if it only waited for real work, it ends
 * then. If it does not, real work is not the reason, and later runs are played once.
 */
const makePlayer = <A, E, S>(program: Effect.Effect<A, E, Payments | S>, options: RehearsalOptions<S>) => {
  let isFast = false
  return Effect.fnUntraced(function* (schedule: Schedule) {
    const played = yield* play(program, options, schedule)
    if (played.end !== "NotEnded" || isFast) return { played, isDecided: true }
    const slow = yield* play(program, options, schedule, true)
    isFast = slow.end === "NotEnded"
    return { played, isDecided: isFast }
  })
}

/** Plays the undisturbed run, and returns its schedules and how to play them. */
export const learn = Effect.fnUntraced(function* <A, E, S>(
  program: Effect.Effect<A, E, Payments | S>,
  options: RehearsalOptions<S>
) {
  const player = makePlayer(program, options)
  const plain = yield* player(undisturbed)
  // A run that does not end may not have made all its calls.
  const known = plain.played.end === "NotEnded" ? [] : schedulesOf(plain.played, options.payAfter !== undefined)
  const schedules = choose([undisturbed, ...known], options.only)
  return {
    schedules: schedules.map(({ name }) => name),
    /** The report of some of the schedules. */
    report: Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
      const findings: Array<RehearsalFinding> = []
      const undecided: Array<UndecidedSchedule> = []
      for (const schedule of schedules.filter(({ name }) => names.includes(name))) {
        const { isDecided, played } = schedule === undisturbed ? plain : yield* player(schedule)
        if (isDecided) findings.push(...findingsOf(played, plain.played))
        else undecided.push({ schedule: schedule.name, why: undecidedReason })
      }
      const report: RehearsalReport = {
        schedules: names.length,
        calls: plain.played.calls.map(({ number, operation }) => `${number} ${operation}`),
        rules: checkedRules(plain.played),
        findings,
        undecided
      }
      return report
    })
  }
})

/** See `Rehearsal.run`. */
export const run = Effect.fnUntraced(function* <A, E, S>(
  program: Effect.Effect<A, E, Payments | S>,
  options: RehearsalOptions<S>
) {
  const { report, schedules } = yield* learn(program, options)
  return yield* report(schedules)
})
