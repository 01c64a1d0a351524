/**
 * What is to become of each item of a run of payouts, judged in the order of the input and before anything is sent.
 */
import * as BigDecimal from "effect/BigDecimal"
import * as DateTime from "effect/DateTime"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { fromReferenceOption } from "../../contract/IdempotencyKey.ts"
import type { WithdrawalRequest } from "../../contract/Withdrawal.ts"
import { Centavos, type Reais } from "../../pix/Money.ts"
import {
  DuplicateReference,
  type PayoutItem,
  type PayoutNotStarted,
  type PayoutResult,
  type PayoutUnknown
} from "../Payout.ts"
import { badAmount, badReference, checkOf, conflictOf, unreadableItem } from "./content.ts"
import { type Doubt, makeHistory, type Past } from "./history.ts"
import { isPastHorizon } from "./machine.ts"
import type { Settings } from "./settings.ts"

/** The item is to be sent. */
export interface Start {
  readonly _tag: "Start"
  readonly index: number
  readonly reference: string
  readonly idempotencyKey: string
  readonly check: string
  readonly request: WithdrawalRequest
  /** An earlier run may have paid it. */
  readonly doubt: Doubt | undefined
}

/** Why an item is not sent in this run. */
export type NotSent = Pick<PayoutNotStarted, "reason" | "error" | "startedAt">

type Halt = "OverTotal" | "NotCovered"

const isCentavos = Schema.is(Centavos)

const conflictWithPast = (past: Past, wanted: Parameters<typeof conflictOf>[0], request: WithdrawalRequest) => {
  const { amount, check, idempotencyKey } = past
  const since = past._tag === "Done" ? past.at : past.since
  return conflictOf(wanted, check === undefined || check === checkOf(request, idempotencyKey), {
    state: past._tag === "Done" ? "Done" : "Unknown",
    idempotencyKey,
    amount,
    ...(check !== undefined && { check }),
    ...(since !== undefined && { since })
  })
}

/** The events' fields that say which payout it is. */
export const keyedOf = ({ idempotencyKey, index, reference }: Omit<Start, "_tag" | "check" | "request" | "doubt">) => ({
  index,
  reference,
  idempotencyKey
})

/** It is not sent now, and what an earlier run did stays unknown. */
export const stillUnknown = (
  { check, ...start }: Omit<Start, "_tag" | "request">,
  doubt: Doubt,
  held: NonNullable<PayoutUnknown["held"]>,
  at: DateTime.Utc
): PayoutUnknown => ({
  _tag: "Unknown",
  ...keyedOf(start),
  at,
  amount: doubt.amount,
  check: doubt.check ?? check,
  ...(doubt.since === undefined ? {} : { since: doubt.since }),
  held,
  error: doubt.error
})

/** Why a payout that may have been paid is not sent again. */
export const heldBack = ({ since }: Doubt, { hold, keyHorizon }: Settings, now: number) => {
  if (hold) return "Hold"
  return isPastHorizon(since && DateTime.toEpochMillis(since), now, keyHorizon) ? "KeyHorizon" : undefined
}

/**
 * Makes the judges of runs. A judge remembers the references that it saw and the sum of what it let start; `available`
 * is what that sum may be, and `halted` why nothing may start.
 */
export const makePlan = (settings: Settings) => {
  const { kind, maxAmount, maxTotal, previous } = settings
  const pastOf = makeHistory(previous)

  const judge = (available?: Reais, initiallyHalted?: Halt) => {
    const seen = new Map<string, { readonly index: number; readonly request: WithdrawalRequest }>()
    let total = 0n
    let halted = initiallyHalted

    const exceeded = (sum: bigint): Halt | undefined => {
      if (maxTotal !== undefined && sum > BigInt(maxTotal)) return "OverTotal"
      return available !== undefined && BigDecimal.isGreaterThan(BigDecimal.make(sum, 2), available)
        ? "NotCovered"
        : undefined
    }

    const limitReached = (amount: Centavos): PayoutNotStarted["reason"] | undefined => {
      if (maxAmount !== undefined && amount > maxAmount) return "OverAmount"
      halted ??= exceeded(total + BigInt(amount))
      return halted
    }

    const judgeItem = ({ reference, ...request }: PayoutItem, index: number, now: number): PayoutResult | Start => {
      const at = DateTime.makeUnsafe(now)
      const key = fromReferenceOption(kind, reference)
      if (Option.isNone(key)) {
        const text: unknown = reference
        return { _tag: "Refused", index, reference: typeof text === "string" ? text : "", at, error: badReference }
      }
      const idempotencyKey = key.value
      const place = { index, reference, at }
      const first = seen.get(reference)
      if (first !== undefined) {
        return Equal.equals(first.request, request)
          ? { _tag: "Repeated", ...place, first: first.index }
          : { _tag: "Refused", ...place, error: new DuplicateReference({ outcome: "NotSent" }) }
      }
      const check = checkOf(request, idempotencyKey)
      seen.set(reference, { index, request })
      const { amount } = request
      // What is no amount could not be held against a limit.
      if (!isCentavos(amount)) return { _tag: "Refused", ...place, error: badAmount }
      const past = pastOf(reference, idempotencyKey)
      const conflict = past && conflictWithPast(past, { reference, idempotencyKey, amount }, request)
      if (conflict !== undefined) return { _tag: "Refused", ...place, idempotencyKey, error: conflict }
      if (past?._tag === "Done") return { ...past, index, reference }
      const start: Start = { _tag: "Start", index, reference, idempotencyKey, check, request, doubt: past }
      const held = past && heldBack(past, settings, now)
      if (past !== undefined && held !== undefined) return stillUnknown(start, past, held, at)
      const reason = limitReached(amount)
      if (reason !== undefined) {
        return past === undefined
          ? { _tag: "NotStarted", ...place, idempotencyKey, reason }
          : stillUnknown(start, past, reason, at)
      }
      total += BigInt(amount)
      return start
    }

    return (item: PayoutItem, index: number, now: number): PayoutResult | Start =>
      // A caller without types may give anything, and reading it may throw.
      Result.getOrElse(
        Result.try(() => judgeItem(item, index, now)),
        (): PayoutResult => ({
          _tag: "Refused",
          index,
          reference: "",
          at: DateTime.makeUnsafe(now),
          error: unreadableItem
        })
      )
  }

  return {
    /** Judges items as they come. */
    judge,
    /** The same for a list whose whole sum has to be available: if it is not, nothing starts. */
    judgeWhole: (items: ReadonlyArray<PayoutItem>, available: Reais, now: number) => {
      const probe = judge()
      const sum = items.reduce((total, item, index) => {
        const planned = probe(item, index, now)
        return planned._tag === "Start" ? total + BigInt(planned.request.amount) : total
      }, 0n)
      return judge(undefined, BigDecimal.isGreaterThan(BigDecimal.make(sum, 2), available) ? "NotCovered" : undefined)
    }
  }
}
