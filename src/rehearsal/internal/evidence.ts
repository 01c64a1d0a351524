/**
 * Reads a run for the rules: matches the payouts of the ledger with the declared debts, and says what the program could know.
 *
 * A payout names its reference by its description, by its metadata, or by a key that `IdempotencyKey.fromReference` made. One without
 * a reference is matched with the debt of its amount, and the last such payout with the last debt.
 */
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { RehearsalCall, RehearsalDebt, RehearsalFact, RehearsalWorld } from "../RehearsalWorld.ts"
import { isKeyOf } from "../../sandbox/KeyOfReference.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../../sandbox/SandboxLedger.ts"

type Payouts = ReadonlyArray<SandboxWithdrawal>

export const textOf = ({ detail }: RehearsalFact, name: string): string | undefined => {
  const value = detail[name]
  return Predicate.isString(value) ? value : undefined
}

export const factsOf = ({ facts }: RehearsalWorld, ...names: ReadonlyArray<string>) =>
  facts.filter(({ name }) => names.includes(name))

/** Whether a fact is about a payout, or about a charge. */
export const isAbout = (field: "reference" | "transactionId", value: string) => (fact: RehearsalFact) =>
  textOf(fact, field) === value

const mentions = (value: unknown, reference: string): boolean => {
  const plain = Redacted.isRedacted(value) ? Redacted.value(value) : value
  return plain === reference || (Predicate.isObject(plain) && Object.values(plain).includes(reference))
}

/** Whether a payout names a reference. */
const names = ({ description, idempotencyKey, metadata }: SandboxWithdrawal, reference: string) =>
  isKeyOf(reference)(idempotencyKey) || mentions(description, reference) || mentions(metadata, reference)

/** Whether a payout is one of a debt: it names it, or names none and is the only debt's of its amount. */
export const isOfDebt = (payout: SandboxWithdrawal, debt: RehearsalDebt, owed: ReadonlyArray<RehearsalDebt>): boolean =>
  names(payout, debt.reference) ||
  (payout.amount === debt.amount &&
    owed.every(
      ({ amount, reference }) => !names(payout, reference) && (reference === debt.reference || amount !== debt.amount)
    ))

/** Whether the amount of a payout came back: it failed, or was returned. */
export const cameBack = ({ status }: SandboxWithdrawal): boolean => status === "Rejected" || status === "Returned"

/** A debt, and what was paid for it. */
export interface Owed extends RehearsalDebt {
  readonly payouts: Payouts
  /** The payouts that failed or came back, and when the last of them did. */
  readonly lost: Payouts
  readonly lostAt: number
}

/** The payouts of each debt, and those of none. */
const match = (owed: ReadonlyArray<RehearsalDebt>, withdrawals: Payouts) => {
  const kept = withdrawals.filter((payout) => !cameBack(payout))
  const debtOf = new Map(kept.map((payout) => [payout, owed.find(({ reference }) => names(payout, reference))]))
  const unowed = () => kept.filter((payout) => debtOf.get(payout) === undefined)
  const unpaid = () => owed.filter((debt) => !Array.from(debtOf.values()).includes(debt))
  const take = (debt: RehearsalDebt, payout: SandboxWithdrawal | undefined) =>
    payout === undefined ? undefined : debtOf.set(payout, debt)
  for (const debt of unpaid())
    take(
      debt,
      unowed().find(({ amount }) => amount === debt.amount)
    )
  const [last, ...others] = unpaid()
  if (last !== undefined && others.length === 0) take(last, unowed()[0])
  const debts = owed.map((debt): Owed => {
    const lost = withdrawals.filter((payout) => cameBack(payout) && isOfDebt(payout, debt, owed))
    const lostAt = Math.max(...lost.map(({ updatedAt }) => Date.parse(updatedAt)))
    return { ...debt, payouts: kept.filter((payout) => debtOf.get(payout) === debt), lost, lostAt }
  })
  return { debts, unowed: unowed() }
}

/** The world of a run, and whether a failure of the program is one that somebody hears of. */
export interface Ended extends RehearsalWorld {
  readonly isExcused: boolean
}

/** A run, as the rules read it. A payout that is returned after the program has ended has arrived: it cannot know. */
export const readRun = (played: Ended, usual: RehearsalWorld) => {
  const withdrawals = played.withdrawals.map((payout): SandboxWithdrawal =>
    payout.status === "Returned" && Date.parse(payout.updatedAt) > played.endedAt
      ? { ...payout, status: "Settled" }
      : payout
  )
  const { debts, unowed } = match(played.owed, withdrawals)
  return {
    ...played,
    withdrawals,
    /** The undisturbed run. */
    usual,
    debts,
    unowed,
    shipped: factsOf(played, "shipped"),
    /** What was paid for a reference, also for one that is no debt. Where there are debts, it has to be named by the payout then. */
    owedFor: (reference: string): Owed | undefined => {
      const known = debts.find((one) => one.reference === reference)
      if (known !== undefined) return known
      const other = match([...played.owed, { reference, amount: Number.NaN, at: 0 }], withdrawals).debts.at(-1)
      const isNamed = (payout: SandboxWithdrawal) => debts.length === 0 || names(payout, reference)
      return other && { ...other, payouts: other.payouts.filter(isNamed) }
    }
  }
}

/** See `readRun`. */
export type Run = ReturnType<typeof readRun>

/** A program that is stopped may leave work undone that is not older than this. */
const unfinished = 2 * 60 * 60 * 1000

