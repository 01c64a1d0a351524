/**
 * The rules of a rehearsal. Each is checked after each run, against the gateway's ledger. A rule about actions that the
 * rehearsal cannot see is checked only where the program declares them.
 */
import type { RehearsalDebt, RehearsalFact, RehearsalWorld } from "../RehearsalWorld.ts"
import * as Run from "./evidence.ts"
import { isWrite } from "./calls.ts"
import { isKeyOf } from "../../sandbox/KeyOfReference.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../../sandbox/SandboxLedger.ts"
import { cameBack, isOfDebt, type Matched, matchDebts } from "./references.ts"
import { undisturbed } from "./schedules.ts"

/** A rule: the problems of a world, each as a sentence. */
interface Rule {
  /** Why the rule is not checked for a program, by its undisturbed run. */
  readonly reasonToSkip?: (undisturbed: RehearsalWorld) => string | undefined
  readonly check: (world: Run.Evidence, undisturbed: RehearsalWorld) => ReadonlyArray<string>
}

/** A payout that no debt explains: one more to a receiver who is owed something, or one to somebody else. */
const problemOfUnowed = (payout: SandboxWithdrawal, byDebt: Matched["byDebt"]): string => {
  const { amount, id, pixKey } = payout
  const paid = Array.from(byDebt).filter(([, payouts]) => payouts.some((other) => other.pixKey === pixKey))
  if (paid.length === 0) return `Payout ${id} of ${amount} centavos went to somebody who is owed nothing.`
  const owed = paid.map(
    ([{ reference }, payouts]) => `${JSON.stringify(reference)} was paid by ${Run.payoutsInWords(payouts)}`
  )
  return `A receiver was paid once more than is owed: ${Run.payoutsInWords([payout])}. ${owed.join(", ")}.`
}

/** Payouts of one debt of which one was made while another one had not come back yet, although it did later. */
const madeTooEarly = (world: RehearsalWorld, debt: RehearsalDebt, paid: ReadonlyArray<SandboxWithdrawal>) =>
  world.withdrawals
    .filter((first) => cameBack(first) && isOfDebt(first, debt, world.owed))
    .flatMap((first) =>
      world.withdrawals
        .filter(({ createdAt, id }) => id > first.id && createdAt < first.updatedAt)
        .filter((again) => paid.includes(again) || isOfDebt(again, debt, world.owed))
        .map(
          (again) =>
            `${JSON.stringify(debt.reference)} was paid again by ${Run.payoutsInWords([again])}, while ${Run.payoutsInWords([first])} had not failed yet.`
        )
    )

/** Whether a fact is about a payout. */
const isOf = (reference: string) => (fact: RehearsalFact) => Run.textOf(fact, "reference") === reference

/** Whether somebody was told after the last payout of a reference failed or came back, or the program had no time for that. */
const isLossReported = (world: Run.Evidence, reference: string): boolean => {
  const { at, payouts } = Run.lostOf(world, reference)
  return payouts.length > 0 && (!Run.hadTime(world, at) || Run.isReported(world, isOf(reference), at))
}

/** What became of the payouts of a reference, where they failed or came back. */
const lossInWords = (world: RehearsalWorld, reference: string): string | undefined => {
  const { payouts } = Run.lostOf(world, reference)
  if (payouts.length === 0) return undefined
  const ends = payouts.map(
    (payout) => `${Run.payoutsInWords([payout])} ${payout.status === "Rejected" ? "failed" : "came back"}`
  )
  return `${ends.join(", ")}, and nobody was told.`
}

/** Whether a fact is about a charge. */
const isAbout = (transactionId: string | undefined) => (fact: RehearsalFact) =>
  Run.textOf(fact, "transactionId") === transactionId

/** The shipments that facts about one charge declare: those with the same `key` are one. */
const countShipments = (facts: ReadonlyArray<RehearsalFact>): number =>
  new Set(facts.map((fact, index) => Run.textOf(fact, "key") ?? index)).size

const sumOf = (payouts: ReadonlyArray<SandboxWithdrawal>) => payouts.reduce((sum, { amount }) => sum + amount, 0)

/** Whether a debt gives the money of a charge back: it names the charge, and is of what was paid for it. */
const isBack =
  (charge: SandboxTransaction) =>
  ({ amount, reference }: RehearsalDebt): boolean =>
    reference.includes(charge.transactionId) && amount === Run.paidFor(charge)

