/**
 * The plan of one simulation of money: what a program of two processes and two accounts does, and what goes wrong meanwhile. A seed
 * gives a plan. A plan that fails is made smaller, and printed as a list of sentences.
 */
import { Money } from "effect-pix"
import { Fault } from "effect-pix/sandbox"
import { faults } from "../support/faults.ts"
import { fewest, seeded } from "../support/seed.ts"

const minute = 60_000
const hour = 60 * minute

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

const [sheets, moves, looks] = [
  ["submits", "runs the sheet of", "submits and rolls back"],
  ["parks", "resumes", "retries"],
  ["pauses", "reads", "checks"]
] as const
const ends = ["paid", "paid", "paid with another amount", "refunded", "cancelled", "lapsed"] as const
/** What becomes of a payout that was accepted. */
const fates = ["arrives", "arrives", "fails", "is returned"] as const

export interface Step extends Place {
  readonly does: (typeof sheets | typeof moves | typeof looks)[number] | "calls for" | "charges for"
  /** A reference is a number, which gives its amount and its payee too. */
  readonly references: ReadonlyArray<number>
  /** How a charge ends. */
  readonly ends?: (typeof ends)[number]
}

/** Something that goes wrong. Requests, statements and deliveries are counted from 1, those of both processes together. */
interface Trouble {
  readonly at: "write" | "read" | "delivery" | "statement" | "request" | "answer"
  /** Absent where those of both accounts are counted together. */
  readonly account?: Account
  readonly nth: number
  /** The name of a fault, or what happens to the delivery or to the process. */
  readonly what: string
}

export const amountOf = (reference: number) => Money.centavos(1000 + reference)
export const nameOf = (reference: number) => `invoice-${reference}`

/** What becomes of a payout at its bank, and after how many milliseconds. */
export const fateOf = (seed: number, reference: number) => {
  const { below, pick } = seeded(seed * 1000 + reference)
  return { fate: pick(fates), after: below(30 * minute) }
}

export interface Plan {
  readonly seed: number
  /** Whether the gateway shows how payouts end, by webhooks and lookups, as it was seen. Then they have their fates. */
  readonly isSeen: boolean
  /** Whether a call tries again by itself. */
  readonly isPatient: boolean
  /** The cap of a day in centavos, of the second account. */
  readonly dailyCap: number | undefined
  /** Nobody uses the second account. */
  readonly isOfOneAccount?: boolean
  readonly steps: ReadonlyArray<Step>
  readonly troubles: ReadonlyArray<Trouble>
}

