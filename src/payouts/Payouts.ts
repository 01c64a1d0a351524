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
 * | `Refused` | no money moved: the service refused it, its request was wrong, or it was provably not sent |
 * | `Unknown` | may have moved. Run the same references again to find out; never use another reference |
 * | `NotStarted` | nothing was sent: the run stopped before it, or it was above a limit of the run |
 * | `Repeated` | an earlier item of the input is identical, and has the result |
 *
 * Gotchas:
 * - A stop finishes the requests that are under way. An interruption does not: the client logs each write that is
 *   interrupted, with its key, and calls `PaymentsPolicy.onInterruptedWrite`. The report is lost then; use `Payouts.stream`
 *   and store its events where you want to know what was started.
 * - The rest of the input is read after a stop too, to be reported as not started. End an endless stream yourself.
 * - A limit judges the list in its order and by its amounts, whether or not an earlier run has paid some of them. Give
 *   the report or the events of earlier runs as `previous`: what they have paid is not counted.
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
 * Pays many and emits each step as an event. A `Started` is emitted before its request is sent, and **its request is sent
 * only when the reader pulls again**: by then the reader has stored the event. So a slow reader slows the run down. A reader
 * that ends interrupts the run and the requests that are under way.
 *
 * It fails at once with `InvalidRequest` where the options are wrong. Otherwise it fails only with the error of the items,
 * after every payout that was started has its result.
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

/** Takes all events of the queue. A reader that pulls again has handled the events that it took before. */
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
 * Pays many and returns the report at the end. It fails with `InvalidRequest` where the options are wrong, and then
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
