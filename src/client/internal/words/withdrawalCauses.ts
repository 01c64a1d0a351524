/**
 * The causes of a refused withdrawal, but for limits (`limits.ts`): for each, the sentences that name it.
 *
 * A cause is named only by a sentence that is about nothing else: it has the words of the cause, and every other word of it
 * is one that any refused withdrawal may have. A wrong cause is worse than none.
 */
import * as Struct from "effect/Struct"
import { anyOf, type Finder } from "./alternatives.ts"
import type { WithdrawalRefusal } from "../../../contract/PaymentsError.ts"

export type WithdrawalCause = WithdrawalRefusal["_tag"]

interface Entry {
  /** Finds the cause in a folded sentence. */
  readonly says: Finder
  /** Finds what the same words mean if they are not the cause. */
  readonly unless?: RegExp
  /** Every other word that the sentence may have, beside `common`. */
  readonly words: RegExp
}

const oneOf = (...words: ReadonlyArray<string>) => new RegExp(`^(?:${words.join("|")})$`)

/** Words that are about no cause. */
const common = oneOf(
  "o|a|os|as|um|uma|ao|do|da|de|dos|das|em|no|na|para|pra|por|pelo|com|e|que|seu|sua|este|esta|esse|essa|desta?|deste|nest[ae]|voce|foi|sao|ser|nao|ha|tem|possui|existe\\w*|pode|possivel|devido",
  "saques?|sacar|retiradas?|transferencias?|transferir|transac\\w*|operac\\w*|pagamentos?|pix|contas?|empresa|valor|montante|quantia|realiz\\w*|efetu\\w*|conclu\\w*|complet\\w*|process\\w*|execut\\w*|solicit\\w*|pedid\\w*|requisi\\w*|faz\\w*|autorizad\\w*|recusad\\w*|negad\\w*|rejeitad\\w*|falh\\w*|erro|motivo|desejad\\w*|tente|novamente|favor|pois|porque",
  "the|an|at|this|that|your?|you|its?|for|to|of|in|on|is|are|was|were|be|been|has|have|does|do|did|not|cannot|dont|doesnt|isnt|arent|hasnt|there|please|try|again|than|by|with|because|due|request\\w*|accounts?|company|amount|value|withdraw\\w*|payouts?|transfers?|transactions?|payments?|operations?|make|perform\\w*|reject\\w*|refused|declined|denied|failed|error|reason",
  "we|our|could|unable|err|ops|r|brl|reais|real|centavos|\\d+|e\\d+"
)

const gap = "(?:[^.,:;!?]|[.,]\\d){0,40}?"
/** Determiners and adjectives. */
const few =
  "(?:(?:an?|any|the|your|registered|default|um|uma|sua|nenhuma?|qualquer|mais|available|current|account|disponivel|de|of) ){0,2}"
const funds =
  "(?:saldos?|fundos?|recursos financeiros|dinheiro|balance(?! (?:account|transfer|transaction|operation|request|payment)s?\\b)|funds|money)"
const amount =
  "(?:valor|montante|quantia|saque|sacar|retirada|transferencia|pagamento|amount|value|withdraw(?:al)?|payout|transfer|payment)"
const asked = `(?:${amount}|request\\w*|solicitad\\w*|pedid\\w*|it)`
const pixKey = "(?:chaves? pix|pix ?keys?|chave (?:pix )?padrao)"
const not = "(?:nao|not|dont|doesnt|isnt|arent|hasnt|cannot)"
const start = `(?:^|[.:;!?] ?)${few}(?:company |empresa )?`
const figure =
  "(?:(?:r\\$|brl) ?\\d[\\d.,]*|\\d[\\d.,]* (?:reais|brl|centavos|cents)|\\d[\\d.,]{2,}\\b(?! [a-z]{3,}s\\b)|dez reais)"
const minimum = "(?:minim\\w*|min)"
const less = "(?:menor|menos|inferior|abaixo|below|less|lower|under|smaller)"
const more =
  "(?:maior|mais do que|superior|acima|exced\\w*|ultrapass\\w*|supera\\w*|exceed\\w*|greater|higher|larger|more|above)"

