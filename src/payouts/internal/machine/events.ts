/**
 * What may happen to a payout. `edges.ts` says where each event leads.
 */
import type { Person } from "../../../durable/Step.ts"
import type { PayoutChange } from "../../PayoutHistory.ts"
import type { Judgement } from "../../PayoutSentence.ts"
import type { OfPayout } from "../../../contract/Status.ts"
import type { Because } from "../../PayoutBecause.ts"
import type { AnswerFact } from "./answers.ts"
import type { Row } from "./row.ts"
import { databaseTime, type ReadAccount } from "./account.ts"
import * as Conditions from "./conditions.ts"

/** An entry of the history without the fields that its row has: the time, the state and the mark. */
export type Entry = PayoutChange extends infer Change
  ? Change extends PayoutChange
    ? Omit<Change, "at" | "state" | "mayHaveLeftAt">
    : never
  : never

/** A condition of an edge. */
export type Guard<Happened> = (row: Row, event: Happened) => boolean

/** What the record of a withdrawal says. Times are in milliseconds. */
export interface Found {
  readonly meaning: OfPayout
  /** The service's word, if it is a plain one. */
  readonly word: string | undefined
  readonly endToEndId: string | undefined
  readonly value: string
  /** When the service changed it last. */
  readonly updatedAt: number | undefined
}

interface Answered {
  /** When it came. */
  readonly now: number
}
/** What the service said of why, sealed; absent or null where it said nothing, or nothing seals. */
export interface Reasoned {
  readonly reason?: string | null
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
  readonly Waits: { readonly at: Deciding; readonly because: Because<"accepted"> }
  /** What an answer says, with the payee of a record, and whether its word is listed. */
  readonly Recorded: Extract<AnswerFact, { _tag: "Recorded" }> &
    Answered & { readonly payee: string | null; readonly isUnlisted: boolean }
  /** `wantedAt`: since when it was wanted before the request. */
  readonly Refused: Extract<AnswerFact, { _tag: "Refused" }> & Answered & Reasoned & { readonly wantedAt: number }
  /** `request`: the number of the request that was answered. */
  readonly Unknown: Extract<AnswerFact, { _tag: "Unknown" }> &
    Answered &
    Reasoned & { readonly request: number; readonly judged?: Judgement["as"] | undefined }
  /** What a lookup of its withdrawal says, which is about this payout. */
  readonly LookedUp: Answered & Reasoned & { readonly found: Found; readonly until: number }
  /** The service knows no withdrawal of its number. */
  readonly LookupMissed: Answered & { readonly until: number }
  /** What a webhook claims. */
  readonly Claimed: { readonly claimed: OfPayout }
  /** A worker leaves it to a person. */
  readonly Parked: { readonly because: Because<"parked"> }
  /** The steps of a person. */
  readonly retry: ByPerson
  readonly park: ByPerson
  readonly resume: ByPerson
  /** A person says what a sentence means, of a payout whose only answer it is. */
  readonly judge: ByPerson & Pick<Judgement, "as" | "digest">
  readonly settle: ByPerson & { readonly as: "paid" | "failed" | "returned" }
  readonly confirm: ByPerson
  readonly cancel: ByPerson
  readonly forget: ByPerson
}
export type Tag = keyof Events

/** What happens to a payout. */
export type Event<Tags extends Tag = Tag> = { readonly [Name in Tags]: { readonly _tag: Name } & Events[Name] }[Tags]

/** What a step is decided by: the account, the time of this process, and the horizon in milliseconds. */
export interface Deciding {
  readonly account: ReadAccount
  readonly now: number
  readonly horizon: number
}

type Payout = Parameters<typeof Conditions.isInTime.of>[0]["payout"]

const askedOf = (payout: Payout, { account, horizon, now }: Deciding) => ({
  payout,
  account,
  given: { now: databaseTime(account, now), nowHere: now, horizon }
})

/** How long a payout has been waiting since it is wanted, in milliseconds. */
export const waitedMillis = (payout: Payout, deciding: Deciding): number =>
  Conditions.waitedMillis.of(askedOf(payout, deciding))

/**
 * Why no request of a payout may leave any more: the service may have forgotten its key, or it is wanted since longer ago than the
 * horizon. `undefined`: it is in time.
 */
export const tooLate = (payout: Payout, deciding: Deciding): "PastHorizon" | "WaitedTooLong" | undefined => {
  if (Conditions.isInTime.of(askedOf(payout, deciding))) return undefined
  return payout.mayHaveLeftAt === null ? "WaitedTooLong" : "PastHorizon"
}
