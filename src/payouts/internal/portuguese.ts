import type { PayoutRefusal } from "../Payout.ts"
import type { PayoutStatus } from "../PayoutStatus.ts"

const refusals: Readonly<Record<PayoutRefusal["_tag"], string>> = {
  InvalidRequest: "Dados inválidos: confira a chave PIX e o valor",
  BelowMinimum: "Valor abaixo do mínimo de R$ 10,00",
  InsufficientBalance: "Saldo insuficiente",
  NoPixKey: "Nenhuma chave PIX informada ou cadastrada",
  AuthError: "Credenciais recusadas pelo gateway",
  RateLimited: "Limite de requisições atingido",
  RequestRejected: "Recusado pelo gateway",
  ServiceUnavailable: "Gateway indisponível"
}

const unclear = "A conferir: pode ter sido pago, não pagar por outro meio antes"

/**
 * What is known of a payout, in Portuguese, as for a column of a sheet that your accountant reads. It says "A conferir" of
 * each payout that may have moved money.
 *
 * ```ts
 * import { Payouts, type PayoutStatus } from "effect-pix/payouts"
 *
 * const cells = (statuses: ReadonlyArray<PayoutStatus>) =>
 *   statuses.map((status) => [status.reference, Payouts.portuguese(status)])
 * ```
 */
export const portuguese = (status: PayoutStatus): string => {
  switch (status.state) {
    case "posted":
      return status.withdrawalId === undefined ? "Registrado" : `Registrado: saque nº ${status.withdrawalId}`
    case "settled":
      return "Pago: conferido por uma pessoa"
    case "failed":
      // The service recorded it, perhaps after a person had said that it failed.
      return status.withdrawalId === undefined ? "Não pago: conferido por uma pessoa" : unclear
    case "unknown":
      return unclear
    case "refused":
      return `Não pago: ${refusals[status.error._tag]}`
    case "accepted":
    case "parked": {
      const { error, mayHaveLeftAt } = status
      const isInDoubt = error?._tag === "OutcomeUnknown" || error?._tag === "IdempotencyConflict"
      if (isInDoubt || mayHaveLeftAt !== undefined) return unclear
      return error === undefined ? "Não pago: não enviado" : `Não pago: ${refusals[error._tag]}`
    }
  }
}