/** The causes, in the order in which their sentences are tested. */
const withdrawalCauses: Readonly<Record<Exclude<WithdrawalCause, "LimitReached">, Entry>> = {
  InsufficientBalance: {
    says: anyOf(
      `\\b${funds}\\b(?:(?!\\b${not}\\b)[^.;!?]){0,40}\\b(?:insuf\\w*|zerad\\w*|negativ\\w*|esgotad\\w*|acabou|acabaram|empty|too low|baixo)\\b|\\binsuf\\w*${gap}\\b${funds}\\b|\\b(?:sem|falta\\w*|ausencia|lack\\w*|low|out|zero) ${few}${funds}\\b|\\bno ${few}(?:balance|funds|money)\\b(?! (?:(?:account|transfer)s?|was|were)\\b)`,
      `\\b${not}\\b${gap}\\b(?:suficien\\w*|enough|sufficient)\\b${gap}\\b${funds}\\b|\\b${funds}\\b${gap}\\b${not}\\b${gap}\\b(?:suficien\\w*|enough|sufficient|cobr\\w*|cover\\w*)\\b|\\bnao (?:ha|tem|possui|existem?|dispoe|temos) ${few}${funds}\\b|\\b(?:not|dont|doesnt) have ${few}${funds}\\b`,
      `\\b${funds}\\b${gap}\\b${less}\\b${gap}\\b${asked}\\b|\\b${more}\\b${gap}\\b${funds}\\b|\\boverdra\\w*|\\bnsf\\b`
    ),
    words: oneOf(
      `${funds}|financeiros|insuf\\w*|suficien\\w*|sufficient|enough|sem|falta\\w*|ausencia|zerad\\w*|zero|negativ\\w*|esgotad\\w*|acabou|acabaram|empty|low|baixo|too|lack\\w*|out|no|any|temos|dispoe|cobr\\w*|cover\\w*|overdra\\w*|nsf|carteira|wallet|corrente|origem|quer|mais|momento|tarde|tentou|disponive\\w*|available|availability|atual|current|atualmente|currently|necessari\\w*|${less}|${more}|left|credit`
    )
  },
  NoPixKey: {
    says: anyOf(
      `\\b(?:nenhuma|sem|falta\\w*|ausencia de|nao (?:ha|existem?|possui|tem|temos|(?:foi |foram )?(?:encontr|localiz|inform|cadastr|regist|defin|configur)\\w*)|cadastrou|cadastre|defina|adicione|configure|registre|informe) ${few}(?:${pixKey}|chave cadastrada)\\b|\\b(?:no|without|missing|lacks?|${not} (?:find|have|provide\\w*|regist\\w*|set)|register|add|provide|set up) ${few}${pixKey}\\b`,
      `${start}${pixKey}\\b${gap}\\b(?:${not}|nem) (?:\\w+ ){0,2}(?:inform|cadastr|encontr|localiz|regist|configur|defin|vincul|associ|provid|found|set|null|specif|sent|given|enviad)\\w*|${start}${pixKey}\\b${gap}\\b(?:obrigat\\w*|required|missing|ausente|necess\\w*|inexistente|null|mandatory|needed)\\b|\\bmissing pix`
    ),
    // A key that the request held, or a bank that did not find it.
    unless: new RegExp(`(?<!nenhuma |sem |no )${pixKey} (?:informad|given|provided|sent)|\\bbank\\b(?! account)`),
    words: oneOf(
      "chaves?|pixkeys?|keys?|nenhuma|sem|falta\\w*|ausencia|inform\\w*|cadastr\\w*|encontr\\w*|localiz\\w*|regist\\w*|configur\\w*|defin\\w*|vinculad\\w*|associad\\w*|adicione|obrigat\\w*|ausente|necess\\w*|inexistente|padrao|bancaria|antes|ainda|temos|nem|no|any|without|missing|lacks?|found|find|provided?|set|up|null|must|specif\\w*|sent|given|add|required|mandatory|needed|could|couldn|couldnt|hasnt|file|bank|default|companys|when|before|yet"
    )
  },
  BelowMinimum: {
    says: anyOf(
      `\\b(?:${amount}|${less})\\b${gap}\\b${minimum}\\b|\\b${minimum} (?:(?:de|do|da|para|por|of|for|an?|o|the|to) ){0,2}${amount}\\b|\\b${minimum}\\b${gap}${figure}|\\b${less} (?:(?:do|que|ao|than|the|what|o|is) ){0,3}(?:${amount} )?(?:permitid\\w*|allowed)\\b`,
      `\\b${amount}\\b${gap}\\b(?:too (?:low|small)|muito (?:baixo|pequeno)|(?:baixo|pequeno) demais)\\b|\\b(?:nao|not|cannot) (?!is |e )(?:\\w+ ){0,2}${less}\\b${gap}${figure}`,
      `\\b(?:deve|must|should|precisa) (?:\\w+ ){0,2}(?:maior|superior|acima|greater|higher|above|more)\\b${gap}${figure}|\\b(?:at least|pelo menos|a partir de)\\b${gap}${figure}(?![^;!?]*\\b(?:nao|not|recus|rejei|reject|refus|decl|deni))|\\b(?:menor|smallest|least|lowest) ${amount}\\b${gap}${figure}`
    ),
    // A ceiling: the amount must be less, or not more; or what the account has to hold.
    unless:
      /(?<!\b(?:nao|not) )\b(?:deve\w*|precisa\w*|tem que|pode\w*|must|should|needs?|has|have|can|may)\b(?! not\b)[^.;!?]{0,30}\b(?:menor|menos|inferior|abaixo|below|less|lower|under|smaller)\b|\b(?:nao|not|cannot)\b[^.;!?]{0,30}\b(?:maior|superior|acima|greater|higher|above|more|tem|possui|have)\b/,
    words: oneOf(
      `${minimum}|${less}|maior|superior|acima|greater|higher|above|more|igual|equal|or|ou|least|menos|pelo|partir|menor|smallest|lowest|too|low|small|muito|baixo|pequeno|demais|deve\\w*|must|should|precisa|permitid\\w*|allowed|inform\\w*|meets?|atingi\\w*|so|only|dez|cents|cada`
    )
  }
}

export const isWithdrawalCause = (cause: string): cause is WithdrawalCause =>
  cause === "LimitReached" || Object.hasOwn(withdrawalCauses, cause)

/** A text that is longer, or that has a date, a time or a percentage, is about more than one thing. */
const isSentence = (text: string) => text.length <= 200 && !/\d(?:[/:%]|h\b|-\d)/.test(text)

/** The cause that folded words name, if a text of them is one sentence that is about nothing else. */
export const causeOf = (words: string): WithdrawalCause | undefined => {
  const sentences = words
    .replaceAll(/['\u2019]/g, "")
    .split("\n")
    .filter(isSentence)
  return Struct.keys(withdrawalCauses).find((name) => {
    const { says, unless, words: own } = withdrawalCauses[name]
    const isPlain = (text: string) => (text.match(/[\p{L}\p{N}]+/gu) ?? []).every((w) => common.test(w) || own.test(w))
    return sentences.some((text) => says.test(text) && unless?.test(text) !== true && isPlain(text))
  })
}
