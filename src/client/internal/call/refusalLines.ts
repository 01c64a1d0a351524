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

type Line = (answer: Answer) => Verdict | undefined

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

const refused = (cause: Cause, fits: (answer: Answer) => boolean): Line => {
  const verdict = { cause }
  return (answer) => (fits(answer) ? verdict : undefined)
}

const inDoubt =
  (reason: (answer: Answer) => FailureReason | undefined): Line =>
  (answer) => {
    const doubt = reason(answer)
    return doubt && { doubt, isUnknown: doubt === "RefusalUnknown" }
  }

const byEntry =
  (found: (answer: Answer) => KnownRefusal | undefined): Line =>
  (answer) => {
    const entry = found(answer)
    return entry && (entry.cause === "Unknown" ? { doubt: "RefusalUnknown" } : { cause: entry.cause, entry })
  }

const limitOf = ({ kind, ours, own }: Answer): KnownRefusal | undefined => {
  const entry = own ?? ours
  return kind.startsWith("Withdrawal") && entry?.cause === "LimitReached" ? entry : undefined
}

const lines: ReadonlyArray<Line> = [
  // 1, an earlier request of the key may have been executed, is in `call.ts`: a refusal still says what its account waits for.
  // 2: the status alone, and what could not be read.
  refused("AuthError", ({ status }) => status === 401),
  refused("RequestRejected", ({ status }) => status === 407 || permanentRedirects.has(status)),
  inDoubt(({ status }) => doubtOf(status)),
  inDoubt(({ unread }) => unread),
  inDoubt(({ record }) => (record === "Unsure" ? "NotAsAsked" : undefined)),
  // 3: an entry of the user's that names the status, 409 and 429.
  byEntry(({ ofStatus }) => ofStatus),
  refused("IdempotencyConflict", ({ status }) => status === 409),
  inDoubt(({ isDoubtful, status }) => (status === 429 && isDoubtful ? "RefusalUnknown" : undefined)),
  byEntry((answer) => (answer.status === 429 ? limitOf(answer) : undefined)),
  refused("RateLimited", ({ status }) => status === 429),
  // 4: a charge by PIX.
  refused("AuthError", ({ kind, status }) => kind === "PixCharge" && status === 403),
  refused("RequestRejected", ({ kind }) => kind === "PixCharge"),
  // 5: an entry of the user's, and one of the client's own table.
  byEntry(({ own }) => own),
  byEntry(({ ours }) => ours),
  // 6: an answer without words, and a record that says `Failure`, which is `WithdrawalFailed`.
  refused(
    "NoPixKey",
    ({ isSilent, kind, status }) => isSilent && kind === "WithdrawalWithoutKey" && (status === 400 || status === 404)
  ),
  refused("AuthError", ({ isSilent, status }) => isSilent && status === 403),
  refused("RequestRejected", ({ isSilent, status }) => isSilent && setupStatuses.has(status)),
  refused("RequestRejected", ({ isSilent, record, status }) => isSilent && (tooLarge.has(status) || record === "Sure")),
  // 7: anything else.
  inDoubt(() => "RefusalUnknown")
]

/** What a refusal of a write is, by the first line that fits. */
export const readRefusal = (answer: Answer): Verdict => {
  for (const line of lines) {
    const found = line(answer)
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
