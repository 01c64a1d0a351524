/** Why a stream of transactions ends early, and what to do then. */
import * as Schema from "effect/Schema"
import { Checkpoint } from "./pagePlace.ts"

const reasonInWords = {
  /** Asked for a page, the service keeps answering with another one. */
  EchoedPage: "the service keeps answering with another page than the one asked for",
  /** Different pages hold the same rows. */
  RepeatedPage: "the service keeps answering with the same rows, whatever page is asked for",
  /** The list grows as fast as it is read. */
  Endless: "the list has no end: it brought more than twice the rows that the service first counted",
  /** The service counts more rows than it shows. */
  MissingRows: "the service counts more rows than it shows",
  /** The rows are not in the order asked for. */
  OutOfOrder: "the rows do not come in the order asked for",
  /** Rows are added or removed faster than the place can be found again. */
  StillMoving: "the list moves faster than the last row's place in it can be found again",
  /** It is not known any more which rows were read: the last thousand are gone and the others show no time. */
  LostPlace: "the rows read last are gone, and the others do not say whether they come before or after them"
} as const

/** Why reading was given up. */
export type Reason = keyof typeof reasonInWords
// Its keys are the reasons, in this order.
const reasons = Object.keys(reasonInWords) as Array<Reason>

/**
 * The pages do not fit together, and going on could lose or repeat rows. All that was delivered is right; `checkpoint`
 * is the place up to which that is so.
 */
export class PaginationError extends Schema.TaggedError<PaginationError>("effect-pix/PaginationError")(
  "PaginationError",
  {
    operation: Schema.Literal("listTransactions"),
    outcome: Schema.Literal("NoEffect"),
    /** How many answers in a row brought nothing new, this one with them. */
    attempts: Schema.Natural,
    /** The page asked for last. */
    page: Schema.Natural,
    reason: Schema.Literals(reasons),
    /** Of `MissingRows`: how many rows the service counts, and how many were delivered or left out before `since`. */
    counted: Schema.optionalKey(Schema.Natural),
    delivered: Schema.optionalKey(Schema.Natural),
    checkpoint: Checkpoint
  }
) {
  override get message(): string {
    const stopped = `Reading all transactions stopped at page ${this.page}: ${reasonInWords[this.reason]}`
    if (this.reason === "MissingRows") {
      return `${stopped} (${this.counted} counted, ${this.delivered} delivered). Nothing was changed and no row was repeated. The missing rows cannot be found from here: begin anew, or go on from this error's checkpoint without its count, which is not compared then.`
    }
    return `${stopped}. Nothing was changed, and no row was skipped or repeated up to here; go on from this error's checkpoint, or begin anew.`
  }
}
