/**
 * Every step that a payout may take: `edges`. Nothing here reads or writes: a step is a
 * function from a row and an event to what changes in the row, with the entry of its history.
 */
import { plainWord } from "../../../contract/StatusWords.ts"
import { PayoutState } from "../../PayoutState.ts"
import type { Entry, Event, Guard, Tag } from "./events.ts"
import * as Moves from "./moves.ts"
import { type Changes, openStates as open, type Row } from "./row.ts"

type States = ReadonlyArray<PayoutState>
type When<Happened> = Guard<Happened> | undefined

/** Where an event leads from some states. */
interface Edge<Happened> {
  readonly from: States
  /** What has to hold besides. */
  readonly when: When<Happened>
  /** `undefined`: the state stays, or the step is refused. */
  readonly to: PayoutState | undefined
  readonly changes?: (row: Row, event: Happened) => Moves.Moved
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
  changes: (row: Row, event: Happened) => Moves.Moved
): Edge<Happened> => ({ from, when, to, changes })

const refuse = <Happened>(
  from: States,
  when: When<Happened>,
  why: string | ((row: Row, event: Happened) => string)
): Edge<Happened> => ({ from, when, to: undefined, refused: typeof why === "string" ? () => why : why })

/** The states of a payout that the service recorded, or that a person settled. */
const recordedStates: States = ["posted", "paid", "failed", "returned"]
const over: States = [...recordedStates, "cancelled"]
/** The states in which its withdrawal may be looked up. */
const known: States = [...recordedStates, "parked"]
const wasOver = "It was recorded, settled or cancelled, and is not sent any more."
const deleted = "Its request was deleted, so it cannot be sent."

/** All edges of a payout. Of those of an event the first one that fits is taken; without one nothing changes. */
const edges: { readonly [Name in Tag]: ReadonlyArray<Edge<Event<Name>>> } = {
  Marked: [go(open, always, "unknown", Moves.marked)],
  Waits: [go(open, always, stays, Moves.waiting)],
  // The service's record of a payout is true whatever was written to the row meanwhile, also where a person settled it.
  Recorded: [
    go(["failed"], always, stays, Moves.recordedAgainst),
    go(["paid", "returned"], always, stays, Moves.recorded),
    go(allBut("paid", "failed", "returned"), Moves.isRecordedAsPaid, "paid", Moves.paidByAnswer),
    go(allBut("paid", "failed", "returned"), always, "posted", Moves.posted)
  ],
  Refused: [
    go(allBut("posted", "paid", "returned"), Moves.provesFailure, "failed", Moves.failed),
    go(["paid"], Moves.provesFailure, stays, Moves.refusedAgainst),
    go(allBut(...open), always, stays, Moves.cleared),
    go(open, Moves.hasCauseToWaitFor, "accepted", Moves.waitingForCause),
    go(open, always, "refused", Moves.refused)
  ],
  // After a record that proves nothing the same request would be answered with it again. A person may have parked it meanwhile.
  Unknown: [
    go(open, Moves.isJudgedRefused, "refused", Moves.refusedByJudgement),
    go([...open, "parked"], Moves.hasOtherRecord, "parked", Moves.recordedOtherwise),
    go(open, Moves.isUnjudged, "parked", Moves.parkedForSentence),
    go(open, always, "unknown", Moves.inDoubt),
    go(["parked"], always, stays, Moves.inDoubt)
  ],
  LookedUp: [
    go(known, Moves.isOutdated, stays, Moves.lookedUp),
    go(["posted", "parked", "paid", "failed"], Moves.saysReturned, "returned", Moves.endedByLookup),
    go(["posted", "parked"], Moves.saysPaid, "paid", Moves.endedByLookup),
    go(["posted", "parked"], Moves.saysFailed, "failed", Moves.endedByLookup),
    go(["paid"], Moves.saysFailed, stays, Moves.contradicted),
    go(["failed"], Moves.saysPaid, stays, Moves.contradicted),
    go(known, always, stays, Moves.lookedUp)
  ],
  LookupMissed: [go(known, always, stays, Moves.missed)],
  Claimed: [go(known, Moves.hasRecord, stays, Moves.claimedOfRecord), go(allBut(), Moves.isNews, stays, Moves.claimed)],
  Parked: [go(open, always, "parked", Moves.parked)],
  retry: [
    go(open, always, stays, Moves.wantedNow),
    refuse(["refused"], Moves.isDeleted, deleted),
    refuse(
      ["refused"],
      Moves.isPastHorizon,
      "A person judged its refusal, and its request left longer ago than the horizon. Look in the panel. What is not there is paid under a new reference."
    ),
    go(["refused"], Moves.isInDoubt, "unknown", Moves.wantedNow),
    go(["refused"], always, "accepted", Moves.wantedAnew),
    refuse(["parked"], always, "Resume it when you know that it may be sent."),
    refuse(over, always, wasOver)
  ],
  park: [go([...open, "refused", "parked"], always, "parked", Moves.parkedByPerson), refuse(over, always, wasOver)],
  resume: [
    refuse(allBut("parked"), always, "Only a parked payout can be resumed."),
    refuse(["parked"], Moves.isDeleted, `${deleted} Settle it.`),
    refuse(
      ["parked"],
      Moves.isPastHorizon,
      "A request left longer ago than the horizon, so another one may pay twice. Look in the panel, and settle it."
    ),
    go(["parked"], Moves.isInDoubt, "unknown", Moves.resumed),
    go(["parked"], always, "accepted", Moves.resumed)
  ],
  // Who judges again gives back what the earlier judgement ended.
  judge: [
    go(["parked"], Moves.isRefusedSentence, "refused", Moves.judged),
    go(["parked"], Moves.isOfSentence, "unknown", Moves.judgedToWait),
    go(["refused"], Moves.isJudgedAnew, "parked", Moves.parkedAgain),
    refuse(allBut(), always, "It is not parked for this sentence alone.")
  ],
  // Never while a request may be under way: its answer may say the opposite.
  settle: [
    refuse(["accepted", "refused", "cancelled"], always, "If you know how it ended, park it and then settle it."),
    refuse(["unknown", "parked"], Moves.mayBeUnderWay, Moves.untilOver),
    go([...recordedStates, "unknown", "parked"], Moves.asPaid, "paid", Moves.settled),
    refuse(["unknown"], always, "It is asked again. Park it, and then settle it."),
    go([...recordedStates, "parked"], Moves.asReturned, "returned", Moves.settled),
    go([...recordedStates, "parked"], always, "failed", Moves.settled)
  ],
  confirm: [
    refuse(
      allBut("posted", "paid", "failed", "parked"),
      always,
      "Only what was recorded, and may still change, is looked up."
    ),
    refuse(
      ["posted", "paid", "failed", "parked"],
      Moves.hasNoRecord,
      "No answer named its withdrawal, so it cannot be looked up."
    ),
    go(["posted", "paid", "failed", "parked"], always, stays, Moves.lookedUpNow)
  ],
  // Only what cannot have left. A restored database is judged before, by the statement.
  cancel: [
    refuse(["unknown"], always, "A request of it may have left. Park it, if it is to be sent no more."),
    refuse(recordedStates, always, wasOver),
    refuse(
      ["accepted", "parked", "refused"],
      Moves.mayHaveLeft,
      "A request of it may have left. Park it: then nothing sends it, and it can be settled."
    ),
    go(["accepted", "parked", "refused"], always, "cancelled", Moves.cancelled)
  ],
  // Deletes what is a person's: its record stays.
  forget: [
    refuse(["parked"], always, "It waits for a person: settle it when you know how it ended, and then forget it."),
    refuse(open, always, "It may still be sent. Park it, settle it when you know how it ended, and then forget it."),
    go([...recordedStates, "refused", "cancelled"], Moves.isThere, stays, Moves.forgotten)
  ]
}

