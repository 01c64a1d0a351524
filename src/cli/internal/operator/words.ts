/** Every word that the command says of payouts and dead letters, in both languages side by side. JSON, which programs read, has none. */
import type { PayoutRefusal } from "../../../payouts/Payout.ts"
import type { Why } from "../../../payouts/PayoutBecause.ts"
import type { PayoutChange } from "../../../payouts/PayoutHistory.ts"
import type { EndedBy, PayoutState } from "../../../payouts/PayoutState.ts"
import type { StoredDelivery } from "../../../webhook/WebhookEvent.ts"
import { text, type Text } from "../lang.ts"

type Texts<Name extends string> = Readonly<Record<Name, Text>>

export const states: Texts<PayoutState> = {
  accepted: text("accepted", "na fila"),
  unknown: text("unknown", "em dúvida"),
  parked: text("parked", "parado"),
  posted: text("posted", "registrado"),
  paid: text("paid", "pago"),
  failed: text("failed", "não pago"),
  returned: text("returned", "devolvido"),
  refused: text("refused", "recusado"),
  cancelled: text("cancelled", "cancelado")
}

export const ends: Texts<EndedBy> = {
  answer: text("answer", "resposta"),
  lookup: text("lookup", "consulta"),
  person: text("person", "pessoa")
}

/** What a webhook claims. */
export const claims: Texts<"failed" | "returned" | "paid"> = {
  failed: text("it failed", "falhou"),
  returned: text("it came back", "foi devolvido"),
  paid: text("it was paid", "foi pago")
}

/** The entries of a history. */
export const changes: Texts<PayoutChange["_tag"]> = {
  Submitted: text("Submitted", "Pedido"),
  Marked: text("Marked: may have left", "Marcado: pode ter saído"),
  Answered: text("Answered", "Resposta"),
  LookedUp: text("LookedUp", "Consultado"),
  Contradicted: text("Contradicted by the gateway", "Contradito pelo gateway"),
  Doubted: text("Doubted", "Posto em dúvida"),
  Parked: text("Parked", "Parado"),
  Retried: text("Retried", "Mandado de novo"),
  Resumed: text("Resumed", "Retomado"),
  Settled: text("Settled", "Encerrado"),
  Judged: text("Judged", "Julgado"),
  Cancelled: text("Cancelled", "Cancelado"),
  Forgotten: text("Forgotten", "Apagado")
}

/** Why the last request moved nothing. */
export const refusals: Texts<PayoutRefusal["_tag"]> = {
  InvalidRequest: text(
    "wrong data, check the PIX key, its type and the amount",
    "dados inválidos, confira a chave PIX, o tipo dela e o valor"
  ),
  BelowMinimum: text("an amount below the minimum of R$ 10,00", "valor abaixo do mínimo de R$ 10,00"),
  InsufficientBalance: text("the balance is too low", "saldo insuficiente"),
  LimitReached: text("a limit of the account, or its block", "limite da conta atingido, ou conta bloqueada"),
  NoPixKey: text("no PIX key is given or on file", "nenhuma chave PIX informada ou cadastrada"),
  WithdrawalFailed: text("refused by the gateway", "recusado pelo gateway"),
  AuthError: text("the gateway refuses the credentials", "credenciais recusadas pelo gateway"),
  RateLimited: text("too many requests", "limite de requisições atingido"),
  RequestRejected: text("refused by the gateway", "recusado pelo gateway"),
  ServiceUnavailable: text("the gateway cannot be reached", "gateway indisponível")
}

/** What is said of a payee, or of a reason, that is not shown. */
export const hidden = {
  forgotten: text("forgotten", "apagado"),
  sealed: text("sealed by the program", "lacrado pelo programa"),
  own: text("the company's own PIX key", "a chave PIX da própria empresa")
}

/** Why a delivery of a webhook waits. */
export const waits: Texts<NonNullable<StoredDelivery["waits"]>> = {
  first: text("more ids arrive than may be looked up", "chegam mais ids do que se pode consultar"),
  early: text(
    "the lookup does not show yet what the delivery claims",
    "a consulta ainda não mostra o que a entrega diz"
  ),
  outage: text("the service gave no answer to the lookup", "o serviço não respondeu à consulta"),
  failed: text("your code failed", "o seu código falhou")
}

/** What ends the wait of a payout, in the words of `becauses`, which has them in English. Those of a step alone have no entry. */
const endings: Readonly<Record<string, string>> = {
  "its `notBefore`": "o seu `notBefore`",
  "its turn": "a sua vez",
  "its opening": "a abertura dele",
  "the next day": "o dia seguinte",
  "a top-up": "saldo novo",
  "the end of the limit": "o fim do limite",
  "other ones": "outras",
  "the right address, or the end of the deploy": "o endereço certo, ou o fim da manutenção",
  "the first that it takes": "a primeira que aceitar",
  "that of the account": "as da conta",
  "its judgement": "o julgamento dela",
  "a `seal` with the key that sealed it": "um `seal` com a chave que o lacrou",
  "its repair": "o conserto dele",
  "the answer to its request, under the same key": "a resposta à requisição, com a mesma chave",
  "`resume` or `settle`": "`resume` ou `settle`",
  "a look into the panel, and `settle`": "um olhar no painel, e `settle`",
  "a higher cap and `resume`": "um limite maior, e `resume`",
  "the right `seal` and `resume`": "o `seal` certo, e `resume`"
}
export const endsBy = (why: Why | undefined): Text | undefined => why && text(why.ends, endings[why.ends] ?? why.ends)

export const by = text("by", "por")
export const withdrawal = text("withdrawal", "saque")

/** A number of payouts or dead letters. */
export const counted = {
  payouts: (count: number) =>
    text(`${count} payout${count === 1 ? "" : "s"}`, `${count} pagamento${count === 1 ? "" : "s"}`),
  letters: (count: number) =>
    text(
      `${count} dead letter${count === 1 ? "" : "s"}`,
      `${count} ${count === 1 ? "entrega que falhou" : "entregas que falharam"}`
    )
}
