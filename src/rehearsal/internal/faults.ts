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
export const lostRead: NamedFault = { name: "answered 500", fault: Fault.refusal(500, "Erro interno.") }

/** The faults of any call. They also meet each request of a call, since the client repeats some requests after one fault. */
export const transient = (write: boolean): ReadonlyArray<NamedFault> => [
  notSent,
  ...(write
    ? [lost, { name: "executed, answered 500", fault: Fault.refusal(500, "Erro interno.", { executed: true }) }]
    : [lostRead]),
  { name: write ? "executed 10 minutes late" : "answered 10 minutes late", fault: Fault.latency("10 minutes") },
  { name: "answer cut off", fault: Fault.truncated },
  { name: "rate limited", fault: Fault.retryAfter("20 seconds") }
]

const refused = (name: string, { message, status }: Refusal.Refusal): NamedFault => ({
  name: `refused, ${name}`,
  fault: Fault.refusal(status, message)
})

export const badRequest = refused("request", { status: 400, message: "Requisição inválida." })
export const conflict = refused("conflict", { status: 409, message: "Requisição em processamento." })
export const dailyLimit: NamedFault = { name: "refused, limit of the day", fault: Fault.dailyLimit }
export const blocked: NamedFault = { name: "refused, account blocked", fault: Fault.blocked }
/** The limits of an account. */
const limits: ReadonlyArray<NamedFault> = [
  dailyLimit,
  blocked,
  { name: "refused, limit of the night", fault: Fault.nightLimit },
  { name: "refused, too soon after another", fault: Fault.tooSoon },
  { name: "refused, limit of look-ups of keys", fault: Fault.keyLimit }
]
const common = [refused("credentials", Refusal.unauthorized)]

/** The refusals that a call may meet. */
export const refusals: Record<Operation, ReadonlyArray<NamedFault>> = {
  createTransaction: [...common, badRequest, conflict],
  requestWithdrawal: [
    ...common,
    badRequest,
    conflict,
    refused("no PIX key", Refusal.noPixKey),
    refused("balance", Refusal.insufficientBalance),
    refused("minimum", Refusal.belowMinimum),
    ...limits,
    { name: "recorded as failed at once", fault: Fault.failure() }
  ],
  getTransaction: [...common, refused("not found", Refusal.transactionNotFound)],
  getWithdrawal: [...common, refused("not found", Refusal.withdrawalNotFound)],
  listTransactions: common,
  getBalance: common
}
