/**
 * The parts of the edges of a payout: what has to hold, what changes, and why a step is refused.
 */
import * as DateTime from "effect/DateTime"
import { meaningOf } from "../../../contract/Status.ts"
import { plainWord } from "../../../contract/StatusWords.ts"
import type { Because } from "../../PayoutBecause.ts"
import type { EndedBy } from "../../PayoutState.ts"
import { differsOf, judgedAsRefused, seenIdOf } from "./answers.ts"
import { sentenceIn } from "./said.ts"
import { databaseTime } from "./account.ts"
import { isClaimed } from "./conditions.ts"
import {
  type ByPerson,
  type Event,
  type Found,
  type Guard,
  type Reasoned,
  type Deciding,
  tooLate,
  waitedMillis
} from "./events.ts"
import { type Changes, failureOf, reaisText, type Row, writeFailure } from "./row.ts"

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
    ...(from > current ? { because: "NotBefore", waitsSince: current } : waitsForNothing)
  }
}

const waitsForNothing = { because: null, waitsSince: null } as const

/** The fields of a payout without an executed request. */
const clean = {
  reason: null,
  mayHaveLeftAt: null,
  underWayUntil: null,
  fingerprint: null,
  countedDay: null,
  error: null,
  digest: null,
  ...waitsForNothing
} as const

const parkedFor = (because: Because<"parked">) => ({ because, waitsSince: null })

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
  ...waitsForNothing,
  // The balance may not cover it again: it waits longer then.
  ...(row.because === "Balance" && { waitsSince: row.waitsSince })
})

/** It waits, by the clock of the database. */
export const waiting = (row: Row, { at, because }: Event<"Waits">): Moved => ({
  wantedAt: Math.max(row.wantedAt, (because === "NotBefore" && row.notBefore) || 0),
  // What is in doubt waits too, and stays so.
  ...(row.state === "accepted" && { because }),
  waitsSince: row.because === because ? row.waitsSince : databaseTime(at.account, at.now)
})

const isEnded = ({ state }: Row) => state === "paid" || state === "failed" || state === "returned"
/** What is said of its end after a record that does not say it: a person sees a word counted that no table has. */
const notEnded = (row: Row, isUnlisted: boolean) => (isEnded(row) ? row.state : isUnlisted ? "unlisted" : null)

/** What a record of the service says, whatever is known of the payout. */
export const recorded = (
  row: Row,
  { isUnlisted, payee, withdrawal: { enTransaction, id: withdrawalId, value } }: Event<"Recorded">
): Moved => ({
  withdrawalId,
  word: plainWord(enTransaction) ?? null,
  // A claim may be newer than the answer.
  ...(!isClaimed.of({ payout: row }) && { endedAs: notEnded(row, isUnlisted) }),
  value: reaisText(value),
  // It may have been forgotten since the request left.
  payee: row.request === null ? null : payee,
  error: null
})
/** A record of what is stored as failed. */
export const recordedAgainst = (row: Row, event: Event<"Recorded">): Moved => ({
  ...recorded(row, event),
  endedAs: "paid",
  contradicted: true,
  ...firstLookup
})
const over = () =>
  ({
    mayHaveLeftAt: null,
    underWayUntil: null,
    error: null,
    reason: null,
    ...waitsForNothing
  }) satisfies Moved
type End = "paid" | "failed" | "returned"
const ended = (endedAs: End, endedBy: EndedBy, endedAt: number) => ({ endedAs, endedBy, endedAt }) satisfies Moved
export const posted = (row: Row, event: Event<"Recorded">): Moved => ({
  ...over(),
  ...recorded(row, event),
  ...firstLookup
})
export const paidByAnswer = (row: Row, event: Event<"Recorded">): Moved => ({
  ...over(),
  ...recorded(row, event),
  ...ended("paid", "answer", event.now),
  ...noLookup
})
/** A word of the user ends a payout by a lookup alone. */
export const isRecordedAsPaid: Guard<Event<"Recorded">> = (_, { withdrawal: { enTransaction } }) =>
  meaningOf(enTransaction, "payout") === "paid"

const foundOf = (row: Row, { found }: Event<"LookedUp">): Moved => ({
  word: found.word ?? row.word,
  // What the service contradicts, a person ends.
  ...(!row.contradicted && { endedAs: notEnded(row, found.meaning === "unlisted") }),
  endToEndId: found.endToEndId ?? row.endToEndId,
  value: found.value,
  recordedAt: found.updatedAt ?? row.recordedAt
})
/** An answer that is older than what is stored. */
export const isOutdated: Guard<Event<"LookedUp">> = ({ recordedAt }, { found: { updatedAt } }) =>
  recordedAt !== null && updatedAt !== undefined && updatedAt < recordedAt
