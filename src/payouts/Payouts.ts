/**
 * A sheet of payouts, such as a payroll: a list goes in, and what became of each line comes out. It is a small client of
 * `PayoutQueue`, on your database or on a file, so that a second run knows what the first one sent.
 *
 * The lines of a sheet are sent only while a run is at work: where a run ends, or its process is killed, what was not sent is
 * parked as `RunEnded`, and the next run of its reference takes it up. So last month's line that was paid by hand since does not
 * leave with this month's sheet. What is in doubt goes on under its key, also without a run.
 *
 * | list | state | money |
 * |---|---|---|
 * | `done` | `posted`, `settled` | the service recorded it |
 * | `refused` | `refused` | no request of this queue moved money. A single call, or another file, may have used the reference |
 * | `failed` | `failed` | a person settled it as failed |
 * | `parked` | `parked` | it waits for a person, or for the next run: see `because` |
 * | `open` | `accepted`, `unknown` | in doubt; or `submit` accepted it, and the queue goes on without this run |
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
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { invalidWithdrawal } from "../contract/WithdrawalCheck.ts"
import type { InvalidRequest } from "../contract/PaymentsError.ts"
import type { DatabaseError, ForeignTransaction } from "../durable/Database.ts"
import { millisOf } from "../internal/duration.ts"
import { inSpan } from "../internal/spans.ts"
import { Centavos } from "../pix/Money.ts"
import type { Run } from "./internal/queue/submit.ts"
import { type Sheet, sheetOf } from "./internal/sheet.ts"
import { type PayoutItem, PayoutsNotAccepted } from "./Payout.ts"
import { PayoutQueue } from "./PayoutQueue.ts"
import { PayoutStatus } from "./PayoutStatus.ts"

/** How a sheet is run. */
export interface RunOptions {
  /** How long a run waits without any line being done. Then it ends. Default 5 minutes. */
  readonly waitFor?: Duration.Input | undefined
  /**
   * The references that may have the same PIX key and the same amount as another payout of the last 24 hours, or as another line;
   * `true`: all. Default: none, and a run with such a line is not accepted.
   */
  readonly allowAlike?: true | ReadonlyArray<string> | undefined
}

/** What became of the lines of a sheet, each list in the order of the sheet. Amounts are in centavos. It can be stored. */
export const PayoutReport = Schema.Struct({
  done: Schema.Array(PayoutStatus),
  failed: Schema.Array(PayoutStatus),
  refused: Schema.Array(PayoutStatus),
  parked: Schema.Array(PayoutStatus),
  open: Schema.Array(PayoutStatus)
})
/** See the schema of the same name. */
export interface PayoutReport extends Schema.Schema.Type<typeof PayoutReport> {}

/** What a run of a sheet would do. */
export interface PayoutPlan {
  /** How many lines it has. */
  readonly count: number
  /** The sum of the lines whose amounts are whole numbers of centavos, in centavos. */
  readonly sum: Centavos
  /** The lines for which nothing would be accepted: wrong ones, and those that look like another payout (`LooksAlike`). */
  readonly wrong: PayoutsNotAccepted["wrong"] | readonly []
  /** What is stored already of its references, and how it ended. */
  readonly stored: ReadonlyArray<PayoutStatus>
}

type Failure = InvalidRequest | PayoutsNotAccepted | ForeignTransaction | DatabaseError

const invalid = (path: string, problem: string) => Effect.fail(invalidWithdrawal([{ path, problem }]))

const isReferences = Schema.is(Schema.Array(Schema.String))

/** Checks the options, which a caller without types may have given, and names the run. */
const settingsOf = Effect.fnUntraced(function* ({ allowAlike = [], waitFor = "5 minutes" }: RunOptions) {
  const wait = millisOf(waitFor)
  if (wait === undefined) return yield* invalid("waitFor", "must be a duration")
  if (allowAlike !== true && !isReferences(allowAlike))
    return yield* invalid("allowAlike", "must be true or a list of references")
  const run: Run = { id: SecureRandom.uuidV4Unsafe(), allowAlike }
  return { run, wait }
})

