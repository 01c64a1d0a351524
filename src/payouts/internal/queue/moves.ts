/**
 * The parts of the edges of a payout: what has to hold, what changes, and why a step is refused.
 */
import * as DateTime from "effect/DateTime"
import { meaningOf } from "../../../contract/Status.ts"
import { plainWord } from "../../../contract/StatusWords.ts"
import type { EndedBy, ParkedBecause } from "../../PayoutState.ts"
import { differsOf, seenIdOf, waitsForTime } from "../machine.ts"
import { databaseTime } from "./account.ts"
import { addClaim } from "./claims.ts"
import type { ByPerson, Event, Found, Guard, Reasoned } from "./events.ts"
import { type Deciding, tooLate, waitedMillis } from "./late.ts"
import { firstLookup, nextLookup, noLookup } from "./lookups.ts"
import { type Changes, reaisText, type Row, writeFailure } from "./row.ts"

/** What changes in a row but its state, and in how many milliseconds it is due then. */
export type Moved = Omit<Changes, "state"> & { readonly dueIn?: number | undefined }

/** What a payout is wanted since, after a wait that is not counted. */
const wantedAfter = (row: Row, at: Deciding): number => databaseTime(at.account, at.now) - waitedMillis(row, at)

/**
 * A person wants it sent, now or at its time. What is in doubt stays wanted since its first request: its key gets no older by a
 * step.
 */
const wantedBy = ({ mayHaveLeftAt, notBefore, wantedAt }: Row, { account, now }: Deciding) => {
  const current = databaseTime(account, now)
  const from = Math.max(current, notBefore ?? current)
  return {
    wantedAt: mayHaveLeftAt === null ? from : wantedAt,
    dueIn: from - current,
    ...(from > current ? { waitsFor: "NotBefore", waitsSince: current } : waitsForNothing)
  }
}

const waitsForNothing = { waitsFor: null, waitsSince: null } as const

/** The fields of a payout without an executed request. */
const clean = {
  reason: null,
  parkedBecause: null,
  mayHaveLeftAt: null,
  underWayUntil: null,
  fingerprint: null,
  countedDay: null,
  error: null,
  ...waitsForNothing
} as const

const parkedFor = (parkedBecause: ParkedBecause) => ({
  parkedBecause,
  ...waitsForNothing
})

/** A request leaves. */
export const marked = (row: Row, { at, fingerprint, underWayUntil }: Event<"Marked">): Moved => ({
  wantedAt: wantedAfter(row, at),
  sends: row.sends + 1,
  mayHaveLeftAt: row.mayHaveLeftAt ?? at.now,
  fingerprint: row.mayHaveLeftAt === null ? (fingerprint ?? null) : row.fingerprint,
  markedAt: at.now,
  underWayUntil,
  // Why the last request moved nothing is no news of this one. A doubt keeps why it began.
  error: row.mayHaveLeftAt === null ? null : row.error,
  ...(waitsForTime.some((cause) => cause === row.waitsFor) && waitsForNothing)
})

/** It waits, by the clock of the database. */
export const waiting = (row: Row, { at, waitsFor }: Event<"Waits">): Moved => ({
  wantedAt: Math.max(row.wantedAt, (waitsFor === "NotBefore" && row.notBefore) || 0),
  waitsFor,
  waitsSince: row.waitsFor === waitsFor ? row.waitsSince : databaseTime(at.account, at.now)
})

/** The word of a record, where no table has it: a person sees it counted. */
const unlistedOf = (word: string | undefined, isUnlisted: boolean) => ({
  unlisted: isUnlisted ? (word ?? "other") : null
})

/** What a record of the service says, whatever is known of the payout. */
export const recorded = (
  row: Row,
  { isUnlisted, payee, withdrawal: { enTransaction, id: withdrawalId, value } }: Event<"Recorded">
): Moved => ({
  withdrawalId,
  withdrawalStatus: plainWord(enTransaction) ?? null,
  ...unlistedOf(plainWord(enTransaction), isUnlisted),
  value: reaisText(value),
  // It may have been forgotten since the request left.
  payee: row.request === null ? null : payee,
  error: null
})
/** A record of what is stored as failed. */
export const recordedAgainst = (row: Row, event: Event<"Recorded">): Moved => ({
  ...recorded(row, event),
  contradicted: true,
  ...firstLookup
})
const over = () =>
  ({
    mayHaveLeftAt: null,
    underWayUntil: null,
    error: null,
    reason: null,
    parkedBecause: null,
    ...waitsForNothing
  }) satisfies Moved
