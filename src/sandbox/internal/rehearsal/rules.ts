/**
 * The rules of a rehearsal: each is checked after each run, against the gateway's ledger. A rule about what the harness
 * cannot see is checked only where the program declares it.
 */
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { RehearsalCall, RehearsalFact, RehearsalWorld } from "../../RehearsalWorld.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../../SandboxBooks.ts"
import { isWrite } from "./calls.ts"
import { isKeyOf, matchDebts } from "./references.ts"
import { undisturbed } from "./schedules.ts"

/** A rule: what is broken in a world, each as a sentence. */
interface Rule {
  /** Why it is not checked for a program, by its undisturbed run. */
  readonly whyNot?: (undisturbed: RehearsalWorld) => string | undefined
  readonly check: (world: RehearsalWorld, undisturbed: RehearsalWorld) => ReadonlyArray<string>
}

const textIn = ({ detail }: RehearsalFact, name: string): string | undefined => {
  const value = detail[name]
  return Predicate.isString(value) ? value : undefined
}

const factsOf = ({ facts }: RehearsalWorld, ...names: ReadonlyArray<string>) =>
  facts.filter(({ name }) => names.includes(name))

const without = (name: string) => (world: RehearsalWorld) =>
  factsOf(world, name).length === 0 ? `the undisturbed run declared no Rehearsal.fact("${name}", ...)` : undefined

const withoutDebts = ({ owed }: RehearsalWorld) =>
  owed.length === 0 ? "the undisturbed run declared no Rehearsal.owes(...)" : undefined

const withoutPayouts = ({ calls }: RehearsalWorld) =>
  calls.some(({ operation }) => operation === "requestWithdrawal")
    ? undefined
    : "the undisturbed run asked for no payout"

/** What a program that is stopped may leave undone is not older than this. */
const unfinished = 2 * 60 * 60 * 1000

/**
 * Whether the program had to act on what happened at a time. A program that failed reported itself, and of one that does not
 * end that alone is said.
 */
const isDue = ({ end, endedAt }: RehearsalWorld, at: number) =>
  (end === "Succeeded" && at <= endedAt) || (end === "Stopped" && at <= endedAt - unfinished)

/** Whether the program declared that a person knows. */
const isReported = (world: RehearsalWorld, isAbout: (fact: RehearsalFact) => boolean) =>
  factsOf(world, "parked", "told", "failed").some(isAbout)

/** Whether a value has a text anywhere within. */
const contains = (value: unknown, text: string, depth = 8): boolean =>
  value === text ||
  (depth > 0 && Predicate.isObjectOrArray(value) && Object.values(value).some((one) => contains(one, text, depth - 1)))

const rowsOf = ({ transactions, withdrawals }: RehearsalWorld, { key, operation }: RehearsalCall) => {
  const rows: ReadonlyArray<SandboxTransaction | SandboxWithdrawal> =
    operation === "createTransaction" ? transactions : withdrawals
  return rows.filter(({ idempotencyKey }) => idempotencyKey === key)
}

/** Whether the program cannot know if a call was executed: its answer says so, or it was, and the program had no answer. */
const isInDoubt = (world: RehearsalWorld, call: RehearsalCall) =>
  call.outcome === "Unknown" ||
  ((call.result === undefined || call.result === "Interrupted") && rowsOf(world, call).length > 0)

const isDenied = ({ outcome }: RehearsalCall) => outcome === "NotSent" || outcome === "Rejected"

/**
 * Whether a row that was created at a time is the work of this call. Under the same key it may be that of a later one, also in
 * the same millisecond, or of an earlier one that still ran and was not refused.
 */
const isExecutedBy = ({ calls }: RehearsalWorld, call: RehearsalCall, at: number) => {
  const isOfOther = calls.some(
    (other) =>
      other.key === call.key &&
      other.startedAt <= at &&
      (other.number > call.number ||
        (other.number < call.number && !isDenied(other) && at <= (other.endedAt ?? Infinity)))
  )
  return at >= call.startedAt && !isOfOther
}

const nameOf = ({ key, number, operation }: RehearsalCall) =>
  `Call ${number} (${operation}${key === undefined ? "" : `, key ${key}`})`

/** The last word of the program about each reference. */
const lastWords = (world: RehearsalWorld) => {
  const words = new Map<string, RehearsalFact>()
  for (const fact of factsOf(world, "paid", "failed", "parked")) {
    const reference = textIn(fact, "reference")
    if (reference !== undefined) words.set(reference, fact)
  }
  return words
}

