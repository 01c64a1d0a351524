/**
 * The schedules of a rehearsal, made from the trace of a run: each disturbs one place of it, such as a call, and some two. What
 * is played, and when, is a list of kinds for each place. Those that find most mistakes are played first.
 */
import type * as Duration from "effect/Duration"
import * as Struct from "effect/Struct"
import type { Operation } from "../../contract/PaymentsError.ts"
import * as Fault from "../../sandbox/Fault.ts"
import * as Refusal from "../../sandbox/Refusal.ts"
import type { RehearsalOptions } from "../RehearsalOptions.ts"
import { type Call, isWrite } from "./calls.ts"

/** A place of a run where it can be disturbed. Each kind is counted from 1. An inner step is one of the library's own tables. */
export interface Place {
  readonly kind: "call" | "webhook" | "fact" | "step" | "inner step"
  readonly number: number
  /** The operation, the fact, or the statement. */
  readonly name: string
  /** The number of the webhook that the process was handling. */
  readonly webhook: number | undefined
}

/** When a schedule is played: in the first look, after it, or where it is asked for by its name. */
type Turn = "first" | "later" | "asked for"

/** What becomes of a charge that is not paid as asked. */
const ofCharges = {
  lapses: ["first", "nobody pays, the charge lapses"],
  fails: ["later", "the charge fails"],
  "pays less": ["first", "the payer pays less"],
  "pays more": ["later", "the payer pays more"],
  "pays twice": ["later", "the payer pays twice the amount"],
  "pays late": ["first", "the payer pays after 26 hours, or when another charge was made"],
  refunded: ["later", "the charge is paid and refunded"]
} as const
export type ChargeDisturbance = keyof typeof ofCharges

/** What becomes of a payout that was accepted, other than to arrive soon. In silence: its webhook never comes. */
const ofPayouts = {
  fails: ["first", "the payout fails an hour later"],
  "fails in silence": ["first", "the payout fails an hour later, and its webhook never comes"],
  returned: ["first", "the payout is returned an hour later"],
  "returned in silence": ["later", "the payout is returned an hour later, and its webhook never comes"],
  late: ["later", "the payout arrives 20 hours later"]
} as const
export type PayoutDisturbance = keyof typeof ofPayouts

/** A fault with its name. */
export interface NamedFault {
  readonly name: string
  readonly fault: Fault.Fault
}

const named = (name: string, fault: Fault.Fault): NamedFault => ({ name, fault })
const refused = (name: string, { message, status }: Refusal.Refusal) =>
  named(`refused, ${name}`, Fault.refusal(status, message))

const notSent = named("not sent", Fault.refuse)
const lost = named("executed, answer lost", Fault.resetAfter)
/** Nothing is executed, which the caller of a write cannot know. */
const broken = named("answered 500", Fault.refusal(500, "Erro interno."))
const late = named("answered 10 minutes late", Fault.latency("10 minutes"))
const executedLate = named("executed 10 minutes late", Fault.latency("10 minutes"))
const truncated = named("answer cut off", Fault.truncated)
const rateLimited = named("rate limited", Fault.retryAfter("20 seconds"))

const credentials = refused("credentials", Refusal.unauthorized)
const badRequest = refused("request", { status: 400, message: "Requisição inválida." })
const conflict = refused("conflict", { status: 409, message: "Requisição em processamento." })
const chargeNotFound = refused("not found", Refusal.transactionNotFound)
const payoutNotFound = refused("not found", Refusal.withdrawalNotFound)
const balance = refused("balance", Refusal.insufficientBalance)
const dailyLimit = named("refused, limit of the day", Fault.dailyLimit)
const unknownWords = named("refused, in words that nobody knows", Fault.ownWords())
const recordedAsFailed = named("recorded as failed at once", Fault.failure())

/** Refusals of a payout that differ from another one in their cause alone. */
const otherCauses: ReadonlyArray<NamedFault> = [
  credentials,
  badRequest,
  balance,
  dailyLimit,
  refused("no PIX key", Refusal.noPixKey),
  refused("minimum", Refusal.belowMinimum),
  named("refused, account blocked", Fault.blocked),
  named("refused, limit of the night", Fault.nightLimit),
  named("refused, too soon after another", Fault.tooSoon),
  named("refused, limit of look-ups of keys", Fault.keyLimit)
]

/** What each later call under the key of a call meets, for as long as an outage lasts, or for `most`. */
export interface Onward {
  readonly fault: NamedFault
  readonly most?: Duration.Input
}