const endedBy = (by: EndedBy, at: number) => ({ endedBy: by, endedAt: at, claimed: null, ...noLookup }) satisfies Moved
export const posted = (row: Row, event: Event<"Recorded">): Moved => ({
  ...over(),
  ...recorded(row, event),
  ...firstLookup
})
export const paidByAnswer = (row: Row, event: Event<"Recorded">): Moved => ({
  ...over(),
  ...recorded(row, event),
  ...endedBy("answer", event.now)
})
export const isRecordedAsPaid: Guard<Event<"Recorded">> = [
  "it says Successful",
  // A word of the user ends a payout by a lookup alone.
  (_, { withdrawal: { enTransaction } }) => meaningOf(enTransaction, "payout") === "paid"
]

const foundOf = ({ endToEndId, recordedAt, withdrawalStatus }: Row, { found }: Event<"LookedUp">): Moved => ({
  withdrawalStatus: found.word ?? withdrawalStatus,
  ...unlistedOf(found.word, found.meaning === "unlisted"),
  endToEndId: found.endToEndId ?? endToEndId,
  value: found.value,
  recordedAt: found.updatedAt ?? recordedAt,
  claimed: null
})
/** An answer that is older than what is stored. */
export const isOutdated: Guard<Event<"LookedUp">> = [
  "the record is older than the stored one",
  ({ recordedAt }, { found: { updatedAt } }) => recordedAt !== null && updatedAt !== undefined && updatedAt < recordedAt
]
export const missed = (row: Row, event: Event<"LookedUp" | "LookupMissed">): Moved => nextLookup(row, event)
export const lookedUp = (row: Row, event: Event<"LookedUp">): Moved => ({
  ...(!isOutdated[1](row, event) && foundOf(row, event)),
  ...nextLookup(row, event)
})
/** The day's cap has room again for what was not paid, or came back. */
const freed = ({ found: { meaning } }: Event<"LookedUp">) => (meaning === "paid" ? {} : { countedDay: null })
export const endedByLookup = (row: Row, event: Event<"LookedUp">): Moved => ({
  ...over(),
  ...foundOf(row, event),
  ...reasonOf(row, event),
  ...freed(event),
  contradicted: false,
  ...endedBy("lookup", event.now)
})
export const contradicted = (row: Row, event: Event<"LookedUp">): Moved => ({
  ...foundOf(row, event),
  contradicted: true,
  ...noLookup
})
const says = (meaning: "paid" | "failed" | "returned"): Guard<{ readonly found: Found }> => [
  `the record has a listed word for ${meaning}`,
  (_, { found }) => found.meaning === meaning
]
export const saysPaid = says("paid")
export const saysFailed = says("failed")
export const saysReturned = says("returned")

export const hasRecord: Guard<Event<"Claimed">> = ["it has a record", ({ withdrawalId }) => withdrawalId !== null]
/** What it claims, beside what was claimed. Where that is what is known already, nobody has to look at it. */
export const claimed = (row: Row, { claim, now }: Event<"Claimed">): Moved => {
  const { meaning } = claim
  // Of what failed, another payout may be paid in its place.
  const isNews =
    (meaning === "failed" || meaning === "returned" || (meaning === "paid" && row.state === "failed")) &&
    meaning !== row.state
  return { claims: addClaim(row.claims, claim, now), ...(isNews && { claimed: meaning }) }
}
/** It is looked up at once, where something looks. */
export const claimedOfRecord = (row: Row, event: Event<"Claimed">): Moved => ({
  ...claimed(row, event),
  ...(row.state !== "returned" && { lookups: row.lookups ?? 0, dueIn: 0 })
})

/** What the service said of why; nothing of what was forgotten since the request left. */
const reasonOf = ({ request }: Row, { reason }: Reasoned) => ({ reason: request === null ? null : (reason ?? null) })

/** A person wants it looked up now, also once more where that was given up. */
export const lookedUpNow = (row: Row): Moved => ({ lookups: row.lookups ?? 0, dueIn: 0 })
export const hasNoRecord: Guard<ByPerson> = ["no record of it is known", ({ withdrawalId }) => withdrawalId === null]

/** No request of it moved money. */
export const cleared = (row: Row, event: Event<"Refused">) =>
  ({
    mayHaveLeftAt: null,
    underWayUntil: null,
    countedDay: null,
    error: writeFailure(event.error),
    ...reasonOf(row, event)
  }) satisfies Moved
export const refused = (row: Row, event: Event<"Refused">): Moved => ({ ...cleared(row, event), ...waitsForNothing })
const failedRecord = ({ error }: Event<"Refused">): Moved =>
  error._tag === "WithdrawalFailed"
    ? { withdrawalId: error.withdrawalId, withdrawalStatus: error.withdrawalStatus }
    : {}