export const missed = (row: Row, event: Event<"LookedUp" | "LookupMissed">): Moved => nextLookup(row, event)
export const lookedUp = (row: Row, event: Event<"LookedUp">): Moved => ({
  ...(!isOutdated(row, event) && foundOf(row, event)),
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
  // An edge leads here from such a meaning alone.
  ...ended(event.found.meaning as End, "lookup", event.now),
  ...noLookup
})
export const contradicted = (row: Row, event: Event<"LookedUp">): Moved => ({
  ...foundOf(row, event),
  endedAs: event.found.meaning,
  contradicted: true,
  ...noLookup
})
const says =
  (meaning: "paid" | "failed" | "returned"): Guard<{ readonly found: Found }> =>
  (_, { found }) =>
    found.meaning === meaning
export const saysPaid = says("paid")
export const saysFailed = says("failed")
export const saysReturned = says("returned")

export const hasRecord: Guard<Event<"Claimed">> = ({ withdrawalId }) => withdrawalId !== null
/** Where money did not move, as the state says. Another payout may be paid in its place. */
const isUnpaid = ({ state }: Row) => state === "failed" || state === "refused" || state === "cancelled"
/**
 * A claim that differs from the state: that something was paid which is under way, or posted, does not. One of success replaces none of
 * return, and what the service contradicts is told already.
 */
export const isNews: Guard<Event<"Claimed">> = (row, { claimed: claim }) =>
  !row.contradicted &&
  ((claim === "failed" && !isUnpaid(row)) ||
    (claim === "returned" && row.state !== "returned") ||
    (claim === "paid" && isUnpaid(row) && row.endedAs !== "returned"))
export const claimed = (_: Row, { claimed: endedAs }: Event<"Claimed">): Moved => ({ endedAs })
/** It is looked up at once, where something looks. */
export const claimedOfRecord = (row: Row, event: Event<"Claimed">): Moved => ({
  ...(isNews(row, event) && claimed(row, event)),
  ...(row.state !== "returned" && { lookups: row.lookups ?? 0, dueIn: 0 })
})

/** What the service said of why; nothing of what was forgotten since the request left. */
const reasonOf = ({ request }: Row, { reason }: Reasoned) => ({ reason: request === null ? null : (reason ?? null) })

/** A person wants it looked up now, also once more where that was given up. */
export const lookedUpNow = (row: Row): Moved => ({ lookups: row.lookups ?? 0, dueIn: 0 })
export const hasNoRecord: Guard<ByPerson> = ({ withdrawalId }) => withdrawalId === null

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
  error._tag === "WithdrawalFailed" ? { withdrawalId: error.withdrawalId, word: error.withdrawalStatus } : {}
export const failed = (row: Row, event: Event<"Refused">): Moved => ({
  ...refused(row, event),
  ...ended("failed", "answer", event.now),
  ...noLookup,
  ...failedRecord(event)
})
/** The record of a failure, of what a person said was paid. */
export const refusedAgainst = (row: Row, event: Event<"Refused">): Moved => ({
  ...reasonOf(row, event),
  ...failedRecord(event),
  mayHaveLeftAt: null,
  endedAs: "failed",
  contradicted: true,
  ...firstLookup
})
export const waitingForCause = (row: Row, event: Event<"Refused">): Moved => {
  const { because = null, now } = event
  return {
    ...cleared(row, event),
    // Nothing left of it: its wait is that of before this request.
    wantedAt: event.wantedAt,
    because,
    waitsSince: because === "Balance" ? (row.waitsSince ?? now) : now
  }
}
export const provesFailure: Guard<Event<"Refused">> = (_, { error }) => error._tag === "WithdrawalFailed"
export const hasCauseToWaitFor: Guard<Event<"Refused">> = (_, { because }) => because !== undefined

const sentenceOf = ({ error }: Event<"Unknown">) => sentenceIn(error)
/** Only one that is the one answer to the one request of its payout can be judged. */
const digestOf = (row: Row, event: Event<"Unknown">) =>
  row.mayHaveLeftAt === row.markedAt && row.sends === event.request ? (sentenceOf(event)?.digest ?? null) : null
export const inDoubt = (row: Row, event: Event<"Unknown">): Moved => ({
  // What a person parked meanwhile stays so.
  ...(row.state !== "parked" && waitsForNothing),
  // A later request of another process is still under way.
  ...(row.sends === event.request && { underWayUntil: null }),
  error: writeFailure(event.error),
  digest: digestOf(row, event),
  ...reasonOf(row, event)
})
export const isUnjudged: Guard<Event<"Unknown">> = (_, event) =>
  sentenceOf(event) !== undefined && event.judged === undefined
export const parkedForSentence = (row: Row, event: Event<"Unknown">): Moved => ({
  ...inDoubt(row, event),
  ...parkedFor("RefusalUnknown")
})
export const isJudgedRefused: Guard<Event<"Unknown">> = (row, event) =>
  event.judged === "refused" && digestOf(row, event) !== null
/** A judgement is no proof: the mark stays. */
export const refusedByJudgement = (row: Row, event: Event<"Unknown">): Moved => {
  const error = sentenceOf(event)
  return { ...inDoubt(row, event), ...(error && { error: writeFailure(judgedAsRefused(error)) }) }
}