/** Writes that nobody disturbed, and that were refused, as was each other call under their key. */
const refusedWrites = ({ calls }: RehearsalWorld): ReadonlyArray<string> =>
  calls
    .filter((call) => isWrite(call) && call.outcome !== undefined)
    .filter(({ key }) => !calls.some((other) => other.key === key && other.result === "Succeeded"))
    .map((call) => `${Run.nameOf(call)} is answered ${call.result} where nothing disturbs it: that alone is rehearsed.`)

/** Debts that are not paid although nothing goes wrong, whoever was told of them. */
const unpaidDebts = (world: Run.Evidence): ReadonlyArray<string> => {
  const { byDebt } = matchDebts(world.owed, world.withdrawals)
  const isPaid = (debt: RehearsalDebt) => byDebt.get(debt)?.length !== 0
  const isNonePaid = !world.owed.some(isPaid)
  return world.owed
    .filter((debt) => !isPaid(debt) && (isNonePaid || Run.isDue(world, debt.at)))
    .filter(({ reference }) => Run.lostOf(world, reference).payouts.length === 0)
    .map(({ reference }) => `${JSON.stringify(reference)} is owed, and it is not paid although nothing goes wrong.`)
}

/** All rules by their names. The page `docs/rehearsal.md` explains each. */
const rules = {
  "paid-twice": {
    reasonToSkip: Run.withoutPayouts,
    check: (world, undisturbed) => {
      const { byDebt, unowed } = matchDebts(world.owed, world.withdrawals)
      const named = Array.from(byDebt)
        .filter(([debt, payouts]) => payouts.length > 1 && sumOf(payouts) > debt.amount)
        .map(
          ([{ reference }, payouts]) =>
            `The receiver of ${JSON.stringify(reference)} was paid ${Run.timesOf(payouts.length - 1)} more than is owed: ${Run.payoutsInWords(payouts)}.`
        )
      const early = world.owed.flatMap((debt) => madeTooEarly(world, debt, byDebt.get(debt) ?? []))
      const shipped = Run.byTransaction(Run.factsOf(world, "shipped"))
      const back = Array.from(byDebt).flatMap(([debt, payouts]) =>
        world.transactions
          .filter((charge) => shipped.has(charge.transactionId) && payouts.length > 0 && isBack(charge)(debt))
          .map(
            ({ transactionId }) =>
              `Charge ${transactionId} was shipped, and its money was paid back by ${Run.payoutsInWords(payouts)}.`
          )
      )
      if (world.owed.length > 0)
        return [...named, ...early, ...back, ...unowed.map((payout) => problemOfUnowed(payout, byDebt))]
      // What it pays only where something goes wrong may be owed.
      if (Run.withoutPayouts(undisturbed) !== undefined) return named
      const usual = Run.groupAlike(matchDebts([], undisturbed.withdrawals).unowed)
      const more = Array.from(Run.groupAlike(unowed)).flatMap(([name, payouts]) => {
        const extra = payouts.length - (usual.get(name)?.length ?? 0)
        return extra > 0
          ? [
              `A receiver was paid ${payouts[0]?.amount} centavos ${Run.timesOf(extra)} more than where nothing goes wrong: ${Run.payoutsInWords(payouts)}.`
            ]
          : []
      })
      return [...named, ...more]
    }
  },

  "told-not-executed-but-executed": {
    check: (world) => {
      const calls = world.calls
        .filter((call) => isWrite(call) && Run.isDenied(call))
        .filter((call) =>
          Run.rowsOf(world, call).some(({ createdAt }) => Run.isExecutedBy(world, call, Date.parse(createdAt)))
        )
        .map((call) => `${Run.nameOf(call)} was answered ${call.outcome}, and it was executed.`)
      const facts = Array.from(Run.lastFacts(world))
        .filter(([reference, { name }]) => name === "failed" && Run.payoutsOf(world, reference).length > 0)
        .map(([reference]) => `The program declared ${JSON.stringify(reference)} as failed, and it was paid.`)
      return [...calls, ...facts]
    }
  },

  "told-done-but-absent": {
    check: (world) => {
      const calls = world.calls
        .filter((call) => isWrite(call) && call.result === "Succeeded" && Run.rowsOf(world, call).length === 0)
        .map((call) => `${Run.nameOf(call)} was answered as done, and the ledger has nothing of it.`)
      const facts = Array.from(Run.lastFacts(world))
        .filter(([reference, { name }]) => name === "paid" && Run.payoutsOf(world, reference).length === 0)
        .filter(([reference]) => !isLossReported(world, reference))
        .map(([reference]) => {
          const isOwed = world.owed.length === 0 || world.owed.some((debt) => debt.reference === reference)
          const absent = isOwed ? "the ledger has no payout of it." : "nobody is owed it."
          const what = lossInWords(world, reference) ?? absent
          return `The program declared ${JSON.stringify(reference)} as paid, and ${what}`
        })
      return [...calls, ...facts]
    }
  },

  "unknown-dropped": {
    reasonToSkip: (world) =>
      Run.withoutPayouts(world) ?? (world.owed.length > 0 ? "the rules of what is owed say it" : undefined),
    check: (world, undisturbed) =>
      (undisturbed.owed.length > 0 ? [] : world.calls)
        .filter(
          (call) =>
            call.operation === "requestWithdrawal" && Run.isInDoubt(world, call) && Run.isDue(world, call.startedAt)
        )
        .filter((call) => !Run.isAnswered(world, call))
        .filter(({ key = "" }) => {
          const isAbout = (fact: RehearsalFact) => {
            const reference = Run.textOf(fact, "reference") ?? ""
            const isOfDebt = Run.payoutsOf(world, reference).some(({ idempotencyKey }) => idempotencyKey === key)
            return isOfDebt || Run.contains(fact.detail, key) || isKeyOf(reference)(key)
          }
          return !Run.contains(world.result, key) && !Run.isReported(world, isAbout)
        })
        .map(
          (call) => `${Run.nameOf(call)} was left in doubt, and it was neither asked again under its key nor reported.`
        )
  },

  "fails-undisturbed": {
    check: (world) => {
      if (world.schedule !== undisturbed.name) return []
      if (world.end === "Failed") return ["The program fails where nothing goes wrong."]
      if (world.calls.length === 0) return ["The program calls nothing of Payments, so nothing was rehearsed."]
      return [...refusedWrites(world), ...unpaidDebts(world)]
    }
  },

  "never-ends": {
    reasonToSkip: ({ end }) => (end === "Stopped" ? "the program is stopped: it is not meant to end" : undefined),
    check: ({ end }) => (end === "NotEnded" ? ["The program did not end."] : [])
  },

  "owed-not-paid": {
    reasonToSkip: Run.withoutDebts,
    check: (world) => {
      const { byDebt } = matchDebts(world.owed, world.withdrawals)
      return world.owed
        .filter((debt) => byDebt.get(debt)?.length === 0 && Run.isDue(world, debt.at))
        .filter(
          ({ reference }) =>
            !Run.isReported(world, isOf(reference), Run.lostOf(world, reference).at) &&
            Run.hadTime(world, Run.lostOf(world, reference).at)
        )
        .map(({ amount, reference }) => {
          const absent = ". It was not paid, and nobody was told."
          const loss = lossInWords(world, reference)
          return `${JSON.stringify(reference)} is owed ${amount} centavos${loss === undefined ? absent : `, and ${loss}`}`
        })
    }
  },

  "amount-differs": {
    reasonToSkip: (world) => (Run.withoutFact("shipped")(world) === undefined ? undefined : Run.withoutDebts(world)),
    check: (world) => {
      const payouts = Array.from(matchDebts(world.owed, world.withdrawals).byDebt).flatMap(([debt, paid]) =>
        paid
          .filter(({ amount }) => amount !== debt.amount)
          .map(
            ({ amount, id }) =>
              `${JSON.stringify(debt.reference)} is owed ${debt.amount} centavos, and payout ${id} is of ${amount}.`
          )
      )
      const shipped = Run.factsOf(world, "shipped").flatMap((fact) => {
        const due = fact.detail["amount"]
        const charge = Run.transactionOf(world, fact)
        const paid = charge && Run.paidFor(charge)
        if (typeof due !== "number" || charge === undefined || paid === undefined || due === paid) return []
        const id = Run.textOf(fact, "transactionId")
        // A person gives back what is too much.
        if (paid > due && due === charge.amount && Run.isReported(world, isAbout(id))) return []
        const problem = charge.amount === paid ? `it is of ${paid}` : `${paid} of ${charge.amount} were paid`
        return [`Charge ${id} was shipped for ${due} centavos, and ${problem}.`]
      })
      return [...payouts, ...shipped]
    }
  },

  "shipped-unpaid": {
    reasonToSkip: Run.withoutFact("shipped"),
    check: (world) =>
      Run.factsOf(world, "shipped")
        .filter((fact) => !Run.isShippedPaid(world, fact))
        .map((fact) => {
          const status = Run.statusAt(Run.transactionOf(world, fact), fact.at)
          return `Charge ${Run.textOf(fact, "transactionId")} was shipped, and it was ${status} at that time.`
        })
  },

  "shipped-unchecked": {
    reasonToSkip: Run.withoutFact("shipped"),
    check: (world) =>
      Run.factsOf(world, "shipped")
        .filter((fact) => !Run.wasSeenPaid(world, Run.textOf(fact, "transactionId"), fact.at))
        .map(
          (fact) => `Charge ${Run.textOf(fact, "transactionId")} was shipped, and no lookup had said that it is Paid.`
        )
  },

  "shipped-twice": {
    reasonToSkip: Run.withoutFact("shipped"),
    check: (world) =>
      Array.from(Run.byTransaction(Run.factsOf(world, "shipped")))
        .map(([id, facts]) => [id, countShipments(facts)] as const)
        .filter(([, count]) => count > 1)
        .map(([id, count]) => `Charge ${id} was shipped ${Run.timesOf(count)}.`)
  },

  "not-shipped": {
    reasonToSkip: Run.withoutFact("shipped"),
    check: (world) =>
      world.transactions
        .filter(({ status, updatedAt }) => status === "Paid" && Run.isDue(world, Date.parse(updatedAt)))
        // Nothing is owed for another amount than was asked.
        .filter((charge) => Run.paidFor(charge) === charge.amount)
        .filter(({ transactionId, updatedAt }) => !Run.isReported(world, isAbout(transactionId), Date.parse(updatedAt)))
        .filter((charge) => !world.owed.some(isBack(charge)))
        .flatMap(({ transactionId }) => {
          const shipments = Run.shipmentsOf(world)
          const other = shipments.get(transactionId)
          if (shipments.has(transactionId) && other === undefined) return []
          const goods = other === undefined ? "It was not shipped" : `The goods of its key went out for charge ${other}`
          return [`Charge ${transactionId} was paid. ${goods}, and nobody was told.`]
        })
  }
} satisfies Record<string, Rule>

