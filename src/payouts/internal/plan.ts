/**
 * What is to become of each item of a run of payouts, judged in the order of the input and before anything is sent.
 */
import * as BigDecimal from "effect/BigDecimal"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { fromReference } from "../../contract/IdempotencyKey.ts"
import { Centavos, type Reais } from "../../pix/Money.ts"
import { InvalidRequest, type RequestIssue } from "../../contract/PaymentsError.ts"
import type { WithdrawalRequest } from "../../contract/Withdrawal.ts"
import { DuplicateReference, type PayoutDone, type PayoutEvent, type PayoutItem, type PayoutResult } from "../Payout.ts"

/** The item is to be sent. */
export interface Start {
  readonly _tag: "Start"
  readonly index: number
  readonly reference: string
  readonly idempotencyKey: string
  readonly request: WithdrawalRequest
}

type Halt = "OverTotal" | "NotCovered"

export interface PlanOptions {
  readonly kind: string
  readonly maxAmount: Centavos | undefined
  readonly maxTotal: Centavos | undefined
  readonly previous: Iterable<PayoutEvent>
}

const isCentavos = Schema.is(Centavos)

const invalid = (issue: RequestIssue, idempotencyKey?: string) =>
  new InvalidRequest({
    operation: "requestWithdrawal",
    attempts: 0,
    outcome: "NotSent",
    issues: [issue],
    ...(idempotencyKey === undefined ? {} : { idempotencyKey })
  })

const nameOf = ({ amount, idempotencyKey }: Pick<PayoutDone, "amount" | "idempotencyKey">) =>
  `${idempotencyKey} ${amount}`

/**
 * Makes the judges of runs. A judge remembers the references that it saw and the sum of what it let start; `available`
 * is what that sum may be, and `halted` why nothing may start.
 */
export const makePlan = ({ kind, maxAmount, maxTotal, previous }: PlanOptions) => {
  const done = new Map<string, PayoutDone>()
  for (const event of previous) if (event._tag === "Done") done.set(nameOf(event), event)

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

    return ({ reference, ...request }: PayoutItem, index: number): PayoutResult | Start => {
      const place = { index, reference }
      const key = Result.try(() => fromReference(kind, reference))
      if (Result.isFailure(key)) {
        return {
          _tag: "Refused",
          ...place,
          error: invalid({
            path: "reference",
            problem: "must be a text that is not blank, without space around it, in composed form (NFC)"
          })
        }
      }
      const keyed = { ...place, idempotencyKey: key.success }
      const first = seen.get(reference)
      if (first !== undefined) {
        return Equal.equals(first.request, request)
          ? { _tag: "Repeated", ...place, first: first.index }
          : { _tag: "Refused", ...keyed, error: new DuplicateReference({ outcome: "NotSent" }) }
      }
      seen.set(reference, { index, request })
      const { amount } = request
      // What is no amount could not be held against a limit.
      if (!isCentavos(amount)) {
        const issue = { path: "amount", problem: "must be a whole number of centavos, from 0" }
        return { _tag: "Refused", ...keyed, error: invalid(issue, key.success) }
      }
      const before = done.get(nameOf({ ...keyed, amount }))
      if (before !== undefined) return { ...before, ...place }
      if (maxAmount !== undefined && amount > maxAmount) return { _tag: "NotStarted", ...keyed, reason: "OverAmount" }
      halted ??= exceeded(total + BigInt(amount))
      if (halted !== undefined) return { _tag: "NotStarted", ...keyed, reason: halted }
      total += BigInt(amount)
      return { _tag: "Start", ...keyed, request }
    }
  }

  return {
    /** Judges items as they come. */
    judge,
    /** The same for a list whose whole sum has to be available: if it is not, nothing starts. */
    judgeWhole: (items: ReadonlyArray<PayoutItem>, available: Reais) => {
      const probe = judge()
      const sum = items.reduce((total, item, index) => {
        const planned = probe(item, index)
        return planned._tag === "Start" ? total + BigInt(planned.request.amount) : total
      }, 0n)
      return judge(undefined, BigDecimal.isGreaterThan(BigDecimal.make(sum, 2), available) ? "NotCovered" : undefined)
    }
  }
}
