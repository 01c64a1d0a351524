/**
 * The lines by which the refusal of a write is read: the first one that fits decides. `docs/errors.md` lists them too.
 */
import type { FailureReason } from "../../../contract/PaymentsError.ts"
import { setupStatuses } from "../../../contract/SetupStatus.ts"
import type { KnownRefusal, RefusalCause } from "../../KnownRefusal.ts"
import type { Reading } from "../words/phrases.ts"

/** An answer outside of 2xx, or a record that says that its write failed. */
export interface Answer extends Reading {
  readonly status: number
  readonly kind: "PixCharge" | "OtherCharge" | "Withdrawal" | "WithdrawalWithoutKey"
  /** Whether it is a record, and whether that is certainly about what was asked. */
  readonly record: "Sure" | "Unsure" | undefined
  /** The reason why the body could not be read to its end. */
  readonly unread: FailureReason | undefined
  /** Whether it says nothing but its status. */
  readonly isSilent: boolean
}

/** What a refusal is, that is one. */
export type Cause = RefusalCause | "IdempotencyConflict" | "RateLimited"

/** What a refusal is: a cause, perhaps with the entry that says when it ends; or the reason why it proves nothing. */
export type Verdict =
  | { readonly cause: Cause; readonly entry?: KnownRefusal }
  | { readonly doubt: FailureReason; readonly isUnknown?: boolean }

interface Line {
  readonly line: number
  /** What fits the line. */
  readonly says: string
  /** The error that it makes, as a page names it. */
  readonly error: string
  readonly verdict: (answer: Answer) => Verdict | undefined
}

const statuses = (...all: ReadonlyArray<number>): ReadonlySet<number> => new Set(all)
const permanentRedirects = statuses(301, 307, 308)
const timeOuts = statuses(408, 460, 499)
const underWay = statuses(423, 424, 425)
const tooLarge = statuses(411, 413, 414, 431)

/** Why a status does not show whether a write was executed. */
const doubtOf = (status: number): FailureReason | undefined => {
  // node:http accepts an answer without a final status: a 101 that was not requested, or 000.
  if (status < 200) return "Unreadable"
  if (status >= 500) return "ServerError"
  if (status >= 300 && status < 400) return "Redirect"
  if (timeOuts.has(status)) return "Timeout"
  return underWay.has(status) ? "UnderWay" : undefined
}

const refused = (line: number, says: string, cause: Cause, fits: (answer: Answer) => boolean): Line => {
  const verdict = { cause }
  return { line, says, error: cause, verdict: (answer) => (fits(answer) ? verdict : undefined) }
}

const inDoubt = (line: number, says: string, reason: (answer: Answer) => FailureReason | undefined): Line => ({
  line,
  says,
  error: "OutcomeUnknown",
  verdict: (answer) => {
    const doubt = reason(answer)
    return doubt && { doubt, isUnknown: doubt === "RefusalUnknown" }
  }
})

const byEntry = (line: number, says: string, found: (answer: Answer) => KnownRefusal | undefined): Line => ({
  line,
  says,
  error: "its cause",
  verdict: (answer) => {
    const entry = found(answer)
    return entry && (entry.cause === "Unknown" ? { doubt: "RefusalUnknown" } : { cause: entry.cause, entry })
  }
})

const limitOf = ({ kind, ours, own }: Answer): KnownRefusal | undefined => {
  const entry = own ?? ours
  return kind.startsWith("Withdrawal") && entry?.cause === "LimitReached" ? entry : undefined
}

const past =
  "an earlier request of the [key](outcomes.md#the-past-of-a-key) may have been executed, whatever is said of this one"
const noProof = "a record of failure that [proves nothing](#a-refusal-with-a-record)"
const ofWay = "without words: 404, 405, 410, 415, 417, 421, 426, 428, 451, which concern the way to the service"

const lines: ReadonlyArray<Line> = [
  // `call.ts` keeps this doubt, since a refusal of the key still says what its account waits for.
  inDoubt(1, past, () => undefined),
  refused(2, "401", "AuthError", ({ status }) => status === 401),
  refused(2, "407, 301, 307, 308", "RequestRejected", ({ status }) => status === 407 || permanentRedirects.has(status)),
  inDoubt(2, "408, 423, 424, 425, 460, 499, 5xx, another 3xx", ({ status }) => doubtOf(status)),
  inDoubt(2, "a body that could not be read to its end", ({ unread }) => unread),
  inDoubt(2, noProof, ({ record }) => (record === "Unsure" ? "NotAsAsked" : undefined)),
  byEntry(3, "an entry of yours that names the status in `statuses`", ({ ofStatus }) => ofStatus),
  refused(3, "409", "IdempotencyConflict", ({ status }) => status === 409),
  inDoubt(3, "429 with a word of doubt", ({ isDoubtful, status }) =>
    status === 429 && isDoubtful ? "RefusalUnknown" : undefined
  ),
  byEntry(3, "429 of a withdrawal, with an entry of `LimitReached`", (answer) =>
    answer.status === 429 ? limitOf(answer) : undefined
  ),
  refused(3, "429", "RateLimited", ({ status }) => status === 429),
  refused(4, "403 of a charge by PIX", "AuthError", ({ kind, status }) => kind === "PixCharge" && status === 403),
  refused(4, "any other 4xx of a charge by PIX", "RequestRejected", ({ kind }) => kind === "PixCharge"),
  byEntry(5, "an entry of yours", ({ own }) => own),
  byEntry(5, "an entry of the client's own table", ({ ours }) => ours),
  refused(
    6,
    "without words: 400 or 404 of a withdrawal without a `pixKey`",
    "NoPixKey",
    ({ isSilent, kind, status }) => isSilent && kind === "WithdrawalWithoutKey" && (status === 400 || status === 404)
  ),
  refused(6, "without words: 403", "AuthError", ({ isSilent, status }) => isSilent && status === 403),
  refused(6, ofWay, "RequestRejected", ({ isSilent, status }) => isSilent && setupStatuses.has(status)),
  refused(
    6,
    "without words: 411, 413, 414, 431; a record that says `Failure`, which is `WithdrawalFailed`",
    "RequestRejected",
    ({ isSilent, record, status }) => isSilent && (tooLarge.has(status) || record === "Sure")
  ),
  inDoubt(7, "anything else", () => "RefusalUnknown")
]

/** What a refusal of a write is, by the first line that fits. */
export const readRefusal = (answer: Answer): Verdict => {
  for (const { verdict } of lines) {
    const found = verdict(answer)
    if (found !== undefined) return found
  }
  return { doubt: "RefusalUnknown" }
}

/** Whether a status decides before any entry does. */
export const isDecided = (status: number): boolean =>
  status === 401 || status === 407 || permanentRedirects.has(status) || doubtOf(status) !== undefined

/** What a refusal of a read is, by its status alone. */
export const readByStatus = (status: number): Verdict => {
  const doubt = status === 408 || status < 400 || status >= 500 ? doubtOf(status) : undefined
  if (doubt !== undefined && !permanentRedirects.has(status)) return { doubt }
  if (status === 401 || status === 403) return { cause: "AuthError" }
  return { cause: status === 429 ? "RateLimited" : "RequestRejected" }
}
