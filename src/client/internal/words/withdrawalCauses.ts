/**
 * The causes of a refused withdrawal: for each, the words that name it and its error. A new cause needs a class in
 * `PaymentsError.ts` and an entry here.
 */
import * as Struct from "effect/Struct"
import { BelowMinimum, InsufficientBalance, NoPixKey, type WithdrawalRefusal } from "../../../contract/PaymentsError.ts"
import { minimumWithdrawal, type WithdrawalRequest } from "../../../contract/Withdrawal.ts"

type WithdrawalCause = WithdrawalRefusal["_tag"]

/** The fields that the errors of all causes have. */
type Fields = Omit<ConstructorParameters<typeof InsufficientBalance>[0], "_tag">

interface Entry {
  /** An expression for folded words, within one clause and in either order. */
  readonly words: RegExp
  /** The error; none if this request cannot have this cause. */
  readonly error: (fields: Fields, request: WithdrawalRequest) => WithdrawalRefusal | undefined
}

const anyOf = (...expressions: ReadonlyArray<string>) => new RegExp(expressions.join("|"))

const funds = "(?:saldo|fundos|recursos|dinheiro|balance|funds|money)"
const pixKey =
  "(?:chaves? (?:pix|cadastrada|encontrada|padrao|disponivel)|(?<!(?:idempotency|api)[ _-])(?:pix ?)?keys?)"
const amount = "(?:valor|montante|quantia|saques?|retirada|amount|value|withdraw\\w*|payout)"
const least =
  "(?:minim\\w*|at least|(?:pelo|ao|muito|a) (?:menos|baixo|pequeno|partir)|(?:baixo|pequeno) demais|maior ou igual|greater than or equal|menor|inferior|abaixo|below|less than|under|lower|small|start at|too (?:low|small))"

/** The causes, in the order in which their words are tested. */
export const withdrawalCauses: Readonly<Record<WithdrawalCause, Entry>> = {
  InsufficientBalance: {
    words: anyOf(
      `\\b${funds}\\b[^.;:\\n]{0,40}\\b(?:insuf\\w*|indispon\\w*|menor|inferior|abaixo|lower|less|low|zerad\\w*|negativ\\w*|esgotad\\w*|nao|not|exceed\\w*)\\b`,
      `\\b(?:insuf\\w*|nao|not|t|sem|no|low|lack|out|falta|exced\\w*|ultrapass\\w*|maior|superior|acima|supera|exceed\\w*|above|greater|higher|more)\\b[^.;:\\n]{0,25}\\b${funds}\\b|overdra[wf]`
    ),
    error: (fields) => new InsufficientBalance(fields)
  },
  NoPixKey: {
    words: anyOf(
      `\\b(?:nenhuma?|sem|nao|no|not|without|missing|falta|could|must|please|inform\\w*|cadastr\\w*|configur\\w*|regist\\w*|provide|add|adicione|defina|necess\\w*|preciso)\\b[^.;:\\n]{0,25}\\b${pixKey}\\b`,
      `\\b${pixKey}\\b[^.;:\\n]{0,35}\\b(?:nao|not|no|required|missing|null|obrigat\\w*|ausente|necess\\w*|inexistente|pendente|unavailable|must|should)\\b`
    ),
    error: (fields, request) => (request.pixKey === undefined ? new NoPixKey(fields) : undefined)
  },
  BelowMinimum: {
    words: anyOf(
      "below (?:the )?minimum|\\bmin amount",
      `\\b${amount}\\b[^.;:\\n]{0,30}\\b${least}\\b`,
      `\\b${least}\\b[^.;:\\n]{0,25}\\b(?:${amount}|r\\$|\\d[\\d.,]*\\b(?! (?!reais|brl|centavos|cents)[a-z]))`
    ),
    error: (fields, request) => new BelowMinimum({ ...fields, amount: request.amount, minimum: minimumWithdrawal })
  }
}

/** The names of the causes. */
export const causeNames = Struct.keys(withdrawalCauses)

export const isWithdrawalCause = (cause: string): cause is WithdrawalCause => Object.hasOwn(withdrawalCauses, cause)

/** The first cause that folded words name. */
export const causeOf = (words: string): WithdrawalCause | undefined =>
  causeNames.find((cause) => withdrawalCauses[cause].words.test(words))
