/**
 * Matches the payouts of the ledger with the declared debts. A payout names its reference by its description, by its
 * metadata, or by a key that `IdempotencyKey.fromReference` made. A payout without a reference is matched with the debt of
 * its amount, and the last such payout with the last debt.
 */
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { RehearsalDebt } from "../RehearsalWorld.ts"
import { isKeyOf } from "../../sandbox/KeyOfReference.ts"
import type { SandboxWithdrawal } from "../../sandbox/SandboxLedger.ts"

const mentions = (value: unknown, reference: string): boolean => {
  const plain = Redacted.isRedacted(value) ? Redacted.value(value) : value
  return plain === reference || (Predicate.isObject(plain) && Object.values(plain).includes(reference))
}

/** Whether a payout names a reference. */
export const names = ({ description, idempotencyKey, metadata }: SandboxWithdrawal, reference: string) =>
  isKeyOf(reference)(idempotencyKey) || mentions(description, reference) || mentions(metadata, reference)

/** Whether a payout is one of a debt: it names it, or names none and is the only debt's of its amount. */
export const isOfDebt = (payout: SandboxWithdrawal, debt: RehearsalDebt, owed: ReadonlyArray<RehearsalDebt>): boolean =>
  names(payout, debt.reference) ||
  (payout.amount === debt.amount &&
    owed.every((other) => !names(payout, other.reference) && (other === debt || other.amount !== debt.amount)))

export interface Matched {
  /** The payouts of each debt. */
  readonly byDebt: ReadonlyMap<RehearsalDebt, ReadonlyArray<SandboxWithdrawal>>
  /** The payouts that belong to no declared reference. */
  readonly unowed: ReadonlyArray<SandboxWithdrawal>
}

/** Whether the amount of a payout came back: it failed, or was returned. */
export const cameBack = ({ status }: SandboxWithdrawal): boolean => status === "Rejected" || status === "Returned"

/** Matches payouts with debts. A payout whose amount came back does not count. */
export const matchDebts = (
  owed: ReadonlyArray<RehearsalDebt>,
  withdrawals: ReadonlyArray<SandboxWithdrawal>
): Matched => {
  const paid = withdrawals.filter((withdrawal) => !cameBack(withdrawal))
  const byDebt = new Map<RehearsalDebt, Array<SandboxWithdrawal>>(owed.map((debt) => [debt, []]))
  const free = paid.filter((withdrawal) => {
    const debt = owed.find(({ reference }) => names(withdrawal, reference))
    byDebt.get(debt as RehearsalDebt)?.push(withdrawal) // a debt that was not found has no entry
    return debt === undefined
  })
  const unpaid = () => owed.filter((debt) => byDebt.get(debt)?.length === 0)
  for (const debt of unpaid()) {
    const index = free.findIndex(({ amount }) => amount === debt.amount)
    if (index !== -1) byDebt.get(debt)?.push(...free.splice(index, 1))
  }
  const [last, ...others] = unpaid()
  if (last !== undefined && others.length === 0 && free.length > 0) byDebt.get(last)?.push(...free.splice(0, 1))
  return { byDebt, unowed: free }
}
