/** What is known of a payout, in one sentence in either language. */
import type * as DateTime from "effect/DateTime"
import { becauses } from "../../../payouts/PayoutBecause.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { dayInSaoPaulo } from "../../../internal/utc.ts"
import { join, type Lang, type Text, text } from "../lang.ts"
import { claims, refusals } from "./words.ts"

type Of<State extends PayoutStatus["state"]> = Extract<PayoutStatus, { state: State }>

const day = (at: DateTime.Utc): Text => text(dayInSaoPaulo(at), dayInSaoPaulo(at).split("-").toReversed().join("/"))
const byPerson = text("checked by a person", "conferido por uma pessoa")
const unpaid = text("Not paid: ", "Não pago: ")
const unclear = text(
  "To check: it may have been paid, do not pay it in another way before",
  "A conferir: pode ter sido pago, não pagar por outro meio antes"
)

const queued = ({ because, error, notBefore }: Of<"accepted">): Text => {
  const on = because === "NotBefore" && notBefore ? join(text(" on ", " em "), day(notBefore)) : ""
  const cause = because === undefined ? error && refusals[error._tag] : becauses.accepted[because]
  return join(
    text("Queued: it will be paid by itself", "Na fila: será pago sozinho"),
    because === "NotBefore" ? on : cause === undefined ? "" : join(" (", cause, ")"),
    text(". Do not pay it in another way", ". Não pague de outro modo")
  )
}

const ended = ({ by, endedAt, state, withdrawalId }: Of<"paid" | "failed" | "returned">): Text => {
  const isByPerson = by === "person"
  if (state === "returned")
    return join(text("Came back on ", "Devolvido em "), day(endedAt), isByPerson ? join(", ", byPerson) : "")
  if (state === "paid") {
    const byGateway = join(text("confirmed by the gateway on ", "confirmado pelo gateway em "), day(endedAt))
    return join(text("Paid: ", "Pago: "), isByPerson ? byPerson : byGateway)
  }
  const number = withdrawalId === undefined ? "" : text(` (withdrawal ${withdrawalId})`, ` (saque nº ${withdrawalId})`)
  return join(unpaid, isByPerson ? byPerson : refusals.WithdrawalFailed, number)
}

const isInDoubt = ({ error, mayHaveLeftAt }: Of<"parked">) =>
  mayHaveLeftAt !== undefined || error?._tag === "OutcomeUnknown" || error?._tag === "IdempotencyConflict"

/**
 * What is known of a payout. "Not paid" is said only of what nothing sends any more, and "To check" of each payout that may have moved
 * money in a way that a person has to look at.
 */
const inBothLanguages = (status: PayoutStatus): Text => {
  /** What a webhook claims against what is known, after other words. */
  const claim =
    status.claimed === undefined
      ? ""
      : join(text(". To check: a webhook says that ", ". A conferir: um aviso diz que "), claims[status.claimed])
  switch (status.state) {
    case "accepted":
      return queued(status)
    case "posted": {
      const { withdrawalId: id } = status
      const number = id === undefined ? "" : text(`: withdrawal ${id}`, `: saque nº ${id}`)
      return join(text("Sent, not confirmed yet", "Enviado, ainda não confirmado"), number, claim)
    }
    case "paid":
    case "failed":
    case "returned":
      return status.contradicted === true
        ? text(
            "To check: the gateway says the opposite of what is stored, do not pay it in another way before",
            "A conferir: o gateway diz o contrário do que está registrado, não pagar por outro meio antes"
          )
        : join(ended(status), claim)
    case "unknown":
      return unclear
    case "refused":
      return join(unpaid, refusals[status.error._tag], claim)
    case "parked":
      return isInDoubt(status)
        ? unclear
        : join(
            text("Not sent: it waits for the decision of a person (", "Não enviado: espera a decisão de uma pessoa ("),
            join(becauses.parked[status.because], ")", claim)
          )
    case "cancelled":
      return join(text("Cancelled: nothing was sent", "Cancelado: nada foi enviado"), claim)
  }
}

export const sentenceOf = (status: PayoutStatus, lang: Lang): string => inBothLanguages(status)[lang]
