/** Payouts of the queue in words and as data. A reference is shown, since it is the user's own. */
import * as BigDecimal from "effect/BigDecimal"
import * as Duration from "effect/Duration"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { PayoutAccount } from "../../../payouts/PayoutHistory.ts"
import { whyOf } from "../../../payouts/PayoutBecause.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import type { PayoutState } from "../../../payouts/PayoutState.ts"
import { saoPaulo } from "../../../internal/utc.ts"
import * as Money from "../../../pix/Money.ts"
import { decimal, inBoth } from "../amount.ts"
import type { Columns } from "../list.ts"
import { ageOf, type Cell, fieldLines, plain, time } from "../text.ts"
import { sentenceOf } from "./sentence.ts"
import { ends, type Lang, states, text, type Text, words } from "./words.ts"

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

/** Why a payout is in its state, in one or two words: the word of `--because`, and what its last request was answered. */
export const reasonOf = (status: PayoutStatus): string => {
  const because = "because" in status ? [status.because] : []
  const error = "error" in status && status.error !== undefined ? [status.error._tag] : []
  return [...because, ...error].filter((word) => word !== undefined).join(", ")
}

/** Since when the workers are paused, by whom and why. Another program may have paused them by SQL. */
export const textOfPause = ({ lastPause, now }: Account, lang: Lang): string => {
  if (lastPause?.paused !== true) return words.pausedByOthers[lang]
  const since = `${words.pausedSince[lang]} ${time(lastPause.at)} (${words.ago[lang](ageOf(lastPause.at, now))})`
  const by = lastPause.by === undefined ? "" : ` ${words.by[lang]} ${plain(lastPause.by)}`
  return `${since}${by}${lastPause.note === undefined ? "" : `: ${plain(lastPause.note)}`}`
}

/** How often and when the payouts of an account are sent. */
const textOfLimits = ({ pace, window }: Account): string | undefined =>
  [
    pace ? `${pace.most} in ${Duration.toSeconds(pace.per)} seconds` : "",
    window ? `from ${window.from} to ${window.to}` : ""
  ]
    .filter((text) => text !== "")
    .join(", ") || undefined

/** An account in lines. */
export const textOfAccount = (account: Account): string =>
  fieldLines({
    Account: account.account,
    Workers: account.paused ? textOfPause(account, "en") : "not paused",
    Sender: account.fingerprint ?? "not known yet",
    Limits: textOfLimits(account),
    Refused: account.refusedSince && `${account.refusedSince.because}, ${ageOf(account.refusedSince.at, account.now)}`
  })

export const sumOf = (statuses: ReadonlyArray<PayoutStatus>): Sum => ({
  count: statuses.length,
  centavos: statuses.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
})

export const inReais = (centavos: bigint): string => Money.format(Money.reais(BigDecimal.make(centavos, 2)))

/** A count and its sum, in both units: "2 payouts, R$ 30,00 (3000 centavos)". */
export const textOfSum = ({ centavos, count }: Sum): string =>
  `${count} payout${count === 1 ? "" : "s"}, ${inReais(centavos)} (${centavos} centavos)`

/** The record of a payout: its number, and the service's word for its state. A doubt may have seen one. */
const recordOf = (status: PayoutStatus) => {
  const seen = "error" in status && status.error?._tag === "OutcomeUnknown" ? status.error.seen : undefined
  return {
    id: ("withdrawalId" in status ? status.withdrawalId : undefined) ?? seen?.id,
    word: ("withdrawalStatus" in status ? status.withdrawalStatus : undefined) ?? seen?.status
  }
}

/** How a payout ended, and what is not certain of it. */
const endOf = (status: PayoutStatus) => {
  const record = "withdrawalId" in status || "endToEndId" in status ? status : undefined
  return {
    by: "by" in status ? status.by : undefined,
    endedAt: "endedAt" in status ? status.endedAt : undefined,
    endToEndId: record?.endToEndId,
    value: record?.value,
    claimed: status.claimed,
    contradicted: "contradicted" in status ? status.contradicted : undefined,
    unconfirmed: "unconfirmed" in status ? status.unconfirmed : undefined
  }
}

const valueOf = (status: PayoutStatus) => {
  const { value } = endOf(status)
  return value && decimal(value)
}

/** By how much the value of its record differs from its amount. No field of the service is a fee, and this may be one. */
const differenceOf = (status: PayoutStatus) => {
  const { value } = endOf(status)
  return value && Option.getOrUndefined(Money.reaisOption(BigDecimal.subtract(value, Money.toReais(status.amount))))
}

/** A status for machines: amounts in centavos; JSON writes times in ISO 8601. */
export const dataOf = (status: PayoutStatus) => ({
  reference: status.reference,
  state: status.state,
  amount: status.amount,
  because: "because" in status ? status.because : undefined,
  differs: "differs" in status ? status.differs : undefined,
  error: "error" in status ? status.error?._tag : undefined,
  withdrawalId: recordOf(status).id,
  withdrawalStatus: recordOf(status).word,
  ...endOf(status),
  toCheck: status.toCheck,
  value: valueOf(status),
  mayHaveLeftAt: "mayHaveLeftAt" in status ? status.mayHaveLeftAt : undefined,
  underWayUntil: "underWayUntil" in status ? status.underWayUntil : undefined,
  notBefore: status.notBefore,
  submittedAt: status.submittedAt,
  submittedBy: status.submittedBy,
  updatedAt: status.updatedAt,
  idempotencyKey: status.idempotencyKey
})

/** What is known of a payout beside its row. */
interface Beside {
  readonly payee?: string | undefined
  readonly reason?: string | undefined
}

