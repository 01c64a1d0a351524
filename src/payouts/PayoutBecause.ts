/**
 * Why a payout is not sent now, or is in doubt, or waits for a person: one table, which the status, the gauges, the log, the command and
 * the pages read.
 */

import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"

/** One word for why, in sentences. */
export interface Why {
  /** What is so, in English and in Portuguese: a sentence without its first capital and its end. */
  readonly en: string
  readonly pt: string
  /** What ends it. */
  readonly ends: string
  /** The alert that pages somebody. Absent: it pages nobody, since it is meant. */
  readonly alert?: string
}

const pagedBy =
  (alert?: string) =>
  (en: string, pt: string, ends: string): Why => ({ en, pt, ends, ...(alert !== undefined && { alert }) })
const meant = pagedBy()
const delayed = pagedBy("PayoutsDelayed")
const left = pagedBy("PayoutsParked")
const step = "`resume` or `settle`"
const panel = "a look into the panel, and `settle`"

/** What each word says, by the state of its payout. */
export const becauses = {
  accepted: {
    NotBefore: meant("its time has not come", "ainda não é a hora", "its `notBefore`"),
    Paused: meant("the account is paused", "envios pausados", "`continue`"),
    Pace: meant("the time of the account's next request has not come", "no ritmo da conta", "its turn"),
    Window: meant("the account's window is closed", "fora do horário", "its opening"),
    DailyCap: meant("the cap of the day is reached", "limite do dia atingido", "the next day"),
    Balance: delayed("the balance does not cover it", "falta saldo", "a top-up"),
    Limit: delayed(
      "a limit or a block of the account, or a 429",
      "limite ou bloqueio da conta, ou um 429",
      "the end of the limit"
    ),
    Credentials: delayed("its credentials are refused", "credenciais recusadas pelo gateway", "other ones"),
    Setup: delayed(
      "the base URL or a proxy is wrong, or a deploy's balancer answers",
      "endereço do gateway errado ou em manutenção",
      "the right address, or the end of the deploy"
    ),
    Outage: delayed("the gateway does not take requests", "gateway indisponível", "the first that it takes"),
    OtherClientId: delayed("the worker has another client id", "credenciais de outra conta", "that of the account"),
    RefusalUnknown: delayed("nobody knows a refusal of the account", "recusa que ninguém conhece", "its judgement"),
    Unreadable: delayed(
      "its stored request cannot be opened now",
      "dados ilegíveis",
      "a `seal` with the key that sealed it"
    ),
    Database: delayed("the database refuses its row", "erro do banco de dados", "its repair")
  },
  unknown: {
    OtherDatabase: pagedBy("PayoutsInDoubt")(
      "the database is another one, and may have lost what left",
      "banco de dados restaurado",
      "the answer to its request, under the same key"
    )
  },
  parked: {
    Operator: left("a person parked it", "parado por uma pessoa", step),
    WaitedTooLong: left(
      "it is wanted since longer ago than the horizon, and may be paid by hand, or since a backup",
      "conferir se já foi pago antes de pagar por outro meio",
      step
    ),
    PastHorizon: left("a request may have left longer ago than the horizon", "tempo esgotado", panel),
    OtherClientId: left("a request may have left under another client id", "credenciais de outra conta", panel),
    OverCap: left("its amount alone is above a cap", "valor acima do limite", "a higher cap and `resume`"),
    SeeRecord: left(
      "the gateway's record is of another company or PIX key, or has a word for failure that proves nothing",
      "o registro do gateway é outro, ou diz que falhou",
      panel
    ),
    RefusalUnknown: left("nobody knows its refusal", "recusa que ninguém conhece", "its judgement"),
    Unreadable: left("its stored request cannot be opened", "dados ilegíveis", "the right `seal` and `resume`")
  }
} as const satisfies { readonly [State in "accepted" | "unknown" | "parked"]: Record.ReadonlyRecord<string, Why> }

/** What a word says of a payout in a state; `undefined` where it is no word of that state. */
export const whyOf = (state: string, because: string | null | undefined): Why | undefined =>
  Option.getOrUndefined(
    Option.flatMap(Record.get<string, Record.ReadonlyRecord<string, Why>>(becauses, state), Record.get(because ?? ""))
  )

/** The words of a state. */
export type Because<State extends keyof typeof becauses> = Extract<keyof (typeof becauses)[State], string>

/** The words of each state, as schemas. */
export const becauseOf = {
  accepted: Schema.Literals(Record.keys(becauses.accepted)),
  unknown: Schema.Literals(Record.keys(becauses.unknown)),
  parked: Schema.Literals(Record.keys(becauses.parked))
}

/** Why a payout is not sent now, is in doubt, or waits for a person: the words of all states. */
export const PayoutBecause = Schema.Literals([...new Set(Object.values(becauseOf).flatMap(({ literals }) => literals))])
/** See the schema of the same name. */
export type PayoutBecause = typeof PayoutBecause.Type