/** Whether a program that was stopped had time to act on an event. */
export const hadTime = ({ end, endedAt }: Pick<RehearsalWorld, "end" | "endedAt">, at: number) =>
  end !== "Stopped" || at <= endedAt - unfinished

/**
 * Whether the program had to act on an event at a time. A program that failed has reported that, but not if it was started
 * again and fails though nothing disturbs it. For one that does not end, that is the only finding.
 */
export const isDue = (run: Run, at: number) => {
  const { end, endedAt, isExcused } = run
  const hasEnded = end === "Succeeded" || (end === "Failed" && !isExcused)
  return (hasEnded && at <= endedAt) || (end === "Stopped" && hadTime(run, at))
}

/** Whether the program declared that a person knows: of what happened at a time, after it, or that a person will look in any case. */
export const isReported = (run: Run, isMeant: (fact: RehearsalFact) => boolean, since = -Infinity) =>
  factsOf(run, "parked", "told", "failed").some((fact) => isMeant(fact) && (fact.name === "parked" || fact.at >= since))

/** Whether a value is a text, or contains it. */
export const contains = (value: unknown, text: string, depth = 8): boolean =>
  value === text ||
  (depth > 0 && Predicate.isObjectOrArray(value) && Object.values(value).some((one) => contains(one, text, depth - 1)))

/** The rows of the ledger under the key of a call. A payout that failed at once moved nothing. */
export const rowsOf = ({ transactions, withdrawals }: RehearsalWorld, { key, operation }: RehearsalCall) => {
  const rows: ReadonlyArray<SandboxTransaction | SandboxWithdrawal> =
    operation === "createTransaction" ? transactions : withdrawals.filter(({ failedAtOnce }) => failedAtOnce !== true)
  return rows.filter(({ idempotencyKey }) => idempotencyKey === key)
}

export const isDenied = ({ outcome }: RehearsalCall) => outcome === "NotSent" || outcome === "Rejected"

/** Whether a call made a row: no other call under its key had begun before, unless that one was refused. */
export const isExecuted = (world: RehearsalWorld, call: RehearsalCall) =>
  rowsOf(world, call).some(({ createdAt }) => {
    const at = Date.parse(createdAt)
    const mayBeOf = (other: RehearsalCall) => other !== call && !isDenied(other) && other.startedAt <= at
    return at >= call.startedAt && !world.calls.some((other) => other.key === call.key && mayBeOf(other))
  })

/**
 * Whether the program cannot know if a call was executed: its answer is `Unknown`, or it was executed without an answer. Another call
 * under its key says it: any that succeeded, or a later one that is in no doubt.
 */
export const isLeftInDoubt = (world: RehearsalWorld, call: RehearsalCall) => {
  const { key, number, outcome, result } = call
  const isInDoubt =
    outcome === "Unknown" || ((result === undefined || result === "Interrupted") && isExecuted(world, call))
  const isAnswered = world.calls.some(
    (other) =>
      other.key === key && other.outcome !== "Unknown" && (other.number > number || other.result === "Succeeded")
  )
  return isInDoubt && !isAnswered
}

/** The last fact of the program about each reference. */
export const lastFacts = (world: RehearsalWorld) =>
  Array.from(
    new Map(
      factsOf(world, "paid", "failed", "parked").map((fact) => [textOf(fact, "reference") ?? "", fact.name] as const)
    )
  )

/** The charges for which the goods of a charge went out: the first ones of their `key`. */
export const shipmentsOf = ({ shipped }: Run, transactionId: string) =>
  shipped.filter(isAbout("transactionId", transactionId)).map((fact) => {
    const key = textOf(fact, "key")
    const first = key === undefined ? undefined : shipped.find((other) => textOf(other, "key") === key)
    return textOf(first ?? fact, "transactionId")
  })

export const chargeOf = ({ transactions }: RehearsalWorld, fact: RehearsalFact) =>
  transactions.find(({ transactionId }) => transactionId === textOf(fact, "transactionId"))

export const statusAt = (charge: SandboxTransaction | undefined, at: number) =>
  charge === undefined
    ? "not in the ledger"
    : (charge.states.findLast((state) => Date.parse(state.at) <= at)?.status ?? "Awaiting")

/** A refund within this time after the lookup cannot be seen by the program. */
const unseen = 60_000

/** Whether a lookup had answered that the charge of a fact is paid, at all or within the last milliseconds. */
export const wasSeenPaid = ({ calls }: RehearsalWorld, fact: RehearsalFact, within = Infinity) =>
  calls.some(({ endedAt = Infinity, status, transactionId }) => {
    const isOfIt = status === "Paid" && transactionId === textOf(fact, "transactionId")
    return isOfIt && endedAt <= fact.at && endedAt >= fact.at - within
  })

/** Whether a shipment is right: its charge is paid, or it was right before, when a lookup answered. */
export const isShippedPaid = (world: RehearsalWorld, fact: RehearsalFact) => {
  const status = statusAt(chargeOf(world, fact), fact.at)
  return status === "Paid" || (status === "Refunded" && wasSeenPaid(world, fact, unseen))
}

/** What was paid for a charge, in centavos; what was asked where nothing was paid. */
export const paidFor = ({ amount, paid }: SandboxTransaction): number => paid ?? amount

/** Whether a debt gives the money of a charge back: it names the charge, and is of what was paid for it. */
export const isBack =
  (charge: SandboxTransaction) =>
  ({ amount, reference }: RehearsalDebt): boolean =>
    reference.includes(charge.transactionId) && amount === paidFor(charge)