/** A status in lines. */
export const textOf = (status: PayoutStatus, view: View, { payee, reason }: Beside = {}): string => {
  const { lang, now } = view
  const { by, claimed, endedAt, endToEndId } = endOf(status)
  const because = "because" in status ? status.because : undefined
  const since = (at: DateTime.Utc | undefined) => at && `${time(at)} (${words.ago[lang](ageOf(at, now))})`
  const fields: ReadonlyArray<readonly [name: Text, value: string | number | undefined]> = [
    [text("Payout", "Pagamento"), status.reference],
    [text("Amount", "Valor"), inBoth(status.amount)],
    [text("State", "Estado"), states[status.state][lang]],
    [text("Situation", "Situação"), sentenceOf(status, lang)],
    [text("Because", "Porque"), because],
    [text("Ends by", "Termina com"), whyOf(status.state, because)?.ends],
    [text("Differs", "Difere"), "differs" in status ? status.differs : undefined],
    [text("Error", "Erro"), "error" in status ? status.error?.message : undefined],
    [text("Withdrawal", "Saque"), recordOf(status).id],
    [text("Its status", "Status dele"), recordOf(status).word],
    [text("Its value", "Valor dele"), valueOf(status)],
    [text("End to end", "Id ponta a ponta"), endToEndId],
    [text("Ended", "Encerrado"), by && endedAt && `${words.by[lang]} ${ends[by][lang]}, ${since(endedAt)}`],
    [text("Reason", "Motivo"), reason],
    [text("Claimed", "Avisado"), claimed && states[claimed][lang]],
    [text("May have left", "Pode ter saído"), "mayHaveLeftAt" in status ? since(status.mayHaveLeftAt) : undefined],
    [text("Under way until", "Em curso até"), "underWayUntil" in status ? time(status.underWayUntil) : undefined],
    [text("Not before", "Não antes de"), status.notBefore && time(status.notBefore)],
    [text("Submitted", "Pedido"), since(status.submittedAt)],
    [text("Updated", "Alterado"), since(status.updatedAt)],
    [text("Key", "Chave"), status.idempotencyKey],
    [text("To", "Para"), payee]
  ]
  return fieldLines(Object.fromEntries(fields.map(([name, value]) => [name[lang], value])))
}

/** A payout, and what the service said of why it was refused or failed. */
type Opened = PayoutStatus & { readonly reason?: string | undefined }

/** A time of São Paulo, as a spreadsheet reads it: 2026-11-01 09:30:00. */
const localCell = (cell: Cell): Cell =>
  DateTime.isDateTime(cell)
    ? DateTime.formatIsoOffset(DateTime.setZone(cell, saoPaulo())).slice(0, 19).replace("T", " ")
    : cell

/** A payout in a list, without its payee. `full` adds the reason. The headings of a CSV are those of JSON, or have no accents. */
export const columnsAt = (view: View, full = false): Columns<Opened> => {
  const { lang, now } = view
  const table: ReadonlyArray<readonly [name: Text, width: number, cell: (row: Opened) => string]> = [
    [text("STATE", "ESTADO"), 8, ({ state }) => states[state][lang]],
    [text("AMOUNT", "VALOR"), -14, ({ amount }) => Money.format(amount)],
    [text("AGE", "HÁ"), -11, ({ submittedAt }) => ageOf(submittedAt, now)],
    [text("REFERENCE", "REFERÊNCIA"), 24, ({ reference }) => reference],
    [text("WHY", "POR QUÊ"), 16, (status) => reasonOf(status)],
    [text("SITUATION", "SITUAÇÃO"), 0, (status) => sentenceOf(status, lang)]
  ]
  const csv: ReadonlyArray<readonly [name: Text, cell: (row: Opened) => Cell]> = [
    [text("reference", "referencia"), ({ reference }) => reference],
    [text("state", "estado"), ({ state }) => states[state][lang]],
    [text("amount_centavos", "valor_centavos"), ({ amount }) => amount],
    [text("amount_reais", "valor_reais"), ({ amount }) => Money.toReais(amount)],
    [text("submitted_at", "pedido_em"), ({ submittedAt }) => submittedAt],
    [text("updated_at", "alterado_em"), ({ updatedAt }) => updatedAt],
    [text("withdrawal_id", "saque"), (status) => `${recordOf(status).id ?? ""}`],
    [text("withdrawal_status", "status_do_gateway"), (status) => recordOf(status).word ?? ""],
    [text("end_to_end_id", "id_ponta_a_ponta"), (status) => endOf(status).endToEndId ?? ""],
    [text("value_reais", "valor_registrado_reais"), (status) => endOf(status).value],
    [text("difference_reais", "diferenca_reais"), differenceOf],
    [text("ended_by", "encerrado_por"), (status) => ("by" in status ? ends[status.by][lang] : "")],
    [text("ended_at", "encerrado_em"), (status) => endOf(status).endedAt],
    [text("not_before", "nao_antes_de"), ({ notBefore }) => notBefore],
    [text("submitted_by", "pedido_por"), ({ submittedBy }) => submittedBy ?? ""],
    [text("why", "por_que"), (status) => reasonOf(status)],
    [text("situation", "situacao"), (status) => sentenceOf(status, lang)]
  ]
  const reason = [text("reason", "motivo"), ({ reason = "" }: Opened) => reason] as const
  const inLang = (cell: (row: Opened) => Cell) => (lang === "pt" ? (row: Opened) => localCell(cell(row)) : cell)
  return {
    noun: "payouts",
    table: Object.fromEntries(table.map(([name, ...column]) => [name[lang], column])),
    csv: Object.fromEntries([...csv, ...(full ? [reason] : [])].map(([name, cell]) => [name[lang], inLang(cell)])),
    json: (row) => ({ ...dataOf(row), reason: row.reason })
  }
}
