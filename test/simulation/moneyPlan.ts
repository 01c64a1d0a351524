/**
 * The plan of one simulation of money: what a program of two processes and two accounts does, and what goes wrong meanwhile. A seed
 * gives a plan. A plan that fails is made smaller, and printed as a list of sentences.
 */
import { faults } from "../support/faults.ts"
import { seeded } from "../support/seed.ts"

/** The accounts, each of a client id and a company of its own. The keys of the first are those of single calls. */
export const accounts = ["default", "market"] as const
export type Account = (typeof accounts)[number]

interface Place {
  /** How long after the step before, in milliseconds. */
  readonly after: number
  readonly account: Account
  /** The process that takes the step. One that is dead takes it when it is started again. */
  readonly process: number
}

/** A reference is a number, which gives its amount and its payee too. */
export type Step = Place &
  (
    | {
        readonly does: "submits" | "runs the sheet of" | "submits and rolls back"
        readonly references: ReadonlyArray<number>
      }
    | { readonly does: "calls for"; readonly references: readonly [number] }
    | {
        readonly does: "charges for"
        readonly references: readonly [number]
        readonly ends: "paid" | "refunded" | "cancelled" | "lapsed"
      }
    | { readonly does: "parks" | "resumes" | "retries"; readonly references: readonly [number] }
    | { readonly does: "pauses" | "reads" | "checks"; readonly references: readonly [] }
  )

/** Something that goes wrong. Requests, statements and deliveries are counted from 1. */
export type Trouble =
  | { readonly at: "write" | "read"; readonly account: Account; readonly nth: number; readonly fault: string }
  | {
      readonly at: "delivery"
      readonly account: Account
      readonly nth: number
      readonly how: "lost" | "twice" | "late"
    }
  | {
      readonly at: "statement" | "request" | "answer"
      /** Statements of both processes are counted together, and so are requests and answers. */
      readonly nth: number
      readonly how: "dies" | "stands still"
    }

export interface Plan {
  readonly seed: number
  /** Whether a call tries again by itself. */
  readonly isPatient: boolean
  /** The cap of a day in centavos, of the second account. */
  readonly dailyCap: number | undefined
  readonly steps: ReadonlyArray<Step>
  readonly troubles: ReadonlyArray<Trouble>
}

/** Faults of a gateway that keeps its promises: it forgets no key. */
export const usable = faults.filter(({ fault, isOfSockets }) => fault.forgetsKey !== true && isOfSockets !== true)
const [, ...bad] = usable

const minute = 60_000
const hour = 60 * minute

/** Makes the plan of a seed, with so many payouts. */
export const planOf = (seed: number, payouts: number): Plan => {
  const { below, next, pick } = seeded(seed)
  const steps: Array<Step> = []
  const known: Record<Account, Array<number>> = { default: [], market: [] }
  let last = 0
  const place = (): Place => ({
    after: pick([
      0,
      0,
      below(50),
      below(5000),
      below(20_000),
      below(5 * minute),
      ...(next() < 0.05 ? [13 * hour] : [])
    ] as const),
    account: pick(accounts),
    process: below(2)
  })
  while (last < payouts) {
    const at = place()
    const chance = next()
    const before = known[at.account]
    const old = before[below(before.length)]
    const many = () => Array.from({ length: 1 + below(5) }, () => ++last)
    const references = chance < 0.55 ? many() : []
    if (chance < 0.3) steps.push({ ...at, does: "submits", references })
    else if (chance < 0.5) steps.push({ ...at, does: "runs the sheet of", references })
    else if (chance < 0.55) steps.push({ ...at, does: "submits and rolls back", references })
    else if (chance < 0.7) {
      // Some calls use the reference of a row: one reference is one key.
      const reference = at.account === "default" && old !== undefined && next() < 0.3 ? old : ++last
      steps.push({ ...at, account: "default", does: "calls for", references: [reference] })
    } else if (chance < 0.85) {
      const ends = pick(["paid", "paid", "paid", "refunded", "cancelled", "lapsed"] as const)
      steps.push({ ...at, does: "charges for", references: [++last], ends })
    } else if (chance < 0.9 || old === undefined) {
      steps.push({ ...at, does: pick(["pauses", "reads", "checks"] as const), references: [] })
    } else steps.push({ ...at, does: pick(["parks", "resumes", "retries"] as const), references: [old] })
    if (chance < 0.5) before.push(...references)
    // The same sheet or submit once more, perhaps in the other process.
    if (chance < 0.5 && next() < 0.15) {
      steps.push({
        ...at,
        after: below(minute),
        process: below(2),
        does: chance < 0.3 ? "submits" : "runs the sheet of",
        references
      })
    }
  }
  const troubles: Array<Trouble> = []
  const share = pick([0.1, 0.3, 0.6] as const)
  const some = (count: number, share: number, add: (nth: number) => Trouble) => {
    for (let nth = 1; nth <= count; nth++) if (next() < share) troubles.push(add(nth))
  }
  for (const account of accounts) {
    for (const at of ["write", "read"] as const) {
      some(payouts * 2, share, (nth) => ({ at, account, nth, fault: (bad[below(bad.length)] ?? usable[0])!.name }))
    }
    some(payouts, 0.3, (nth) => ({ at: "delivery", account, nth, how: pick(["lost", "twice", "late"] as const) }))
  }
  // One that stands still in a transaction would lock the file of SQLite for all.
  some(payouts * 40, 0.006, (nth) => ({ at: "statement", nth, how: "dies" }))
  some(payouts * 4, 0.1, (nth) => ({
    at: pick(["request", "answer"] as const),
    nth,
    how: pick(["dies", "stands still"] as const)
  }))
  const isPatient = next() < 0.3
  return { seed, isPatient, dailyCap: next() < 0.3 ? 2000 + payouts * (200 + below(300)) : undefined, steps, troubles }
}

