/**
 * The parts of the edges of a payout: what has to hold, what changes, and why a step is refused.
 */
import * as DateTime from "effect/DateTime"
import type { ParkedBecause } from "../../PayoutStatus.ts"
import { causeOfWait, isRecordedAsFailed, listedWord, mismatchOf } from "../machine.ts"
import { databaseTime } from "./account.ts"
import { resumption } from "./approval.ts"
import type { ByPerson, Event, Guard } from "./events.ts"
import { type Deciding, tooLate, waitedMillis } from "./late.ts"
import { type Changes, type Row, writeFailure } from "./row.ts"

type Moved = Omit<Changes, "state">

/** What a payout is wanted since, after a wait that is not counted. */
const wantedAfter = (row: Row, at: Deciding): number => databaseTime(at.account, at.now) - waitedMillis(row, at)

/** A person wants it sent. What is in doubt stays wanted since its first request: its key gets no older by a step. */
const wantedBy = ({ mayHaveLeftAt, wantedAt }: Row, { account, now }: Deciding) => ({
  wantedAt: mayHaveLeftAt === null ? databaseTime(account, now) : wantedAt
})

const waitsForNothing = { waitsFor: null, waitsSince: null } as const

/** The fields of a payout without an executed request. */
const clean = {
  parkedBecause: null,
  mayHaveLeftAt: null,
  fingerprint: null,
  countedDay: null,
  error: null,
  ...waitsForNothing
} as const

const parkedFor = (parkedBecause: ParkedBecause) => ({
  parkedBecause,
  ...(parkedBecause === "NeedsApproval" && { needsApproval: true }),
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
  ...(row.waitsFor === "DailyCap" && waitsForNothing)
})

/** It waits, by the clock of the database. */
export const waiting = (row: Row, { at, waitsFor }: Event<"Waits">): Moved => ({
  wantedAt: wantedAfter(row, at),
  waitsFor,
  waitsSince: row.waitsFor === waitsFor && waitsFor !== "DailyCap" ? row.waitsSince : databaseTime(at.account, at.now)
})

export const recorded = (
  row: Row,
  { payee, withdrawal: { enTransaction, id: withdrawalId } }: Event<"Recorded">
): Moved => ({
  withdrawalId,
  withdrawalStatus: listedWord(enTransaction) ?? null,
  // It may have been forgotten since the request left.
  payee: row.request === null ? null : payee,
  error: null
})
export const posted = (row: Row, event: Event<"Recorded">): Moved => ({ ...settled(), ...recorded(row, event) })

/** No request of it moved money. */
export const cleared = (_: Row, { error }: Event<"Refused">) =>
  ({ mayHaveLeftAt: null, countedDay: null, error: writeFailure(error) }) satisfies Moved
export const refused = (row: Row, event: Event<"Refused">): Moved => ({ ...cleared(row, event), ...waitsForNothing })
export const failed = (row: Row, event: Event<"Refused">): Moved => ({
  ...refused(row, event),
  parkedBecause: null,
  ...(event.error._tag === "WithdrawalFailed" && {
    withdrawalId: event.error.withdrawalId,
    withdrawalStatus: event.error.withdrawalStatus
  })
})
export const waitingForCause = (row: Row, event: Event<"Refused">): Moved => {
  const waitsFor = causeOfWait(event.error) ?? null
  return { ...cleared(row, event), waitsFor, waitsSince: row.waitsFor === waitsFor ? row.waitsSince : event.now }
}
export const provesFailure: Guard<Event<"Refused">> = [
  "a record proves the failure",
  (_, { error }) => error._tag === "WithdrawalFailed"
]
export const hasCauseToWaitFor: Guard<Event<"Refused">> = [
  "it can wait for the cause to go",
  (_, { error }) => causeOfWait(error) !== undefined
]

export const inDoubt = (_: Row, { error }: Event<"Unknown">): Moved => ({
  ...waitsForNothing,
  error: writeFailure(error)
})
export const recordedFor =
  (because: "OtherPayee" | "RecordedAsFailed") =>
  (row: Row, event: Event<"Unknown">): Moved => ({ ...parkedFor(because), ...inDoubt(row, event) })
export const isOfOther: Guard<Event<"Unknown">> = [
  "the record is of another payee",
  (_, { error }) => mismatchOf(error) !== undefined
]
export const hasWordForFailure: Guard<Event<"Unknown">> = [
  "the record has a word for failure",
  (_, { error }) => isRecordedAsFailed(error)
]