const payoutsOf = (world: RehearsalWorld, reference: string) => {
  const debt = world.owed.find((debt) => debt.reference === reference) ?? { reference, amount: Number.NaN, at: 0 }
  const owed = world.owed.includes(debt) ? world.owed : [...world.owed, debt]
  return matchDebts(owed, world.withdrawals).byDebt.get(debt) ?? []
}

/** Payouts that belong to no declared reference, by amount and receiver. */
const tally = ({ owed, withdrawals }: RehearsalWorld) => {
  const counts = new Map<string, { readonly amount: number; count: number }>()
  for (const { amount, pixKey } of matchDebts(owed, withdrawals).unowed) {
    const name = `${amount} ${Redacted.value(pixKey)}`
    const entry = counts.get(name) ?? { amount, count: 0 }
    entry.count += 1
    counts.set(name, entry)
  }
  return counts
}

const ids = (withdrawals: ReadonlyArray<SandboxWithdrawal>) => withdrawals.map(({ id }) => id).join(", ")

const statusAt = (transaction: SandboxTransaction | undefined, at: number) => {
  if (transaction === undefined) return "not in the ledger"
  const { status, updatedAt } = transaction
  const isPaid = status === "Paid" && updatedAt.epochMilliseconds <= at
  return isPaid || status === "Refunded" ? "Paid" : `${status === "Paid" ? "Awaiting" : status} at that time`
}

const transactionOf = (world: RehearsalWorld, fact: RehearsalFact) =>
  world.transactions.find(({ transactionId }) => transactionId === textIn(fact, "transactionId"))

const byTransaction = (facts: ReadonlyArray<RehearsalFact>) => {
  const groups = new Map<string, Array<RehearsalFact>>()
  for (const fact of facts) {
    const id = textIn(fact, "transactionId") ?? ""
    groups.set(id, [...(groups.get(id) ?? []), fact])
  }
  return groups
}

