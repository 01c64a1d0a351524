/**
 * The status of a payout, as its users see it, from its row.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as String from "effect/String"
import * as Struct from "effect/Struct"
import { Centavos } from "../../../pix/Money.ts"
import { whyOf } from "../../PayoutBecause.ts"
import type { PayoutState } from "../../PayoutState.ts"
import { PayoutStatus } from "../../PayoutStatus.ts"
import { differsOf, makeOutcomeUnknown } from "./answers.ts"
import { isClaimed, isToCheck } from "./conditions.ts"
import type { Entry } from "./events.ts"
import { failureOf, readReais, type Row } from "./row.ts"

const time = (millis: number) => DateTime.makeUnsafe(millis)

const fieldsOf = Object.fromEntries(
  PayoutStatus.members.map(({ fields }) => [fields.state.literal, Object.keys(fields)])
)

/** The failure that a status of this state has. */
const shownFailure = (row: Row, state: PayoutState, failure: ReturnType<typeof failureOf>) => {
  const isUnclear = failure?.outcome === "Unknown"
  switch (state) {
    case "accepted":
      return isUnclear ? undefined : failure
    case "failed":
      return failure?._tag === "WithdrawalFailed" ? failure : undefined
    case "unknown":
      if (row.underWayUntil !== null) return undefined
      return isUnclear ? failure : makeOutcomeUnknown(row.idempotencyKey, "Unrecognised", row.sends)
    default:
      return failure
  }
}

/** The status of a row: the fields that `PayoutStatus` has for its state. */
export const statusOf = (row: Row): PayoutStatus => {
  const failure = failureOf(row)
  // A newer version may have written a failure that cannot be read. A person has to find out why the payout was refused.
  const isUnreadable = row.state === "refused" && (failure === undefined || failure.outcome === "Unknown")
  const state = isUnreadable ? "parked" : row.state
  // A newer version may have written another word.
  const because = isUnreadable ? "Unreadable" : row.because
  const known: Record<string, unknown> = {
    ...row,
    _tag: String.capitalize(state),
    state,
    // A constraint of the table checks it.
    amount: Centavos.make(row.amount),
    submittedAt: time(row.submittedAt),
    updatedAt: time(row.updatedAt),
    mayHaveLeftAt: row.mayHaveLeftAt === null ? null : time(row.mayHaveLeftAt),
    underWayUntil: row.underWayUntil === null ? null : time(row.underWayUntil),
    notBefore: row.notBefore === null ? null : time(row.notBefore),
    by: row.endedBy ?? "person",
    endedAt: time(row.endedAt ?? row.updatedAt),
    value: row.value === null ? null : Option.getOrNull(readReais(row.value)),
    withdrawalStatus: row.word,
    claimed: isClaimed.of({ payout: row }) && row.endedAs !== "unlisted" ? row.endedAs : null,
    contradicted: row.contradicted ? true : null,
    unconfirmed: row.lookups === null ? true : null,
    toCheck: isToCheck.of({ payout: row }) ? true : null,
    because: whyOf(state, because) !== undefined ? because : state === "parked" ? "Operator" : null,
    differs: row.because === "SeeRecord" && failure?.outcome === "Unknown" ? differsOf(failure) : null,
    error: shownFailure(row, state, failure)
  }
  const shown = fieldsOf[state]?.filter((field) => known[field] !== null && known[field] !== undefined) ?? []
  // A test compares the statuses of all kinds of rows with the schema.
  return Struct.pick(known, shown) as unknown as PayoutStatus
}

/** What begins a doubt, or reopens an end, although the state may stay. */
const always: ReadonlySet<Entry["_tag"]> = new Set(["Contradicted", "Doubted"])

type Known = Pick<Row, "state" | "contradicted" | "error">

/**
 * The state that is told: a mark is none. A payout is `unknown` while its request is under way, and only an answer, or that there will be
 * none, says what it is then. Without an answer in doubt it is told as what it was.
 */
export const toldState = ({ error, state }: Pick<Row, "state" | "error">): PayoutState =>
  state === "unknown" && error === null ? "accepted" : state

/**
 * Whether a change is handed out: each that changes the state, since that is an end, begins a doubt or a wait for a person, or
 * reopens one of these; and the few that do so within a state, as a person who ends a contradiction.
 */
const isHandedOut = (from: Known, to: Known, entry: Entry["_tag"]): boolean =>
  toldState(from) !== toldState(to) || from.contradicted !== to.contradicted || always.has(entry)

const StoredStatus = Schema.fromJsonString(Schema.toCodecJson(PayoutStatus))
const writeStatus = Schema.encodeSync(StoredStatus)
/** Reads a stored status; none where another version wrote it. */
export const readStatus = Schema.decodeUnknownOption(StoredStatus)

/** The status of a changed row as it is handed out; `undefined` where the change is not. It has no personal data. */
export const handedOutOf = (from: Known, { _tag }: Entry, to: Row): string | undefined =>
  isHandedOut(from, to, _tag) ? writeStatus(statusOf(to)) : undefined
