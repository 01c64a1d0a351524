/** Payouts of the queue in words and as data. A reference is shown, since it is the user's own. */
import * as BigDecimal from "effect/BigDecimal"
import * as Duration from "effect/Duration"
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { PayoutAccount } from "../../../payouts/PayoutHistory.ts"
import { whyOf } from "../../../payouts/PayoutBecause.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import type { PayoutState } from "../../../payouts/PayoutState.ts"
import * as Money from "../../../pix/Money.ts"
import { decimal, inBoth } from "../amount.ts"
import type { Columns } from "../list.ts"
import { ageOf, fieldLines, type Fields, plain, time } from "../text.ts"

/** How many payouts there are, and how much they are together. */
export interface Sum {
  readonly count: number
  /** A sum may be too large for an exact number. */
  readonly centavos: bigint
}

/** The account of the queue, and the sums of its payouts by their state. */
export interface Account extends PayoutAccount {
  readonly sums: ReadonlyMap<PayoutState, Sum>
  /** The time of the step, in milliseconds. */
  readonly now: number
}

/** Why a payout is in its state, in one or two words. */
export const reasonOf = (status: PayoutStatus): string => {
  const because = "because" in status ? [status.because] : []
  const error = "error" in status && status.error !== undefined ? [status.error._tag] : []
  return [...because, ...error].join(", ")
}

/** Why a payout is not sent or in doubt, and what ends that. */
const textOfBecause = (status: PayoutStatus): string | undefined => {
  const because = "because" in status ? status.because : undefined
  const why = whyOf(status.state, because)
  return why && `${because}: ${why.en}. It ends by ${why.ends}`
}

/** Since when the workers are paused, by whom and why. Another program may have paused them by SQL. */
export const textOfPause = ({ lastPause, now }: Account): string => {
  if (lastPause?.paused !== true) return "paused: the time and the person are not recorded"
  const by = lastPause.by === undefined ? "" : ` by ${plain(lastPause.by)}`
  const note = lastPause.note === undefined ? "" : `: ${plain(lastPause.note)}`
  return `paused since ${time(lastPause.at)} (${ageOf(lastPause.at, now)} ago)${by}${note}`
}

/** How often and when the payouts of an account are sent. */
const textOfLimits = ({ pace, window }: Account): string | undefined =>
  [
    pace ? `${pace.most} in ${Duration.toSeconds(pace.per)} seconds` : "",
    window ? `from ${window.from} to ${window.to}` : ""
  ]
    .filter((text) => text !== "")
    .join(", ") || undefined

/** An account in lines. */
export const textOfAccount = (account: Account): string =>
  fieldLines({
    Account: account.account,
    Workers: account.paused ? textOfPause(account) : "not paused",
    Sender: account.fingerprint ?? "not known yet",
    Limits: textOfLimits(account),
    Refused: account.refusedSince && `${account.refusedSince.because}, ${ageOf(account.refusedSince.at, account.now)}`
  })

export const sumOf = (statuses: ReadonlyArray<PayoutStatus>): Sum => ({
  count: statuses.length,
  centavos: statuses.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
})

export const inReais = (centavos: bigint): string => Money.format(Money.reais(BigDecimal.make(centavos, 2)))

/** A count and its sum, in both units: "2 payouts, R$ 30,00 (3000 centavos)". */
export const textOfSum = ({ centavos, count }: Sum): string =>
  `${count} payout${count === 1 ? "" : "s"}, ${inReais(centavos)} (${centavos} centavos)`

/** The record of a payout: its number, and the service's word for its state. A doubt may have seen one. */
const recordOf = (status: PayoutStatus) => {
  const seen = "error" in status && status.error?._tag === "OutcomeUnknown" ? status.error.seen : undefined
  return {
    id: ("withdrawalId" in status ? status.withdrawalId : undefined) ?? seen?.id,
    word: ("withdrawalStatus" in status ? status.withdrawalStatus : undefined) ?? seen?.status
  }
}

/** How a payout ended, and what is not certain of it. */
const endOf = (status: PayoutStatus) => {
  const record = "withdrawalId" in status || "endToEndId" in status ? status : undefined
  return {
    by: "by" in status ? status.by : undefined,
    endedAt: "endedAt" in status ? status.endedAt : undefined,
    endToEndId: record?.endToEndId,
    value: record?.value,
    claimed: status.claimed,
    contradicted: "contradicted" in status ? status.contradicted : undefined,
    unconfirmed: "unconfirmed" in status ? status.unconfirmed : undefined
  }
}

const valueOf = (status: PayoutStatus) => {
  const { value } = endOf(status)
  return value && decimal(value)
}