/** The answer names its record, which is looked up. */
export const recordedOtherwise = (row: Row, event: Event<"Unknown">): Moved => {
  const id = seenIdOf(event.error)
  return {
    ...inDoubt(row, event),
    ...parkedFor("SeeRecord"),
    ...(id !== undefined && { withdrawalId: id, ...firstLookup })
  }
}
/** Its record is of another company or PIX key, or has a word for failure that proves nothing. */
export const hasOtherRecord: Guard<Event<"Unknown">> = (_, { error }) => differsOf(error) !== undefined

export const parked = (_: Row, { because }: Event<"Parked">): Moved => parkedFor(because)
/** A person takes it over in the same way. */
export const parkedByPerson = (): Moved => parkedFor("Operator")

export const isInDoubt = ({ mayHaveLeftAt }: Row) => mayHaveLeftAt !== null
const isLate = (row: Row, { at }: ByPerson) => tooLate(row, at) !== undefined
export const isDeleted: Guard<ByPerson> = ({ request }) => request === null
/** A request that was marked and not answered. */
export const mayBeUnderWay = ({ mayHaveLeftAt, underWayUntil }: Row, { at }: ByPerson) =>
  mayHaveLeftAt !== null && underWayUntil !== null && at.now < underWayUntil
export const untilOver = ({ underWayUntil }: Row): string =>
  `A request of it may be under way until ${DateTime.formatIso(DateTime.makeUnsafe(underWayUntil ?? 0))}. Look in the panel after that.`

export const wantedNow = (row: Row, { at }: ByPerson): Moved => wantedBy(row, at)
export const wantedAnew = (row: Row, { at }: ByPerson): Moved => ({ ...clean, ...wantedBy({ ...row, ...clean }, at) })

export const resumed = (row: Row, event: Event<"resume">): Moved => ({
  ...noLookup,
  ...wantedBy(row, event.at)
})
export const isPastHorizon: Guard<ByPerson> = (row, event) => isInDoubt(row) && isLate(row, event)

export const isOfSentence: Guard<Event<"judge">> = (row, { digest }) =>
  row.digest === digest && isInDoubt(row) && row.underWayUntil === null
export const isRefusedSentence: Guard<Event<"judge">> = (row, event) =>
  isOfSentence(row, event) && event.as === "refused"
export const isJudgedAnew: Guard<Event<"judge">> = (row, event) => isOfSentence(row, event) && event.as === "wait"
export const judged = (row: Row): Moved => {
  const failure = failureOf(row)
  const error = failure && sentenceIn(failure)
  return {
    ...noLookup,
    ...waitsForNothing,
    ...(error && { error: writeFailure(judgedAsRefused(error)) })
  }
}
export const judgedToWait = (row: Row, event: Event<"judge">): Moved => wantedBy(row, event.at)
export const parkedAgain = (): Moved => parkedFor("RefusalUnknown")

/** A person's word leaves its lookups as they are: one more says whether the service agrees. */
export const settled = (row: Row, { as, at }: Event<"settle">): Moved => ({
  ...over(),
  reason: as === "paid" ? null : row.reason,
  contradicted: false,
  ...ended(as, "person", at.now)
})
export const asPaid: Guard<Event<"settle">> = (_, { as }) => as === "paid"
export const asReturned: Guard<Event<"settle">> = (_, { as }) => as === "returned"

/** A request may have left: one is marked, or the service named its record. */
export const mayHaveLeft: Guard<ByPerson> = (row) => isInDoubt(row) || row.withdrawalId !== null
export const cancelled = (): Moved => ({ ...clean, ...noLookup })

export const forgotten = (): Moved => ({ request: null, payee: null, reason: null })
export const isThere: Guard<ByPerson> = ({ request }) => request !== null

const minute = 60_000
const day = 1440 * minute

/** How long after its request it is looked up, in milliseconds: 30 seconds, and then 2 and 10 minutes, 1 and 6 hours later. */
const times = [minute / 2, 2.5 * minute, 12.5 * minute, 72.5 * minute, 432.5 * minute] as const

/** After the lookup of a payout whose end is known already, which a webhook denies: once more. */
const again = minute

/** A record was stored: its first lookup. */
const firstLookup = { lookups: 0, dueIn: times[0] } as const

/** No lookup of it is due. */
const noLookup = { lookups: null } as const

/**
 * The next lookup of a payout that was looked up now: ever more seldom, for as long as `until` after its last request. It depends on
 * the time alone, so that no number of hints makes the payout older. Of one whose end is known, only a hint leads to another.
 */
const nextLookup = (
  { lookups, markedAt, state, submittedAt }: Row,
  { now, until }: { readonly now: number; readonly until: number }
) => {
  const count = (lookups ?? 0) + 1
  if (state !== "posted" && state !== "parked") return count === 1 ? { lookups: count, dueIn: again } : noLookup
  const age = now - (markedAt ?? submittedAt)
  const next = times.find((time) => time > age)
  return age >= until ? noLookup : { lookups: count, dueIn: next === undefined ? day : Math.min(next - age, day) }
}