const wordsOfTime = (millis: number) => (millis < 1000 ? `${millis} ms` : `${Math.round(millis / 1000)} s`)

const wordsOfTrouble = (trouble: Trouble) => {
  if ("fault" in trouble) return `${trouble.at} ${trouble.nth} of ${trouble.account} meets ${trouble.fault}`
  if (trouble.at === "delivery") return `delivery ${trouble.nth} of ${trouble.account} is ${trouble.how}`
  return `the process of ${trouble.at} ${trouble.nth} ${trouble.how}`
}

/** The plan as sentences. */
export const wordsOf = ({ dailyCap, isPatient, seed, steps, troubles }: Plan): string =>
  [
    `seed ${seed}${isPatient ? ", calls try again" : ""}${dailyCap === undefined ? "" : `, at most ${dailyCap} centavos a day`}:`,
    ...steps.map(
      (step) =>
        `after ${wordsOfTime(step.after)} process ${step.process} ${step.does} ${step.references.join(", ")} (${step.account})${"ends" in step ? `, which is ${step.ends}` : ""}`
    ),
    ...troubles.map(wordsOfTrouble)
  ].join("\n  ")

/** The plan without a part of its steps and troubles. */
const without = (plan: Plan, from: number, count: number): Plan => {
  const isKept = (_: unknown, index: number) => index < from || index >= from + count
  const steps = plan.steps.filter(isKept)
  const troubles = plan.troubles.filter((trouble, index) => isKept(trouble, plan.steps.length + index))
  return { ...plan, steps, troubles }
}

/** The plan with one reference less in a step of several. */
const shorter = (plan: Plan): ReadonlyArray<Plan> =>
  plan.steps.flatMap((step, index) => {
    if (step.references.length < 2) return []
    return step.references.map((reference): Plan => {
      // A step of several references stays a step of at least one.
      const next = { ...step, references: step.references.filter((other) => other !== reference) } as Step
      return { ...plan, steps: plan.steps.with(index, next) }
    })
  })

/** The smallest plan that is found to fail still, after at most so many real milliseconds. */
export const shrink = async (plan: Plan, fails: (plan: Plan) => Promise<boolean>, patience = 8000): Promise<Plan> => {
  let smallest = plan
  const end = performance.now() + patience
  const isSmaller = async (next: Plan) => {
    if (performance.now() > end || !(await fails(next))) return false
    smallest = next
    return true
  }
  const sizeOf = ({ steps, troubles }: Plan) => steps.length + troubles.length
  for (let part = Math.ceil(sizeOf(plan) / 2); part >= 1; part = part === 1 ? 0 : Math.ceil(part / 2)) {
    for (let from = 0; from < sizeOf(smallest);) {
      if (!(await isSmaller(without(smallest, from, part)))) from += part
    }
  }
  for (let isFound = true; isFound;) {
    isFound = false
    for (const next of shorter(smallest)) isFound ||= await isSmaller(next)
  }
  return smallest
}