/** The name of a rule. */
export type RuleName = keyof typeof rules

/** The rules, as a list. */
export const allRules: ReadonlyArray<readonly [RuleName, Rule]> = Object.entries(rules) as Array<[RuleName, Rule]> // the names of a record are its keys

const payoutRules = ["paid-twice", "owed-not-paid", "amount-differs"] as const
const shipmentRules = ["shipped-unpaid", "shipped-unchecked", "shipped-twice", "not-shipped"] as const

/** The rules that a program makes relevant: those of payouts where it pays out, and those of shipments where it charges. */
export const relevantRules = ({
  calls,
  receives
}: RehearsalWorld & { readonly receives: boolean }): ReadonlyArray<RuleName> => {
  const operations = new Set(calls.map(({ operation }) => operation))
  return [
    ...(operations.has("requestWithdrawal") ? payoutRules : []),
    ...(operations.has("getTransaction") || receives ? shipmentRules : [])
  ]
}

/** Rules that tell the cause of another one, where both are broken in the same run. */
const causes: { readonly [Rule in RuleName]?: ReadonlyArray<RuleName> } = {
  "shipped-unchecked": ["shipped-unpaid"],
  "fails-undisturbed": ["owed-not-paid", "told-done-but-absent", "never-ends"],
  "owed-not-paid": ["told-done-but-absent"],
  "unknown-dropped": ["paid-twice", "told-not-executed-but-executed", "told-done-but-absent"],
  "amount-differs": ["paid-twice"]
}

/** A payout that had arrived is returned after the program has ended: it cannot know. */
const asItWas =
  (endedAt: number) =>
  (payout: SandboxWithdrawal): SandboxWithdrawal =>
    payout.status === "Returned" && Date.parse(payout.updatedAt) > endedAt ? { ...payout, status: "Settled" } : payout

/** The rules that a run breaks, with their problems. A rule is checked where the run, or the undisturbed one, has what it needs. */
export const brokenRules = (
  world: Run.Evidence,
  undisturbed: RehearsalWorld
): ReadonlyArray<readonly [RuleName, ReadonlyArray<string>]> => {
  const judged = { ...world, withdrawals: world.withdrawals.map(asItWas(world.endedAt)) }
  const broken = allRules
    .filter(([, { reasonToSkip }]) => [undisturbed, world].some((run) => reasonToSkip?.(run) === undefined))
    .map(([rule, { check }]) => [rule, check(judged, undisturbed)] as const)
    .filter(([, problems]) => problems.length > 0)
  return broken.filter(([rule]) => !broken.some(([other]) => causes[rule]?.includes(other) === true))
}
