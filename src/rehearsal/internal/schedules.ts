/**
 * The schedules of a rehearsal, made from the trace of a run: each disturbs one place of it, such as a call, and some two.
 * Those that find most mistakes are played first.
 */
import * as Struct from "effect/Struct"
import { type Call, isWrite } from "./calls.ts"
import {
  badRequest,
  broken,
  conflict,
  dailyLimit,
  lost,
  type NamedFault,
  notSent,
  otherCauses,
  refusals,
  transient
} from "./faults.ts"

/** A place of a run where it can be disturbed. Each kind is counted from 1. An inner step is one of the library's own tables. */
export interface Place {
  readonly kind: "call" | "webhook" | "fact" | "step" | "inner step"
  readonly number: number
  /** The operation, the fact, or the statement. */
  readonly name: string
  /** The number of the webhook that the process was handling. */
  readonly webhook: number | undefined
}

/** How a delivery of a webhook is disturbed. `once`: it is not repeated, whatever its answer is. */
export type DeliveryDisturbance = "twice" | "late" | "never" | "once"

/** What becomes of a charge that is not paid as asked. */
const nameOfCharge = {
  lapses: "nobody pays, the charge lapses",
  fails: "the charge fails",
  "pays less": "the payer pays less",
  "pays more": "the payer pays more",
  "pays twice": "the payer pays twice the amount",
  "pays late": "the payer pays after 26 hours, or when another charge was made",
  refunded: "the charge is paid and refunded"
}
export type ChargeDisturbance = keyof typeof nameOfCharge

/** What becomes of a payout that was accepted, other than to arrive soon. In silence: its webhook never comes. */
const nameOfPayout = {
  fails: "the payout fails an hour later",
  "fails in silence": "the payout fails an hour later, and its webhook never comes",
  returned: "the payout is returned an hour later",
  "returned in silence": "the payout is returned an hour later, and its webhook never comes",
  late: "the payout arrives 20 hours later"
}
export type PayoutDisturbance = keyof typeof nameOfPayout

export type How =
  /**
   * The first request of a call meets a fault. The later ones meet none, the same, or another. `onward` is met by each later
   * call under the key of this one.
   */
  | {
      readonly _tag: "Fault"
      readonly first: NamedFault
      readonly later?: NamedFault | undefined
      readonly onward?: NamedFault | undefined
    }
  /** From this call on, each request of any call meets a fault, until the outage ends. A `limit` meets requests of payouts alone. */
  | { readonly _tag: "Outage"; readonly fault: NamedFault; readonly isLimit: boolean }
  /** The process dies right before the place, or right after it. */
  | { readonly _tag: "Death"; readonly isAfter: boolean }
  /** The process stands still there, while the others continue. */
  | { readonly _tag: "Stall"; readonly isAfter: boolean }
  /** The payer of a charge does something else than to pay its amount. */
  | { readonly _tag: "Charge"; readonly how: ChargeDisturbance }
  /** A payout that was accepted fails, arrives and is returned, or arrives late. */
  | { readonly _tag: "Payout"; readonly how: PayoutDisturbance }
  /** The charge of a lookup is refunded right before it, or right after it. */
  | { readonly _tag: "Refund"; readonly isAfter: boolean }
  /** After a charge was created, a stranger delivers that it is paid; after a payout, that it failed or arrived. */
  | { readonly _tag: "Forgery"; readonly says: "paid" | "failed" | "arrived" }
  | { readonly _tag: "Delivery"; readonly how: DeliveryDisturbance }

/** What happens at a place. */
export interface Disturbance extends Pick<Place, "kind" | "number"> {
  readonly how: How
}

/** When a schedule is played: in the first look, after it, or where it is asked for by its name. */
type Turn = "first" | "later" | "asked for"

export interface Schedule {
  readonly name: string
  readonly turn: Turn
  readonly disturbances: ReadonlyArray<Disturbance>
}

export const undisturbed: Schedule = { name: "undisturbed", turn: "first", disturbances: [] }

/** What the first look disturbs: of sixty mistakes these found all that the other schedules found. */
const decisive = new Set([
  `${lost.name}, each request, then each later call under its key ${dailyLimit.name}`,
  "answer cut off, each request",
  "answered 10 minutes late",
  "refused, conflict",
  "refused, not found",
  "an outage begins, not sent",
  "death before it is sent",
  "death after it was executed, and again after the next call",
  "death before it",
  "death after it",
  nameOfPayout.fails,
  nameOfPayout["fails in silence"],
  "a forged webhook says that the payout failed",
  "a forged webhook says Paid"
])

