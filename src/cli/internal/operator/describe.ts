/** Payouts of the queue in words and as data. A reference is shown, since it is the user's own. */
import * as BigDecimal from "effect/BigDecimal"
import * as Duration from "effect/Duration"
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { PayoutAccount } from "../../../payouts/PayoutHistory.ts"
import { whyOf } from "../../../payouts/PayoutBecause.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import type { PayoutState } from "../../../payouts/PayoutState.ts"
import * as Money from "../../../pix/Money.ts"
import { decimal, inBoth } from "../amount.ts"
import { join, type Label, type Lang, say, text, type Text } from "../lang.ts"
import type { Columns } from "../list.ts"
import { ageOf, fieldLines, plain, time } from "../text.ts"
import { sentenceOf } from "./sentence.ts"
import { ago, by, counted, ends, endsBy, states } from "./words.ts"

/** How many payouts there are, and how much they are together. */
export interface Sum {
  readonly count: number
  /** A sum may be too large for an exact number. */
  readonly centavos: bigint
}

/** The account of the queue, and the sums of its payouts by their state. */
export interface Account extends PayoutAccount {
  readonly sums: ReadonlyMap<PayoutState, Sum>
  /** The time of the step, in milliseconds. */
  readonly now: number
}

/** What a payout is shown with: the time, and the language of the words. */
export interface View {
  readonly now: number
  readonly lang: Lang
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
export const textOfPause = ({ lastPause, now }: Account): Text => {
  if (lastPause?.paused !== true)
    return text(
      "paused: the time and the person are not recorded",
      "pausados: não está registrado desde quando, nem por quem"
    )
  const person = lastPause.by === undefined ? "" : join(" ", by, ` ${plain(lastPause.by)}`)
  const since = join(text("paused since ", "pausados desde "), `${time(lastPause.at)} (`, ago(ageOf(lastPause.at, now)))
  return join(since, ")", person, lastPause.note === undefined ? "" : `: ${plain(lastPause.note)}`)
}

/** Lines of names and values in a language. */
export const linesOf = (fields: ReadonlyArray<readonly [name: Label, value: Label | number | undefined]>, lang: Lang) =>
  fieldLines(
    Object.fromEntries(
      fields.map(([name, value]) => [say(name, lang), typeof value === "number" ? value : value && say(value, lang)])
    )
  )

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
export const textOfAccount = (account: Account, lang: Lang): string => {
  const { fingerprint, now, paused, refusedSince } = account
  return linesOf(
    [
      [text("Account", "Conta"), account.account],
      [text("Workers", "Envios"), paused ? textOfPause(account) : text("not paused", "não pausados")],
      [text("Sender", "Remetente"), fingerprint ?? text("not known yet", "ainda não conhecido")],
      [text("Limits", "Limites"), limitsOf(account)],
      [text("Refused", "Recusado"), refusedSince && `${refusedSince.because}, ${ageOf(refusedSince.at, now)}`]
    ],
    lang
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

/** What is known of a payout beside its row. */
interface Beside {
  readonly payee?: Label | undefined
  readonly reason?: Label | undefined
}

/** A status in lines. */
export const textOf = (status: PayoutStatus, { lang, now }: View, { payee, reason }: Beside = {}): string => {
  const fields: Fields = status
  const { because, claimed, endedAt, value } = fields
  const { withdrawalId, withdrawalStatus } = recordOf(status)
  const why = whyOf(status.state, because)
  const since = (at: DateTime.Utc | undefined) => at && join(`${time(at)} (`, ago(ageOf(at, now)), ")")
  return linesOf(
    [
      [text("Payout", "Pagamento"), status.reference],
      [text("Amount", "Valor"), inBoth(status.amount)],
      [text("State", "Estado"), states[status.state]],
      [text("Situation", "Situação"), sentenceOf(status, lang)],
      [text("Because", "Porque"), because],
      [text("Ends by", "Termina com"), why && endsBy(why.ends)],
      [text("Differs", "Difere"), fields.differs],
      [text("Error", "Erro"), fields.error?.message],
      [text("Withdrawal", "Saque"), withdrawalId],
      [text("Its status", "Status dele"), withdrawalStatus],
      [text("Its value", "Valor dele"), value && decimal(value)],
      [text("End to end", "Id ponta a ponta"), fields.endToEndId],
      [text("Ended", "Encerrado"), fields.by && join(by, " ", ends[fields.by], ", ", since(endedAt) ?? "")],
      [text("Reason", "Motivo"), reason],
      [text("Claimed", "Avisado"), claimed && states[claimed]],
      [text("May have left", "Pode ter saído"), since(fields.mayHaveLeftAt)],
      [text("Under way until", "Em curso até"), time(fields.underWayUntil)],
      [text("Not before", "Não antes de"), time(status.notBefore)],
      [text("Submitted", "Pedido"), since(status.submittedAt)],
      [text("Updated", "Alterado"), since(status.updatedAt)],
      [text("Key", "Chave"), status.idempotencyKey],
      [text("To", "Para"), payee]
    ],
    lang
  )
}

/** A payout, and what the service said of why it was refused or failed. */
type Opened = Fields & { readonly reason?: string | undefined }

/** By how much the value of its record differs from its amount. No field of the service is a fee, and this may be one. */
const differenceOf = ({ amount, value }: Fields) =>
  value && Option.getOrUndefined(Money.reaisOption(BigDecimal.subtract(value, Money.toReais(amount))))

/** A payout in a list, without its payee. `full` adds the reason. The headings of a CSV are those of JSON, or have no accents. */
export const columnsAt = ({ lang, now }: View, full = false): Columns<PayoutStatus & Opened> => ({
  noun: text("payouts", "pagamentos"),
  columns: [
    [({ reference }) => reference, text("reference", "referencia")],
    [({ state }) => states[state][lang], text("state", "estado"), text("STATE", "ESTADO"), 8],
    [({ amount }) => amount, text("amount_centavos", "valor_centavos")],
    [({ amount }) => Money.toReais(amount), text("amount_reais", "valor_reais")],
    [({ amount }) => Money.format(amount), undefined, text("AMOUNT", "VALOR"), -14],
    [({ submittedAt }) => ageOf(submittedAt, now), undefined, text("AGE", "HÁ"), -11],
    [({ reference }) => reference, undefined, text("REFERENCE", "REFERÊNCIA"), 24],
    [({ submittedAt }) => submittedAt, text("submitted_at", "pedido_em")],
    [({ updatedAt }) => updatedAt, text("updated_at", "alterado_em")],
    [(status) => `${recordOf(status).withdrawalId ?? ""}`, text("withdrawal_id", "saque")],
    [(status) => recordOf(status).withdrawalStatus ?? "", text("withdrawal_status", "status_do_gateway")],
    [({ endToEndId = "" }) => endToEndId, text("end_to_end_id", "id_ponta_a_ponta")],
    [({ value }) => value, text("value_reais", "valor_registrado_reais")],
    [differenceOf, text("difference_reais", "diferenca_reais")],
    [({ by }) => (by === undefined ? "" : ends[by][lang]), text("ended_by", "encerrado_por")],
    [({ endedAt }) => endedAt, text("ended_at", "encerrado_em")],
    [({ notBefore }) => notBefore, text("not_before", "nao_antes_de")],
    [({ submittedBy = "" }) => submittedBy, text("submitted_by", "pedido_por")],
    [reasonOf, text("why", "por_que"), text("WHY", "POR QUÊ"), 16],
    [(status) => sentenceOf(status, lang), text("situation", "situacao"), text("SITUATION", "SITUAÇÃO")],
    ...(full ? [[({ reason = "" }: Opened) => reason, text("reason", "motivo")] as const] : [])
  ],
  json: ({ reason, ...status }) => ({ ...dataOf(status), reason })
})
