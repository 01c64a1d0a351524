/**
 * A sheet of payouts, such as a payroll: a list goes in, and what became of each line comes out. It is a small client of
 * `PayoutQueue`, on your database or on a file, so that a second run knows what the first one sent.
 *
 * The queue sends what a run accepted, also where the run ends, but nothing that is wanted since longer ago than the `horizon`: that
 * is parked as `WaitedTooLong`. A run reports what is parked, and never wants it again: only `resume` does. So last month's line
 * that was paid by hand since does not leave with this month's sheet.
 *
 * | list | state | money |
 * |---|---|---|
 * | `done` | `posted`, `paid` | the service recorded it; only `paid` says that it arrived |
 * | `refused` | `refused` | no request of this queue moved money. A single call, or another file, may have used the reference |
 * | `failed` | `failed` | it was not paid: an answer, a lookup or a person said so |
 * | `returned` | `returned` | it was paid, and came back |
 * | `cancelled` | `cancelled` | nothing of this queue left |
 * | `parked` | `parked` | it waits for a person: see `because` |
 * | `open` | `accepted`, `unknown` | not sent yet, or in doubt: the queue goes on without this run |
 *
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { Money } from "effect-pix"
 * import { NodeSqlite } from "effect-pix/node"
 * import { PayoutQueue, Payouts } from "effect-pix/payouts"
 * import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
 *
 * const sheet = [
 *   { reference: "folha-2026-11/1", amount: Money.centavos(415_000) },
 *   { reference: "folha-2026-11/2", amount: Money.centavos(302_050) }
 * ]
 * const program = Effect.gen(function* () {
 *   const { sum, wrong } = yield* Payouts.plan(sheet)
 *   const { done } = yield* Payouts.run(sheet)
 *   return [Money.format(sum), wrong.length, done.map(({ reference }) => reference)]
 * })
 *
 * // For a real sheet: NodeSqlite.layer({ filename: "folha.db" }), and Payments.layerFetch.
 * const gateway = Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 1_000_000 }))
 * const layer = PayoutQueue.layer().pipe(
 *   Layer.provide(NodeSqlite.layer({ filename: ":memory:" })),
 *   Layer.provide(gateway)
 * )
 * const result = await Effect.runPromise(Effect.provide(program, layer)) // => ["R$ 7.170,50", 0, ["folha-2026-11/1", "folha-2026-11/2"]]
 * ```
 */
declare module "./Payouts.ts" {}

import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { InvalidRequest } from "../contract/PaymentsError.ts"
import type { DatabaseError, ForeignTransaction } from "../durable/Database.ts"
import { checkOptionsBy, time, withDefault } from "../contract/Options.ts"
import { inSpan } from "../internal/spans.ts"
import { Centavos } from "../pix/Money.ts"
import { invalid } from "./internal/store/entries.ts"
import { nameOf } from "./internal/store/request.ts"
import { statusOf } from "./internal/machine/status.ts"
import type { Run } from "./internal/operations/submit.ts"
import { type Accepted, SheetService } from "./internal/operations/sheet.ts"
import type { PayoutSheet } from "./PayoutSheet.ts"
import type { PayoutItem, PayoutsNotAccepted } from "./Payout.ts"
import type { PayoutStatus } from "./PayoutStatus.ts"

/** How a sheet is run. */
export interface RunOptions {
  /** How long a run waits while no line ends: then it ends itself, and the queue goes on without it. Default 5 minutes. */
  readonly waitFor?: Duration.Input | undefined
  /**
   * The references that may have the same PIX key and the same amount as another payout of the last 24 hours, or as another line;
   * `true`: all. Default: none, and a run with such a line is not accepted.
   */
  readonly allowAlike?: true | ReadonlyArray<string> | undefined
}

/** What became of the lines of a sheet, each list in the order of the sheet. Amounts are in centavos. */
export type PayoutReport = {
  readonly [
    State in "done" | "failed" | "returned" | "refused" | "cancelled" | "parked" | "open"
  ]: ReadonlyArray<PayoutStatus>
}

/** What a run of a sheet would do. */
export interface PayoutPlan {
  /** How many payouts it has. The same reference twice is one payout, so it may be less than the number of its lines. */
  readonly count: number
  /** The sum of the payouts whose amounts are whole numbers of centavos, in centavos. */
  readonly sum: Centavos
  /**
   * The lines for which nothing would be accepted: wrong ones, and those that look like another payout (`LooksAlike`). Amounts
   * are in centavos.
   */
  readonly wrong: PayoutsNotAccepted["wrong"] | readonly []
  /** What is stored already of its references, and how it ended. */
  readonly stored: ReadonlyArray<PayoutStatus>
}

type Failure = InvalidRequest | PayoutsNotAccepted | ForeignTransaction | DatabaseError

const isReferences = Schema.is(Schema.Array(Schema.String))

const allowAlike = Schema.declare((value) => value === true || isReferences(value), {
  expected: "true or a list of references"
})

