/**
 * The row of all deliveries about one thing, and its steps. Nothing here reads or writes: a step is a function from a row
 * to the next row, or to `undefined` if nothing is left to do.
 *
 * - An open row has one element in the queue, its `job`. An element with another id is outdated and does nothing.
 * - For each claimed status, only the latest delivery is stored.
 * - Another delivery brings forward a row that waits because its claims are early. A row that waits for another reason is
 *   processed at its time: a delivery does not change why the service or the user's code failed.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type DetailWord, detailWords } from "../../contract/Status.ts"
import { type HandlerName, handlerNames } from "../WebhookEvent.ts"

const Claim = Schema.Struct({
  status: Schema.optional(Schema.String),
  /** The body, sealed by the option `seal`. Only stored if the user gave a schema that reads it. */
  body: Schema.optional(Schema.String),
  /** Whether a check made it, and no delivery. */
  isCheck: Schema.optional(Schema.Boolean)
})
export type Claim = typeof Claim.Type

/**
 * Why a row waits: the lookup does not show yet what a delivery claims, the service did not answer the lookup, or the user's
 * code failed.
 */
const reasons = ["early", "outage", "failed"] as const
export type Reason = (typeof reasons)[number]

/** How a row waits for a lookup of an id that no lookup has found: see firstLookups.ts. */
export const ranks = ["Known", "Unseen", "Missed"] as const
export type Rank = (typeof ranks)[number]

const Row = Schema.Struct({
  v: Schema.tag(1),
  name: Schema.String,
  about: Schema.Literals(["Transaction", "Withdrawal", "Unknown"]),
  transactionId: Schema.optional(Schema.String),
  withdrawalId: Schema.optional(Schema.Natural),
  idempotencyKey: Schema.optional(Schema.String),
  /** When the first of these deliveries and checks was recorded, in milliseconds since 1970. */
  since: Schema.Finite,
  /** How many deliveries and checks were recorded. */
  deliveries: Schema.Natural,
  /** The last one is the claim of the latest delivery. */
  claims: Schema.Array(Claim),
  /** How often it waited, by reason. */
  tries: Schema.Struct({ early: Schema.Natural, outage: Schema.Natural, failed: Schema.Natural }),
  /** The id of the row's element in the queue. Absent for a dead letter. */
  job: Schema.optional(Schema.String),
  /** Why the row waits, and for how long. Absent: it is processed now. */
  waits: Schema.optional(Schema.Struct({ reason: Schema.Literals(reasons), millis: Schema.Finite })),
  /** Its job waits in this row, and not in the queue, until it may be looked up. */
  rank: Schema.optional(Schema.Literals(ranks)),
  /** `Found`: a lookup found its transaction, or a check of the program named it. `Missed`: the last lookup did not find it. */
  lookup: Schema.optional(Schema.Literals(["Found", "Missed"])),
  dead: Schema.optional(Schema.Struct({ handler: Schema.Literals(handlerNames), at: Schema.Finite }))
})
export type Row = typeof Row.Type

const json = Schema.fromJsonString(Row)
const decode = Schema.decodeOption(json)

/** The stored text of a row. */
export const writeRow: (row: Row) => string = Schema.encodeSync(json)

/** The row of a stored text; `undefined` if another version wrote it and it cannot be read. */
export const readRow = (value: string): Row | undefined => Option.getOrUndefined(decode(value))

/** When a step is taken, and the id of the row's next element, if the step needs one. */
interface Moment {
  readonly now: number
  readonly job: string
}
export type Step = (row: Row | undefined, moment: Moment) => Row | undefined

/** The result of a look at a row. */
export interface Outcome {
  /** The claims that may still become true, and those whose report failed. */
  readonly left: ReadonlyArray<Claim>
  /** Why the row waits for the next look, and for how long. */
  readonly again?: Row["waits"]
  /** The handler that failed for the last time. */
  readonly dead?: HandlerName | undefined
  /** Whether the lookup found the transaction. Absent: there was no answer. */
  readonly lookup?: Row["lookup"]
}

/** A name that does not show the text: SHA-256 in hexadecimal. */
export const digest = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))

/** The name of a transaction in the names of rows: its id if that is plain and short, else a digest. */
export const nameOf = (transactionId: string): string => {
  const id = transactionId.toLowerCase()
  return /^[\da-z-]{1,64}$/.test(id) ? id : digest(id)
}

/** The documented status that a claim names, in any case. Any other word claims nothing. */
export const wordOf = (status: string | undefined): DetailWord | undefined =>
  detailWords.find((word) => word.toLowerCase() === status?.toLowerCase())

const isAmong = (claims: ReadonlyArray<Claim>, { status }: Claim) =>
  claims.some((claim) => wordOf(claim.status) === wordOf(status))

const noTries = { early: 0, outage: 0, failed: 0 }

/** The subject of a row's deliveries, and the row's name. */
export type Subject = Pick<Row, "name" | "about" | "transactionId" | "withdrawalId" | "idempotencyKey">

/**
 * The claim of a check. A look finishes this status without a report, whether the transaction is still open or not.
 */
export const checkClaim: Claim = { status: "Awaiting", isCheck: true }

/**
 * Records a delivery or a check. A check adds no claim to a row that exists. Inside a request the row always gets a new
 * job, which is processed at once.
 */
export const recorded =
  (subject: Subject, claim: Claim, inRequest: boolean): Step =>
  (row, { job, now }) => {
    const lookup = claim.isCheck === true ? "Found" : row?.lookup
    const begun = { v: 1, ...subject, tries: noTries, job, lookup } as const
    if (row === undefined) return { ...begun, since: now, deliveries: 1, claims: [claim] }
    const others = row.claims.filter((other) => wordOf(other.status) !== wordOf(claim.status))
    const claims = claim.isCheck === true ? row.claims : [...others, claim]
    const next = { ...begun, since: row.since, deliveries: row.deliveries + 1, claims }
    if (row.job === undefined) return next
    if (inRequest) return { ...next, tries: row.tries }
    const tries = { ...row.tries, early: 0 }
    if (row.rank !== undefined) return claim.isCheck === true ? next : { ...next, tries, job: row.job, rank: row.rank }
    return row.waits?.reason === "early" ? { ...next, tries } : { ...next, tries, job: row.job, waits: row.waits }
  }

/** Ends a look at the row as it was `seen`. If deliveries were recorded meanwhile, all claims are looked at again. */
export const settled =
  (seen: Row, { again, dead, left, lookup }: Outcome): Step =>
  (found, { job, now }) => {
    if (found === undefined || found.job !== seen.job) return found
    const row = { ...found, rank: undefined, lookup: found.lookup === "Found" ? "Found" : (lookup ?? found.lookup) }
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

/** Ends the job of a row as it was `seen`. The row waits by its rank for another one. */
export const ranked =
  (seen: Row, rank: Rank): Step =>
  (row) =>
    row === undefined || row.job !== seen.job ? row : { ...row, waits: undefined, rank }

/** Retries a dead letter, with the whole schedule. */
export const revived: Step = (row, { job }) =>
  row?.dead === undefined ? row : { ...row, dead: undefined, tries: noTries, job }

/** Gives an open row another element in place of the lost one. */
export const requeued =
  (lost: string): Step =>
  (row, { job }) =>
    row?.job === lost ? { ...row, waits: undefined, job } : row

export const discarded: Step = (row) => (row?.dead === undefined ? row : undefined)
