/**
 * The refusals that prove that nothing was executed, whichever service writes them: entries as a user writes them (`KnownRefusal`), the
 * words that may stand beside one, and the words that leave a doubt. What is not here is no proof.
 */
import type { KnownRefusal } from "../../KnownRefusal.ts"

const list = (phrases: string): ReadonlyArray<string> => phrases.split(",").map((phrase) => phrase.trim())

/** At most 130 phrases: a gateway's own list says more than another one of ours. */
export const refusals: ReadonlyArray<KnownRefusal> = [
  {
    cause: "InsufficientBalance",
    phrases: list(`saldo insuficiente, saldo disponível insuficiente, saldo é insuficiente, insuficiência de saldo,
      não há saldo suficiente, não possui saldo suficiente, não tem saldo suficiente, sem saldo suficiente,
      saldo não é suficiente, sem saldo, falta de saldo, fundos insuficientes, maior que o saldo, excede o saldo,
      insufficient balance, insufficient funds, balance is insufficient, balance insufficient,
      insufficient available balance, not enough balance, not enough funds, exceeds available balance,
      exceeds the available balance, exceeds the balance, exceeds balance`)
  },
  {
    cause: "BelowMinimum",
    phrases: list(`valor mínimo de saque é de, valor mínimo para saque é de, valor mínimo para saque é, saque mínimo,
      abaixo do mínimo, abaixo do valor mínimo, menor que o mínimo, menor que o valor mínimo, inferior ao mínimo,
      below minimum, below the minimum, less than the minimum, minimum withdrawal`)
  },
  {
    cause: "NoPixKey",
    phrases: list(`nenhuma chave Pix cadastrada, nenhuma chave Pix informada, sem chave Pix, não possui chave Pix,
      não há chave Pix, cadastre uma chave Pix, chave Pix não cadastrada, chave Pix não informada,
      no Pix key, Pix key is required, Pix key required, missing Pix key, Pix key not registered`)
  },
  {
    cause: "LimitReached",
    phrases: list(`limite diário, limite noturno, limite semanal, limite mensal, limite do dia, limite excedido,
      limite atingido, limite de saque, limite de saques, limite de transferências, limite da conta,
      limite de consultas, antes de solicitar outro saque, muitos saques, daily limit, monthly limit, weekly limit,
      hourly limit, night limit, limit exceeded, limit reached, withdrawal limit, transfer limit, lookup limit,
      too many withdrawals, too many payouts, conta bloqueada, conta suspensa, conta está bloqueada,
      conta está suspensa, conta temporariamente bloqueada, saques bloqueados, empresa bloqueada, bloqueio judicial,
      account blocked, account is blocked, account suspended, account is suspended, account locked, account is frozen`)
  },
  {
    cause: "AuthError",
    phrases: list(`acesso negado, access denied, forbidden resource, credenciais inválidas, invalid credentials,
      invalid API key, sem permissão, permission denied`)
  },
  {
    cause: "RequestRejected",
    phrases:
      list(`chave Pix inválida, chave inválida, chave Pix não encontrada, chave não encontrada, chave inexistente,
      não é uma chave Pix válida, invalid Pix key, Pix key not found, tipo de chave inválido, CPF inválido,
      CNPJ inválido, documento inválido, valor inválido, invalid amount, corpo inválido, dados inválidos,
      requisição inválida, invalid request, validation failed, erro de validação, é obrigatório, is required,
      field required, moeda não suportada, rota não encontrada, cannot POST, empresa não encontrada,
      company not found, conta encerrada, conta inativa`)
  },
  // The reason of a record, as it was seen.
  { cause: "RequestRejected", phrases: ["invalid Pix entry"], statuses: [201] }
]

/** What may stand beside a phrase of an entry of ours: it says nothing, or only that the request failed. Numbers may stand there too. */
export const neutral: ReadonlyArray<string> = [
  ...list(`não foi possível processar, não foi possível, ao processar, não realizado, não realizada, não concluído,
    não processado, não autorizado, valor solicitado, requested amount, could not process, unable to process, could not,
    unable to, not processed, not completed, fale com o suporte, contact support`),
  ...`a o as os um uma e ou de do da dos das em no na nos nas ao por pelo pela para com que se sua seu suas seus este esta
  esse essa deste desta é está tem deve acima permitido permitida med the an of to in on at for your this that is be must and or than equal
  saque saques pix transferência transferências pagamento pagamentos valor conta empresa carteira bancária operação
  transação solicitação chave tipo campo disponível withdrawal withdrawals payout payouts transfer payment amount
  account company wallet bank operation transaction request key type field available   realizar efetuar concluir recusado recusada negado negada rejeitado erro falha
  refused rejected denied declined failed error excedido excedida atingido ultrapassado exceeded
  reached daily weekly monthly hourly night informado informada somente only temporariamente temporarily hoje today aguarde alguns segundos
  minutos r brl real reais centavos cents`.split(/\s+/)
]

/** What leaves a doubt: of another request, of one that is under way, or of a call that broke. At most twenty. */
export const doubtful = list(`timeout, timed out, tempo esgotado, tempo limite, já, already, duplicado, duplicada,
  duplicate, idempotência, idempotency, processamento, processing, andamento, in progress, pendente, pending,
  comunicação, upstream, inesperado`)
