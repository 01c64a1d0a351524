/**
 * What a rehearsal found: plain data, so that `JSON.stringify` writes it.
 */
import type { RuleName } from "./internal/rehearsal/rules.ts"
import type { StoryLine } from "./internal/rehearsal/story.ts"

export type { RuleName } from "./internal/rehearsal/rules.ts"
export type { StoryLine } from "./internal/rehearsal/story.ts"

/** A rule that is broken in a schedule. */
export interface RehearsalFinding {
  /** The schedule, as `options.only` takes it: what was disturbed, and how. */
  readonly schedule: string
  /** The rule: one of the library's, or one of your own. */
  readonly rule: RuleName | (string & {})
  /** Where the rule is explained; `undefined` for your own. */
  readonly page: string | undefined
  /** What is broken, each as a sentence. */
  readonly problems: ReadonlyArray<string>
  /** What happened, in order. */
  readonly story: ReadonlyArray<StoryLine>
}

/** Whether a rule was checked, and why not. */
export interface RehearsedRule {
  readonly rule: RuleName | (string & {})
  /** `undefined` where it was checked. */
  readonly notChecked: string | undefined
}

/** A schedule of which nothing can be said: the program waited for real I/O, and the rehearsal's clock did not. */
export interface UndecidedSchedule {
  readonly schedule: string
  readonly why: string
}

/** What was played, and what was found. */
export interface RehearsalReport {
  /** How many schedules were played, with the undisturbed run. */
  readonly schedules: number
  /** The calls of the undisturbed run, as `1 requestWithdrawal`. */
  readonly calls: ReadonlyArray<string>
  readonly rules: ReadonlyArray<RehearsedRule>
  /** What is broken: in the order of the schedules, and in each by its rules. */
  readonly findings: ReadonlyArray<RehearsalFinding>
  readonly undecided: ReadonlyArray<UndecidedSchedule>
}
