/**
 * The row of one transaction, or of one delivery that names none, and its steps. Nothing here reads or writes: a step is a
 * function from a row to the next row, or to `undefined` if nothing has to be stored any more.
 *
 * - For each claimed status, only the latest delivery is stored.
 * - Another delivery brings forward a row that waits because its claims are early. A row that waits for another reason is
 *   processed at its time: a delivery does not change why the service or the user's code failed.
 * - A row whose claims are all finished is stored for `retention`, with the statuses that were handed out.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { IdempotencyKey } from "../../contract/IdempotencyKey.ts"
import { meaningOf, type OfCharge } from "../../contract/Status.ts"
import { type DetailWord, detailWords, fold } from "../../contract/StatusWords.ts"
import type { HandlerName } from "../WebhookEvent.ts"
import { handlerNames } from "./handlerNames.ts"
import { ofClaim } from "./judge.ts"
import type { Reading } from "./reader.ts"

const Claim = Schema.Struct({
  status: Schema.optional(Schema.String),
  endToEndId: Schema.optional(Schema.String),
  /** The `x-webhook-event-id` of the latest delivery with this claim. */
  eventId: Schema.optional(Schema.String),
  /** What the user's schema read of the metadata, as JSON. */
  metadata: Schema.optional(Schema.String),
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

const Stored = Schema.Struct({
  v: Schema.tag(1),
  about: Schema.Literals(["Transaction", "Withdrawal", "Unknown"]),
  transactionId: Schema.optional(Schema.String),
  withdrawalId: Schema.optional(Schema.Natural),
  idempotencyKey: Schema.optional(Schema.String),
  /** When the first of these deliveries and checks was recorded, in milliseconds since 1970. */
  since: Schema.Finite,
  /** How many deliveries and checks were recorded since then. */
  deliveries: Schema.Natural,
  /** What is not finished. The last one is the claim of the latest delivery. */
  claims: Schema.Array(Claim),
  /** The statuses that were handed out, in order, as `storedStatus` names them. */
  handedOut: Schema.Array(Schema.String),
  /** How often it waited, by reason. */
  tries: Schema.Struct({ early: Schema.Natural, outage: Schema.Natural, failed: Schema.Natural }),
  /** Why it waits. Absent: it is due. */
  waits: Schema.optional(Schema.Literals(reasons)),
  /** Whether a lookup found its transaction, or a check of the program named it. */
  isFound: Schema.optional(Schema.Boolean),
  /** The handler that failed for the last time. */
  dead: Schema.optional(Schema.Literals(handlerNames))
})

/** `isFirst`: the row is not due before the bound of first lookups allows its lookup. */
export type Row = typeof Stored.Type & { readonly isFirst?: boolean }

/** The state of a stored row. `Open`: it is due at its time. `First`: see `isFirst`. `Done`: it waits for nothing. */
export type State = "Open" | "First" | "Dead" | "Done"

export const stateOf = ({ claims, dead, isFirst }: Row): State =>
  dead ? "Dead" : claims.length === 0 ? "Done" : isFirst === true ? "First" : "Open"

const json = Schema.fromJsonString(Stored)
const decode = Schema.decodeOption(json)

/** The stored text of a row. */
export const writeRow: (row: Row) => string = Schema.encodeSync(json)

/** The row of a stored text and state; `undefined` if another version wrote it and it cannot be read. */
export const readRow = (value: string, state: State): Row | undefined =>
  Option.getOrUndefined(Option.map(decode(value), (row) => ({ ...row, isFirst: state === "First" })))

/** What a step makes of a row. */
export interface Next {
  /** `undefined`: nothing has to be stored. */
  readonly row: Row | undefined
  /** In how many milliseconds the row is due. It is nobody's then. Absent: when it is due, and who took it, do not change. */
  readonly dueIn?: number
}

/** The end of the work on a row. */
export interface Outcome {
  /** The claims that may still become true, and those whose report failed. */
  readonly left: ReadonlyArray<Claim>
  /** Why the row waits, and for how long. */
  readonly again?: { readonly reason: Reason; readonly millis: number } | undefined
  /** The handler that failed for the last time. */
  readonly dead?: HandlerName | undefined
  /** Whether the lookup found the transaction. */
  readonly isFound: boolean
}

/** A name that does not show the text: SHA-256 in hexadecimal. */
export const digest = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))

/** A transaction's id as it is compared: in small letters if it is hexadecimal, as UUIDs are. Any other id has its own case. */
export const foldedId = (transactionId: string): string =>
  /^[\da-f-]+$/i.test(transactionId) ? transactionId.toLowerCase() : transactionId

/** The name of a transaction's row: its id if that is plain and short, else a digest. */
export const nameOf = (transactionId: string): string => {
  const id = foldedId(transactionId)
  return /^[\w-]{1,64}$/.test(id) ? id : digest(id)
}

/** The documented status that a text names, however it is spelled. */
const wordOf = (status: string): DetailWord | undefined => detailWords.find((word) => fold(word) === fold(status))

/** What a claim says: a documented status, or the meaning of another word. A word without a meaning claims nothing. */
const claimedBy = ({ status = "" }: Claim): string | undefined => {
  // A withdrawal has words of its own.
  const meanings = [ofClaim(status), meaningOf(status, "payout")]
  return wordOf(status) ?? meanings.find((meaning) => meaning !== "unlisted")
}

const isAmong = (claims: ReadonlyArray<Claim>, one: Claim) =>
  claims.some((claim) => claimedBy(claim) === claimedBy(one))

const noTries = { early: 0, outage: 0, failed: 0 }

/** What deliveries are about, and the name of their row. */
export interface Subject extends Pick<Row, "about" | "transactionId" | "withdrawalId" | "idempotencyKey"> {
  readonly name: string
}

