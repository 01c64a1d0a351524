/** The error of a list that cannot be read to its end, with the reason and what to do next. */
import * as Schema from "effect/Schema"
import { legible } from "../../internal/legible.ts"
import { Checkpoint } from "./pagePlace.ts"

const reasonInWords = {
  /** The service repeatedly answers with a page that was not requested. */
  EchoedPage: "the service repeatedly answers with a page that was not requested",
  /** Different pages hold the same rows. */
  RepeatedPage: "the service answers with the same rows for different pages",
  /** The list grows as fast as it is read. */
  Endless: "the list has no end: it brought more than twice the rows that the service first counted",
  /** The list has more rows than were delivered, by its positions or by the count of the service. */
  MissingRows: "the list has more rows than were delivered",
  /** Rows of one instant change places, and the service counts fewer rows than it shows: a lost row would not be noticed. */
  WrongCount: "rows of one instant change places, and the service counts fewer rows than it shows",
  /** The rows are not in the requested order. */
  OutOfOrder: "the rows are not in the requested order",
  /** Rows are added or removed faster than the last row can be found again. */
  StillMoving: "rows are added or removed faster than the last row can be found again",
  /** The reader cannot know which rows it has read: the last thousand were removed, and the other rows show no time. */
  LostPlace:
    "the rows that were read last were removed, and the other rows do not show whether they are before or after them"
} as const

/** Why the reader stopped. */
export type Reason = keyof typeof reasonInWords
// The keys of `reasonInWords` are the reasons, in this order.
const reasons = Object.keys(reasonInWords) as Array<Reason>

/**
 * The pages do not fit together, and to continue could lose or repeat rows. The rows delivered so far are correct;
 * `checkpoint` is the place after them.
 */
export class PaginationError extends legible(
  Schema.TaggedError<PaginationError>("effect-pix/PaginationError")("PaginationError", {
    operation: Schema.Literal("listTransactions"),
    outcome: Schema.Literal("NoEffect"),
    /** How many answers in a row had no new row, the last one included. */
    attempts: Schema.Natural,
    /** The page that was requested last. */
    page: Schema.Natural,
    reason: Schema.Literals(reasons),
    /**
     * Only for `MissingRows` and `WrongCount`: how many rows the service counts, and how many were delivered or left out before `since`.
     */
    counted: Schema.optionalKey(Schema.Natural),
    delivered: Schema.optionalKey(Schema.Natural),
    checkpoint: Checkpoint
  })
) {
  get concerns(): "Service" {
    return "Service"
  }
  override get message(): string {
    const stopped = `Reading all transactions stopped at page ${this.page}: ${reasonInWords[this.reason]}`
    if (this.reason === "MissingRows" || this.reason === "WrongCount") {
      return `${stopped} (${this.counted} counted, ${this.delivered} delivered). Nothing was changed and no row was repeated. The missing rows cannot be found from here: start again, or continue from this error's checkpoint without its \`count\`, so that rows are no longer compared with the count.`
    }
    return `${stopped}. Nothing was changed, and no row was skipped or repeated up to here; continue from this error's checkpoint, or start again.`
  }
}
