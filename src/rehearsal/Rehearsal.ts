/**
 * Plays a program under every fault at every call, and compares what it believes with what the gateway did.
 *
 * The program runs once undisturbed, so that its calls are known. Then it runs again for each call and each fault at that
 * call, in a fresh world with a clock of its own: a day in which nothing happens takes no time.
 *
 * Details:
 * - Faults meet the first request of a call, or each of them, since the client's own retries hide a single one: not sent, refused
 *   or limited, executed and the answer lost, answered with 500, later than the timeout, an answer cut off. A doubt goes on: each
 *   later call under its key is refused. An outage, a limit or a balance that is too low lasts for a day.
 * - The process dies before and after each call, before and after each fact that it declares, and at each statement of the `SqlClient` of
 *   its `stores` that changes a table of the program. A death runs no finalizer: the program is started again, with the same `stores`.
 * - With `processes` several processes run the program at once, and one of them stands still.
 * - Webhooks of the gateway go to `Webhook`, or to the handler of `Rehearsed.receive`, until the program has ended. They are also
 *   delivered twice, late, never, and once but half handled, and one is forged.
 * - Some rules are about actions outside of the gateway. They are checked where the program declares its actions, with
 *   `Rehearsed` of `effect-pix`.
 * - The same program gives the same report, byte for byte, if it takes the time and random numbers from Effect.
 *
 * Gotchas:
 * - `ManagedRuntime`, `Effect.runPromise` and `Webhook.toWebHandler` inside of the program use the real clock.
 *   `Math.random`, `Date.now`, `crypto.subtle`, files and sockets are outside of the rehearsal's control.
 * - A value outside of the `stores`, such as a `Map` of a module, is shared by all runs.
 * - A rehearsal needs real timers: the fake clock of a test runner stops it.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { IdempotencyKey, Money, Payments, PixKey } from "effect-pix"
 * import { Rehearsal } from "effect-pix/sandbox"
 *
 * const invoice = { amount: Money.centavos(1000), pixKey: PixKey.email("maria@example.com") }
 *
 * // Without a key each repetition of the call makes a new one.
 * const mistaken = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   return yield* Effect.retry(payments.requestWithdrawal(invoice), { times: 3 })
 * })
 *
 * const right = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   const idempotencyKey = IdempotencyKey.fromReference("payout", "invoice-1")
 *   return yield* Effect.retry(payments.requestWithdrawal(invoice, { idempotencyKey, earlier: "None" }), { times: 3 })
 * })
 *
 * const { findings } = await Effect.runPromise(Rehearsal.run(mistaken))
 * const first = [findings[0]?.rule, findings[0]?.schedule] // => ["paid-twice", "call 1 requestWithdrawal: answer cut off, each request"]
 * const report = await Effect.runPromise(Rehearsal.run(right))
 * report.findings // => []
 * ```
 */
declare module "./Rehearsal.ts" {}

import * as Effect from "effect/Effect"
import { type Called, isWrite } from "./internal/calls.ts"
import { formatFinding, formatReport } from "./internal/format.ts"
import { play, type Played } from "./internal/play.ts"
import { allRules, brokenRules, relevantRules } from "./internal/rules.ts"
import { isOfInnerStep, type Schedule, schedulesOf, undisturbed } from "./internal/schedules.ts"
import type { Tables } from "./internal/stores.ts"
import { shortenStory } from "./internal/story.ts"
import type { RehearsalOptions } from "./RehearsalOptions.ts"
import { RehearsalFailed } from "./RehearsalFailed.ts"
import type { RehearsalFinding, RehearsalReport, RuleName, UndecidedSchedule } from "./RehearsalReport.ts"

/** What `only` plays for a first look. */
const firstLook = "first look"

