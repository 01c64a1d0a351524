/**
 * The rules of a rehearsal, as a table. Each is checked after each run, against the gateway's ledger. A rule about actions that the
 * rehearsal cannot see is checked only where the program declares them.
 */
import * as Arr from "effect/Array"
import type { RehearsalCall, RehearsalDebt, RehearsalFact, RehearsalWorld } from "../RehearsalWorld.ts"
import * as Run from "./evidence.ts"
import { isWrite } from "./calls.ts"
import { isKeyOf } from "../../sandbox/KeyOfReference.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../../sandbox/SandboxLedger.ts"
import { undisturbed } from "./schedules.ts"

type Problems = ReadonlyArray<string>
/** Why a rule is not checked for a program, by its undisturbed run. */
type Needs = (world: RehearsalWorld) => string | undefined

interface Rule {
  readonly needs?: Needs
  /** The rules that tell the cause of this one, where both are broken in the same run. */
  readonly causes?: ReadonlyArray<string>
  /** The problems of a run, each as a sentence. */
  readonly check: (run: Run.Run) => Problems
}

const needsPayout: Needs = ({ calls }) =>
  calls.some(({ operation }) => operation === "requestWithdrawal")
    ? undefined
    : "the undisturbed run asked for no payout"
const needsDebt: Needs = ({ owed }) =>
  owed.length === 0 ? "the undisturbed run declared no Rehearsed.owes(...)" : undefined
const needsShipped: Needs = (world) =>
  Run.factsOf(world, "shipped").length === 0
    ? `the undisturbed run declared no Rehearsed.fact("shipped", ...)`
    : undefined

/** As `needs`, and a program that was stopped had the time to act on one of these. */
const inTime =
  (needs: Needs, times: (world: RehearsalWorld) => ReadonlyArray<number>): Needs =>
  (world) =>
    needs(world) ??
    (world.end !== "Stopped" || times(world).some((at) => Run.hadTime(world, at))
      ? undefined
      : "the undisturbed run was stopped too early: give a longer stopAfter, for example a day")

/** `once`, `twice` or `3 times`. */
const timesOf = (count: number) => (count < 3 ? (["never", "once", "twice"][count] ?? "") : `${count} times`)
const quoted = ({ reference }: Pick<RehearsalDebt, "reference">) => JSON.stringify(reference)
const chargeOf = (fact: RehearsalFact) => `Charge ${Run.textOf(fact, "transactionId")}`
const nameOf = ({ key, number, operation }: RehearsalCall) =>
  `Call ${number} (${operation}, ${key === undefined ? "without a key" : `key ${key}`})`

/** Payouts with their keys, which say what made them. */
const inWords = (...payouts: ReadonlyArray<SandboxWithdrawal>) =>
  payouts
    .map(({ amount, id, idempotencyKey }) => {
      const key = idempotencyKey === undefined ? "without a key" : `under key ${idempotencyKey}`
      return `payout ${id} of ${amount} centavos ${key}`
    })
    .join(" and ")

/** What became of payouts that failed or came back. */
const lossInWords = (lost: ReadonlyArray<SandboxWithdrawal>) => {
  const ends = lost.map((payout) => `${inWords(payout)} ${payout.status === "Rejected" ? "failed" : "came back"}`)
  return `${ends.join(", ")}, and nobody was told.`
}

const paidTooOften = ({ debts }: Run.Run): Problems =>
  debts
    .filter(
      ({ amount, payouts }) => payouts.length > 1 && payouts.reduce((sum, { amount }) => sum + amount, 0) > amount
    )
    .map(
      (debt) =>
        `The receiver of ${quoted(debt)} was paid ${timesOf(debt.payouts.length - 1)} more than is owed: ${inWords(...debt.payouts)}.`
    )

/** Payouts of one debt of which one was made while another one had not come back yet, although it did later. */
const paidTooEarly = ({ debts, owed, withdrawals }: Run.Run): Problems =>
  debts.flatMap((debt) =>
    debt.lost.flatMap((first) =>
      withdrawals
        .filter(({ createdAt, id }) => id > first.id && createdAt < first.updatedAt)
        .filter((again) => debt.payouts.includes(again) || Run.isOfDebt(again, debt, owed))
        .map(
          (again) => `${quoted(debt)} was paid again by ${inWords(again)}, while ${inWords(first)} had not failed yet.`
        )
    )
  )

