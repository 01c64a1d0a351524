/**
 * Judges the items of a run of payouts, in the order of the input: an item is to be sent, or its event says why not.
 * Nothing here sends.
 */
import * as BigDecimal from "effect/BigDecimal"
import * as DateTime from "effect/DateTime"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import { fromReferenceOption } from "../../contract/IdempotencyKey.ts"
import { isPastHorizon } from "../../internal/horizon.ts"
import type { WithdrawalRequest } from "../../contract/Withdrawal.ts"
import type { Centavos, Reais } from "../../pix/Money.ts"
import {
  DuplicateReference,
  type PayoutItem,
  type PayoutNotStarted,
  type PayoutResult,
  type PayoutUnknown
} from "../Payout.ts"
import { badAmount, checkOf, conflictOf, isCentavos, type ReadItem, readItem } from "./content.ts"
import { type Doubt, makeHistory, type Past } from "./history.ts"
import type { Settings } from "./settings.ts"

/** The fields of every event that say which payout it is. */
type Keyed = Pick<PayoutNotStarted, "index" | "reference" | "idempotencyKey" | "amount">

/** The item may be sent. */
export interface Start {
  readonly _tag: "Start"
  readonly keyed: Keyed
  /** The fields of an event after which money may have moved. */
  readonly asked: Keyed & { readonly check: string }
  readonly request: WithdrawalRequest
  /** An earlier run may have paid it. */
  readonly doubt: Doubt | undefined
}

/** Why an item is not sent in this run. */
export type NotSent = Pick<PayoutNotStarted, "reason" | "error" | "startedAt">

type Halt = "OverTotal" | "NotCovered"

const isMore = (sum: bigint, available: Reais) => BigDecimal.isGreaterThan(BigDecimal.make(sum, 2), available)

/** The conflict of an item with the past of its reference, if there is one. */
const conflictWithPast = (past: Past, { request, ...item }: ReadItem) => {
  const { amount, check, idempotencyKey } = past
  const since = past._tag === "Done" ? past.at : past.since
  const isSameContent = check === undefined || check === checkOf(request, idempotencyKey)
  return conflictOf({ ...item, amount: request.amount }, isSameContent, {
    state: past._tag === "Done" ? "Done" : "Unknown",
    idempotencyKey,
    amount,
    ...(check !== undefined && { check }),
    ...(since !== undefined && { since })
  })
}

/** The event of an item that is not sent now and that an earlier run may have paid. */
const stillUnknown = (
  { asked }: Start,
  { error, since }: Doubt,
  held: NonNullable<PayoutUnknown["held"]>,
  at: DateTime.Utc
): PayoutUnknown => ({ _tag: "Unknown", ...asked, at, ...(since && { since }), held, error })

/** The event of an item that is not sent in this run. */
export const notSent = (start: Start, why: NotSent, at: DateTime.Utc): PayoutNotStarted | PayoutUnknown =>
  start.doubt === undefined
    ? { _tag: "NotStarted", ...start.keyed, at, ...why }
    : stillUnknown(start, start.doubt, why.reason, at)

/** The event of an item that may have been paid and is not sent again: after the horizon, or with the option `hold`. */
export const heldBack = (start: Start, { hold, keyHorizon }: Settings, at: DateTime.Utc): PayoutUnknown | undefined => {
  const { doubt } = start
  if (doubt === undefined) return undefined
  if (hold) return stillUnknown(start, doubt, "Hold", at)
  const since = doubt.since && DateTime.toEpochMillis(doubt.since)
  return isPastHorizon(since, DateTime.toEpochMillis(at), keyHorizon)
    ? stillUnknown(start, doubt, "KeyHorizon", at)
    : undefined
}

/**
 * Makes the judges of runs. A judge remembers the references that it saw and the sum of the items that may start.
 * `available` is the limit of that sum, and `initiallyHalted` is why no item may start.
 */
export const makePlan = (settings: Settings) => {
  const { kind, maxAmount, maxTotal, previous } = settings
  const pastOf = makeHistory(previous)

  const makeJudge = (available?: Reais, initiallyHalted?: Halt) => {
    const seen = new Map<string, { readonly index: number; readonly request: WithdrawalRequest }>()
    let total = 0n
    let halted = initiallyHalted

    const limitReached = (amount: Centavos): PayoutNotStarted["reason"] | undefined => {
      if (maxAmount !== undefined && amount > maxAmount) return "OverAmount"
      const sum = total + BigInt(amount)
      if (maxTotal !== undefined && sum > BigInt(maxTotal)) halted ??= "OverTotal"
      if (available !== undefined && isMore(sum, available)) halted ??= "NotCovered"
      if (halted === undefined) total = sum
      return halted
    }

    const judge = (item: PayoutItem, index: number, at: DateTime.Utc): PayoutResult | Start => {
      const read = readItem((reference) => fromReferenceOption(kind, reference), item)
      if (Result.isFailure(read)) return { _tag: "Refused", index, at, ...read.failure }
      const { check, idempotencyKey, reference, request } = read.success
      const { amount } = request
      const known = { index, reference, at, ...(isCentavos(amount) && { amount }) }
      const refused = { _tag: "Refused", ...known } as const
      const first = seen.get(reference)
      if (first !== undefined) {
        return Equal.equals(first.request, request)
          ? { _tag: "Repeated", ...known, idempotencyKey, first: first.index }
          : { ...refused, error: new DuplicateReference({ outcome: "NotSent", reference, first: first.index }) }
      }
      seen.set(reference, { index, request })
      // Only an amount can be compared with a limit.
      if (!isCentavos(amount)) return { ...refused, error: badAmount }
      const past = pastOf(reference, idempotencyKey)
      const conflict = past && conflictWithPast(past, read.success)
      if (conflict !== undefined) return { ...refused, idempotencyKey, error: conflict }
      if (past?._tag === "Done") return { ...past, index, reference }
      const keyed = { index, reference, idempotencyKey, amount }
      const start: Start = { _tag: "Start", keyed, asked: { ...keyed, check }, request, doubt: past }
      const held = heldBack(start, settings, at)
      if (held !== undefined) return held
      const reason = limitReached(amount)
      return reason === undefined ? start : notSent(start, { reason }, at)
    }
    return { judge, isCoveredBy: (balance: Reais) => !isMore(total, balance) }
  }

  return {
    /** Judges items one by one. */
    judge: (available?: Reais) => makeJudge(available).judge,
    /** Judges the items of a list whose whole sum has to be available: if it is not, nothing starts. */
    judgeWhole: (items: ReadonlyArray<PayoutItem>, available: Reais, at: DateTime.Utc) => {
      const probe = makeJudge()
      for (const [index, item] of items.entries()) probe.judge(item, index, at)
      return makeJudge(undefined, probe.isCoveredBy(available) ? undefined : "NotCovered").judge
    }
  }
}