const findingsOf = (played: Played, plain: Played): ReadonlyArray<RehearsalFinding> => {
  const own = Object.entries(played.own).flatMap(([rule, problem]) =>
    problem === undefined ? [] : [[rule, [problem]] as const]
  )
  const found = [...brokenRules(played, plain), ...own]
  if (found.length === 0) return []
  const { legend, schedule } = played
  const story = shortenStory(played.story, plain.story)
  return found.map(([rule, problems]) => ({ schedule, rule, problems, story, legend }))
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

const unknownSchedule = (only: string | undefined, schedules: ReadonlyArray<Schedule>) => {
  const known = schedules.map(({ name }) => `\n  ${name}`).join("")
  return new Error(`Rehearsal: the program has no schedule ${JSON.stringify(only)}. It has these:${known}`)
}

/**
 * Plays all schedules of a program and reports what is broken. The program is what a process runs: it may need `Payments`,
 * `WithdrawalLookup` and what `stores` gives, and is run again after a death. It never fails because of a finding.
 *
 * A defect says that `only` names no schedule, or that a store could not be built.
 */
export const run: <A, E, S = never>(
  program: Effect.Effect<A, E, Called | NoInfer<S>>,
  options?: RehearsalOptions<S>
) => Effect.Effect<RehearsalReport> = Effect.fnUntraced(function* <A, E, S>(
  program: Effect.Effect<A, E, Called | S>,
  options: RehearsalOptions<S> = {}
) {
  const player = makePlayer(program, options)
  const plain = yield* player(undisturbed)
  // A run that does not end may not have made all its calls.
  const all = plain.played.end === "NotEnded" ? [undisturbed] : schedulesOf(plain.played, options)
  const schedules = select(all, options.only)
  if (schedules.length === 0) return yield* Effect.die(unknownSchedule(options.only, all))

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
  const relevant = relevantRules(plain.played)
  const writes = calls.filter(isWrite)
  return {
    schedules: schedules.length,
    calls: calls.map(({ number, operation }) => `${number} ${operation}`),
    writes: { made: writes.length, succeeded: writes.filter(({ result }) => result === "Succeeded").length },
    rules: [
      ...allRules.map(([rule, { needs }]) => ({
        rule,
        isRelevant: relevant.includes(rule),
        notChecked: needs?.(plain.played)
      })),
      ...Object.keys(own).map((rule) => ({ rule, isRelevant: true, notChecked: undefined }))
    ],
    findings,
    undecided
  }
})

/** How a test runner makes a test: `test` and `it` of vitest, Jest and others. */
type MakeTest = (name: string, run: () => Promise<void>, timeout: number) => unknown

/** Options of `test`. */
interface TestOptions {
  /** Plays all schedules, as on CI. Default: the first look, with the schedules that find most mistakes. */
  readonly all?: boolean | undefined
  /** The rules that have to be checked. Default: those that the calls of the program make relevant, and a write that succeeds. */
  readonly checks?: ReadonlyArray<RuleName> | undefined
  /** How long the test may take, in real milliseconds. Default: 5 minutes. */
  readonly timeout?: number | undefined
}

/**
 * Makes a test of a rehearsal's first look: it fails with the stories of the findings, if a schedule is undecided, if a rule that the
 * program's calls make relevant was not checked, or if no write succeeds where nothing goes wrong. `it` is the runner's own
 * function, so that this library needs no runner. The clock of the runner has to be the real one.
 *
 * ```ts
 * import { it } from "vitest"
 * import { Effect } from "effect"
 * import { IdempotencyKey, Money, Payments, Rehearsed } from "effect-pix"
 * import { Rehearsal } from "effect-pix/sandbox"
 *
 * const payInvoice = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   const reference = "invoice-1"
 *   yield* Rehearsed.owes({ reference, amount: 1000 })
 *   const idempotencyKey = IdempotencyKey.fromReference("payout", reference)
 *   return yield* payments.requestWithdrawal({ amount: Money.centavos(1000) }, { idempotencyKey, earlier: "None" })
 * })
 *
 * const tests = () => Rehearsal.test(it, "an invoice is paid once", payInvoice)
 * ```
 */
export const test = <A, E, S = never>(
  it: MakeTest,
  name: string,
  program: Effect.Effect<A, E, Called | NoInfer<S>>,
  { all = false, checks, timeout = 300_000, ...options }: RehearsalOptions<S> & TestOptions = {}
): void => {
  const played = run(program, { ...options, only: options.only ?? (all ? undefined : firstLook) })
  it(name, () => Effect.runPromise(Effect.flatMap(played, requireClean(checks))), timeout)
}

/** Fails if the report has a finding or an undecided schedule, or did not check what it has to. */
const requireClean = (checks: ReadonlyArray<string> | undefined) => (report: RehearsalReport) => {
  const missing = report.rules
    .filter(({ isRelevant, notChecked, rule }) => notChecked !== undefined && (checks?.includes(rule) ?? isRelevant))
    .map(({ rule }) => rule)
  const isHollow = checks === undefined && report.writes.succeeded === 0
  return isHollow || report.findings.length + report.undecided.length + missing.length > 0
    ? Effect.fail(new RehearsalFailed({ report, missing }))
    : Effect.void
}

/**
 * A finding as text: the rule that is broken, what happened in order, and the option that plays its schedule again. Ids have short
 * names, with a legend at the end.
 */
export const story = (finding: RehearsalFinding): string => formatFinding(finding)

/** A report as text: what was played, the story of one finding of each rule, and what was not checked or played. */
export const text = (report: RehearsalReport): string => formatReport(report)
