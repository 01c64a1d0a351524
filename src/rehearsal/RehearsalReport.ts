/**
 * The report of a rehearsal: plain data, so that `JSON.stringify` writes it.
 */
import type { RuleName } from "./internal/rules.ts"
import type { ShortName, StoryLine } from "./internal/story.ts"

/**
 * The rules of the library.
 *
 * Always checked:
 *
 * - `told-not-executed-but-executed`: an answer said that nothing was executed, or a fact `failed` said that nothing was
 *   paid, and the ledger has the row.
 * - `told-done-but-absent`: an answer or a fact `paid` said that it was done, and the ledger has no row of it, or its payout failed
 *   or came back, or nobody is owed it.
 * - `fails-undisturbed`: the program fails where nothing goes wrong.
 * - `never-ends`: the program did not end within its time and its calls. It is not checked with `stopAfter`.
 *
 * For a program that pays out:
 *
 * - `paid-twice`: more was paid than is owed: a reference more than once, or again before its payout had failed or come back, or a
 *   payout that nobody is owed. Without
 *   `Rehearsed.owes`: a receiver got more payouts of one amount than in the undisturbed run.
 * - `unknown-dropped`: a payout was left in doubt. It was not asked again under its key, and neither a fact (`parked`,
 *   `told`, `failed`) nor the program's result names it.
 *
 * With `Rehearsed.owes`:
 *
 * - `owed-not-paid`: the program ended, and what it owes was neither paid nor declared as `parked`, `told` or `failed`; where its payout
 *   failed or came back, after that.
 * - `amount-differs`: a payout has another amount, or what was paid for what was shipped has.
 *
 * With `Rehearsed.fact("shipped", { transactionId })`:
 *
 * - `shipped-unpaid`: the charge was not paid then, or was refunded, and no lookup of the last minute had answered `Paid`.
 * - `shipped-unchecked`: no lookup had answered before that it is `Paid`.
 * - `shipped-twice`: the same charge was shipped again, and not under the same `key`.
 * - `not-shipped`: the program ended, and a charge that was paid as asked was neither shipped, by a `key` that no other charge has, nor
 *   declared as `told` after that.
 *
 * A program that failed has told somebody, so what it left undone is no finding. It is one where the program was started again
 * after a death, and fails though nothing disturbs it any more.
 */
export type { RuleName } from "./internal/rules.ts"
export type { ShortName, StoryLine } from "./internal/story.ts"

/** A rule that is broken in a schedule. */
export interface RehearsalFinding {
  /** The schedule, as `options.only` takes it: what was disturbed, and how. */
  readonly schedule: string
  /** The rule: one of the library's, or one of your own. */
  readonly rule: RuleName | (string & {})
  /** What is broken, each as a sentence. */
  readonly problems: ReadonlyArray<string>
  /**
   * What happened, in order. A question whose answer repeats is one line with its count, and a mark says where the story leaves that
   * of the undisturbed run.
   */
  readonly story: ReadonlyArray<StoryLine>
  /** Short names for the ids of charges and the keys of the story, as `Rehearsal.story` writes them. */
  readonly legend: ReadonlyArray<ShortName>
}

/** A rule, and why it was not checked. */
export interface RehearsedRule {
  /** One of the library's, or one of your own. */
  readonly rule: RuleName | (string & {})
  /** Whether the calls of the program make it relevant: `Rehearsal.test` requires that it was checked. */
  readonly isRelevant: boolean
  /** `undefined` where it was checked. */
  readonly notChecked: string | undefined
}

/** An undecided schedule: the program waited for real I/O, which the rehearsal's clock does not move. */
export interface UndecidedSchedule {
  /** Its name, as `options.only` takes it. */
  readonly schedule: string
  /** What the program waited for, as far as that is known. */
  readonly why: string
}

/** The schedules that were played, and the findings. */
export interface RehearsalReport {
  /** How many schedules were played, with the undisturbed run. */
  readonly schedules: number
  /** The calls of the undisturbed run, as `1 requestWithdrawal`. */
  readonly calls: ReadonlyArray<string>
  /** How many payouts and charges the undisturbed run asked for, and how many of these calls succeeded. */
  readonly writes: { readonly made: number; readonly succeeded: number }
  /** Each rule, checked or not. */
  readonly rules: ReadonlyArray<RehearsedRule>
  /** The broken rules, in the order of the schedules. Where a rule tells the cause of another one in the same run, it stands alone. */
  readonly findings: ReadonlyArray<RehearsalFinding>
  /** The undecided schedules. */
  readonly undecided: ReadonlyArray<UndecidedSchedule>
}
