/** The faults that the requests of a call may meet, by their names. */
import * as Fault from "../../sandbox/Fault.ts"
import * as Refusal from "../../sandbox/Refusal.ts"

/** A fault with its name. */
export interface NamedFault {
  readonly name: string
  readonly fault: Fault.Fault
}

const named = (name: string, fault: Fault.Fault): NamedFault => ({ name, fault })
const refused = (name: string, { message, status }: Refusal.Refusal) =>
  named(`refused, ${name}`, Fault.refusal(status, message))

export const notSent = named("not sent", Fault.refuse)
export const lost = named("executed, answer lost", Fault.resetAfter)
/** Nothing is executed, which the caller of a write cannot know. */
export const broken = named("answered 500", Fault.refusal(500, "Erro interno."))
export const late = named("answered 10 minutes late", Fault.latency("10 minutes"))
export const executedLate = named("executed 10 minutes late", Fault.latency("10 minutes"))
export const truncated = named("answer cut off", Fault.truncated)
export const rateLimited = named("rate limited", Fault.retryAfter("20 seconds"))

export const credentials = refused("credentials", Refusal.unauthorized)
export const badRequest = refused("request", { status: 400, message: "Requisição inválida." })
export const conflict = refused("conflict", { status: 409, message: "Requisição em processamento." })
export const chargeNotFound = refused("not found", Refusal.transactionNotFound)
export const payoutNotFound = refused("not found", Refusal.withdrawalNotFound)
export const balance = refused("balance", Refusal.insufficientBalance)
export const dailyLimit = named("refused, limit of the day", Fault.dailyLimit)
export const unknownWords = named("refused, in words that nobody knows", Fault.ownWords())
export const recordedAsFailed = named("recorded as failed at once", Fault.failure())

/** Refusals of a payout that differ from another one in their cause alone. */
export const otherCauses: ReadonlyArray<NamedFault> = [
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