/** The trace of a run, as the schedules need it. */
export interface Trace {
  readonly places: ReadonlyArray<Place>
  readonly calls: ReadonlyArray<Call>
  /** Whether the program received webhooks. */
  readonly receives: boolean
  /** Whether a payer pays the charges. */
  readonly isPaid: boolean
  /** Whether the gateway shows the end of a payout. */
  readonly isSeen: boolean
  /** How many processes run the program at once. */
  readonly processes: number
}

/** A schedule of one place. `and` happens at other places. */
const at = ({ kind, name, number }: Place, what: string, how: How, ...and: ReadonlyArray<Disturbance>): Schedule => ({
  name: `${kind} ${number}${name === "" ? "" : ` ${name}`}: ${what}`,
  turn: decisive.has(what) ? "first" : "later",
  disturbances: [{ kind, number, how }, ...and]
})

const askedFor = (schedule: Schedule): Schedule => ({ ...schedule, turn: "asked for" })

/** The client's own requests hide what happens once, but for what the first look plays. */
const hiddenByRetries = (schedule: Schedule): Schedule => (schedule.turn === "first" ? schedule : askedFor(schedule))

const death = (isAfter: boolean): How => ({ _tag: "Death", isAfter })

/** The same schedules, where the webhook that is handled meanwhile is delivered once and never again. */
const withoutRepetition = ({ webhook }: Place, schedules: ReadonlyArray<Schedule>): ReadonlyArray<Schedule> =>
  webhook === undefined
    ? []
    : schedules.map(({ disturbances, name }) => ({
        name: `${name}, and webhook ${webhook} is not repeated`,
        turn: "later",
        disturbances: [...disturbances, { kind: "webhook", number: webhook, how: { _tag: "Delivery", how: "once" } }]
      }))

/** What becomes of a payout. Its webhooks are disturbed where the program receives them. */
const schedulesOfPayout = (place: Place, receives: boolean): ReadonlyArray<Schedule> => {
  const ends = (how: PayoutDisturbance) => at(place, nameOfPayout[how], { _tag: "Payout", how })
  if (!receives) return [ends("fails"), ends("returned"), ends("late")]
  const fails: Disturbance = { kind: place.kind, number: place.number, how: { _tag: "Payout", how: "fails" } }
  return [
    ...Struct.keys(nameOfPayout).map(ends),
    at(place, "a forged webhook says that the payout failed", { _tag: "Forgery", says: "failed" }),
    at(
      place,
      "a forged webhook says that the payout arrived, which fails an hour later",
      { _tag: "Forgery", says: "arrived" },
      fails
    )
  ]
}

const schedulesOfCall = (
  place: Place,
  call: Call,
  { isPaid, isSeen, processes, receives }: Trace
): ReadonlyArray<Schedule> => {
  const write = isWrite(call)
  const meets = (first: NamedFault, later?: NamedFault, onward?: NamedFault) => {
    const rest = later === first ? ", each request" : `, then ${later?.name}`
    const after = onward === undefined ? "" : `, then each later call under its key ${onward.name}`
    const what = `${first.name}${later === undefined ? "" : rest}${after}`
    return at(place, what, { _tag: "Fault", first, later, onward })
  }
  const outage = (fault: NamedFault) =>
    at(place, `an outage begins, ${fault.name}`, { _tag: "Outage", fault, isLimit: false })
  const dies = at(place, "death before it is sent", death(false))
  const diesAfter = at(place, "death after it was executed", death(true))
  const next: Disturbance = { kind: "call", number: place.number + 1, how: death(true) }
  const stands = (when: string, isAfter: boolean) =>
    at(place, `its process stands still before it is ${when}`, { _tag: "Stall", isAfter })
  const refunded = (when: string, isAfter: boolean) =>
    at(place, `the charge is refunded ${when} it`, { _tag: "Refund", isAfter })
  return [
    ...transient(write).flatMap((fault) => [hiddenByRetries(meets(fault)), meets(fault, fault)]),
    ...refusals[call.operation].map((fault) => meets(fault)),
    ...(otherCauses[call.operation] ?? []).map((fault) => askedFor(meets(fault))),
    outage(notSent),
    dies,
    // A read executes nothing, so a death after it is the same as a death before it.
    ...(write
      ? [
          // The refusal is about the later request. The first one may have been executed.
          meets(lost, badRequest),
          meets(lost, lost, dailyLimit),
          askedFor(meets(lost, lost, badRequest)),
          askedFor(meets(lost, lost, conflict)),
          outage(lost),
          diesAfter,
          at(place, "death after it was executed, and again after the next call", death(true), next)
        ]
      : []),
    ...(processes > 1 ? [stands("sent", false), stands("answered", true)] : []),
    ...withoutRepetition(place, write ? [meets(lost, lost), dies, diesAfter] : [meets(broken, broken), dies]),
    ...(call.operation === "createTransaction" && isPaid
      ? Struct.keys(nameOfCharge).map((how) => at(place, nameOfCharge[how], { _tag: "Charge", how }))
      : []),
    ...(call.operation === "requestWithdrawal"
      ? [at(place, `each payout from now on ${dailyLimit.name}`, { _tag: "Outage", fault: dailyLimit, isLimit: true })]
      : []),
    ...(isSeen && call.payout !== undefined ? schedulesOfPayout(place, receives) : []),
    ...(call.operation === "getTransaction" && call.status === "Paid"
      ? [refunded("before", false), refunded("after", true)]
      : []),
    ...(call.operation === "createTransaction" && receives
      ? [at(place, "a forged webhook says Paid", { _tag: "Forgery", says: "paid" })]
      : [])
  ]
}

