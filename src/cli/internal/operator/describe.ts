/** Payouts of the queue in words and as data. A reference is shown, since it is the user's own. */
import * as BigDecimal from "effect/BigDecimal"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type { PayoutAccount } from "../../../payouts/PayoutHistory.ts"
import { becauses, whyOf } from "../../../payouts/PayoutBecause.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import type { PayoutState } from "../../../payouts/PayoutState.ts"
import { dayInSaoPaulo } from "../../../internal/utc.ts"
import * as Money from "../../../pix/Money.ts"
import { decimal } from "../amount.ts"
import { join, type Label, say, text, type Text } from "../lang.ts"
import { type Column, type Columns, linesOfFields, type View } from "../list.ts"
import { plain, time } from "../text.ts"
import { by, claims, counted, ends, endsBy, refusals, states } from "./words.ts"

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
export const sentenceOf = (status: PayoutStatus): Text => {
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

/** How many payouts there are, and how much they are together. */
export interface Sum {
  readonly count: number
  /** A sum may be too large for an exact number. */
  readonly centavos: bigint
}

/** The account of the queue, and the sums of its payouts by their state. */
export interface Account extends PayoutAccount {
  readonly sums: ReadonlyMap<PayoutState, Sum>
}

type KeyOf<A> = A extends unknown ? keyof A : never
type At<A, K> = A extends unknown ? (K extends keyof A ? A[K] : never) : never
/** What a status of any state may have. */
type Fields = Pick<PayoutStatus, keyof PayoutStatus> & {
  readonly [K in KeyOf<PayoutStatus>]?: At<PayoutStatus, K> | undefined
}

/** The record of a payout: its number, and the service's word for its state. A doubt may have seen one. */
const recordOf = ({
  error,
  withdrawalId,
  withdrawalStatus
}: Pick<Fields, "error" | "state" | "withdrawalId" | "withdrawalStatus">) => {
  const seen = error?._tag === "OutcomeUnknown" ? error.seen : undefined
  return { withdrawalId: withdrawalId ?? seen?.id, withdrawalStatus: withdrawalStatus ?? seen?.status }
}

/** A status for machines: amounts in centavos; JSON writes times in ISO 8601. */
export const dataOf = ({ _tag, amount, error, reference, state, value, ...rest }: Fields) => {
  const shown = { ...rest, ...recordOf({ ...rest, error, state }), error: error?._tag, value: value && decimal(value) }
  return { reference, state, amount, ...shown }
}

/** Why a payout is in its state, in one or two words: the word of `--because`, and what its last request was answered. */
export const reasonOf = ({ because, error }: Fields): string =>
  [because, error?._tag].filter((word) => word !== undefined).join(", ")

/** Since when the workers are paused, by whom and why. Another program may have paused them by SQL. */
export const textOfPause = ({ lastPause }: Account): Text => {
  if (lastPause?.paused !== true)
    return text(
      "paused: the time and the person are not recorded",
      "pausados: não está registrado desde quando, nem por quem"
    )
  const person = lastPause.by === undefined ? "" : join(" ", by, ` ${plain(lastPause.by)}`)
  const note = lastPause.note === undefined ? "" : `: ${plain(lastPause.note)}`
  return join(text("paused since ", "pausados desde "), time(lastPause.at), person, note)
}

/** How often and when the payouts of an account are sent, and how much. */
const limitsOf = ({ dailyCap, maxAmount, pace, window }: Account): Text | undefined => {
  const limits = [
    pace &&
      text(
        `${pace.most} in ${Duration.toSeconds(pace.per)} seconds`,
        `${pace.most} em ${Duration.toSeconds(pace.per)} segundos`
      ),
    window && text(`from ${window.from} to ${window.to}`, `das ${window.from} às ${window.to}`),
    dailyCap && join(Money.format(dailyCap), text(" a day", " por dia")),
    maxAmount && join(Money.format(maxAmount), text(" each", " cada"))
  ].flatMap((limit) => (limit ? [limit] : []))
  return limits.length === 0 ? undefined : join(...limits.flatMap((limit, at) => (at === 0 ? [limit] : [", ", limit])))
}

/** An account in lines. */
export const textOfAccount = (account: Account, view: View): string => {
  const { fingerprint, paused, refusedSince } = account
  return linesOfFields(
    [
      [text("Account", "Conta"), account.account],
      [text("Workers", "Envios"), paused ? textOfPause(account) : text("not paused", "não pausados")],
      [text("Sender", "Remetente"), fingerprint ?? text("not known yet", "ainda não conhecido")],
      [text("Limits", "Limites"), limitsOf(account)],
      [text("Refused", "Recusado"), refusedSince && `${refusedSince.because}, ${time(refusedSince.at)}`]
    ],
    view
  )
}

/** An account for machines. */
export const dataOfAccount = ({ account, dailyCap, fingerprint, maxAmount, pace, paused, window }: Account) => ({
  account,
  paused,
  fingerprint,
  pace: pace ? { most: pace.most, seconds: Duration.toSeconds(pace.per) } : null,
  window: window ?? null,
  dailyCap: dailyCap ?? null,
  maxAmount: maxAmount ?? null
})

export const sumOf = (statuses: ReadonlyArray<PayoutStatus>): Sum => ({
  count: statuses.length,
  centavos: statuses.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
})

export const inReais = (centavos: bigint): string => Money.format(Money.reais(BigDecimal.make(centavos, 2)))

/** A count and its sum, in both units: "2 payouts, R$ 30,00 (3000 centavos)". */
export const textOfSum = ({ centavos, count }: Sum): Text =>
  join(counted.payouts(count), `, ${inReais(centavos)} (${centavos} centavos)`)

/** By how much the value of its record differs from its amount. No field of the service is a fee, and this may be one. */
const differenceOf = ({ amount, value }: Fields) =>
  value && Option.getOrUndefined(Money.reaisOption(BigDecimal.subtract(value, Money.toReais(amount))))

/** A payout without its payee, as a list and its lines have it. */
const listed: ReadonlyArray<Column<PayoutStatus & Fields>> = [
  [text("Reference", "Referência"), ({ reference }) => reference],
  [text("State", "Estado"), ({ state }) => states[state], 8],
  [text("Amount centavos", "Valor centavos"), ({ amount }) => amount],
  [text("Amount reais", "Valor reais"), ({ amount }) => Money.toReais(amount), -14, text("Amount", "Valor")],
  [text("Submitted at", "Pedido em"), ({ submittedAt }) => submittedAt, -11, text("Age", "Há")],
  ["", ({ reference }) => reference, 24, text("Reference", "Referência")],
  [text("Updated at", "Alterado em"), ({ updatedAt }) => updatedAt],
  [text("Withdrawal id", "Saque"), (status) => recordOf(status).withdrawalId],
  [text("Withdrawal status", "Status do gateway"), (status) => recordOf(status).withdrawalStatus],
  [text("End to end id", "Id ponta a ponta"), ({ endToEndId }) => endToEndId],
  [text("Value reais", "Valor registrado reais"), ({ value }) => value],
  [text("Difference reais", "Diferença reais"), differenceOf],
  [text("Ended by", "Encerrado por"), ({ by }) => by && ends[by]],
  [text("Ended at", "Encerrado em"), ({ endedAt }) => endedAt],
  [text("Not before", "Não antes de"), ({ notBefore }) => notBefore],
  [text("Submitted by", "Pedido por"), ({ submittedBy }) => submittedBy],
  [text("Why", "Por quê"), reasonOf, 16],
  [text("Situation", "Situação"), sentenceOf, 0]
]

/** What only the lines of a payout have. */
const details: ReadonlyArray<Column<Fields>> = [
  [text("Ends by", "Termina com"), ({ because, state }) => endsBy(whyOf(state, because))],
  [text("Differs", "Difere"), ({ differs }) => differs],
  [text("Error", "Erro"), ({ error }) => error?.message],
  [text("Claimed", "Avisado"), ({ claimed }) => claimed && states[claimed]],
  [text("May have left", "Pode ter saído"), ({ mayHaveLeftAt }) => mayHaveLeftAt],
  [text("Under way until", "Em curso até"), ({ underWayUntil }) => underWayUntil],
  [text("Key", "Chave"), ({ idempotencyKey }) => idempotencyKey]
]

const noun = text("payouts", "pagamentos")

export const columns: Columns<PayoutStatus> = { noun, columns: listed, json: dataOf }

/** With what the service said of why it was refused or failed. */
export const withReason: Columns<PayoutStatus & { readonly reason: Label | undefined }> = {
  noun,
  columns: [...listed, [text("Reason", "Motivo"), ({ reason }) => reason]],
  json: ({ reason, ...status }) => ({ ...dataOf(status), reason: reason && say(reason, "en") })
}

/** The names and values of a payout. */
export const fieldsOf = (status: PayoutStatus) =>
  [...listed, ...details].map(([name, cell]) => [name, cell(status)] as const)