export const failed = (row: Row, event: Event<"Refused">): Moved => ({
  ...refused(row, event),
  parkedBecause: null,
  ...endedBy("answer", event.now),
  ...failedRecord(event)
})
/** The record of a failure, of what a person said was paid. */
export const refusedAgainst = (row: Row, event: Event<"Refused">): Moved => ({
  ...reasonOf(row, event),
  ...failedRecord(event),
  mayHaveLeftAt: null,
  contradicted: true,
  ...firstLookup
})
export const waitingForCause = (row: Row, event: Event<"Refused">): Moved => {
  const waitsFor = event.waitsFor ?? null
  return { ...cleared(row, event), waitsFor, waitsSince: row.waitsFor === waitsFor ? row.waitsSince : event.now }
}
export const provesFailure: Guard<Event<"Refused">> = [
  "a record proves the failure",
  (_, { error }) => error._tag === "WithdrawalFailed"
]
export const hasCauseToWaitFor: Guard<Event<"Refused">> = [
  "it can wait for the cause to go",
  (_, { waitsFor }) => waitsFor !== undefined
]

export const inDoubt = (row: Row, event: Event<"Unknown">): Moved => ({
  ...waitsForNothing,
  // A later request of another process is still under way.
  ...(row.sends === event.request && { underWayUntil: null }),
  error: writeFailure(event.error),
  ...reasonOf(row, event)
})
/** The answer names its record, which is looked up. */
export const recordedOtherwise = (row: Row, event: Event<"Unknown">): Moved => {
  const id = seenIdOf(event.error)
  return {
    ...parkedFor("SeeRecord"),
    ...inDoubt(row, event),
    ...(id !== undefined && { withdrawalId: id, ...firstLookup })
  }
}
export const hasOtherRecord: Guard<Event<"Unknown">> = [
  "its record is of another company or PIX key, or has a word for failure that proves nothing",
  (_, { error }) => differsOf(error) !== undefined
]

export const parked = (_: Row, { because }: Event<"Parked">): Moved => parkedFor(because)
/** A person takes it over in the same way. */
export const parkedByPerson = (): Moved => parkedFor("Operator")

const isMarked = ({ mayHaveLeftAt }: Row) => mayHaveLeftAt !== null
const isLate = (row: Row, { at }: ByPerson) => tooLate(row, at) !== undefined
const isUnderWay = ({ mayHaveLeftAt, underWayUntil }: Row, { at }: ByPerson) =>
  mayHaveLeftAt !== null && underWayUntil !== null && at.now < underWayUntil
export const isDeleted: Guard<ByPerson> = ["its request was deleted", ({ request }) => request === null]
export const isInDoubt: Guard<ByPerson> = ["in doubt", isMarked]
/** A request that was marked and not answered. */
export const mayBeUnderWay: Guard<ByPerson> = ["a request may be under way", isUnderWay]
export const untilOver = ({ underWayUntil }: Row): string =>
  `A request of it may be under way until ${DateTime.formatIso(DateTime.makeUnsafe(underWayUntil ?? 0))}. Look in the panel after that.`

export const wantedNow = (row: Row, { at }: ByPerson): Moved => wantedBy(row, at)
export const wantedAnew = (row: Row, { at }: ByPerson): Moved => ({ ...clean, ...wantedBy({ ...row, ...clean }, at) })

export const resumed = (row: Row, event: Event<"resume">): Moved => ({
  parkedBecause: null,
  ...noLookup,
  ...wantedBy(row, event.at)
})
export const isPastHorizon: Guard<Event<"resume">> = [
  "in doubt past the horizon",
  (row, event) => isMarked(row) && isLate(row, event)
]

/** A person's word leaves its lookups as they are: one more says whether the service agrees. */
export const settled = (row: Row, { as, at }: Event<"settle">): Moved => ({
  ...over(),
  reason: as === "paid" ? null : row.reason,
  contradicted: false,
  claimed: null,
  endedBy: "person",
  endedAt: at.now
})
export const asPaid: Guard<Event<"settle">> = ["as paid", (_, { as }) => as === "paid"]
export const asReturned: Guard<Event<"settle">> = ["as returned", (_, { as }) => as === "returned"]

/** A request may have left: one is marked, or the service named its record. */
export const mayHaveLeft: Guard<ByPerson> = [
  "a request may have left",
  (row) => isMarked(row) || row.withdrawalId !== null
]
export const cancelled = (): Moved => ({ ...clean, ...noLookup })

export const forgotten = (): Moved => ({
  request: null,
  payee: null,
  reason: null,
  claims: null,
  claimed: null,
  requestCheck: ""
})
export const isThere: Guard<ByPerson> = ["its data is there", ({ requestCheck }) => requestCheck !== ""]
