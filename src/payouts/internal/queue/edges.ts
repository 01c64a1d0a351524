/**
 * Every step that a payout may take: `edges`, which docs/payouts-operating.md prints. Nothing here reads or writes: a step is a
 * function from a row and an event to what changes in the row, with the entry of its history.
 */
import { PayoutState } from "../../PayoutStatus.ts"
import { openStates as open } from "./conditions.ts"
import type { Entry, Event, Guard, Tag } from "./events.ts"
import * as Moves from "./moves.ts"
import type { Changes, Row } from "./row.ts"

type States = ReadonlyArray<PayoutState>
type When<Happened> = Guard<Happened> | undefined

/** Where an event leads from some states. */
export interface Edge<Happened> {
  readonly from: States
  /** What has to hold besides. */
  readonly when: When<Happened>
  /** `undefined`: the state stays, or the step is refused. */
  readonly to: PayoutState | undefined
  readonly changes?: (row: Row, event: Happened) => Omit<Changes, "state">
  /** Why the step is refused: it changes nothing. */
  readonly refused?: (row: Row, event: Happened) => string
}

const allBut = (...states: States) => PayoutState.literals.filter((state) => !states.includes(state))
const always = undefined
const stays = undefined

const go = <Happened>(
  from: States,
  when: When<Happened>,
  to: PayoutState | undefined,
  changes: (row: Row, event: Happened) => Omit<Changes, "state">
): Edge<Happened> => ({ from, when, to, changes })

const refuse = <Happened>(
  from: States,
  when: When<Happened>,
  why: string | ((row: Row, event: Happened) => string)
): Edge<Happened> => ({ from, when, to: undefined, refused: typeof why === "string" ? () => why : why })

const over = "It was recorded or settled, and is not sent any more."
const deleted = "Its request was deleted, so it cannot be sent."

/** All edges of a payout. Of those of an event the first one that fits is taken; without one nothing changes. */
export const edges: { readonly [Name in Tag]: ReadonlyArray<Edge<Event<Name>>> } = {
  Marked: [go(open, always, stays, Moves.marked)],
  Waits: [go(open, always, stays, Moves.waiting)],
  // The service's record of a payout is true whatever was written to the row meanwhile, also where a person settled it.
  Recorded: [
    go(["paid", "failed"], always, stays, Moves.recorded),
    go(allBut("paid", "failed"), always, "posted", Moves.posted)
  ],
  Refused: [
    go(allBut("posted", "paid"), Moves.provesFailure, "failed", Moves.failed),
    go(allBut(...open), always, stays, Moves.cleared),
    go(open, Moves.hasCauseToWaitFor, "accepted", Moves.waitingForCause),
    go(open, always, "refused", Moves.refused)
  ],
  // After a record that proves nothing the same request would be answered with it again.
  Unknown: [
    go(open, Moves.isOfOther, "parked", Moves.recordedFor("OtherPayee")),
    go(open, Moves.hasWordForFailure, "parked", Moves.recordedFor("RecordedAsFailed")),
    go(open, always, "unknown", Moves.inDoubt)
  ],
  Parked: [go(open, always, "parked", Moves.parked)],
  retry: [
    go(open, always, stays, Moves.wantedNow),
    refuse(["refused"], Moves.isDeleted, deleted),
    go(["refused"], always, "accepted", Moves.wantedAnew),
    refuse(["parked"], always, "Resume it when you know that it may be sent."),
    refuse(["posted", "paid", "failed"], always, over)
  ],
  park: [
    go([...open, "refused", "parked"], always, "parked", Moves.parkedByPerson),
    refuse(["posted", "paid", "failed"], always, over)
  ],
  resume: [
    refuse(allBut("parked"), always, "Only a parked payout can be resumed."),
    refuse(["parked"], Moves.isDeleted, `${deleted} Settle it.`),
    refuse(["parked"], Moves.notExecutedTooEarly, Moves.untilOver),
    refuse(
      ["parked"],
      Moves.notExecutedNeedless,
      "The service still knows its key. Resume it without notExecuted: true, and the same key is sent again."
    ),
    refuse(
      ["parked"],
      Moves.isPastHorizon,
      "A request left longer ago than the horizon, so another one may pay twice. Look in the panel: settle it, or resume it with notExecuted: true."
    ),
    refuse(["parked"], Moves.isDenied, Moves.denial),
    go(["parked"], Moves.isFirst, stays, Moves.askedFor),
    go(["parked"], Moves.wasNotExecuted, "accepted", Moves.resumedAnew),
    go(["parked"], Moves.wasAnswered, "unknown", Moves.resumed),
    go(["parked"], always, "accepted", Moves.resumed)
  ],
  // As failed never while a request may be under way: the payout may then be paid in another way.
  settle: [
    refuse(
      ["accepted", "refused"],
      Moves.isInDoubt,
      "A request of it may be under way. Wait for its answer, or park it and then settle it."
    ),
    refuse(
      ["accepted", "refused"],
      always,
      "No request of it is in doubt. If you know that it was paid, park it and then settle it."
    ),
    go(allBut("accepted", "refused"), Moves.asPaid, "paid", Moves.settled),
    refuse(["unknown"], always, "It is asked again. Park it, and then settle it as failed."),
    refuse(["posted", "paid", "failed", "parked"], Moves.mayBeUnderWay, Moves.untilOver),
    go(["posted", "paid", "failed", "parked"], always, "failed", Moves.settled)
  ],
  // Deletes what is a person's: its record stays.
  forget: [
    refuse(["parked"], always, "It waits for a person: settle it when you know how it ended, and then forget it."),
    refuse(open, always, "It may still be sent. Park it, settle it when you know how it ended, and then forget it."),
    go(["posted", "paid", "failed", "refused"], Moves.isThere, stays, Moves.forgotten)
  ]
}