const checkOptions = checkOptionsBy(
  "requestWithdrawal",
  Schema.Struct({ waitFor: withDefault(time, "5 minutes"), allowAlike: withDefault(allowAlike, []) })
)

/** Whether a reference may look like another one. */
const isAllowedBy = (references: true | ReadonlyArray<string>): Run["isAllowed"] => {
  const allowed = new Set(references === true ? [] : references)
  return (reference) => references === true || allowed.has(reference)
}

/** Milliseconds on a clock that nobody sets. */
const elapsed = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1e6)

/** Waits until no line is open, or none ended for `wait` milliseconds. */
const ending = Effect.fnUntraced(function* (accepted: Accepted, wait: number) {
  const nextWrite = yield* accepted.followWrites
  /** Those of some keys that are open: at once where one ended, else after a change. */
  const look = Effect.fnUntraced(function* (keys: ReadonlyArray<string>, first: string, left: number) {
    // Before the look, so that no change is missed.
    const change = yield* accepted.changeOf(first)
    // While the database does not answer, no line ends.
    const open = yield* Effect.catchIf(
      accepted.open(keys),
      ({ isRetryable }) => isRetryable,
      () => Effect.undefined
    )
    if (open !== undefined && open.length < keys.length) return open
    const looksAgain = Effect.andThen(Effect.sleep(Duration.millis(accepted.poll)), nextWrite)
    yield* Effect.raceAllFirst([change.await, looksAgain, Effect.sleep(Duration.millis(left))])
    return keys
  }, Effect.scoped)
  let open: ReadonlyArray<string> = accepted.keys
  let endedAt = yield* elapsed
  for (;;) {
    const [first] = open
    const left = endedAt + wait - (yield* elapsed)
    if (first === undefined || left <= 0) return
    const found = yield* look(open, first, left)
    if (found.length < open.length) endedAt = yield* elapsed
    open = found
  }
}, Effect.scoped)

/**
 * Pays the lines of a sheet: accepts all of them or none, waits, and returns what became of each. A second run of the same sheet
 * pays what is missing, and repeats nothing.
 *
 * A line that was refused or parked is not sent again by a second run: `queue.retry` or `queue.resume` sends it, when its cause is
 * gone. A run that is interrupted logs until when its lines are sent, and which step stops that.
 *
 * It fails with `PayoutsNotAccepted`, which names each wrong line and each that looks like another payout: nothing was sent then;
 * with `InvalidRequest` where an option is wrong or it is called in a transaction, with `ForeignTransaction` and with `DatabaseError`.
 */
export const run = (
  items: Iterable<PayoutItem>,
  options: RunOptions = {}
): Effect.Effect<PayoutReport, Failure, PayoutSheet> =>
  inSpan("Payouts.run", { kind: "internal", attributes: {} }, (span) =>
    Effect.gen(function* () {
      const { allowAlike, waitFor } = yield* checkOptions(options)
      const sheet = yield* SheetService
      const accepted = yield* sheet.begin([...items], { isAllowed: isAllowedBy(allowAlike) })
      yield* Effect.onInterrupt(ending(accepted, waitFor), () => accepted.interrupted)
      // A person may have retried or resumed a line since it ended.
      const statuses = (yield* accepted.find(accepted.keys)).map(statusOf)
      const inState = (...states: ReadonlyArray<PayoutStatus["state"]>) =>
        statuses.filter(({ state }) => states.includes(state))
      const report = {
        done: inState("posted", "paid"),
        failed: inState("failed"),
        returned: inState("returned"),
        refused: inState("refused"),
        cancelled: inState("cancelled"),
        parked: inState("parked"),
        open: inState("accepted", "unknown")
      }
      for (const [name, list] of Object.entries(report)) span?.attribute(`payouts.${name}`, list.length)
      return report
    })
  )

/**
 * Says what `run` would do, and sends nothing: show it, beside `getBalance`, to the person who runs the sheet. Fails as `run`
 * does, but for `PayoutsNotAccepted`.
 */
export const plan = (
  items: Iterable<PayoutItem>,
  options: RunOptions = {}
): Effect.Effect<PayoutPlan, InvalidRequest | ForeignTransaction | DatabaseError, PayoutSheet> =>
  Effect.gen(function* () {
    const { allowAlike } = yield* checkOptions(options)
    const lines = [...items]
    const { earlier, wrong } = yield* (yield* SheetService).plan(lines, { isAllowed: isAllowedBy(allowAlike) })
    // The same line twice is one payout.
    const named = lines.map((line) => nameOf(line))
    const amounts = new Map(named.map(({ amount = 0, reference }, index) => [reference || index, amount]))
    const total = [...amounts.values()].reduce((sum, amount) => sum + amount, 0)
    if (!Number.isSafeInteger(total)) return yield* invalid("amount", "is too large a sum")
    return {
      count: amounts.size,
      sum: Centavos.make(total),
      wrong: Arr.isReadonlyArrayNonEmpty(wrong) ? wrong : [],
      stored: earlier
    } as const
  })
