/**
 * Reads a world for the rules.
 */
import * as Predicate from "effect/Predicate"
import type { RehearsalCall, RehearsalFact, RehearsalWorld } from "../RehearsalWorld.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../../sandbox/SandboxLedger.ts"
import { cameBack, isOfDebt, matchDebts, names } from "./references.ts"

export const textOf = ({ detail }: RehearsalFact, name: string): string | undefined => {
  const value = detail[name]
  return Predicate.isString(value) ? value : undefined
}

export const factsOf = ({ facts }: RehearsalWorld, ...names: ReadonlyArray<string>) =>
  facts.filter(({ name }) => names.includes(name))

export const withoutFact = (name: string) => (world: RehearsalWorld) =>
  factsOf(world, name).length === 0 ? `the undisturbed run declared no Rehearsed.fact("${name}", ...)` : undefined

export const withoutDebts = ({ owed }: RehearsalWorld) =>
  owed.length === 0 ? "the undisturbed run declared no Rehearsed.owes(...)" : undefined

export const withoutPayouts = ({ calls }: RehearsalWorld) =>
  calls.some(({ operation }) => operation === "requestWithdrawal")
    ? undefined
    : "the undisturbed run asked for no payout"

/** A run, as the rules read it. */
export interface Evidence extends RehearsalWorld {
  /** Whether a failure of the program is one that somebody hears of. */
  readonly isExcused: boolean
}

/** A program that is stopped may leave work undone that is not older than this. */
const unfinished = 2 * 60 * 60 * 1000

/** Whether a program that was stopped had time to act on an event. */
export const hadTime = ({ end, endedAt }: Pick<Evidence, "end" | "endedAt">, at: number) =>
  end !== "Stopped" || at <= endedAt - unfinished

/**
 * Whether the program had to act on an event at a time. A program that failed has reported that, but not if it was started
 * again and fails though nothing disturbs it. For one that does not end, that is the only finding.
 */
export const isDue = ({ end, endedAt, isExcused }: Evidence, at: number) => {
  const hasEnded = end === "Succeeded" || (end === "Failed" && !isExcused)
  return (hasEnded && at <= endedAt) || (end === "Stopped" && hadTime({ end, endedAt }, at))
}

/**
 * Whether the program declared that a person knows: of what happened at a time, after it, or that a person will look in any
 * case.
 */
export const isReported = (world: RehearsalWorld, isAbout: (fact: RehearsalFact) => boolean, since = -Infinity) =>
  factsOf(world, "parked", "told", "failed").some(
    (fact) => isAbout(fact) && (fact.name === "parked" || fact.at >= since)
  )

/** Whether a value is a text, or contains it. */
export const contains = (value: unknown, text: string, depth = 8): boolean =>
  value === text ||
  (depth > 0 && Predicate.isObjectOrArray(value) && Object.values(value).some((one) => contains(one, text, depth - 1)))

export const rowsOf = ({ transactions, withdrawals }: RehearsalWorld, { key, operation }: RehearsalCall) => {
  // A payout that failed at once moved nothing.
  const executed = withdrawals.filter(({ failedAtOnce }) => failedAtOnce !== true)
  const rows: ReadonlyArray<SandboxTransaction | SandboxWithdrawal> =
    operation === "createTransaction" ? transactions : executed
  return rows.filter(({ idempotencyKey }) => idempotencyKey === key)
}

/** Whether the program cannot know if a call was executed: its answer is `Unknown`, or it was executed without an answer. */
export const isInDoubt = (world: RehearsalWorld, call: RehearsalCall) =>
  call.outcome === "Unknown" ||
  ((call.result === undefined || call.result === "Interrupted") &&
    rowsOf(world, call).some(({ createdAt }) => isExecutedBy(world, call, Date.parse(createdAt))))

/** Whether another call under the key of one in doubt says what became of it: any that succeeded, or a later one that is in no doubt. */
export const isAnswered = ({ calls }: RehearsalWorld, { key, number }: RehearsalCall) =>
  calls.some(
    (other) =>
      other.key === key && other.outcome !== "Unknown" && (other.number > number || other.result === "Succeeded")
  )

export const isDenied = ({ outcome }: RehearsalCall) => outcome === "NotSent" || outcome === "Rejected"

/**
 * Whether a row that was created at a time was made by this call. Under the same key it may have been made by a later call,
 * also in the same millisecond, or by an earlier one that was not refused, and that still ran or is in doubt: its request may be
 * executed late.
 */
export const isExecutedBy = ({ calls }: RehearsalWorld, call: RehearsalCall, at: number) => {
  const isOfOther = calls.some(
    (other) =>
      other.key === call.key &&
      other.startedAt <= at &&
      (other.number > call.number ||
        (other.number < call.number &&
          !isDenied(other) &&
          (other.outcome === "Unknown" || at <= (other.endedAt ?? Infinity))))
  )
  return at >= call.startedAt && !isOfOther
}

export const nameOf = ({ key, number, operation }: RehearsalCall) =>
  `Call ${number} (${operation}, ${key === undefined ? "without a key" : `key ${key}`})`

