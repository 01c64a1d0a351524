/**
 * The rules of a rehearsal. Each is checked after each run, against the gateway's ledger. A rule about actions that the
 * rehearsal cannot see is checked only where the program declares them.
 */
import type { RehearsalFact, RehearsalWorld } from "../../RehearsalWorld.ts"
import {
  textOf,
  factsOf,
  withoutFact,
  withoutDebts,
  withoutPayouts,
  isDue,
  isReported,
  contains,
  rowsOf,
  isInDoubt,
  isDenied,
  isExecutedBy,
  nameOf,
  lastFacts,
  payoutsOf,
  countUnowed,
  idsOf,
  statusAt,
  transactionOf,
  byTransaction
} from "./evidence.ts"
import { isWrite } from "./calls.ts"
import { isKeyOf, matchDebts } from "./references.ts"
import { undisturbed } from "./schedules.ts"

/** A rule: the problems of a world, each as a sentence. */
interface Rule {
  /** Why the rule is not checked for a program, by its undisturbed run. */
  readonly reasonToSkip?: (undisturbed: RehearsalWorld) => string | undefined
  readonly check: (world: RehearsalWorld, undisturbed: RehearsalWorld) => ReadonlyArray<string>
}

/** All rules by their names. The page `docs/rehearsal.md` explains each. */
const rules = {
  "paid-twice": {
    reasonToSkip: withoutPayouts,
    check: (world, undisturbed) => {
      const usual = countUnowed(undisturbed)
      const named = Array.from(matchDebts(world.owed, world.withdrawals).byDebt)
        .filter(([, payouts]) => payouts.length > 1)
        .map(
          ([{ reference }, payouts]) =>
            `${JSON.stringify(reference)} was paid ${payouts.length} times: payouts ${idsOf(payouts)}.`
        )
      const unnamed = Array.from(countUnowed(world))
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
      const facts = Array.from(lastFacts(world))
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
      const facts = Array.from(lastFacts(world))
        .filter(([reference, { name }]) => name === "paid" && payoutsOf(world, reference).length === 0)
        .map(
          ([reference]) =>
            `The program declared ${JSON.stringify(reference)} as paid, and the ledger has no payout of it.`
        )
      return [...calls, ...facts]
    }
  },

  "unknown-dropped": {
    reasonToSkip: withoutPayouts,
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
            contains(fact.detail, key) || isKeyOf(key, textOf(fact, "reference") ?? "")
          return !contains(world.result, key) && !isReported(world, isAbout)
        })
        .map((call) => `${nameOf(call)} was left in doubt, and it was neither asked again under its key nor reported.`)
  },

  "fails-undisturbed": {
    check: ({ end, schedule }) =>
      schedule === undisturbed.name && end === "Failed" ? ["The program fails where nothing goes wrong."] : []
  },

  "never-ends": {
    reasonToSkip: ({ end }) => (end === "Stopped" ? "the program is stopped: it is not meant to end" : undefined),
    check: ({ end }) => (end === "NotEnded" ? ["The program did not end."] : [])
  },

  "owed-not-paid": {
    reasonToSkip: withoutDebts,
    check: (world) => {
      const { byDebt } = matchDebts(world.owed, world.withdrawals)
      return world.owed
        .filter((debt) => byDebt.get(debt)?.length === 0 && isDue(world, debt.at))
        .filter(({ reference }) => !isReported(world, (fact) => textOf(fact, "reference") === reference))
        .map(
          ({ amount, reference }) =>
            `${JSON.stringify(reference)} is owed ${amount} centavos. It was not paid, and nobody was told.`
        )
    }
  },

  "amount-differs": {
    reasonToSkip: (world) => (withoutFact("shipped")(world) === undefined ? undefined : withoutDebts(world)),
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
          ? [`${textOf(fact, "transactionId")} was shipped for ${due} centavos, and its charge is of ${charged}.`]
          : []
      })
      return [...payouts, ...shipped]
    }
  },

  "shipped-unpaid": {
    reasonToSkip: withoutFact("shipped"),
    check: (world) =>
      factsOf(world, "shipped").flatMap((fact) => {
        const status = statusAt(transactionOf(world, fact), fact.at)
        return status === "Paid" ? [] : [`${textOf(fact, "transactionId")} was shipped, and it was ${status}.`]
      })
  },

  "shipped-unchecked": {
    reasonToSkip: withoutFact("shipped"),
    check: (world) =>
      factsOf(world, "shipped")
        .filter(
          (fact) =>
            !world.calls.some(
              ({ endedAt = Infinity, operation, status, transactionId }) =>
                operation === "getTransaction" &&
                status === "Paid" &&
                transactionId === textOf(fact, "transactionId") &&
                endedAt <= fact.at
            )
        )
        .map((fact) => `${textOf(fact, "transactionId")} was shipped, and no lookup had said that it is Paid.`)
  },

  "shipped-twice": {
    reasonToSkip: withoutFact("shipped"),
    check: (world) =>
      Array.from(byTransaction(factsOf(world, "shipped")))
        .filter(([, facts]) => facts.length > 1)
        .map(([id, facts]) => `${id} was shipped ${facts.length} times.`)
  },

  "not-shipped": {
    reasonToSkip: withoutFact("shipped"),
    check: (world) =>
      world.transactions
        .filter(({ status, updatedAt }) => status === "Paid" && isDue(world, updatedAt.epochMilliseconds))
        .filter(
          ({ transactionId }) =>
            !factsOf(world, "shipped").some((fact) => textOf(fact, "transactionId") === transactionId) &&
            !isReported(world, (fact) => textOf(fact, "transactionId") === transactionId)
        )
        .map(({ transactionId }) => `${transactionId} was paid. It was not shipped, and nobody was told.`)
  }
} satisfies Record<string, Rule>

/** The name of a rule. */
export type RuleName = keyof typeof rules

/** The rules, as a list. */
export const allRules: ReadonlyArray<readonly [RuleName, Rule]> = Object.entries(rules) as Array<[RuleName, Rule]> // the names of a record are its keys