export type How =
  /** The first request of a call meets a fault. The later ones meet none, the same, or another. */
  | {
      readonly _tag: "Fault"
      readonly first?: NamedFault | undefined
      readonly later?: NamedFault | undefined
      readonly onward?: Onward | undefined
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
  /** A webhook is delivered so. `once`: it is not repeated, whatever its answer is. */
  | { readonly _tag: "Delivery"; readonly how: "twice" | "late" | "never" | "once" }

/** A disturbance of one tag. */
export type HowOf<Tag> = Extract<How, { readonly _tag: Tag }>

/** What happens at a place. */
export interface Disturbance extends Pick<Place, "kind" | "number"> {
  readonly how: How
}

export interface Schedule {
  readonly name: string
  readonly turn: Turn
  readonly disturbances: ReadonlyArray<Disturbance>
}

export const undisturbed: Schedule = { name: "undisturbed", turn: "first", disturbances: [] }

/** The trace of a run, as the schedules need it. */
export interface Trace {
  readonly places: ReadonlyArray<Place>
  readonly calls: ReadonlyArray<Call>
  /** Whether the program received webhooks. */
  readonly receives: boolean
}

type Options = Pick<RehearsalOptions<never>, "payAfter" | "processes" | "sandbox">

/** One kind of schedule: what happens at a place, and with it. */
interface Kind {
  readonly turn: Turn
  readonly what: string
  readonly how: How
  /** What happens at the same place too. */
  readonly and?: How
  /** What happens at the next call too. */
  readonly next?: How
  /** Whether it is also played with the webhook that is handled meanwhile delivered once, and never again. */
  readonly isOnceToo?: boolean
}

const kind = (turn: Turn, what: string, how: How, more: Partial<Kind> = {}): Kind => ({ turn, what, how, ...more })
const once = { isOnceToo: true }

/** A call's first request meets a fault, its later ones another, and later calls under its key as `onward` says. */
const fault = (turn: Turn, first: NamedFault, later?: NamedFault, onward?: Onward): Kind => {
  const rest = later === first ? ", each request" : `, then ${later?.name}`
  const after = onward === undefined ? "" : `, then each later call under its key ${onward.fault.name}`
  return kind(turn, `${first.name}${later === undefined ? "" : rest}${after}`, { _tag: "Fault", first, later, onward })
}
const each = (turn: Turn, one: NamedFault, onward?: Onward): Kind => fault(turn, one, one, onward)
const askedFor = (...faults: ReadonlyArray<NamedFault>) => faults.map((one) => fault("asked for", one))
const outage = (turn: Turn, fault: NamedFault): Kind =>
  kind(turn, `an outage begins, ${fault.name}`, { _tag: "Outage", fault, isLimit: false })
const limit = (turn: Turn, fault: NamedFault): Kind =>
  kind(turn, `each payout from now on ${fault.name}`, { _tag: "Outage", fault, isLimit: true })
const death = (isAfter: boolean): How => ({ _tag: "Death", isAfter })
const dies = kind("first", "death before it is sent", death(false), once)
const diesAfter = "death after it was executed"

/** The client's own requests hide most of what happens once. */
const ofReads: ReadonlyArray<Kind> = [
  ...askedFor(notSent, broken, truncated, rateLimited),
  fault("first", late),
  each("first", truncated),
  // They end as a 500 does.
  each("asked for", notSent),
  { ...each("later", broken), ...once },
  each("asked for", late),
  each("later", rateLimited),
  outage("first", notSent),
  dies
]

const ofWrites: ReadonlyArray<Kind> = [
  ...askedFor(notSent, lost, broken, executedLate, truncated, rateLimited),
  each("first", truncated),
  each("later", notSent),
  { ...each("asked for", lost), ...once },
  each("later", broken),
  each("later", executedLate, { fault: conflict, most: "10 minutes" }),
  each("asked for", rateLimited),
  // The refusal is about the later request. The first one may have been executed.
  fault("asked for", lost, badRequest),
  each("first", lost, { fault: dailyLimit }),
  each("asked for", lost, { fault: badRequest }),
  each("asked for", lost, { fault: conflict }),
  outage("first", notSent),
  outage("later", lost),
  dies,
  kind("asked for", diesAfter, death(true), once),
  kind("first", `${diesAfter}, and again after the next call`, death(true), { next: death(true) }),
  kind("first", `${diesAfter}, then each later call under its key ${dailyLimit.name}`, death(true), {
    and: { _tag: "Fault", onward: { fault: dailyLimit, most: "10 minutes" } }
  })
]

const notFound = (one: NamedFault) => [fault("first", one), ...askedFor(credentials)]

/** The refusals of each operation: those that a program tells apart by more than their cause, and the others where asked for. */
const refusals: Record<Operation, ReadonlyArray<Kind>> = {
  createTransaction: [fault("first", conflict), fault("later", badRequest), ...askedFor(credentials)],
  requestWithdrawal: [
    fault("first", conflict),
    fault("first", recordedAsFailed),
    fault("later", unknownWords),
    limit("later", dailyLimit),
    limit("later", balance),
    ...askedFor(...otherCauses)
  ],
  getTransaction: notFound(chargeNotFound),
  getWithdrawal: notFound(payoutNotFound),
  listTransactions: [fault("later", credentials)],
  getBalance: [fault("later", credentials)]
}

const stalls: ReadonlyArray<Kind> = [
  kind("later", "its process stands still before it is sent", { _tag: "Stall", isAfter: false }),
  kind("later", "its process stands still before it is answered", { _tag: "Stall", isAfter: true })
]

const charges = Struct.keys(ofCharges).map((how) => kind(ofCharges[how][0], ofCharges[how][1], { _tag: "Charge", how }))

const ends = Struct.keys(ofPayouts).map((how) => kind(ofPayouts[how][0], ofPayouts[how][1], { _tag: "Payout", how }))
/** Without a webhook nobody hears of the end of a payout, in silence or not. */
const unheardEnds = ends.filter(({ what }) => !what.includes("webhook"))
const forgedEnds: ReadonlyArray<Kind> = [
  kind("first", "a forged webhook says that the payout failed", { _tag: "Forgery", says: "failed" }),
  kind(
    "later",
    "a forged webhook says that the payout arrived, which fails an hour later",
    { _tag: "Forgery", says: "arrived" },
    { and: { _tag: "Payout", how: "fails" } }
  )
]

const refunds: ReadonlyArray<Kind> = [
  kind("later", "the charge is refunded before it", { _tag: "Refund", isAfter: false }),
  kind("first", "the charge is refunded after it", { _tag: "Refund", isAfter: true })
]
const forgedPayment = kind("first", "a forged webhook says Paid", { _tag: "Forgery", says: "paid" })

const kindsOfCall = (
  call: Call,
  receives: boolean,
  { payAfter, processes = 1, sandbox }: Options
): ReadonlyArray<Kind> => {
  const { operation, payout, status } = call
  const isCharge = operation === "createTransaction"
  const parts: ReadonlyArray<readonly [isPlayed: boolean, kinds: ReadonlyArray<Kind>]> = [
    [isWrite(call), ofWrites],
    [!isWrite(call), ofReads],
    [true, refusals[operation]],
    [processes > 1, stalls],
    [isCharge && payAfter !== undefined, charges],
    [sandbox?.as === "seen" && payout !== undefined, receives ? [...ends, ...forgedEnds] : unheardEnds],
    [operation === "getTransaction" && status === "Paid", refunds],
    [isCharge && receives, [forgedPayment]]
  ]
  return parts.flatMap(([isPlayed, kinds]) => (isPlayed ? kinds : []))
}

const ofWebhooks = (["twice", "late", "never"] as const).map((how) => kind("later", how, { _tag: "Delivery", how }))
const ofFacts = [
  kind("first", "death before it", death(false), once),
  kind("first", "death after it", death(true), once)
]
const ofSteps = [kind("later", "death", death(false), once)]

/** The schedules of a kind at a place. */
const at =
  (place: Place) =>
  ({ and, how, isOnceToo, next, turn, what }: Kind): ReadonlyArray<Schedule> => {
    const { kind, name, number, webhook } = place
    const isInner = kind === "inner step"
    const schedule: Schedule = {
      name: `${kind} ${number}${name === "" ? "" : ` ${name}`}: ${what}`,
      turn: isInner ? "asked for" : turn,
      disturbances: [
        { kind, number, how },
        ...(and === undefined ? [] : [{ kind, number, how: and }]),
        ...(next === undefined ? [] : [{ kind, number: number + 1, how: next }])
      ]
    }
    if (webhook === undefined || isOnceToo !== true) return [schedule]
    const isDelivered: Disturbance = { kind: "webhook", number: webhook, how: { _tag: "Delivery", how: "once" } }
    return [
      schedule,
      {
        name: `${schedule.name}, and webhook ${webhook} is not repeated`,
        turn: isInner ? "asked for" : "later",
        disturbances: [...schedule.disturbances, isDelivered]
      }
    ]
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
export const schedulesOf = ({ calls, places, receives }: Trace, options: Options): ReadonlyArray<Schedule> => {
  const answered = distinctCalls(calls)
  const steps = distinctSteps(places)
  const kindsOf = (place: Place): ReadonlyArray<Kind> => {
    const call = place.kind === "call" && answered.has(place.number) ? calls[place.number - 1] : undefined
    const { [place.kind]: kinds } = {
      call: call === undefined ? [] : kindsOfCall(call, receives, options),
      webhook: ofWebhooks,
      fact: ofFacts,
      step: steps.has(place) ? ofSteps : [],
      "inner step": steps.has(place) ? ofSteps : []
    }
    return kinds
  }
  const all = order.flatMap((kind) =>
    places.filter((place) => place.kind === kind).flatMap((place) => kindsOf(place).flatMap(at(place)))
  )
  return [undisturbed, ...all.filter(({ turn }) => turn === "first"), ...all.filter(({ turn }) => turn !== "first")]
}

export const isOfInnerStep = ({ disturbances: [first] }: Schedule): boolean => first?.kind === "inner step"

/** Whether an effect of a disturbance outlasts the process that it struck. */
export const isLasting = ({ how }: Disturbance): boolean =>
  how._tag === "Charge" || how._tag === "Refund" || how._tag === "Payout" || how._tag === "Delivery"
