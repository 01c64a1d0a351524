/**
 * The schedules of a rehearsal. Each disturbs one call or one delivery of the undisturbed run. `only` takes the name of a
 * schedule.
 */
import type { RehearsalCall } from "../../RehearsalWorld.ts"
import * as Fault from "../../Fault.ts"
import * as Refusal from "../refusal.ts"
import { type Call, isWrite } from "./calls.ts"

/** How a delivery of a webhook is disturbed. */
export type DeliveryDisturbance = "twice" | "late" | "out of order" | "never"

export type Disturbance =
  /** The first request of a call meets a fault. The later ones meet none, the same, or another. */
  | {
      readonly _tag: "Fault"
      readonly call: number
      readonly first: NamedFault
      readonly later: NamedFault | undefined
    }
  /** The process dies before the first request of a call is sent, or after it was executed. */
  | { readonly _tag: "Death"; readonly call: number; readonly isAfter: boolean }
  /** The payer of a charge does not pay it. */
  | { readonly _tag: "Charge"; readonly call: number; readonly how: "lapses" | "fails" }
  /** After a charge was created, a stranger delivers that it is paid. */
  | { readonly _tag: "Forgery"; readonly call: number }
  | { readonly _tag: "Delivery"; readonly delivery: number; readonly how: DeliveryDisturbance }

export interface Schedule {
  readonly name: string
  readonly disturbance?: Disturbance
}

export const undisturbed: Schedule = { name: "undisturbed" }

/** A fault with its name. */
interface NamedFault {
  readonly name: string
  readonly fault: Fault.Fault
}

const lost: NamedFault = { name: "executed, answer lost", fault: Fault.resetAfter }

/** The faults of any call. They also meet each request of a call, since the client repeats some requests after one fault. */
const transient = (write: boolean): ReadonlyArray<NamedFault> => [
  { name: "not sent", fault: Fault.refuse },
  ...(write
    ? [lost, { name: "executed, answered 500", fault: Fault.refusal(500, "Erro interno.", { executed: true }) }]
    : [{ name: "answered 500", fault: Fault.refusal(500, "Erro interno.") }]),
  { name: write ? "executed 10 minutes late" : "answered 10 minutes late", fault: Fault.latency("10 minutes") },
  { name: "answer cut off", fault: Fault.truncated },
  { name: "rate limited", fault: Fault.retryAfter("20 seconds") }
]

const refused = (name: string, { message, status }: Refusal.Refusal): NamedFault => ({
  name: `refused, ${name}`,
  fault: Fault.refusal(status, message)
})

const badRequest: Refusal.Refusal = { status: 400, message: "Requisição recusada pela política da empresa." }
const conflict: Refusal.Refusal = { status: 409, message: "Requisição em processamento." }

const common = [refused("credentials", Refusal.unauthorized)]

const refusals: Record<RehearsalCall["operation"], ReadonlyArray<NamedFault>> = {
  createTransaction: [...common, refused("request", badRequest), refused("conflict", conflict)],
  requestWithdrawal: [
    ...common,
    refused("request", badRequest),
    refused("conflict", conflict),
    refused("no PIX key", Refusal.noPixKey),
    refused("balance", Refusal.insufficientBalance),
    refused("minimum", Refusal.belowMinimum)
  ],
  getTransaction: [...common, refused("not found", Refusal.transactionNotFound)],
  listTransactions: common,
  getBalance: common
}

/** The result of the undisturbed run. */
interface Learned {
  readonly calls: ReadonlyArray<Call>
  /** How many webhooks were delivered to the program. */
  readonly deliveries: number
  /** Whether the program received webhooks. */
  readonly receives: boolean
}

const schedulesOfCall = (call: RehearsalCall, { receives }: Learned, isPaid: boolean): ReadonlyArray<Schedule> => {
  const write = isWrite(call)
  const named = (name: string, disturbance: Disturbance): Schedule => ({
    name: `call ${call.number} ${call.operation}: ${name}`,
    disturbance
  })
  const meets = (first: NamedFault, later?: NamedFault) => {
    const rest = later === first ? ", each request" : `, then ${later?.name}`
    return named(`${first.name}${later === undefined ? "" : rest}`, { _tag: "Fault", call: call.number, first, later })
  }
  const dies = (isAfter: boolean) =>
    named(isAfter ? "death after it was executed" : "death before it is sent", {
      _tag: "Death",
      call: call.number,
      isAfter
    })
  return [
    ...transient(write).flatMap((fault) => [meets(fault), meets(fault, fault)]),
    ...refusals[call.operation].map((fault) => meets(fault)),
    // The refusal is about the later request. The first one may have been executed.
    ...(write ? [meets(lost, refused("request", badRequest))] : []),
    dies(false),
    // A read executes nothing, so a death after it is the same as a death before it.
    ...(write ? [dies(true)] : []),
    ...(call.operation === "createTransaction" && isPaid
      ? [
          named("nobody pays, the charge lapses", { _tag: "Charge", call: call.number, how: "lapses" }),
          named("the charge fails", { _tag: "Charge", call: call.number, how: "fails" })
        ]
      : []),
    ...(call.operation === "createTransaction" && receives
      ? [named("a forged webhook says Paid", { _tag: "Forgery", call: call.number })]
      : [])
  ]
}

const schedulesOfDelivery = (delivery: number, isLast: boolean): ReadonlyArray<Schedule> =>
  (["twice", "late", ...(isLast ? [] : ["out of order" as const]), "never"] as const).map((how) => ({
    name: `webhook ${delivery}: ${how}`,
    disturbance: { _tag: "Delivery", delivery, how }
  }))

/**
 * The calls that are disturbed. A read that repeats the read before it with the same answer belongs to the same poll, and is
 * not disturbed. Neither is a call without a request.
 */
const distinct = (calls: ReadonlyArray<Call>): ReadonlyArray<Call> => {
  const answers = new Map<string, string>()
  return calls.filter((call) => {
    if (call.requests === 0) return false
    if (isWrite(call)) return true
    const question = `${call.operation} ${call.question}`
    const answer = `${call.result} ${call.answer}`
    const isRepeated = answers.get(question) === answer
    answers.set(question, answer)
    return !isRepeated
  })
}

/** All schedules of a program, by its undisturbed run. `isPaid`: a payer pays the charges. */
export const schedulesOf = (learned: Learned, isPaid: boolean): ReadonlyArray<Schedule> => [
  ...distinct(learned.calls).flatMap((call) => schedulesOfCall(call, learned, isPaid)),
  ...Array.from({ length: learned.deliveries }, (_, index) =>
    schedulesOfDelivery(index + 1, index + 1 === learned.deliveries)
  ).flat()
]
