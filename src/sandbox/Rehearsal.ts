/**
 * Plays a program under every fault at every call, and compares what it believes with what the gateway did.
 *
 * The program runs once undisturbed, so that its calls are known. Then it runs again for each call and each fault at that
 * call, in a fresh world with a clock of its own: a day in which nothing happens takes no time.
 *
 * Details:
 * - Faults meet the first request of a call, or each of them, since the client's own retries hide a single one: not sent, refused
 *   for each cause, executed and the answer lost, executed and answered with 500, later than the timeout, an answer cut
 *   off, rate limited. The process also dies before and after each call. A death runs no finalizer: the program is
 *   started again, with the same `stores`.
 * - Webhooks of the gateway go to the handler of `receive`. They are also delivered twice, late, out of order and never, and one is forged.
 * - Some rules are about actions outside of the gateway. They are checked where the program declares its actions, with
 *   `fact` and `owes`. Both do nothing outside of a rehearsal, so they may stay in production code.
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
 *   return yield* Effect.retry(payments.requestWithdrawal(invoice, { idempotencyKey }), { times: 3 })
 * })
 *
 * const { findings } = await Effect.runPromise(Rehearsal.run(mistaken))
 * const first = [findings[0]?.rule, findings[0]?.schedule] // => ["paid-twice", "call 1 requestWithdrawal: executed, answer lost, each request"]
 * const report = await Effect.runPromise(Rehearsal.run(right))
 * report.findings // => []
 * ```
 */
declare module "./Rehearsal.ts" {}

import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { Payments } from "../client/Payments.ts"
import { Rehearsed } from "./internal/rehearsal/declared.ts"
import { learn, run as runAll } from "./internal/rehearsal/run.ts"
import { formatReport, formatFinding } from "./internal/rehearsal/format.ts"
import type { RehearsalOptions } from "./RehearsalOptions.ts"
import { RehearsalFailed } from "./RehearsalFailed.ts"
import type { RehearsalFinding, RehearsalReport } from "./RehearsalReport.ts"

/**
 * Plays all schedules of a program and reports what is broken. The program is what a process runs: it may need `Payments`
 * and what `stores` gives, and is run again after a death. It never fails because of a finding.
 *
 * A defect says that `only` names no schedule, or that a store could not be built.
 */
export function run<A, E>(
  program: Effect.Effect<A, E, Payments>,
  options?: Omit<RehearsalOptions<never>, "stores">
): Effect.Effect<RehearsalReport>
/** The same, for a program that needs more than `Payments`: `stores` gives it. */
export function run<A, E, S>(
  program: Effect.Effect<A, E, Payments | NoInfer<S>>,
  options: RehearsalOptions<S> & { readonly stores: Layer.Layer<S, Error> }
): Effect.Effect<RehearsalReport>
export function run<A, E, S>(
  program: Effect.Effect<A, E, Payments | S>,
  options: RehearsalOptions<S> = {}
): Effect.Effect<RehearsalReport> {
  return runAll(program, options)
}

/**
 * Declares an action of the program that the rehearsal cannot see. Outside of a rehearsal it does nothing.
 *
 * - `shipped` with `transactionId`: the goods of a charge were shipped. `amount`, in centavos, is their price.
 * - `paid`, `failed` or `parked` with `reference`: the state of a payout, as the program now knows it.
 * - `told` with `reference` or `transactionId`: a person was told to look after it.
 * - Any other name: for rules of your own.
 */
export const fact = (name: string, detail: Readonly<Record<string, Schema.Json>>): Effect.Effect<void> =>
  Effect.map(Rehearsed, (rehearsed) => rehearsed?.fact(name, detail))

/**
 * Declares a debt: a payout of this amount is owed for a reference. Outside of a rehearsal it does nothing. To declare the
 * same reference again, as after a restart, changes nothing.
 */
export const owes = (debt: {
  readonly reference: string
  /** In centavos. */
  readonly amount: number
}): Effect.Effect<void> => Effect.map(Rehearsed, (rehearsed) => rehearsed?.owes(debt.reference, debt.amount))