/** By how much the value of its record differs from its amount. No field of the service is a fee, and this may be one. */
const differenceOf = (status: PayoutStatus) => {
  const { value } = endOf(status)
  return value && Option.getOrUndefined(Money.reaisOption(BigDecimal.subtract(value, Money.toReais(status.amount))))
}

/** A status for machines: amounts in centavos; JSON writes times in ISO 8601. */
export const dataOf = (status: PayoutStatus) => ({
  reference: status.reference,
  state: status.state,
  amount: status.amount,
  because: "because" in status ? status.because : undefined,
  differs: "differs" in status ? status.differs : undefined,
  error: "error" in status ? status.error?._tag : undefined,
  withdrawalId: recordOf(status).id,
  withdrawalStatus: recordOf(status).word,
  ...endOf(status),
  value: valueOf(status),
  mayHaveLeftAt: "mayHaveLeftAt" in status ? status.mayHaveLeftAt : undefined,
  underWayUntil: "underWayUntil" in status ? status.underWayUntil : undefined,
  notBefore: status.notBefore,
  submittedAt: status.submittedAt,
  submittedBy: status.submittedBy,
  updatedAt: status.updatedAt,
  idempotencyKey: status.idempotencyKey
})

/** A status in fields, with the payee if it is given. */
export const fieldsOf = (status: PayoutStatus, now: number, payee?: string, reason?: string): Fields => {
  const { by, claimed, contradicted, endedAt, endToEndId, unconfirmed } = endOf(status)
  const since = (at: DateTime.Utc | undefined) => at && `${time(at)} (${ageOf(at, now)} ago)`
  return {
    Payout: status.reference,
    Amount: inBoth(status.amount),
    State: status.state,
    Because: textOfBecause(status),
    Differs: "differs" in status ? status.differs : undefined,
    Error: "error" in status ? status.error?.message : undefined,
    Withdrawal: recordOf(status).id,
    "Its status": recordOf(status).word,
    "Its value": valueOf(status),
    "End to end": endToEndId,
    Ended:
      by &&
      endedAt &&
      `as ${status.state} by ${by === "person" ? "a person" : `a${by === "answer" ? "n" : ""} ${by}`}, ${since(endedAt)}`,
    Reason: reason,
    Claimed:
      claimed && `${contradicted ? "the service" : "a webhook"} says ${claimed}: look into the panel, and settle it`,
    Unconfirmed: unconfirmed && "no lookup said how it ended, and none is made any more",
    "May have left": "mayHaveLeftAt" in status ? since(status.mayHaveLeftAt) : undefined,
    "Under way until": "underWayUntil" in status ? time(status.underWayUntil) : undefined,
    "Not before": status.notBefore && time(status.notBefore),
    Submitted: since(status.submittedAt),
    Updated: since(status.updatedAt),
    Key: status.idempotencyKey,
    To: payee
  }
}

/** A status in lines. */
export const textOf = (status: PayoutStatus, now: number): string => fieldLines(fieldsOf(status, now))

/** A payout in a list, without its payee. */
export const columnsAt = (now: number): Columns<PayoutStatus> => ({
  noun: "payouts",
  table: {
    STATE: [8, ({ state }) => state],
    AMOUNT: [-14, ({ amount }) => Money.format(amount)],
    AGE: [-11, ({ submittedAt }) => ageOf(submittedAt, now)],
    REFERENCE: [24, ({ reference }) => reference],
    WHY: [16, reasonOf]
  },
  csv: {
    reference: ({ reference }) => reference,
    state: ({ state }) => state,
    amount_centavos: ({ amount }) => amount,
    amount_reais: ({ amount }) => Money.toReais(amount),
    submitted_at: ({ submittedAt }) => submittedAt,
    updated_at: ({ updatedAt }) => updatedAt,
    withdrawal_id: (status) => `${recordOf(status).id ?? ""}`,
    withdrawal_status: (status) => recordOf(status).word ?? "",
    end_to_end_id: (status) => endOf(status).endToEndId ?? "",
    value_reais: (status) => endOf(status).value,
    difference_reais: differenceOf,
    ended_by: (status) => endOf(status).by ?? "",
    ended_at: (status) => endOf(status).endedAt,
    not_before: ({ notBefore }) => notBefore,
    submitted_by: ({ submittedBy }) => submittedBy ?? "",
    why: reasonOf
  },
  json: dataOf
})

/** A payout, and what the service said of why it was refused or failed. */
type Opened = PayoutStatus & { readonly reason?: string | undefined }

/** The columns of a list, with the reasons for a person. */
export const withReasons = ({ csv, noun, table }: Columns<PayoutStatus>): Columns<Opened> => ({
  noun,
  table,
  csv: { ...csv, reason: ({ reason = "" }) => reason },
  json: (row) => ({ ...dataOf(row), reason: row.reason })
})