/** The last fact of the program about each reference. */
export const lastFacts = (world: RehearsalWorld) => {
  const words = new Map<string, RehearsalFact>()
  for (const fact of factsOf(world, "paid", "failed", "parked")) {
    const reference = textOf(fact, "reference")
    if (reference !== undefined) words.set(reference, fact)
  }
  return words
}

/** The payouts of a reference. Where no debt is declared, a payout that names no reference may be one of it. */
export const payoutsOf = (world: RehearsalWorld, reference: string) => {
  const declared = world.owed.find((debt) => debt.reference === reference)
  const debt = declared ?? { reference, amount: Number.NaN, at: 0 }
  const owed = declared === undefined ? [...world.owed, debt] : world.owed
  const { byDebt } = matchDebts(owed, world.withdrawals)
  return (byDebt.get(debt) ?? []).filter((payout) => world.owed.length === 0 || names(payout, reference) || declared)
}

/** The payouts of a reference that failed or came back, and when the last of them did. */
export const lostOf = ({ owed, withdrawals }: RehearsalWorld, reference: string) => {
  const debt = owed.find((one) => one.reference === reference) ?? { reference, amount: Number.NaN, at: 0 }
  const payouts = withdrawals.filter((payout) => cameBack(payout) && isOfDebt(payout, debt, owed))
  return { payouts, at: Math.max(...payouts.map(({ updatedAt }) => Date.parse(updatedAt))) }
}

/** The charges that goods went out for, each with the charge under whose `key` they had gone out before, if another one. */
export const shipmentsOf = (world: RehearsalWorld) => {
  const charges = new Map<string, string | undefined>()
  const firsts = new Map<string, string>()
  for (const fact of factsOf(world, "shipped")) {
    const id = textOf(fact, "transactionId") ?? ""
    const key = textOf(fact, "key")
    const first = key === undefined ? id : (firsts.get(key) ?? id)
    if (key !== undefined) firsts.set(key, first)
    if (!charges.has(id) || first === id) charges.set(id, first === id ? undefined : first)
  }
  return charges
}

/** The payouts of one amount to one receiver. */
export const groupAlike = (withdrawals: ReadonlyArray<SandboxWithdrawal>) => {
  const alike = new Map<string, Array<SandboxWithdrawal>>()
  for (const withdrawal of withdrawals) {
    const name = `${withdrawal.amount} ${withdrawal.pixKey}`
    alike.set(name, [...(alike.get(name) ?? []), withdrawal])
  }
  return alike
}

/** `once`, `twice` or `3 times`. */
export const timesOf = (count: number) => (count < 3 ? (["never", "once", "twice"][count] ?? "") : `${count} times`)

/** Payouts with their keys, which say what made them. */
export const payoutsInWords = (withdrawals: ReadonlyArray<SandboxWithdrawal>) =>
  withdrawals
    .map(({ amount, id, idempotencyKey }) => {
      const key = idempotencyKey === undefined ? "without a key" : `under key ${idempotencyKey}`
      return `payout ${id} of ${amount} centavos ${key}`
    })
    .join(" and ")

export const statusAt = (transaction: SandboxTransaction | undefined, at: number) => {
  if (transaction === undefined) return "not in the ledger"
  return transaction.states.findLast((state) => Date.parse(state.at) <= at)?.status ?? "Awaiting"
}

/** A refund within this time after the lookup cannot be seen by the program. */
const unseen = 60_000

/** Whether a lookup answered that a charge is paid, at a time at the latest, or also at another time at the earliest. */
export const wasSeenPaid = ({ calls }: RehearsalWorld, id: string | undefined, latest: number, earliest = -Infinity) =>
  calls.some(
    ({ endedAt = Infinity, operation, status, transactionId }) =>
      operation === "getTransaction" &&
      status === "Paid" &&
      transactionId === id &&
      endedAt <= latest &&
      endedAt >= earliest
  )

/** Whether a shipment is right: its charge is paid, or it was right before, when a lookup answered. */
export const isShippedPaid = (world: RehearsalWorld, fact: RehearsalFact) => {
  const status = statusAt(transactionOf(world, fact), fact.at)
  const isSeen = () => wasSeenPaid(world, textOf(fact, "transactionId"), fact.at, fact.at - unseen)
  return status === "Paid" || (status === "Refunded" && isSeen())
}

/** What was paid for a charge, in centavos; what was asked where nothing was paid. */
export const paidFor = ({ amount, paid }: SandboxTransaction): number => paid ?? amount

export const transactionOf = (world: RehearsalWorld, fact: RehearsalFact) =>
  world.transactions.find(({ transactionId }) => transactionId === textOf(fact, "transactionId"))

export const byTransaction = (facts: ReadonlyArray<RehearsalFact>) => {
  const groups = new Map<string, Array<RehearsalFact>>()
  for (const fact of facts) {
    const id = textOf(fact, "transactionId") ?? ""
    groups.set(id, [...(groups.get(id) ?? []), fact])
  }
  return groups
}