/** Charges whose goods went out, and whose money was paid back too. */
const paidBack = ({ debts, shipped, transactions }: Run.Run): Problems =>
  debts.flatMap((debt) =>
    transactions
      .filter(({ transactionId }) => shipped.some(Run.isAbout("transactionId", transactionId)))
      .filter((charge) => debt.payouts.length > 0 && Run.isBack(charge)(debt))
      .map(
        ({ transactionId }) =>
          `Charge ${transactionId} was shipped, and its money was paid back by ${inWords(...debt.payouts)}.`
      )
  )

/** Payouts that no debt explains: one more to a receiver who is owed something, or one to somebody else. */
const paidUnowed = ({ debts, unowed }: Run.Run): Problems =>
  unowed.map((payout) => {
    const { amount, id, pixKey } = payout
    const paid = debts.filter(({ payouts }) => payouts.some((other) => other.pixKey === pixKey))
    if (paid.length === 0) return `Payout ${id} of ${amount} centavos went to somebody who is owed nothing.`
    const owed = paid.map((debt) => `${quoted(debt)} was paid by ${inWords(...debt.payouts)}`)
    return `A receiver was paid once more than is owed: ${inWords(payout)}. ${owed.join(", ")}.`
  })

/** Without debts: payouts of one amount to one receiver, more than where nothing goes wrong. */
const paidMore = ({ unowed, usual }: Run.Run): Problems => {
  // What it pays only where something goes wrong may be owed.
  if (needsPayout(usual) !== undefined) return []
  const alike = Arr.groupBy(({ amount, pixKey }: SandboxWithdrawal): string => `${amount} ${pixKey}`)
  const before = alike(usual.withdrawals.filter((payout) => !Run.cameBack(payout)))
  return Object.entries(alike(unowed)).flatMap(([name, payouts]) => {
    const extra = payouts.length - (before[name]?.length ?? 0)
    return extra > 0
      ? [
          `A receiver was paid ${payouts[0].amount} centavos ${timesOf(extra)} more than where nothing goes wrong: ${inWords(...payouts)}.`
        ]
      : []
  })
}

/** Writes that nobody disturbed, and that were refused, as was each other call under their key. */
const refusedWrites = ({ calls }: Run.Run): Problems =>
  calls
    .filter((call) => isWrite(call) && call.outcome !== undefined)
    .filter(({ key }) => !calls.some((other) => other.key === key && other.result === "Succeeded"))
    .map((call) => `${nameOf(call)} is answered ${call.result} where nothing disturbs it: that alone is rehearsed.`)

/** Debts that are not paid although nothing goes wrong, whoever was told of them. */
const unpaidDebts = (run: Run.Run): Problems => {
  const isNonePaid = run.debts.every(({ payouts }) => payouts.length === 0)
  return run.debts
    .filter(({ at, payouts }) => payouts.length === 0 && (isNonePaid || Run.isDue(run, at)))
    .filter(({ lost }) => lost.length === 0)
    .map((debt) => `${quoted(debt)} is owed, and it is not paid although nothing goes wrong.`)
}

/** Goods of another price than was paid. A person gives back what is too much. */
const shippedForOther = (run: Run.Run): Problems =>
  run.shipped.flatMap((fact) => {
    const due = fact.detail["amount"]
    const charge = Run.chargeOf(run, fact)
    const paid = charge && Run.paidFor(charge)
    if (typeof due !== "number" || charge === undefined || paid === undefined || due === paid) return []
    const isTold = Run.isReported(run, Run.isAbout("transactionId", charge.transactionId))
    if (paid > due && due === charge.amount && isTold) return []
    const problem = charge.amount === paid ? `it is of ${paid}` : `${paid} of ${charge.amount} were paid`
    return [`${chargeOf(fact)} was shipped for ${due} centavos, and ${problem}.`]
  })

/** Whether a payout that is in doubt is named by the program's result, or by a fact that says that a person knows. */
const isDoubtReported = (run: Run.Run, key: string): boolean => {
  const isMeant = (fact: RehearsalFact) => {
    const reference = Run.textOf(fact, "reference") ?? ""
    const isPaidFor = run.owedFor(reference)?.payouts.some(({ idempotencyKey }) => idempotencyKey === key) === true
    return isPaidFor || Run.contains(fact.detail, key) || isKeyOf(reference)(key)
  }
  return Run.contains(run.result, key) || Run.isReported(run, isMeant)
}

