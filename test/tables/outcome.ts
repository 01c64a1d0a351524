/** The form of the rows of `outcomes.ts`: what a request meets, and how a call ends. */
import type { FailureReason, Outcome, PaymentsError } from "effect-pix"

/** What the body of an answer is, if it is no whole text. */
export type Body = string | Uint8Array<ArrayBuffer> | { readonly cutAfter: string } | { readonly isEndless: true }

export interface Answer {
  readonly status: number
  readonly body?: Body
  readonly headers?: Readonly<Record<string, string>>
}

/** What one request meets: an answer, a failure with this cause, or a defect or an interruption by the transport itself. */
export type Met = Answer | { readonly cause: unknown } | { readonly defect: unknown } | "interruption"

type Tag = PaymentsError["_tag"]

/** The error of a call whose every request meets the same: its tag, its reason, and `again` if the call sent three requests. */
export type End = Tag | `${Tag} ${FailureReason}` | `${Tag} again` | `${Tag} ${FailureReason} again`

export interface Row {
  /** As a part of a sentence: "a write that met a 503". */
  readonly name: string
  /** All of these end alike. */
  readonly met: ReadonlyArray<Met>
  readonly read: End
  /** A withdrawal whose key has no past: the call made it, or the caller said `earlier: "None"`. */
  readonly write: End
  /** A charge by PIX with such a key, where it differs from the withdrawal. */
  readonly charge?: End
  /** The lookup of a transaction, where it differs from the other reads. */
  readonly lookup?: End
}

/** The fields of an end. */
export const read = (end: End) => {
  const [tag = "", ...more] = end.split(" ")
  const reason = more.find((word) => word !== "again")
  return { tag, reason, isAgain: more.includes("again") }
}

/** Whether money may have moved, by the error that `outcomes` has. */
export const outcomeOf = (end: End, isWrite: boolean): Outcome => {
  switch (read(end).tag) {
    case "IdempotencyConflict":
    case "OutcomeUnknown":
      return "Unknown"
    case "UnexpectedResponse":
      return "NoEffect"
    case "ServiceUnavailable":
      return isWrite ? "NotSent" : "NoEffect"
    default:
      return "Rejected"
  }
}