const schedulesOfWebhook = (place: Place): ReadonlyArray<Schedule> =>
  (["twice", "late", "never"] as const).map((how) => at(place, how, { _tag: "Delivery", how }))

const schedulesOfFact = (place: Place): ReadonlyArray<Schedule> => {
  const deaths = [at(place, "death before it", death(false)), at(place, "death after it", death(true))]
  return [...deaths, ...withoutRepetition(place, deaths)]
}

const schedulesOfStep = (place: Place): ReadonlyArray<Schedule> => {
  const dies = at(place, "death", death(false))
  const all = [dies, ...withoutRepetition(place, [dies])]
  return place.kind === "step" ? all : all.map(askedFor)
}

/**
 * The calls that are disturbed. A call that repeats the one before it with the same answer belongs to the same poll, and is not
 * disturbed; of writes only those that fail are a poll. Neither is a call without a request.
 */
const distinctCalls = (calls: ReadonlyArray<Call>): ReadonlySet<number> => {
  const answers = new Map<string, string>()
  const isDistinct = (call: Call) => {
    if (call.requests === 0) return false
    const question = `${call.operation} ${call.key ?? ""} ${call.question}`
    const answer = `${call.process} ${call.result} ${call.answer}`
    const isRepeated = answers.get(question) === answer
    answers.set(question, answer)
    return !isRepeated || (isWrite(call) && call.result === "Succeeded")
  }
  return new Set(calls.filter(isDistinct).map(({ number }) => number))
}

/** How often the same step after the same one is disturbed: rows that are worked on alike are alike. */
const mostAlike = 2

const distinctSteps = (places: ReadonlyArray<Place>): ReadonlySet<Place> => {
  const counts = new Map<string, number>()
  return new Set(
    places.filter((place, index) => {
      const before = places[index - 1]
      const name = `${before?.kind} ${before?.name} ${place.kind} ${place.name}`
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      return count <= mostAlike
    })
  )
}

const order: ReadonlyArray<Place["kind"]> = ["call", "webhook", "fact", "step", "inner step"]

/** All schedules of a run: those of the first look come first, and then place by place those of calls, and of the database last. */
export const schedulesOf = (trace: Trace): ReadonlyArray<Schedule> => {
  const { calls, places } = trace
  const answered = distinctCalls(calls)
  const steps = distinctSteps(places)
  const of = (place: Place): ReadonlyArray<Schedule> => {
    switch (place.kind) {
      case "call":
        return calls
          .filter(({ number }) => number === place.number && answered.has(number))
          .flatMap((call) => schedulesOfCall(place, call, trace))
      case "webhook":
        return schedulesOfWebhook(place)
      case "fact":
        return schedulesOfFact(place)
      case "step":
      case "inner step":
        return steps.has(place) ? schedulesOfStep(place) : []
    }
  }
  const all = order.flatMap((kind) => places.filter((place) => place.kind === kind).flatMap(of))
  return [undisturbed, ...all.filter(({ turn }) => turn === "first"), ...all.filter(({ turn }) => turn !== "first")]
}

export const isOfStep = ({ disturbances: [first] }: Schedule): boolean => first?.kind === "step"

/** Whether an effect of a disturbance outlasts the process that it struck. */
export const isLasting = ({ how }: Disturbance): boolean =>
  how._tag === "Charge" || how._tag === "Refund" || how._tag === "Payout" || how._tag === "Delivery"
