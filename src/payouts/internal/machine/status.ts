/**
 * The status of a payout, as its users see it, from its row.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as String from "effect/String"
import { Centavos } from "../../../pix/Money.ts"
import { whyOf } from "../../PayoutBecause.ts"
import type { PayoutState } from "../../PayoutState.ts"
import { PayoutStatus } from "../../PayoutStatus.ts"
import { differsOf, makeOutcomeUnknown } from "./answers.ts"
import { isClaimed, isToCheck } from "./conditions.ts"
import type { Entry } from "./events.ts"
import { failureOf, readReais, type Row } from "./row.ts"

/** A name of a field of any status. */
type Field = PayoutStatus extends infer Status ? (Status extends unknown ? keyof Status : never) : never

const fieldsOf = Object.fromEntries(
  // The keys of a schema's fields are those of its type.
  PayoutStatus.members.map(({ fields }) => [fields.state.literal, Object.keys(fields) as ReadonlyArray<Field>])
)

/** A row as it is shown. */
interface Shown extends Pick<PayoutStatus, "state"> {
  readonly row: Row
  readonly because: string | null
  readonly failure: ReturnType<typeof failureOf>
}

const timeOf = (millis: number | null) => (millis === null ? null : DateTime.makeUnsafe(millis))

/** The failure that a status has. */
const shownFailure = ({ failure, row, state }: Shown) => {
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

/** Each field that a row does not have is made of it, and others may be. */
type Made = { readonly [Name in Exclude<Field, keyof Row>]: (shown: Shown) => unknown } & {
  readonly [Name in Field & keyof Row]?: (shown: Shown) => unknown
}

/** What a field of a status is, where it is no field of the row; null or `undefined` where it is absent. */
const made: Made = {
  _tag: ({ state }) => String.capitalize(state),
  state: ({ state }) => state,
  // A constraint of the table checks it.
  amount: ({ row }) => Centavos.make(row.amount),
  submittedAt: ({ row }) => timeOf(row.submittedAt),
  updatedAt: ({ row }) => timeOf(row.updatedAt),
  mayHaveLeftAt: ({ row }) => timeOf(row.mayHaveLeftAt),
  underWayUntil: ({ row }) => timeOf(row.underWayUntil),
  notBefore: ({ row }) => timeOf(row.notBefore),
  by: ({ row }) => row.endedBy ?? "person",
  endedAt: ({ row }) => timeOf(row.endedAt ?? row.updatedAt),
  value: ({ row: { value } }) => (value === null ? null : Option.getOrNull(readReais(value))),
  withdrawalStatus: ({ row }) => row.word,
  claimed: ({ row }) => (isClaimed.of({ payout: row }) && row.endedAs !== "unlisted" ? row.endedAs : null),
  contradicted: ({ row }) => row.contradicted || null,
  unconfirmed: ({ row }) => row.lookups === null || null,
  toCheck: ({ row }) => isToCheck.of({ payout: row }) || null,
  // A newer version may have written another word.
  because: ({ because, state }) =>
    whyOf(state, because) !== undefined ? because : state === "parked" ? "Operator" : null,
  differs: ({ failure, row }) =>
    row.because === "SeeRecord" && failure?.outcome === "Unknown" ? differsOf(failure) : null,
  error: shownFailure
}

/** The status of a row: the fields that `PayoutStatus` has for its state. */
export const statusOf = (row: Row): PayoutStatus => {
  const failure = failureOf(row)
  // A newer version may have written a failure that cannot be read. A person has to find out why the payout was refused.
  const isUnreadable = row.state === "refused" && (failure === undefined || failure.outcome === "Unknown")
  const shown: Shown = isUnreadable
    ? { row, failure, state: "parked", because: "Unreadable" }
    : { row, failure, state: row.state, because: row.because }
  // Another field is one of the row.
  const valueOf = (field: Field) => (made[field] === undefined ? row[field as keyof Row] : made[field](shown))
  const fields = fieldsOf[shown.state]?.map((field) => [field, valueOf(field)] as const) ?? []
  // A test compares the statuses of all kinds of rows with the schema.
  return Object.fromEntries(fields.filter(([, value]) => Predicate.isNotNullish(value))) as unknown as PayoutStatus
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
