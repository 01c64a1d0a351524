/**
 * Plays the schedules of a program, one after the other, and collects the findings.
 */
import * as Effect from "effect/Effect"
import type { RehearsalOptions } from "../RehearsalOptions.ts"
import type { RehearsalFinding, RehearsalReport, UndecidedSchedule } from "../RehearsalReport.ts"
import { type Called, isWrite } from "./calls.ts"
import { play, type Played } from "./play.ts"
import { allRules, brokenRules, relevantRules } from "./rules.ts"
import { isOfInnerStep, isOfStep, type Schedule, schedulesOf, undisturbed } from "./schedules.ts"
import { shortenStory } from "./story.ts"
import type { Tables } from "./tables.ts"

/** What `only` plays for a first look. */
export const firstLook = "first look"

/** The table of the package's page that explains each rule. */
const page = "node_modules/effect-pix/docs/rehearsal.md#the-rules"

const findingsOf = (played: Played, plain: Played): ReadonlyArray<RehearsalFinding> => {
  const found = [
    ...brokenRules(played, plain).map(([rule, problems]) => ({ rule, page, problems })),
    ...Object.entries(played.own).flatMap(([rule, problem]) =>
      problem === undefined ? [] : [{ rule, page: undefined, problems: [problem] }]
    )
  ]
  if (found.length === 0) return []
  const { legend, schedule } = played
  const story = shortenStory(played.story, plain.story)
  return found.map(({ page, problems, rule }) => ({ schedule, rule, page, problems, story, legend }))
}

const undecidedReason =
  "It ends only where real work is waited for: a file, a socket or a thread, which is not in the rehearsal's time."

/**
 * Plays schedules of one program. A run that does not end is played again, slowly: if it only waited for real work, it ends
 * then. If it does not, real work is not the reason, and later runs are played once.
 */
const makePlayer = <A, E, S>(program: Effect.Effect<A, E, Called | S>, options: RehearsalOptions<S>) => {
  let isFast = false
  return Effect.fnUntraced(function* (schedule: Schedule, tables?: Tables) {
    const played = yield* play(program, options, schedule, tables)
    if (played.end !== "NotEnded" || isFast) return { played, isDecided: true }
    const slow = yield* play(program, options, schedule, tables, true)
    isFast = slow.end === "NotEnded"
    return { played, isDecided: isFast }
  })
}

/** The schedules that `only` names. */
const select = (all: ReadonlyArray<Schedule>, only: string | undefined): ReadonlyArray<Schedule> => {
  if (only === undefined) return all.filter(({ turn }) => turn !== "asked for")
  if (only === firstLook) return all.filter(({ turn }) => turn === "first")
  const named = all.filter(({ name }) => name === only)
  return named.length > 0 ? named : all.filter(({ name }) => name.includes(only))
}

const unknownSchedule = (only: string, schedules: ReadonlyArray<Schedule>) => {
  const known = schedules.map(({ name }) => `\n  ${name}`).join("")
  return new Error(`Rehearsal: the program has no schedule ${JSON.stringify(only)}. It has these:${known}`)
}

/** See `Rehearsal.run`. */
export const run = Effect.fnUntraced(function* <A, E, S>(
  program: Effect.Effect<A, E, Called | S>,
  options: RehearsalOptions<S>
) {
  const player = makePlayer(program, options)
  const plain = yield* player(undisturbed)
  // A run that does not end may not have made all its calls.
  const all = plain.played.end === "NotEnded" ? [undisturbed] : schedulesOf(plain.played)
  const schedules = select(all, options.only)
  if (schedules.length === 0) return yield* Effect.die(unknownSchedule(options.only ?? "", all))

  // A death in the library's tables may be one while they are made.
  const tables = schedules.some(isOfInnerStep) ? undefined : plain.played.tables
  const findings: Array<RehearsalFinding> = []
  const undecided: Array<UndecidedSchedule> = []
  for (const schedule of schedules) {
    const { isDecided, played } = schedule === undisturbed ? plain : yield* player(schedule, tables)
    if (isDecided) findings.push(...findingsOf(played, plain.played))
    else undecided.push({ schedule: schedule.name, why: undecidedReason })
  }
  const { calls, own } = plain.played
  const relevant: ReadonlySet<string> = new Set(relevantRules(plain.played))
  const writes = calls.filter(isWrite)
  const report: RehearsalReport = {
    schedules: schedules.length,
    steps: schedules.filter(isOfStep).length,
    calls: calls.map(({ number, operation }) => `${number} ${operation}`),
    writes: { made: writes.length, succeeded: writes.filter(({ result }) => result === "Succeeded").length },
    rules: [
      ...allRules.map(([rule, { needs }]) => ({
        rule,
        isRelevant: relevant.has(rule),
        notChecked: needs?.(plain.played)
      })),
      ...Object.keys(own).map((rule) => ({ rule, isRelevant: true, notChecked: undefined }))
    ],
    findings,
    undecided
  }
  return report
})
