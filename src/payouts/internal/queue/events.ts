/**
 * What may happen to a payout. `edges.ts` says where each event leads.
 */
import type { Person } from "../../../durable/Step.ts"
import type { PayoutChange } from "../../PayoutHistory.ts"
import type { ParkedBecause, WaitsFor } from "../../PayoutStatus.ts"
import type { AnswerFact } from "../machine.ts"
import type { Deciding } from "./late.ts"
import type { Row } from "./row.ts"

/** An entry of the history without the fields that its row has: the time, the state and the mark. */
export type Entry = PayoutChange extends infer Change
  ? Change extends PayoutChange
    ? Omit<Change, "at" | "state" | "mayHaveLeftAt">
    : never
  : never

/** A condition of an edge, in words and as a predicate. */
export type Guard<Happened> = readonly [words: string, holds: (row: Row, event: Happened) => boolean]

interface Answered {
  /** When it came. */
  readonly now: number
}
export interface ByPerson {
  readonly at: Deciding
  readonly person: Person
}

interface Events {
  /** A request is about to leave, of a sender with this fingerprint if it is known. */
  readonly Marked: {
    readonly at: Deciding
    readonly fingerprint: string | undefined
    readonly underWayUntil: number
  }
  /** It cannot be sent now. */
  readonly Waits: { readonly at: Deciding; readonly waitsFor: WaitsFor }
  /** What an answer says, with the payee of a record. */
  readonly Recorded: Extract<AnswerFact, { _tag: "Recorded" }> & Answered & { readonly payee: string | null }
  readonly Refused: Extract<AnswerFact, { _tag: "Refused" }> & Answered
  readonly Unknown: Extract<AnswerFact, { _tag: "Unknown" }> & Answered
  /** A worker, or the submit, leaves it to a person. */
  readonly Parked: { readonly because: ParkedBecause }
  /** The steps of a person. */
  readonly retry: ByPerson
  readonly park: ByPerson
  /** `sum` is that of all payouts that are resumed by one step. */
  readonly resume: ByPerson & { readonly notExecuted: boolean; readonly sum: number }
  readonly settle: ByPerson & { readonly as: "paid" | "failed" }
  readonly forget: ByPerson
}
export type Tag = keyof Events

/** What happens to a payout. */
export type Event<Tags extends Tag = Tag> = { readonly [Name in Tags]: { readonly _tag: Name } & Events[Name] }[Tags]
