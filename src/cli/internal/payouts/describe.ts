/** A payout of the queue in words and as data. Its reference is shown, since it is the user's own. */
import type * as DateTime from "effect/DateTime"
import type { PauseChange } from "../../../payouts/PayoutHistory.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { inBoth } from "../amount.ts"
import { ageOf, fieldLines, plain, time } from "../text.ts"

/** Why a payout is in its state, in one or two words. */
export const reasonOf = (status: PayoutStatus): string => {
  const because = "because" in status ? [status.because] : []
  const error = "error" in status && status.error !== undefined ? [status.error._tag] : []
  return [...because, ...error].join(", ")
}

/** A pause in one sentence. */
export const textOfPause = (pause: PauseChange | "Unrecorded", now: number): string => {
  if (pause === "Unrecorded") return "The workers are paused: the time and the person are not recorded."
  const by = pause.by === undefined ? "" : ` by ${plain(pause.by)}`
  const note = pause.note === undefined ? "" : `: ${plain(pause.note)}`
  return `The workers are paused since ${time(pause.at)} (${ageOf(pause.at, now)} ago)${by}${note}`
}

/** What is said after a step that only its first person took. */
export const waitsForSecond = (step: string): string =>
  `${step}: this is the step's first person. Nothing is changed until another person runs the same command.`

/** A status for machines: amounts in centavos; JSON writes times in ISO 8601. */
export const dataOf = (status: PayoutStatus) => ({
  reference: status.reference,
  state: status.state,
  amount: status.amount,
  because: "because" in status ? status.because : undefined,
  asked: status.asked,
  error: "error" in status ? status.error?._tag : undefined,
  withdrawalId: "withdrawalId" in status ? status.withdrawalId : undefined,
  mayHaveLeftAt: "mayHaveLeftAt" in status ? status.mayHaveLeftAt : undefined,
  submittedAt: status.submittedAt,
  updatedAt: status.updatedAt,
  idempotencyKey: status.idempotencyKey
})

/** A status in lines, with the payee if it is given. */
export const textOf = (status: PayoutStatus, now: number, payee?: string): string => {
  const since = (at: DateTime.Utc | undefined) => at && `${time(at)} (${ageOf(at, now)} ago)`
  return fieldLines({
    Payout: status.reference,
    Amount: inBoth(status.amount),
    State: status.state,
    Parked: "because" in status ? status.because : undefined,
    Asked:
      status.asked && `${status.asked.step} by ${plain(status.asked.by)}: another person has to take the same step`,
    Error: "error" in status ? status.error?.message : undefined,
    Withdrawal: "withdrawalId" in status ? status.withdrawalId : undefined,
    "May have left": "mayHaveLeftAt" in status ? since(status.mayHaveLeftAt) : undefined,
    Submitted: since(status.submittedAt),
    Updated: since(status.updatedAt),
    Key: status.idempotencyKey,
    To: payee
  })
}
