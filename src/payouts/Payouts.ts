/**
 * Many payouts: a list or a stream of withdrawals with business references, paid with bounded concurrency.
 *
 * The key of each payout is made from its reference (`IdempotencyKey.fromReference`), so that **running it again with
 * the same references repeats no payout**: after a crash, an interruption or a stop, run the whole list again. That
 * holds as long as the service remembers the keys; it does not document for how long.
 *
 * Every item of the input gets exactly one result:
 *
 * | result | money |
 * |---|---|
 * | `Done` | the service recorded the withdrawal |
 * | `Refused` | nothing moved: refused by the service, found wrong before, or provably not sent |
 * | `Unknown` | may have moved. Run the same references again to learn it; never under another reference |
 * | `NotStarted` | nothing was sent: the run stopped before it, or a limit of the run held it back |
 * | `Repeated` | an identical item with this reference came before; that one has the result |
 *
 * Gotchas:
 * - A stop lets what is under way finish. An interruption does not: the client logs each write that it cuts off, with
 *   its key, and calls `PaymentsPolicy.onInterruptedWrite`. The report is lost then; take `Payouts.stream` and store
 *   its events where you want to know what was started.
 * - The rest of the input is read after a stop too, to be listed as not started. Cut an endless stream yourself.
 * - A limit judges the list in its order and by its amounts, whether or not an earlier run has paid some of them. Give
 *   the report or the events of earlier runs as `previous`, and what is done counts no more.
 */
declare module "./Payouts.ts" {}

import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { camelToSnake as snake } from "effect/String"
import type { Payments } from "../client/Payments.ts"
import type { InvalidRequest } from "../contract/PaymentsError.ts"
import { inSpan } from "../internal/spans.ts"
import { drive } from "./internal/drive.ts"
import { type Items, type Options, settingsOf } from "./internal/settings.ts"
import { type PayoutEvent, type PayoutReport, type PayoutResult, PayoutSourceFailed } from "./Payout.ts"

export type { Items, Options } from "./internal/settings.ts"

const reportOf = (events: ReadonlyArray<PayoutEvent>): PayoutReport => {
  const ordered = events.toSorted((a, b) => a.index - b.index)
  const only = <Tag extends PayoutResult["_tag"]>(tag: Tag) =>
    ordered.filter((event): event is Extract<PayoutResult, { readonly _tag: Tag }> => event._tag === tag)
  return {
    done: only("Done"),
    refused: only("Refused"),
    unknown: only("Unknown"),
    notStarted: only("NotStarted"),
    repeated: only("Repeated")
  }
}

/**
 * Pays many and gives each step as an event. A `Started` comes before its request is sent, and **its request is sent only
 * when the reader has asked for more**: by then the reader has stored what it stores. So a slow reader slows the run
 * down. A reader that goes away interrupts the run, and what is under way.
 *
 * It fails at once with `InvalidRequest` where the options are wrong, and otherwise only as the stream of items fails,
 * after everything that was started.
 */
export const stream = <E = never, R = never>(
  items: Items<E, R>,
  options: Options = {}
): Stream.Stream<PayoutEvent, E | InvalidRequest, R | Payments> =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(items, options)
    const events = yield* Queue.unbounded<Emitted, E | Cause.Done>()
    const emit = (event: PayoutEvent) =>
      Effect.suspend(() => {
        const taken = Latch.makeUnsafe()
        Queue.offerUnsafe(events, { event, taken })
        return taken.await
      })
    yield* drive(items, settings, emit).pipe(
      Effect.onExit((exit) => (Exit.isSuccess(exit) ? Queue.end(events) : Queue.failCause(events, exit.cause))),
      Effect.forkScoped
    )
    return Stream.fromPull(Effect.succeed(takeFrom(events)))
  }).pipe(Stream.unwrap)

interface Emitted {
  readonly event: PayoutEvent
  readonly taken: Latch.Latch
}

/** Takes all events that wait. A reader that asks for more has finished with those that it took before. */
const takeFrom = <E>(events: Queue.Dequeue<Emitted, E>) => {
  let taken: ReadonlyArray<Emitted> = []
  return Effect.suspend(() => {
    for (const { taken: latch } of taken) latch.openUnsafe()
    return Effect.map(Queue.takeAll(events), (batch) => {
      taken = batch
      return Arr.map(batch, ({ event }) => event)
    })
  })
}

/**
 * Pays many and gives the report at the end. It fails with `InvalidRequest` where the options are wrong, and then
 * nothing was sent; and with `PayoutSourceFailed`, which has the report, where the items fail or throw.
 */
export const run = <E = never, R = never>(
  items: Items<E, R>,
  options: Options = {}
): Effect.Effect<PayoutReport, InvalidRequest | PayoutSourceFailed<E>, R | Payments> =>
  inSpan("Payouts.run", { kind: "internal", attributes: {} }, (span) =>
    Effect.gen(function* () {
      const settings = yield* settingsOf(items, options)
      const events: Array<PayoutEvent> = []
      const emit = (event: PayoutEvent) => {
        events.push(event)
        return Effect.void
      }
      const end = yield* Effect.exit(drive(items, settings, emit))
      const report = reportOf(events)
      for (const [name, results] of Object.entries({ ...report }))
        span?.attribute(`payouts.${snake(name)}`, results.length)
      if (Exit.isSuccess(end)) return report
      const error = Option.getOrUndefined(Cause.findErrorOption(end.cause))
      return yield* new PayoutSourceFailed<E>({
        ...(error !== undefined && { error }),
        cause: end.cause,
        report
      })
    })
  )