/** A charge that was paid as asked, of which nobody hears: neither by goods nor by a person who was told, or who gives it back. */
const unshipped =
  (run: Run.Run) =>
  (charge: SandboxTransaction): Problems => {
    const { transactionId, updatedAt } = charge
    const paidAt = Date.parse(updatedAt)
    const isExcused =
      Run.isReported(run, Run.isAbout("transactionId", transactionId), paidAt) || run.owed.some(Run.isBack(charge))
    const isAsAsked = charge.status === "Paid" && Run.paidFor(charge) === charge.amount
    if (!isAsAsked || isExcused || !Run.isDue(run, paidAt)) return []
    const shipments = Run.shipmentsOf(run, transactionId)
    if (shipments.includes(transactionId)) return []
    const [other] = shipments
    const goods = other === undefined ? "It was not shipped" : `The goods of its key went out for charge ${other}`
    return [`Charge ${transactionId} was paid. ${goods}, and nobody was told.`]
  }

/** All rules by their names. The page `docs/rehearsal.md` has the same table, with what excuses each. */
const rules = {
  "paid-twice": {
    needs: needsPayout,
    check: (run) => [
      ...paidTooOften(run),
      ...(run.owed.length > 0 ? [...paidTooEarly(run), ...paidBack(run), ...paidUnowed(run)] : paidMore(run))
    ]
  },

  "told-not-executed-but-executed": {
    check: (run) => [
      ...run.calls
        .filter((call) => isWrite(call) && Run.isDenied(call) && Run.isExecuted(run, call))
        .map((call) => `${nameOf(call)} was answered ${call.outcome}, and it was executed.`),
      ...Run.lastFacts(run)
        .filter(([reference, name]) => name === "failed" && (run.owedFor(reference)?.payouts.length ?? 0) > 0)
        .map(([reference]) => `The program declared ${quoted({ reference })} as failed, and it was paid.`)
    ]
  },

  "told-done-but-absent": {
    check: (run) => [
      ...run.calls
        .filter((call) => isWrite(call) && call.result === "Succeeded" && Run.rowsOf(run, call).length === 0)
        .map((call) => `${nameOf(call)} was answered as done, and the ledger has nothing of it.`),
      ...Run.lastFacts(run).flatMap(([reference, name]) => {
        const { lost, lostAt, payouts } = run.owedFor(reference) ?? { lost: [], lostAt: -Infinity, payouts: [] }
        const isTold = Run.isReported(run, Run.isAbout("reference", reference), lostAt)
        const isLossKnown = lost.length > 0 && (!Run.hadTime(run, lostAt) || isTold)
        if (name !== "paid" || payouts.length > 0 || isLossKnown) return []
        const isOwed = run.owed.length === 0 || run.owed.some((debt) => debt.reference === reference)
        const absent = isOwed ? "the ledger has no payout of it." : "nobody is owed it."
        const what = lost.length > 0 ? lossInWords(lost) : absent
        return [`The program declared ${quoted({ reference })} as paid, and ${what}`]
      })
    ]
  },

  "unknown-dropped": {
    needs: (world) => needsPayout(world) ?? (world.owed.length > 0 ? "the rules of what is owed say it" : undefined),
    causes: ["paid-twice", "told-not-executed-but-executed", "told-done-but-absent"],
    check: (run) =>
      (run.usual.owed.length > 0 ? [] : run.calls)
        .filter(({ operation, startedAt }) => operation === "requestWithdrawal" && Run.isDue(run, startedAt))
        .filter((call) => Run.isLeftInDoubt(run, call) && !isDoubtReported(run, call.key ?? ""))
        .map((call) => `${nameOf(call)} was left in doubt, and it was neither asked again under its key nor reported.`)
  },

  "fails-undisturbed": {
    causes: ["owed-not-paid", "told-done-but-absent", "never-ends"],
    check: (run) => {
      if (run.schedule !== undisturbed.name) return []
      if (run.end === "Failed") return ["The program fails where nothing goes wrong."]
      if (run.calls.length === 0) return ["The program calls nothing of Payments, so nothing was rehearsed."]
      return [...refusedWrites(run), ...unpaidDebts(run)]
    }
  },

  "never-ends": {
    needs: ({ end }) => (end === "Stopped" ? "the program is stopped: it is not meant to end" : undefined),
    check: ({ end }) => (end === "NotEnded" ? ["The program did not end."] : [])
  },

  "owed-not-paid": {
    needs: inTime(needsDebt, ({ owed }) => owed.map(({ at }) => at)),
    causes: ["told-done-but-absent"],
    check: (run) =>
      run.debts
        .filter(({ at, lostAt, payouts }) => payouts.length === 0 && Run.isDue(run, at) && Run.hadTime(run, lostAt))
        .filter(({ lostAt, reference }) => !Run.isReported(run, Run.isAbout("reference", reference), lostAt))
        .map((debt) => {
          const what =
            debt.lost.length === 0 ? ". It was not paid, and nobody was told." : `, and ${lossInWords(debt.lost)}`
          return `${quoted(debt)} is owed ${debt.amount} centavos${what}`
        })
  },

  "amount-differs": {
    needs: (world) => (needsShipped(world) === undefined ? undefined : needsDebt(world)),
    causes: ["paid-twice"],
    check: (run) => [
      ...run.debts.flatMap((debt) =>
        debt.payouts
          .filter(({ amount }) => amount !== debt.amount)
          .map(({ amount, id }) => `${quoted(debt)} is owed ${debt.amount} centavos, and payout ${id} is of ${amount}.`)
      ),
      ...shippedForOther(run)
    ]
  },

  "shipped-unpaid": {
    needs: needsShipped,
    check: (run) =>
      run.shipped
        .filter((fact) => !Run.isShippedPaid(run, fact))
        .map(
          (fact) =>
            `${chargeOf(fact)} was shipped, and it was ${Run.statusAt(Run.chargeOf(run, fact), fact.at)} at that time.`
        )
  },

  "shipped-unchecked": {
    needs: needsShipped,
    causes: ["shipped-unpaid"],
    check: (run) =>
      run.shipped
        .filter((fact) => !Run.wasSeenPaid(run, fact))
        .map((fact) => `${chargeOf(fact)} was shipped, and no lookup had said that it is Paid.`)
  },

  "shipped-twice": {
    needs: needsShipped,
    check: ({ shipped }) =>
      Object.values(Arr.groupBy(shipped, chargeOf))
        // Facts with the same `key` are one shipment.
        .map((facts) => [facts[0], new Set(facts.map((fact, index) => Run.textOf(fact, "key") ?? index)).size] as const)
        .filter(([, count]) => count > 1)
        .map(([fact, count]) => `${chargeOf(fact)} was shipped ${timesOf(count)}.`)
  },

  "not-shipped": {
    needs: inTime(needsShipped, ({ transactions }) => transactions.map(({ updatedAt }) => Date.parse(updatedAt))),
    check: (run) => run.transactions.flatMap(unshipped(run))
  }
} satisfies Record<string, Rule>

