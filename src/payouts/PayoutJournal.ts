/**
 * The events of runs as lines of JSON, in a file or in any other text that only grows. What was read is the `previous` of
 * the next run.
 *
 * A process may end in the middle of a line. That torn line is left out, which is safe: an event is written before the run
 * goes on. So no request was sent for a torn `Started`, and a payout whose result is torn is unknown until the next run.
 *
 * Gotchas:
 * - Cut the text to `length` before you append to it, or the first new event is written into the torn line.
 * - A line in the middle that is no event is a failure: something else changed the file, and a payment may be missing.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { PayoutJournal } from "effect-pix/payouts"
 *
 * const torn = '{"_tag":"Started","index":0,"refer'
 * const { events, length } = await Effect.runPromise(PayoutJournal.read(torn))
 * const read = [events.length, length] // => [0, 0]
 * ```
 */
declare module "./PayoutJournal.ts" {}

import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { legible } from "../internal/legible.ts"
import { PayoutEvent } from "./Payout.ts"

const Line = Schema.fromJsonString(Schema.toCodecJson(PayoutEvent))
const encode = Schema.encodeSync(Line)
const decode = Schema.decodeUnknownEffect(Line)

/** A line of a journal, before the last one, is no event of a run. Nothing of the journal was read. */
export class InvalidJournal extends legible(
  Schema.TaggedError<InvalidJournal>("effect-pix/InvalidJournal")("InvalidJournal", {
    /** The number of the line, from 1. */
    line: Schema.Natural
  })
) {
  override get message(): string {
    return `Line ${this.line} of the journal is no event of a run of payouts. Nothing was read. Find out what changed the file before you run its payouts again: a payment may be missing in it.`
  }
}

/** An event as one line, with its line break. Write it before you take the next event of the run. */
export const line = (event: PayoutEvent): string => `${encode(event)}\n`

/** What a journal holds. */
export interface Journal {
  /** The events, in the order in which they were written. */
  readonly events: ReadonlyArray<PayoutEvent>
  /** How many bytes of UTF-8 the whole lines have. What follows them is a torn line. */
  readonly length: number
}

/** Reads all events. A last line without a line break is torn, and left out. Fails with `InvalidJournal`. */
export const read = (text: string): Effect.Effect<Journal, InvalidJournal> =>
  Effect.suspend(() => {
    const whole = text.slice(0, text.lastIndexOf("\n") + 1)
    return Effect.map(
      Effect.forEach(whole.split("\n").slice(0, -1), (json, index) =>
        Effect.mapError(decode(json), () => new InvalidJournal({ line: index + 1 }))
      ),
      (events) => ({ events, length: new TextEncoder().encode(whole).length })
    )
  })
