/** Lists and payouts in Portuguese, for an accountant: headings, states, and in one sentence what is known of a payout. */
import * as DateTime from "effect/DateTime"
import * as Rec from "effect/Record"
import type { PayoutChange } from "../../../payouts/PayoutHistory.ts"
import type { PayoutState } from "../../../payouts/PayoutState.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import type { Columns } from "../list.ts"
import { saoPaulo } from "../../../internal/utc.ts"
import { type Cell, type Fields, plain, time } from "../text.ts"
import { type Account, textOfPause } from "./describe.ts"
import { sentenceOf } from "./sentence.ts"

interface Words {
  readonly stateOf: (state: PayoutState) => string
  readonly changeOf: (kind: PayoutChange["_tag"]) => string
  readonly by: string
  readonly withdrawal: string
  readonly shown: (shown: number, all: number) => string
  readonly none: string
  readonly noneWaits: string
  readonly paused: (account: Account) => string
}

const states: Readonly<Record<PayoutState, string>> = {
  accepted: "na fila",
  unknown: "em dúvida",
  parked: "parado",
  posted: "registrado",
  paid: "pago",
  failed: "não pago",
  returned: "devolvido",
  refused: "recusado",
  cancelled: "cancelado"
}

/** The headings of a list and the names of the fields of a payout; one that is not here stays as it is. */
const names: Readonly<Record<string, string>> = {
  AMOUNT: "VALOR",
  AGE: "HÁ",
  REFERENCE: "REFERÊNCIA",
  reference: "referencia",
  amount_centavos: "valor_centavos",
  amount_reais: "valor_reais",
  submitted_at: "pedido_em",
  updated_at: "alterado_em",
  withdrawal_id: "saque",
  withdrawal_status: "status_do_gateway",
  end_to_end_id: "id_ponta_a_ponta",
  value_reais: "valor_registrado_reais",
  difference_reais: "diferenca_reais",
  ended_by: "encerrado_por",
  ended_at: "encerrado_em",
  not_before: "nao_antes_de",
  submitted_by: "pedido_por",
  reason: "motivo",
  Payout: "Pagamento",
  Amount: "Valor",
  Withdrawal: "Saque",
  "Its status": "Status dele",
  "Its value": "Valor dele",
  "End to end": "Id ponta a ponta",
  Reason: "Motivo",
  "May have left": "Pode ter saído",
  "Not before": "Não antes de",
  Submitted: "Pedido",
  Updated: "Alterado",
  Key: "Chave",
  To: "Para"
}

const ends = { answer: "resposta", lookup: "consulta", person: "pessoa" } as const

const named = <A>(record: Rec.ReadonlyRecord<string, A>): Rec.ReadonlyRecord<string, A> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [names[name] ?? name, value]))

/** A cell, whose time is that of São Paulo: 2026-11-01 09:30:00. */
const localCell = (cell: Cell): Cell =>
  DateTime.isDateTime(cell)
    ? DateTime.formatIsoOffset(DateTime.setZone(cell, saoPaulo())).slice(0, 19).replace("T", " ")
    : cell

/** The columns of a list. JSON, which programs read, stays as it is. */
export const columnsOf = <A extends PayoutStatus>({ csv, json, noun, table }: Columns<A>): Columns<A> => {
  const { STATE: _, WHY: __, ...rest } = table
  const { ended_by: ___, state: ____, why: _____, ...cells } = csv
  return {
    noun,
    json,
    table: { ESTADO: [10, ({ state }) => states[state]], ...named(rest), SITUAÇÃO: [0, sentenceOf] },
    csv: {
      ...Rec.map(named(cells), (cell) => (row: A) => localCell(cell(row))),
      estado: ({ state }) => states[state],
      encerrado_por: (status) => ("by" in status ? ends[status.by] : ""),
      situacao: sentenceOf
    }
  }
}

const payees: Readonly<Record<string, string>> = {
  forgotten: "apagado",
  "sealed by the program": "lacrado pelo programa",
  "the company's own PIX key": "a chave PIX da própria empresa"
}

/** The fields of a payout; its sentence has what `State` and the fields about its end and its doubts have in English. */
export const fieldsOf = (fields: Fields, status: PayoutStatus): Fields => {
  const known = Object.entries(fields).flatMap(([name, value = ""]) => {
    const heading = names[name]
    return heading === undefined
      ? []
      : [[heading, payees[value] ?? `${value}`.replace(/ \(([^()]{1,30}) ago\)$/, " (há $1)")]]
  })
  return {
    ...Object.fromEntries(known),
    Situação: sentenceOf(status)
  }
}

const changes: Readonly<Record<PayoutChange["_tag"], string>> = {
  Submitted: "Pedido",
  Marked: "Pronto para sair",
  Answered: "Resposta",
  LookedUp: "Consultado",
  Contradicted: "Contradito pelo gateway",
  Doubted: "Posto em dúvida",
  Parked: "Parado",
  Retried: "Mandado de novo",
  Resumed: "Retomado",
  Settled: "Encerrado",
  Cancelled: "Cancelado",
  Forgotten: "Apagado"
}

/** The words of a list's sums and of a history. */
export const words: Words = {
  stateOf: (state) => states[state],
  changeOf: (kind) => changes[kind],
  by: "por",
  withdrawal: "saque",
  shown: (shown, all) => `Mostrados ${shown} de ${all}. As somas são de todos:`,
  none: "Não há nenhum.",
  noneWaits: "Nenhum pagamento espera.",
  paused: ({ lastPause }) => {
    const since = lastPause?.paused === true ? `, desde ${time(lastPause.at)}, por ${plain(lastPause.by ?? "?")}` : ""
    return `Os envios estão pausados${since}: nada é enviado até \`effect-pix payouts continue\`.`
  }
}

/** The same in English. */
export const english: Words = {
  stateOf: (state) => state,
  changeOf: (kind) => kind,
  by: "by",
  withdrawal: "withdrawal",
  shown: (shown, all) => `Shown are ${shown} of ${all}. The sums are of all:`,
  none: "There is none.",
  noneWaits: "No payout waits.",
  paused: (account) =>
    `The workers are paused: nothing is sent until \`effect-pix payouts continue\`.\nThe workers are ${textOfPause(account)}`
}
