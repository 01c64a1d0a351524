/** The faults that the requests of a call may meet, by their names. */
import type { Operation } from "../../contract/PaymentsError.ts"
import * as Fault from "../../sandbox/Fault.ts"
import * as Refusal from "../../sandbox/Refusal.ts"

/** A fault with its name. */
export interface NamedFault {
  readonly name: string
  readonly fault: Fault.Fault
}

export const notSent: NamedFault = { name: "not sent", fault: Fault.refuse }
export const lost: NamedFault = { name: "executed, answer lost", fault: Fault.resetAfter }
/** Nothing is executed, which the caller of a write cannot know. */
export const broken: NamedFault = { name: "answered 500", fault: Fault.refusal(500, "Erro interno.") }

/** The faults of any call. They also meet each request of a call, since the client repeats some requests after one fault. */
export const transient = (write: boolean): ReadonlyArray<NamedFault> => [
  notSent,
  ...(write ? [lost] : []),
  broken,
  { name: write ? "executed 10 minutes late" : "answered 10 minutes late", fault: Fault.latency("10 minutes") },
  { name: "answer cut off", fault: Fault.truncated },
  { name: "rate limited", fault: Fault.retryAfter("20 seconds") }
]

const refused = (name: string, { message, status }: Refusal.Refusal): NamedFault => ({
  name: `refused, ${name}`,
  fault: Fault.refusal(status, message)
})

const credentials = refused("credentials", Refusal.unauthorized)
export const badRequest = refused("request", { status: 400, message: "Requisição inválida." })
export const conflict = refused("conflict", { status: 409, message: "Requisição em processamento." })
export const dailyLimit: NamedFault = { name: "refused, limit of the day", fault: Fault.dailyLimit }

/** The refusals that a call may meet: those that a program tells apart by more than their cause. */
export const refusals: Record<Operation, ReadonlyArray<NamedFault>> = {
  createTransaction: [badRequest, conflict],
  requestWithdrawal: [
    refused("balance", Refusal.insufficientBalance),
    conflict,
    dailyLimit,
    { name: "refused, in words that nobody knows", fault: Fault.ownWords() },
    { name: "recorded as failed at once", fault: Fault.failure() }
  ],
  getTransaction: [refused("not found", Refusal.transactionNotFound)],
  getWithdrawal: [refused("not found", Refusal.withdrawalNotFound)],
  listTransactions: [credentials],
  getBalance: [credentials]
}

/** Refusals that differ from one of those in their cause alone. They are played where they are asked for. */
export const otherCauses: { readonly [Name in Operation]?: ReadonlyArray<NamedFault> } = {
  createTransaction: [credentials],
  requestWithdrawal: [
    credentials,
    badRequest,
    refused("no PIX key", Refusal.noPixKey),
    refused("minimum", Refusal.belowMinimum),
    { name: "refused, account blocked", fault: Fault.blocked },
    { name: "refused, limit of the night", fault: Fault.nightLimit },
    { name: "refused, too soon after another", fault: Fault.tooSoon },
    { name: "refused, limit of look-ups of keys", fault: Fault.keyLimit }
  ],
  getTransaction: [credentials],
  getWithdrawal: [credentials]
}
