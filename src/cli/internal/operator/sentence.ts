/** What is known of a payout, in one sentence in either language. */
import type * as DateTime from "effect/DateTime"
import { becauses } from "../../../payouts/PayoutBecause.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { dayInSaoPaulo } from "../../../internal/utc.ts"
import { claims, type Lang, refusals, type Text } from "./words.ts"

type Of<State extends PayoutStatus["state"]> = Extract<PayoutStatus, { state: State }>
type Ended = Of<"paid" | "failed" | "returned">

const unclear: Text = {
  en: "To check: it may have been paid, do not pay it in another way before",
  pt: "A conferir: pode ter sido pago, não pagar por outro meio antes"
}
const opposite: Text = {
  en: "To check: the gateway says the opposite of what is stored, do not pay it in another way before",
  pt: "A conferir: o gateway diz o contrário do que está registrado, não pagar por outro meio antes"
}

interface Words {
  readonly day: (at: DateTime.Utc) => string
  readonly numbered: (id: number) => string
  readonly queued: (on: string, because: string) => string
  readonly on: (day: string) => string
  readonly posted: string
  readonly claimed: (claim: string) => string
  readonly paid: string
  readonly failed: string
  readonly returned: (day: string) => string
  readonly byPerson: string
  readonly byGateway: (day: string) => string
  readonly parked: (because: string) => string
  readonly cancelled: string
}

const words: Readonly<Record<Lang, Words>> = {
  en: {
    day: dayInSaoPaulo,
    numbered: (id) => `withdrawal ${id}`,
    queued: (on, because) => `Queued: it will be paid by itself${on}${because}. Do not pay it in another way`,
    on: (day) => ` on ${day}`,
    posted: "Sent, not confirmed yet",
    claimed: (claim) => `. To check: a webhook says that ${claim}`,
    paid: "Paid",
    failed: "Not paid",
    returned: (day) => `Came back on ${day}`,
    byPerson: "checked by a person",
    byGateway: (day) => `confirmed by the gateway on ${day}`,
    parked: (because) => `Not sent: it waits for the decision of a person (${because})`,
    cancelled: "Cancelled: nothing was sent"
  },
  pt: {
    day: (at) => dayInSaoPaulo(at).split("-").toReversed().join("/"),
    numbered: (id) => `saque nº ${id}`,
    queued: (on, because) => `Na fila: será pago sozinho${on}${because}. Não pague de outro modo`,
    on: (day) => ` em ${day}`,
    posted: "Enviado, ainda não confirmado",
    claimed: (claim) => `. A conferir: um aviso diz que ${claim}`,
    paid: "Pago",
    failed: "Não pago",
    returned: (day) => `Devolvido em ${day}`,
    byPerson: "conferido por uma pessoa",
    byGateway: (day) => `confirmado pelo gateway em ${day}`,
    parked: (because) => `Não enviado: espera a decisão de uma pessoa (${because})`,
    cancelled: "Cancelado: nada foi enviado"
  }
}

const queued = ({ because, error, notBefore }: Of<"accepted">, lang: Lang): string => {
  const { day, on, queued } = words[lang]
  if (because === "NotBefore") return queued(notBefore === undefined ? "" : on(day(notBefore)), "")
  const cause = because === undefined ? error && refusals[error._tag] : becauses.accepted[because]
  return queued("", cause === undefined ? "" : ` (${cause[lang]})`)
}

const ended = ({ by, endedAt, state, withdrawalId }: Ended, lang: Lang): string => {
  const { byGateway, byPerson, day, failed, numbered, paid, returned } = words[lang]
  const isByPerson = by === "person"
  switch (state) {
    case "paid":
      return `${paid}: ${isByPerson ? byPerson : byGateway(day(endedAt))}`
    case "failed": {
      const why = isByPerson ? byPerson : refusals.WithdrawalFailed[lang]
      return `${failed}: ${why}${withdrawalId === undefined ? "" : ` (${numbered(withdrawalId)})`}`
    }
    case "returned":
      return `${returned(day(endedAt))}${isByPerson ? `, ${byPerson}` : ""}`
  }
}

const isInDoubt = ({ error, mayHaveLeftAt }: Of<"parked">) =>
  mayHaveLeftAt !== undefined || error?._tag === "OutcomeUnknown" || error?._tag === "IdempotencyConflict"

/**
 * What is known of a payout. "Not paid" is said only of what nothing sends any more, and "To check" of each payout that may have moved
 * money in a way that a person has to look at.
 */
export const sentenceOf = (status: PayoutStatus, lang: Lang): string => {
  const { cancelled, claimed, failed, numbered, posted, parked: stopped } = words[lang]
  /** What a webhook claims against what is known, after other words. */
  const claim = status.claimed === undefined ? "" : claimed(claims[status.claimed][lang])
  switch (status.state) {
    case "accepted":
      return queued(status, lang)
    case "posted":
      return `${posted}${status.withdrawalId === undefined ? "" : `: ${numbered(status.withdrawalId)}`}${claim}`
    case "paid":
    case "failed":
    case "returned":
      return status.contradicted === true ? opposite[lang] : ended(status, lang) + claim
    case "unknown":
      return unclear[lang]
    case "refused":
      return `${failed}: ${refusals[status.error._tag][lang]}${claim}`
    case "parked":
      return isInDoubt(status) ? unclear[lang] : stopped(becauses.parked[status.because][lang]) + claim
    case "cancelled":
      return cancelled + claim
  }
}