/** Faults of a gateway that keeps its promises: it forgets no key. */
export const usable = faults.filter(({ fault, isOfSockets }) => fault.forgetsKey !== true && isOfSockets !== true)
const [none, ...bad] = usable
/** A payout is recorded as failed. */
export const failedAtOnce = { name: "a record that failed", fault: Fault.failure() }
/** A write that was executed, and is then refused: what a call must not tell as refused. */
const lost = bad.filter(({ answer, ends, executed }) => executed === true && answer === "none" && ends === "at once")
const limits = bad.filter(({ name }) => name.includes("limit") || name.includes("blocked account"))
const refused = bad.filter(({ executed, status = 0 }) => executed === false && status >= 400 && status < 500)

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
    const step = (does: Step["does"], references: ReadonlyArray<number>, more: Partial<Step> = {}) =>
      steps.push({ ...at, does, references, ...more })
    const sheet = sheets[chance < 0.3 ? 0 : chance < 0.5 ? 1 : 2]
    if (chance < 0.55) step(sheet, references)
    else if (chance < 0.7) {
      // Some calls use the reference of a row: one reference is one key.
      const reference = at.account === "default" && old !== undefined && next() < 0.3 ? old : ++last
      step("calls for", [reference], { account: "default" })
    } else if (chance < 0.85) step("charges for", [++last], { ends: pick(ends) })
    else if (chance < 0.9 || old === undefined) step(pick(looks), [])
    else step(pick(moves), [old])
    if (chance < 0.5) before.push(...references)
    // The same sheet or submit once more, perhaps in the other process.
    if (chance < 0.5 && next() < 0.15) step(sheet, references, { after: below(minute), process: below(2) })
  }
  const troubles: Array<Trouble> = []
  const isSeen = next() < 0.6
  const nameIn = (kind: typeof bad) => (kind[below(kind.length)] ?? none)!.name
  const share = pick([0.1, 0.3, 0.6] as const)
  const some = (count: number, share: number, add: (nth: number) => Trouble) => {
    for (let nth = 1; nth <= count; nth++) if (next() < share) troubles.push(add(nth))
  }
  for (const account of accounts) {
    let before = bad
    for (let nth = 1; nth <= payouts * 2; nth++) {
      // Of what was executed, the next answer is often a refusal: a doubt that is forgotten is told as refused.
      const isRefused = before === lost && next() < 0.9
      before = isRefused ? refused : next() < share ? pick([bad, lost]) : []
      if (before.length > 0) troubles.push({ at: "write", account, nth, what: nameIn(before) })
    }
    // A limit lasts for some requests.
    for (let nth = 1 + below(payouts), left = pick([0, 8] as const); left > 0; left--, nth++)
      troubles.push({ at: "write", account, nth, what: nameIn(limits) })
    // The key of a single call has only this record: those of the first account are such calls.
    if (isSeen && account === "market")
      some(payouts, 0.1, (nth) => ({ at: "write", account, nth, what: failedAtOnce.name }))
    some(payouts * 2, share, (nth) => ({ at: "read", account, nth, what: nameIn(bad) }))
    some(payouts, 0.3, (nth) => ({ at: "delivery", account, nth, what: pick(["lost", "twice", "late"] as const) }))
  }
  // One that stands still in a transaction would lock the file of SQLite for all.
  const dies = "the process dies"
  some(payouts * 40, 0.006, (nth) => ({ at: "statement", nth, what: dies }))
  some(payouts * 4, 0.1, (nth) => ({
    at: pick(["request", "answer"] as const),
    nth,
    what: pick([dies, "the process stands still"] as const)
  }))
  const isPatient = next() < 0.5
  return {
    seed,
    isSeen,
    isPatient,
    dailyCap: next() < 0.5 ? 2000 + payouts * (200 + below(200)) : undefined,
    steps,
    troubles
  }
}

const wordsOfTime = (millis: number) => (millis < 1000 ? `${millis} ms` : `${Math.round(millis / 1000)} s`)

/** The plan as sentences. */
export const wordsOf = ({ dailyCap, isPatient, isSeen, seed, steps, troubles }: Plan): string =>
  [
    `seed ${seed}${isSeen ? ", payouts end" : ""}${isPatient ? ", calls try again" : ""}${dailyCap === undefined ? "" : `, at most ${dailyCap} centavos a day`}:`,
    ...steps.map(
      (step) =>
        `after ${wordsOfTime(step.after)} process ${step.process} ${step.does} ${step.references.map(nameOf).join(", ")} (${step.account})${step.ends === undefined ? "" : `, which is ${step.ends}`}`
    ),
    ...troubles.map(
      ({ account, at, nth, what }) => `${at} ${nth}${account === undefined ? "" : ` of ${account}`}: ${what}`
    )
  ].join("\n  ")

/** The plan with the steps and troubles that it needs to fail. */
export const shrink = async (plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> => {
  const planWith = (parts: ReadonlyArray<Step | Trouble>): Plan => ({
    ...plan,
    steps: parts.filter((part) => "does" in part),
    troubles: parts.filter((part) => "at" in part)
  })
  return planWith(await fewest([...plan.steps, ...plan.troubles], (parts) => fails(planWith(parts))))
}
