/** What is known of a payout, in one sentence in Portuguese. */
import type * as DateTime from "effect/DateTime"
import type { PayoutRefusal } from "../../../payouts/Payout.ts"
import { becauses } from "../../../payouts/PayoutBecause.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { dayInSaoPaulo } from "../../../internal/utc.ts"

const refusals: Readonly<Record<PayoutRefusal["_tag"], string>> = {
  InvalidRequest: "dados inválidos, confira a chave PIX, o tipo dela e o valor",
  BelowMinimum: "valor abaixo do mínimo de R$ 10,00",
  InsufficientBalance: "saldo insuficiente",
  LimitReached: "limite da conta atingido, ou conta bloqueada",
  NoPixKey: "nenhuma chave PIX informada ou cadastrada",
  WithdrawalFailed: "recusado pelo gateway",
  AuthError: "credenciais recusadas pelo gateway",
  RateLimited: "limite de requisições atingido",
  RequestRejected: "recusado pelo gateway",
  ServiceUnavailable: "gateway indisponível"
}

const unclear = "A conferir: pode ter sido pago, não pagar por outro meio antes"
const opposite = "A conferir: o gateway diz o contrário do que está registrado, não pagar por outro meio antes"

const day = (at: DateTime.Utc): string => dayInSaoPaulo(at).split("-").toReversed().join("/")

type Of<State extends PayoutStatus["state"]> = Extract<PayoutStatus, { state: State }>

/** The number of a record, before or after other words. */
const numbered = ({ withdrawalId }: { readonly withdrawalId?: number }): string =>
  withdrawalId === undefined ? "" : `saque nº ${withdrawalId}`

const queued = ({ because, error, notBefore }: Of<"accepted">): string => {
  const byItself = "Na fila: será pago sozinho"
  const andNotElse = "Não pague de outro modo"
  if (because === "NotBefore") {
    return notBefore === undefined ? `${byItself}. ${andNotElse}` : `${byItself} em ${day(notBefore)}. ${andNotElse}`
  }
  const cause = because === undefined ? error && refusals[error._tag] : becauses.accepted[because].pt
  return `${byItself}${cause === undefined ? "" : ` (${cause})`}. ${andNotElse}`
}

const claims = { failed: "falhou", returned: "foi devolvido", paid: "foi pago" } as const

/** What a webhook claims against what is known, after other words. */
const claim = ({ claimed }: Of<"posted" | "paid" | "failed" | "returned">): string =>
  claimed === undefined ? "" : `. A conferir: um aviso diz que ${claims[claimed]}`

const posted = (status: Of<"posted">): string => {
  const number = numbered(status)
  return `Enviado, ainda não confirmado${number && `: ${number}`}`
}

const ended = (status: Of<"paid" | "failed" | "returned">): string => {
  const number = numbered(status)
  const isByPerson = status.by === "person"
  switch (status.state) {
    case "paid":
      return `Pago: ${isByPerson ? "conferido por uma pessoa" : `confirmado pelo gateway em ${day(status.endedAt)}`}`
    case "failed": {
      const why = isByPerson ? "conferido por uma pessoa" : refusals.WithdrawalFailed
      return `Não pago: ${why}${number && ` (${number})`}`
    }
    case "returned":
      return `Devolvido em ${day(status.endedAt)}${isByPerson ? ", conferido por uma pessoa" : ""}`
  }
}

const stopped = ({ because, error, mayHaveLeftAt }: Of<"parked">): string => {
  const isInDoubt = error?._tag === "OutcomeUnknown" || error?._tag === "IdempotencyConflict"
  if (isInDoubt || mayHaveLeftAt !== undefined) return unclear
  return `Não enviado: espera a decisão de uma pessoa (${becauses.parked[because].pt})`
}

/**
 * What is known of a payout, in Portuguese. "Não pago" is said only of what nothing sends any more, and "A conferir" of each payout
 * that may have moved money in a way that a person has to look at.
 */
export const sentenceOf = (status: PayoutStatus): string => {
  switch (status.state) {
    case "accepted":
      return queued(status)
    case "posted":
      return posted(status) + claim(status)
    case "paid":
    case "failed":
    case "returned":
      return status.contradicted === true ? opposite : ended(status) + claim(status)
    case "unknown":
      return unclear
    case "refused":
      return `Não pago: ${refusals[status.error._tag]}`
    case "parked":
      return stopped(status)
    case "cancelled":
      return "Cancelado: nada foi enviado"
  }
}