type Entries = { readonly [Name in Tag]: (row: Row, event: Event<Name>, to: Changes) => Entry | undefined }

const wordOf = (word: string | undefined) => (word === undefined ? {} : { word })

const answered = (answer: "Refused" | "Unknown", error: Event<"Refused" | "Unknown">["error"]): Entry => ({
  _tag: "Answered",
  answer,
  error,
  ...(error._tag === "WithdrawalFailed" && { withdrawalId: error.withdrawalId })
})

const againstState = (withdrawalId: number, word: string | undefined): Entry => ({
  _tag: "Contradicted",
  withdrawalId,
  by: "answer",
  ...wordOf(word)
})

/** The entry of the history for each event that changes a row. */
const entries: Entries = {
  Marked: ({ sends }) => ({ _tag: "Marked", request: sends + 1 }),
  Waits: () => undefined,
  Recorded: ({ state }, { withdrawal: { enTransaction, id: withdrawalId } }) =>
    state === "failed"
      ? againstState(withdrawalId, plainWord(enTransaction))
      : { _tag: "Answered", answer: "Recorded", withdrawalId },
  Refused: ({ state }, { error }) =>
    state === "paid" && error._tag === "WithdrawalFailed"
      ? againstState(error.withdrawalId, error.withdrawalStatus)
      : answered("Refused", error),
  Unknown: (_, { error }) => answered("Unknown", error),
  LookedUp: (row, event, to) => {
    const found = { withdrawalId: row.withdrawalId ?? 0, ...wordOf(event.found.word) }
    if (to.contradicted === true && !row.contradicted) return { _tag: "Contradicted", by: "lookup", ...found }
    return to.state === undefined ? undefined : { _tag: "LookedUp", ...found }
  },
  LookupMissed: () => undefined,
  Claimed: () => undefined,
  Parked: (_, { because }) => ({ _tag: "Parked", because }),
  retry: (_, { person }) => ({ _tag: "Retried", ...person }),
  park: (_, { person }) => ({ _tag: "Parked", because: "Operator", ...person }),
  resume: (_, { person }) => ({ _tag: "Resumed", ...person }),
  judge: (_, { as, person }) => ({ _tag: "Judged", as, ...person }),
  settle: (_, { person }) => ({ _tag: "Settled", ...person }),
  confirm: () => undefined,
  cancel: (_, { person }) => ({ _tag: "Cancelled", ...person }),
  forget: (_, { person }) => ({ _tag: "Forgotten", ...person })
}

/** What an event makes of a row. */
export interface Step {
  readonly changes: Changes
  readonly entry: Entry | undefined
  /** In how many milliseconds it is due. Absent: when it was. */
  readonly dueIn?: number | undefined
}

/** What an event makes of a row, or why it is refused; `undefined` where it changes nothing. */
export const step = <Name extends Tag>(row: Row, event: Event<Name>): Step | string | undefined => {
  const name: Name = event._tag
  const ofEvent: ReadonlyArray<Edge<Event<Name>>> = edges[name]
  const edge = ofEvent.find(({ from, when }) => from.includes(row.state) && (when === undefined || when(row, event)))
  if (edge === undefined) return undefined
  if (edge.refused !== undefined) return edge.refused(row, event)
  const { dueIn, ...moved }: Moves.Moved = edge.changes?.(row, event) ?? {}
  const changes: Changes = { ...moved, ...(edge.to !== undefined && { state: edge.to }) }
  return { changes, entry: entries[name](row, event, changes), dueIn }
}
