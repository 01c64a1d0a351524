/**
 * Which changes of a payout are handed out to `onState`, and the status that is stored for that. Nothing here reads or writes.
 */
import * as Schema from "effect/Schema"
import type { PayoutState } from "../../PayoutState.ts"
import { PayoutStatus } from "../../PayoutStatus.ts"
import type { Entry } from "./events.ts"
import type { Row } from "./row.ts"
import { statusOf } from "./status.ts"

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