/** All rules by their names. The page of the rules has a section for each. */
const rules = {
  "paid-twice": {
    whyNot: withoutPayouts,
    check: (world, undisturbed) => {
      const usual = tally(undisturbed)
      const named = Array.from(matchDebts(world.owed, world.withdrawals).byDebt)
        .filter(([, payouts]) => payouts.length > 1)
        .map(
          ([{ reference }, payouts]) =>
            `${JSON.stringify(reference)} was paid ${payouts.length} times: payouts ${ids(payouts)}.`
        )
      const unnamed = Array.from(tally(world))
        .filter(([name, { count }]) => count > (usual.get(name)?.count ?? 0))
        .map(
          ([name, { amount, count }]) =>
            `${count} ${count === 1 ? "payout" : "payouts"} of ${amount} centavos ${world.owed.length > 0 ? "more than is owed " : ""}went to one receiver, and ${usual.get(name)?.count ?? 0} where nothing goes wrong.`
        )
      return [...named, ...unnamed]
    }
  },

  "told-not-executed-but-executed": {
    check: (world) => {
      const calls = world.calls
        .filter((call) => isWrite(call) && isDenied(call))
        .filter((call) =>
          rowsOf(world, call).some(({ createdAt }) => isExecutedBy(world, call, createdAt.epochMilliseconds))
        )
        .map((call) => `${nameOf(call)} was answered ${call.outcome}, and it was executed.`)
      const facts = Array.from(lastWords(world))
        .filter(([reference, { name }]) => name === "failed" && payoutsOf(world, reference).length > 0)
        .map(([reference]) => `The program declared ${JSON.stringify(reference)} as failed, and it was paid.`)
      return [...calls, ...facts]
    }
  },

  "told-done-but-absent": {
    check: (world) => {
      const calls = world.calls
        .filter((call) => isWrite(call) && call.result === "Succeeded" && rowsOf(world, call).length === 0)
        .map((call) => `${nameOf(call)} was answered as done, and the ledger has nothing of it.`)
      const facts = Array.from(lastWords(world))
        .filter(([reference, { name }]) => name === "paid" && payoutsOf(world, reference).length === 0)
        .map(
          ([reference]) =>
            `The program declared ${JSON.stringify(reference)} as paid, and the ledger has no payout of it.`
        )
      return [...calls, ...facts]
    }
  },

  "unknown-dropped": {
    whyNot: withoutPayouts,
    check: (world) =>
      world.calls
        .filter(
          (call) => call.operation === "requestWithdrawal" && isInDoubt(world, call) && isDue(world, call.startedAt)
        )
        .filter(
          ({ key, number }) =>
            !world.calls.some((later) => later.number > number && later.key === key && later.outcome !== "Unknown")
        )
        .filter(({ key = "" }) => {
          const isAbout = (fact: RehearsalFact) =>
            contains(fact.detail, key) || isKeyOf(key, textIn(fact, "reference") ?? "")
          return !contains(world.result, key) && !isReported(world, isAbout)
        })
        .map((call) => `${nameOf(call)} was left in doubt, and it was neither asked again under its key nor reported.`)
  },

  "fails-undisturbed": {
    check: ({ end, schedule }) =>
      schedule === undisturbed.name && end === "Failed" ? ["The program fails where nothing goes wrong."] : []
  },

  "never-ends": {
    whyNot: ({ end }) => (end === "Stopped" ? "the program is stopped: it is not meant to end" : undefined),
    check: ({ end }) => (end === "NotEnded" ? ["The program did not end."] : [])
  },

  "owed-not-paid": {
    whyNot: withoutDebts,
    check: (world) => {
      const { byDebt } = matchDebts(world.owed, world.withdrawals)
      return world.owed
        .filter((debt) => byDebt.get(debt)?.length === 0 && isDue(world, debt.at))
        .filter(({ reference }) => !isReported(world, (fact) => textIn(fact, "reference") === reference))
        .map(
          ({ amount, reference }) =>
            `${JSON.stringify(reference)} is owed ${amount} centavos. It was not paid, and nobody was told.`
        )
    }
  },

  "amount-differs": {
    whyNot: (world) => (without("shipped")(world) === undefined ? undefined : withoutDebts(world)),
    check: (world) => {
      const payouts = Array.from(matchDebts(world.owed, world.withdrawals).byDebt).flatMap(([debt, paid]) =>
        paid
          .filter(({ amount }) => amount !== debt.amount)
          .map(
            ({ amount, id }) =>
              `${JSON.stringify(debt.reference)} is owed ${debt.amount} centavos, and payout ${id} is of ${amount}.`
          )
      )
      const shipped = factsOf(world, "shipped").flatMap((fact) => {
        const due = fact.detail["amount"]
        const charged = transactionOf(world, fact)?.amount
        return typeof due === "number" && charged !== undefined && due !== charged
          ? [`${textIn(fact, "transactionId")} was shipped for ${due} centavos, and its charge is of ${charged}.`]
          : []
      })
      return [...payouts, ...shipped]
    }
  },

  "shipped-unpaid": {
    whyNot: without("shipped"),
    check: (world) =>
      factsOf(world, "shipped").flatMap((fact) => {
        const status = statusAt(transactionOf(world, fact), fact.at)
        return status === "Paid" ? [] : [`${textIn(fact, "transactionId")} was shipped, and it was ${status}.`]
      })
  },

  "shipped-unchecked": {
    whyNot: without("shipped"),
    check: (world) =>
      factsOf(world, "shipped")
        .filter(
          (fact) =>
            !world.calls.some(
              ({ endedAt = Infinity, operation, status, transactionId }) =>
                operation === "getTransaction" &&
                status === "Paid" &&
                transactionId === textIn(fact, "transactionId") &&
                endedAt <= fact.at
            )
        )
        .map((fact) => `${textIn(fact, "transactionId")} was shipped, and no lookup had said that it is Paid.`)
  },

  "shipped-twice": {
    whyNot: without("shipped"),
    check: (world) =>
      Array.from(byTransaction(factsOf(world, "shipped")))
        .filter(([, facts]) => facts.length > 1)
        .map(([id, facts]) => `${id} was shipped ${facts.length} times.`)
  },

  "not-shipped": {
    whyNot: without("shipped"),
    check: (world) =>
      world.transactions
        .filter(({ status, updatedAt }) => status === "Paid" && isDue(world, updatedAt.epochMilliseconds))
        .filter(
          ({ transactionId }) =>
            !factsOf(world, "shipped").some((fact) => textIn(fact, "transactionId") === transactionId) &&
            !isReported(world, (fact) => textIn(fact, "transactionId") === transactionId)
        )
        .map(({ transactionId }) => `${transactionId} was paid. It was not shipped, and nobody was told.`)
  }
} satisfies Record<string, Rule>

/** The name of a rule. */
export type RuleName = keyof typeof rules

/** The rules, as a list. */
export const allRules: ReadonlyArray<readonly [RuleName, Rule]> = Object.entries(rules) as Array<[RuleName, Rule]> // the names of a record are its keys