export const parked = (_: Row, { because }: Event<"Parked">): Moved => parkedFor(because)
/** A person takes it over from whatever parked it, so that nobody resumes it for that other reason, and takes an approval back. */
export const parkedByPerson = (): Moved => ({ ...parkedFor("Operator"), approvedBy: null, approvedAt: null })

const isMarked = ({ mayHaveLeftAt }: Row) => mayHaveLeftAt !== null
const isLate = (row: Row, { at }: ByPerson) => tooLate(row, at) !== undefined
const isUnderWay = ({ mayHaveLeftAt, underWayUntil }: Row, { at }: ByPerson) =>
  mayHaveLeftAt !== null && underWayUntil !== null && at.now < underWayUntil
/** The person says of a request that was marked that it was not executed. */
const saysNotExecuted = (row: Row, { notExecuted }: Event<"resume">) => notExecuted && isMarked(row)
/** The service still knows the key, or has not seen it, so that the same request is safe. */
const isRepeatable = (row: Row, event: ByPerson) =>
  row.parkedBecause !== "OtherClientId" && row.parkedBecause !== "Unreadable" && !isLate(row, event)

export const isDeleted: Guard<ByPerson> = ["its request was deleted", ({ request }) => request === null]
export const isInDoubt: Guard<ByPerson> = ["in doubt", isMarked]
/** A request that was marked and not answered. */
export const mayBeUnderWay: Guard<ByPerson> = ["a request may be under way", isUnderWay]
export const untilOver = ({ underWayUntil }: Row): string =>
  `A request of it may be under way until ${DateTime.formatIso(DateTime.makeUnsafe(underWayUntil ?? 0))}. Look in the panel after that.`

export const wantedNow = (row: Row, { at }: ByPerson): Moved => ({ ...wantedBy(row, at), ...waitsForNothing })
export const wantedAnew = (row: Row, { at }: ByPerson): Moved => ({ ...clean, ...wantedBy({ ...row, ...clean }, at) })

/** Who resumes a payout: the first or the second of two people, or one alone. */
export const resumptionOf = (row: Row, { at, notExecuted, person, sum }: Event<"resume">) =>
  resumption(row, at.account.fourEyesAbove, { by: person.by, notExecuted, sum })
const approved = (row: Row, event: Event<"resume">): Moved => {
  const { approvedBy } = resumptionOf(row, event)
  return approvedBy === undefined ? {} : { needsApproval: true, approvedBy, approvedAt: event.at.now }
}
export const askedFor = (row: Row, event: Event<"resume">): Moved => ({
  askedStep: resumptionOf(row, event).step,
  askedBy: event.person.by ?? null
})
export const resumed = (row: Row, event: Event<"resume">): Moved => ({
  parkedBecause: null,
  ...wantedBy(row, event.at),
  ...approved(row, event)
})
export const resumedAnew = (row: Row, event: Event<"resume">): Moved => ({
  ...wantedAnew(row, event),
  ...approved(row, event)
})
export const denial = (row: Row, event: Event<"resume">): string => resumptionOf(row, event).problem ?? ""

export const notExecutedTooEarly: Guard<Event<"resume">> = [
  "`notExecuted`, and a request may be under way",
  (row, event) => saysNotExecuted(row, event) && isUnderWay(row, event)
]
export const notExecutedNeedless: Guard<Event<"resume">> = [
  "`notExecuted`, and the service knows its key",
  (row, event) => saysNotExecuted(row, event) && isRepeatable(row, event)
]
export const isPastHorizon: Guard<Event<"resume">> = [
  "in doubt past the horizon, without `notExecuted`",
  (row, event) => isMarked(row) && !event.notExecuted && isLate(row, event)
]
export const isDenied: Guard<Event<"resume">> = [
  "two people have to, and this one may not",
  (row, event) => resumptionOf(row, event).problem !== undefined
]
export const isFirst: Guard<Event<"resume">> = [
  "two people have to, and this is the first",
  (row, event) => resumptionOf(row, event).isFirst
]
export const wasNotExecuted: Guard<Event<"resume">> = ["in doubt, with `notExecuted`", saysNotExecuted]
export const wasAnswered: Guard<Event<"resume">> = [
  "in doubt after an answer",
  (row) => isMarked(row) && row.error !== null
]

export const settled = () =>
  ({ mayHaveLeftAt: null, error: null, parkedBecause: null, ...waitsForNothing }) satisfies Moved
export const asPaid: Guard<Event<"settle">> = ["as paid", (_, { as }) => as === "paid"]

export const forgotten = (): Moved => ({ request: null, payee: null, requestCheck: "" })
export const isThere: Guard<ByPerson> = ["its data is there", ({ requestCheck }) => requestCheck !== ""]