/**
 * Receives the gateway's webhooks in this process from now on, as `webhook.answer` or a handler of your own does. A handler
 * that fails is answered with 500. Outside of a rehearsal it does nothing.
 */
export const receive = <E, R>(
  handler: (request: Request) => Effect.Effect<Response, E, R>
): Effect.Effect<void, never, R> =>
  Effect.contextWith((context: Context.Context<R>) =>
    Effect.map(Rehearsed, (rehearsed) =>
      rehearsed?.receive((request) =>
        handler(request).pipe(
          Effect.catchCause(() => Effect.succeed(new Response(undefined, { status: 500 }))),
          Effect.provideContext(context)
        )
      )
    )
  )

/** How a test runner makes a test: `test` and `it` of vitest, Jest and others. */
type MakeTest = (name: string, run: () => Promise<void>, timeout: number) => unknown

/** Options of `test`. */
interface TestOptions {
  /**
   * Whether each schedule is a test of its own. The program then runs once before, so the promise has to be awaited where the
   * runner collects its tests. Default: one test for all.
   */
  readonly each?: boolean | undefined
  /** How long one test may take, in real milliseconds. Default: 5 minutes. */
  readonly timeout?: number | undefined
}

/**
 * Makes a test of a rehearsal: it fails with the stories of the findings, or if a schedule is undecided. `it` is the runner's
 * own function, so that this library needs no runner. The clock of the runner has to be the real one.
 *
 * ```ts
 * import { it } from "vitest"
 * import { Effect } from "effect"
 * import { IdempotencyKey, Money, Payments } from "effect-pix"
 * import { Rehearsal } from "effect-pix/sandbox"
 *
 * const payInvoice = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   const idempotencyKey = IdempotencyKey.fromReference("payout", "invoice-1")
 *   return yield* payments.requestWithdrawal({ amount: Money.centavos(1000) }, { idempotencyKey })
 * })
 *
 * const tests = async () => {
 *   Rehearsal.test(it, "an invoice is paid once", payInvoice)
 *   await Rehearsal.test(it, "an invoice is paid once", payInvoice, { each: true })
 * }
 * ```
 */
export function test<A, E>(
  it: MakeTest,
  name: string,
  program: Effect.Effect<A, E, Payments>,
  options?: Omit<RehearsalOptions<never>, "stores"> & TestOptions
): Promise<void>
/** The same, for a program that needs more than `Payments`: `stores` gives it. */
export function test<A, E, S>(
  it: MakeTest,
  name: string,
  program: Effect.Effect<A, E, Payments | NoInfer<S>>,
  options: RehearsalOptions<S> & TestOptions & { readonly stores: Layer.Layer<S, Error> }
): Promise<void>
export function test<A, E, S>(
  it: MakeTest,
  name: string,
  program: Effect.Effect<A, E, Payments | S>,
  { each = false, timeout = 300_000, ...options }: RehearsalOptions<S> & TestOptions = {}
): Promise<void> {
  if (!each) {
    it(name, () => Effect.runPromise(Effect.flatMap(runAll(program, options), requireClean)), timeout)
    return Promise.resolve()
  }
  const makeTests = Effect.map(learn(program, options), ({ report, schedules }) => {
    for (const schedule of schedules) {
      const one = Effect.flatMap(report([schedule]), requireClean)
      it(`${name}: ${schedule}`, () => Effect.runPromise(one), timeout)
    }
  })
  return Effect.runPromise(makeTests)
}

/** Fails if the report has a finding or an undecided schedule. */
const requireClean = (report: RehearsalReport) =>
  report.findings.length + report.undecided.length === 0 ? Effect.void : Effect.fail(new RehearsalFailed({ report }))

/** A finding as text: what happened in order, the rule that is broken, and the option that plays its schedule again. */
export const story = (finding: RehearsalFinding): string => formatFinding(finding)

/** A report as text: the story of the first finding of each rule, and the rules that were not checked. */
export const text = (report: RehearsalReport): string => formatReport(report)
