/**
 * The deliveries about one thing as one row, and every step that the row may take. Nothing here reads or writes: a step
 * is a function from a row to the row that follows, `undefined` where nothing is left to do.
 *
 * - A row that is open has one element in the queue, its `job`. An element of another id is outdated and does nothing.
 * - Of each status that the deliveries claim the latest delivery alone is stored.
 * - A row that waits since its claims came early is looked at now when another delivery comes. Any other row is looked at
 *   at its time: a delivery says nothing new of why the service or the user's code failed.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type DetailWord, detailWords } from "../../contract/Status.ts"
import { type HandlerName, handlerNames } from "../WebhookEvent.ts"

const Claim = Schema.Struct({
  status: Schema.optional(Schema.String),
  /** The body, where a schema of the user's reads it; as `seal` left it. */
  body: Schema.optional(Schema.String),
  /** The user asked, and no delivery said it. */
  isCheck: Schema.optional(Schema.Boolean)
})
export type Claim = typeof Claim.Type

/**
 * Why a row waits: the service's own books do not know yet what a delivery claims, the service gives no answer, or the
 * user's code failed.
 */
const reasons = ["early", "outage", "failed"] as const
export type Reason = (typeof reasons)[number]

const Row = Schema.Struct({
  v: Schema.tag(1),
  name: Schema.String,
  about: Schema.Literals(["Transaction", "Withdrawal", "Unknown"]),
  transactionId: Schema.optional(Schema.String),
  withdrawalId: Schema.optional(Schema.Natural),
  idempotencyKey: Schema.optional(Schema.String),
  /** When the first of the deliveries and checks that it counts was recorded, in milliseconds since 1970. */
  since: Schema.Finite,
  /** How many deliveries and checks there were. */
  deliveries: Schema.Natural,
  /** The latest delivery's is the last one. */
  claims: Schema.Array(Claim),
  /** How often it waited, by reason. */
  tries: Schema.Struct({ early: Schema.Natural, outage: Schema.Natural, failed: Schema.Natural }),
  /** The element of the queue. Absent: it was given up. */
  job: Schema.optional(Schema.String),
  /** For how long, and why. Absent: it is to be looked at now. */
  waits: Schema.optional(Schema.Struct({ reason: Schema.Literals(reasons), millis: Schema.Finite })),
  dead: Schema.optional(Schema.Struct({ handler: Schema.Literals(handlerNames), at: Schema.Finite }))
})
export type Row = typeof Row.Type

const json = Schema.fromJsonString(Row)
const decode = Schema.decodeOption(json)

/** The stored text of a row. */
export const writeRow: (row: Row) => string = Schema.encodeSync(json)

/** `undefined` for a row that another version wrote and that cannot be read. */
export const readRow = (value: string): Row | undefined => Option.getOrUndefined(decode(value))

/** When a step is taken, and the id of the row's next element, if the step needs one. */
interface Moment {
  readonly now: number
  readonly job: string
}
export type Step = (row: Row | undefined, moment: Moment) => Row | undefined

/** What a look at a row left to do. */
export interface Outcome {
  /** The claims that may yet become true, or whose report was not taken. */
  readonly left: ReadonlyArray<Claim>
  /** Why it is looked at again, and when. */
  readonly again?: Row["waits"]
  /** What failed for the last time. */
  readonly dead?: HandlerName | undefined
}

/** A name that shows nothing of the text: SHA-256 in hex. */
export const digest = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))

/** The name of a transaction's rows: its id, if that is plain and short. */
export const nameOf = (transactionId: string): string => {
  const id = transactionId.toLowerCase()
  return /^[\da-z-]{1,64}$/.test(id) ? id : digest(id)
}

/** The claimed status, where it is a documented word, in whatever case. Any other word claims nothing. */
export const wordOf = (status: string | undefined): DetailWord | undefined =>
  detailWords.find((word) => word.toLowerCase() === status?.toLowerCase())

const isAmong = (claims: ReadonlyArray<Claim>, { status }: Claim) =>
  claims.some((claim) => wordOf(claim.status) === wordOf(status))

const noTries = { early: 0, outage: 0, failed: 0 }

/** What the deliveries of a row are about, and the row's name. */
export type Subject = Pick<Row, "name" | "about" | "transactionId" | "withdrawalId" | "idempotencyKey">

/**
 * What a check of the user's own claims: the status that a look finishes without a report, whether the transaction is
 * still open or not.
 */
export const checkClaim: Claim = { status: "Awaiting", isCheck: true }

/**
 * A delivery or a check is recorded. A check adds no claim to those of a row that exists. Inside a request the row gets a
 * job of its own, which is done at once.
 */
export const recorded =
  (subject: Subject, claim: Claim, inRequest: boolean): Step =>
  (row, { job, now }) => {
    const begun = { v: 1, ...subject, tries: noTries, job } as const
    if (row === undefined) return { ...begun, since: now, deliveries: 1, claims: [claim] }
    const others = row.claims.filter((other) => wordOf(other.status) !== wordOf(claim.status))
    const claims = claim.isCheck === true ? row.claims : [...others, claim]
    const next = { ...begun, since: row.since, deliveries: row.deliveries + 1, claims }
    if (row.job === undefined) return next
    if (inRequest) return { ...next, tries: row.tries }
    const tries = { ...row.tries, early: 0 }
    return row.waits?.reason === "early" ? { ...next, tries } : { ...next, tries, job: row.job, waits: row.waits }
  }

/** A look at the row as it was `seen` has ended. If deliveries came meanwhile, all claims are looked at again. */
export const settled =
  (seen: Row, { again, dead, left }: Outcome): Step =>
  (row, { job, now }) => {
    if (row === undefined || row.job !== seen.job) return row
    const isRepeated = row.deliveries > seen.deliveries
    const claims = isRepeated ? row.claims : left
    if (claims.length === 0) return undefined
    const triedAs = (reason: Reason) => ({ ...row.tries, [reason]: row.tries[reason] + 1 })
    if (dead !== undefined && claims.every((claim) => isAmong(seen.claims, claim))) {
      return {
        ...row,
        claims,
        tries: triedAs("failed"),
        job: undefined,
        waits: undefined,
        dead: { handler: dead, at: now }
      }
    }
    if (again === undefined || (isRepeated && again.reason === "early")) {
      return { ...row, claims, job, waits: undefined }
    }
    return { ...row, claims, tries: triedAs(again.reason), job, waits: again }
  }

/** A dead letter is tried anew, with the whole schedule. */
export const revived: Step = (row, { job }) =>
  row?.dead === undefined ? row : { ...row, dead: undefined, tries: noTries, job }

/** An open row has lost its element, and gets another one. */
export const requeued =
  (lost: string): Step =>
  (row, { job }) =>
    row?.job === lost ? { ...row, waits: undefined, job } : row

export const discarded: Step = (row) => (row?.dead === undefined ? row : undefined)