const theSheet = Effect.flatMap(PayoutQueue, (queue) => {
  const sheet = sheetOf(queue)
  return sheet === undefined
    ? Effect.die(new Error("A run needs the PayoutQueue of its own layers, and this one is wrapped or a mock."))
    : Effect.succeed(sheet)
})

const isOpen = ({ state }: PayoutStatus) => state === "accepted" || state === "unknown"

/** Accepts the sheet, or fails with all that is wrong. */
const begin = Effect.fnUntraced(function* (sheet: Sheet, items: ReadonlyArray<PayoutItem>, run: Run) {
  const wrong = yield* sheet.accept(items, run)
  if (Arr.isReadonlyArrayNonEmpty(wrong)) return yield* new PayoutsNotAccepted({ outcome: "NotSent", wrong })
})

/**
 * Pays the lines of a sheet, and emits the status of each as soon as it is no longer open, or when the stream ends. It fails as
 * `run` does. A reader that ends ends the run.
 */
export const stream = (
  items: Iterable<PayoutItem>,
  options: RunOptions = {}
): Stream.Stream<PayoutStatus, Failure, PayoutQueue> =>
  Effect.gen(function* () {
    const { run, wait } = yield* settingsOf(options)
    const sheet = yield* theSheet
    const lines = [...items]
    yield* begin(sheet, lines, run)
    const emitted = new Set<string>()
    let idle = 0
    /** The statuses that are new since the last look; nothing after the last one. */
    const next = Effect.gen(function* () {
      for (;;) {
        const isLast = idle >= wait
        if (isLast) yield* sheet.end(lines, run)
        const statuses = yield* sheet.look(lines, run)
        const news = statuses.filter((status) => !emitted.has(status.reference) && (isLast || !isOpen(status)))
        for (const { reference } of news) emitted.add(reference)
        const isOver = isLast || emitted.size === statuses.length
        if (news.length > 0 || isOver) {
          idle = 0
          return [news, isOver] as const
        }
        yield* Effect.sleep(Duration.millis(Math.min(sheet.poll, wait - idle)))
        idle += sheet.poll
      }
    })
    return Stream.paginate(undefined, () =>
      Effect.map(next, ([news, isOver]) => [news, isOver ? Option.none() : Option.some(undefined)] as const)
    )
  }).pipe(Stream.unwrap)

/**
 * Pays the lines of a sheet: accepts all of them or none, waits, and returns what became of each. A second run of the same sheet
 * pays what is missing, and repeats nothing.
 *
 * It fails with `PayoutsNotAccepted`, which names each wrong line and each that looks like another payout: nothing was sent then;
 * with `InvalidRequest` where an option is wrong, with `ForeignTransaction` and with `DatabaseError`.
 */
export const run = (
  items: Iterable<PayoutItem>,
  options: RunOptions = {}
): Effect.Effect<PayoutReport, Failure, PayoutQueue> =>
  inSpan("Payouts.run", { kind: "internal", attributes: {} }, (span) =>
    Effect.gen(function* () {
      const lines = [...items]
      const places = new Map(lines.map(({ reference }, index) => [reference, index]))
      const statuses = (yield* Stream.runCollect(stream(lines, options))).toSorted(
        (a, b) => (places.get(a.reference) ?? 0) - (places.get(b.reference) ?? 0)
      )
      const inState = (...states: ReadonlyArray<PayoutStatus["state"]>) =>
        statuses.filter(({ state }) => states.includes(state))
      const report = {
        done: inState("posted", "settled"),
        failed: inState("failed"),
        refused: inState("refused"),
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
): Effect.Effect<PayoutPlan, InvalidRequest | ForeignTransaction | DatabaseError, PayoutQueue> =>
  Effect.gen(function* () {
    const { run } = yield* settingsOf(options)
    const sheet = yield* theSheet
    const lines = [...items]
    const { earlier, wrong } = yield* sheet.plan(lines, run)
    const total = lines
      .map(({ amount }) => amount)
      .filter(Schema.is(Centavos))
      .reduce((sum, amount) => sum + amount, 0)
    if (!Number.isSafeInteger(total)) return yield* invalid("amount", "is too large a sum")
    return {
      count: lines.length,
      sum: Centavos.make(total),
      wrong: Arr.isReadonlyArrayNonEmpty(wrong) ? wrong : [],
      stored: earlier
    }
  })