/** The claim of a check. A lookup finishes it without a report, whether the transaction is still open or not. */
export const checkClaim: Claim = { status: "Awaiting", isCheck: true }

/** One name for all spellings of a documented status: your code drops repetitions by it. */
export const statusName = (status: string): string => wordOf(status) ?? status

/**
 * The name by which the status of a lookup is stored: a documented word itself, or a digest of any other text, which may be a
 * name. It says what the user's list makes of the word: a status that was handed out before it was listed is handed out again.
 */
export const storedStatus = (status: string, meaning: OfCharge): string =>
  wordOf(status) ?? `${meaning === "unlisted" ? "" : `${meaning}:`}${digest(fold(status))}`

/** What a stored status says of its charge; a digest of a word that was not listed says nothing. */
export const meaningOfStored = (stored: string): string =>
  wordOf(stored) === undefined ? stored.replace(/:.*/, "") : meaningOf(stored, "charge")

/** A status of one word: your code may know it. It is stored until the claim is finished; any other text is not. */
const statusWord = /^[\p{L}_-]{1,40}$/u

/** The claim of a delivery. */
const claimOf = ({ eventId, hint: { endToEndId, status }, metadata }: Reading): Claim => ({
  status: status !== undefined && statusWord.test(status) ? status : undefined,
  endToEndId,
  eventId,
  metadata
})

const isKey = Schema.is(IdempotencyKey)

/** What a delivery is about, and the name of its row. `delivery` is a digest of its body. */
const subjectOf = (delivery: string, { hint, place }: Reading): Subject => {
  const { about, idempotencyKey, transactionId, withdrawalId } = hint
  if (about === "Transaction" && transactionId !== undefined) {
    return { name: nameOf(transactionId), about, transactionId }
  }
  const name = `delivery:${place === 0 ? delivery : digest(`${place} ${delivery}`)}`
  const key = isKey(idempotencyKey) ? idempotencyKey : undefined
  return about === "Withdrawal" ? { name, about, withdrawalId, idempotencyKey: key } : { name, about: "Unknown" }
}

/** What a delivery says: for each subject and claimed status, its last claim. */
export const claimsOf = (
  body: string,
  readings: ReadonlyArray<Reading>
): ReadonlyArray<readonly [subject: Subject, claim: Claim]> => {
  const delivery = digest(body)
  const claims = new Map<string, readonly [Subject, Claim]>()
  for (const reading of readings) {
    const subject = subjectOf(delivery, reading)
    const claim = claimOf(reading)
    const { about, idempotencyKey, name, transactionId, withdrawalId } = subject
    const key =
      transactionId === undefined
        ? [about, withdrawalId, idempotencyKey, claim.status]
        : [about, name, claimedBy(claim)]
    claims.set(JSON.stringify(key), [subject, claim])
  }
  return [...claims.values()]
}

/** The row of a first delivery or check. */
export const begun = ({ name: _name, ...subject }: Subject, claim: Claim, now: number): Row => ({
  v: 1,
  ...subject,
  since: now,
  deliveries: 1,
  claims: [claim],
  handedOut: [],
  tries: noTries,
  isFound: claim.isCheck === true
})

/** Records a delivery or a check. A check adds no claim to a row that has some. */
export const recorded = (
  subject: Subject,
  claim: Claim,
  { isTaken, now, row }: { readonly row: Row; readonly isTaken: boolean; readonly now: number }
): Next => {
  const isCheck = claim.isCheck === true
  const { handedOut, isFirst = false, waits } = row
  const first = { ...begun(subject, claim, now), handedOut, isFound: isCheck || row.isFound }
  if (row.claims.length === 0) return { row: first, dueIn: 0 }
  const others = row.claims.filter((other) => claimedBy(other) !== claimedBy(claim))
  const claims = isCheck ? row.claims : [...others, claim]
  const next = { ...first, since: row.since, deliveries: row.deliveries + 1, claims }
  const same = { row: { ...next, tries: { ...row.tries, early: 0 }, waits, isFirst } }
  if (row.dead !== undefined || (isCheck && isFirst)) return { row: next, dueIn: 0 }
  return !isTaken && waits === "early" ? { row: { ...same.row, waits: undefined }, dueIn: 0 } : same
}

/** A row that waits for nothing. One of which nothing is known is not stored. */
const ended = (row: Row): Row | undefined =>
  row.isFound === true || row.handedOut.length > 0
    ? { ...row, claims: [], tries: noTries, waits: undefined, dead: undefined }
    : undefined

/** Ends the work on a row as it was `seen`. If deliveries were recorded meanwhile, all claims are looked at again. */
export const settled = (found: Row, seen: Row, { again, dead, isFound, left }: Outcome): Next => {
  const row = { ...found, isFound: found.isFound === true || isFound }
  const isRepeated = row.deliveries > seen.deliveries
  const claims = isRepeated ? row.claims : left
  const triedAs = (reason: Reason) => ({ ...row.tries, [reason]: row.tries[reason] + 1 })
  if (claims.length === 0) return { row: ended(row), dueIn: 0 }
  if (dead !== undefined && claims.every((claim) => isAmong(seen.claims, claim))) {
    return { row: { ...row, claims, tries: triedAs("failed"), waits: undefined, dead }, dueIn: 0 }
  }
  if (again === undefined || (isRepeated && again.reason === "early")) {
    return { row: { ...row, claims, waits: undefined }, dueIn: 0 }
  }
  return { row: { ...row, claims, tries: triedAs(again.reason), waits: again.reason }, dueIn: again.millis }
}

/** What is merged into the stored text of a dead letter that is tried again, with all tries; and of one that is ended. */
export const revived = { dead: null, tries: noTries }
export const discarded = { ...revived, claims: [] }