/** The name of a rule. */
export type RuleName = keyof typeof rules

/** The rules, as a list. */
export const allRules: ReadonlyArray<readonly [RuleName, Rule]> = Object.entries(rules) as Array<[RuleName, Rule]> // the names of a record are its keys

const payoutRules = ["paid-twice", "owed-not-paid", "amount-differs"] as const
const shipmentRules = ["shipped-unpaid", "shipped-unchecked", "shipped-twice", "not-shipped"] as const

/** The rules that a program makes relevant: those of payouts where it pays out, and those of shipments where it charges. */
export const relevantRules = (world: RehearsalWorld & { readonly receives: boolean }): ReadonlyArray<RuleName> => [
  ...(needsPayout(world) === undefined ? payoutRules : []),
  ...(world.receives || world.calls.some(({ operation }) => operation === "getTransaction") ? shipmentRules : [])
]

/** The rules that a run breaks, with their problems. A rule is checked where the run, or the undisturbed one, has what it needs. */
export const brokenRules = (played: Run.Ended, usual: RehearsalWorld): ReadonlyArray<readonly [RuleName, Problems]> => {
  const run = Run.readRun(played, usual)
  const broken = allRules
    .filter(([, { needs }]) => [usual, played].some((world) => needs?.(world) === undefined))
    .map(([rule, { causes, check }]) => ({ rule, causes, problems: check(run) }))
    .filter(({ problems }) => problems.length > 0)
  return broken
    .filter(({ causes }) => !broken.some(({ rule }) => causes?.includes(rule) === true))
    .map(({ problems, rule }) => [rule, problems] as const)
}