type Entries = { readonly [Name in Tag]: (row: Row, event: Event<Name>) => Entry | undefined }

const answered = (answer: "Refused" | "Unknown", error: Event<"Refused" | "Unknown">["error"]): Entry => ({
  _tag: "Answered",
  answer,
  error,
  ...(error._tag === "WithdrawalFailed" && { withdrawalId: error.withdrawalId })
})

const resumed = (row: Row, event: Event<"resume">): Entry => {
  const { approvedBy, isFirst, step } = Moves.resumptionOf(row, event)
  if (isFirst) return { _tag: "Asked", step, ...event.person }
  const { notExecuted, person } = event
  return approvedBy !== undefined && !notExecuted
    ? { _tag: "Approved", ...person }
    : { _tag: "Resumed", notExecuted, ...person }
}

/** The entry of the history for each event that changes a row. */
const entries: Entries = {
  Marked: ({ sends }) => ({ _tag: "Marked", request: sends + 1 }),
  Waits: () => undefined,
  Recorded: ({ state }, { withdrawal: { id: withdrawalId } }) =>
    state === "failed"
      ? { _tag: "Contradicted", withdrawalId }
      : { _tag: "Answered", answer: "Recorded", withdrawalId },
  Refused: (_, { error }) => answered("Refused", error),
  Unknown: (_, { error }) => answered("Unknown", error),
  Parked: (_, { because }) => ({ _tag: "Parked", because }),
  retry: (_, { person }) => ({ _tag: "Retried", ...person }),
  park: (_, { person }) => ({ _tag: "Parked", because: "Operator", ...person }),
  resume: resumed,
  settle: (_, { person }) => ({ _tag: "Settled", ...person }),
  forget: (_, { person }) => ({ _tag: "Forgotten", ...person })
}

/** What an event makes of a row. */
export interface Step {
  readonly changes: Changes
  readonly entry: Entry | undefined
}

/** What an event makes of a row, or why it is refused; `undefined` where it changes nothing. */
export const step = <Name extends Tag>(row: Row, event: Event<Name>): Step | string | undefined => {
  const name: Name = event._tag
  const ofEvent: ReadonlyArray<Edge<Event<Name>>> = edges[name]
  const edge = ofEvent.find(({ from, when }) => from.includes(row.state) && (when === undefined || when[1](row, event)))
  if (edge === undefined) return undefined
  if (edge.refused !== undefined) return edge.refused(row, event)
  const changes = { ...edge.changes?.(row, event), ...(edge.to !== undefined && { state: edge.to }) }
  return { changes, entry: entries[name](row, event) }
}
