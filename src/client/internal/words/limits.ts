/**
 * Tests whether the words of a refused withdrawal name a limit of the account that ends with time or by a person: of the day,
 * of the night, of how often, of look-ups; or an account that is blocked or suspended.
 *
 * A limit counts only if no word speaks of a withdrawal that exists, is pending, is running or is scheduled: such words may be
 * about an earlier request with the same key.
 */
import { anyOf, group } from "./alternatives.ts"
import { isAboutDuplication, isAskedBefore } from "./earlierRequest.ts"

const payments = group(
  "saques?|sacar|retiradas?|transferencias?|transferir|transac(?:ao|oes)|pagamentos?|operac(?:ao|oes)|pix|envios?",
  "withdrawals?|withdraw|payouts?|transfers?|transactions?|payments?|operations?|cash ?outs?"
)
const lookUps = "(?:consultas?|pesquisas?|buscas?|look ?ups?|queries|chaves?|alias(?:es)?|dict)"
const requests = "(?:requisic(?:ao|oes)|requests?|chamadas?|calls?|solicitac(?:ao|oes)|acessos?)"
const limit = "(?:limites?|limits?|teto|cotas?|quotas?|franquia|allowances?|caps?|maximo|maxima|maximum)"
const over = group(
  "exced\\w*|ultrapass\\w*|estour\\w*|atingi\\w*|esgot\\w*|supera\\w*|extrapol\\w*|alcanc\\w*|consumid\\w*",
  "utilizad\\w*|insuficiente|indisponivel|acima|maior|exceed\\w*|reach\\w*|hit|over|surpass\\w*|exhaust\\w*|above",
  "used up|used|depleted|insufficient|greater|higher|more than|sem|fora|outside|restante|remaining|disponivel",
  "available|nao permit\\w*|not allowed"
)
const period = group(
  "diari[oa]s?|dia|dias|hoje|amanha|daily|days?|today|tomorrow|per day|24 ?h\\w*|noturn[oa]s?|noite|madrugada",
  "night\\w*|overnight|nocturnal|semana\\w*|week\\w*|mensa\\w*|mes|month\\w*|hora|horas|horari[oa]s?|hour\\w*",
  "minutos?|minutes?|segundos?|seconds?|period\\w*|velocity|velocidade|frequen\\w*|rate"
)
const near = "(?:[^.;!?\\n]|[.]\\d){0,50}?"
const time =
  "(?:\\d+|alguns|algumas|uns|poucos|some|a few|few|um|uma|one|an?|dois|duas|cinco|dez|trinta|thirty|ten|five) ?(?:ms|s|seg\\w*|sec\\w*|min\\w*|m|h|hora\\w*|hour\\w*|instantes?|moments?|dias?|days?)\\b"

/** A limit over time, and how often something may be done. */
const ofTime = anyOf(
  `\\b${limit}\\b${near}\\b${period}\\b|\\b${period} (?:\\w+ ){0,3}?${limit}\\b`,
  `\\b${limit} (?:de |of |da |do |para |for |on |the |por |quantidade |numero |number |permitid[oa]s? |maxim[oa] ){0,4}(?:${payments}|${lookUps})\\b${near}\\b${over}\\b`,
  `\\b${over}\\b${near}\\b${limit} (?:de |of |da |do |para |for |on |the |quantidade |numero |number ){0,4}(?:${payments}|${lookUps})\\b`,
  `\\b(?:${payments}|${lookUps}) (?:\\w+ )?${limit}\\b(?: \\w+){0,3} ${over}`,
  `\\b${over} (?:\\w+ ){0,4}?(?:${payments}|${lookUps}) ${limit}\\b`,
  `\\b(?:numero|quantidade|qtd|number|count|volume) (?:maxim[oa]|limite|permitid[oa]|diari[oa])?(?: ?(?:de|of|total de|daily|allowed|maximum)){0,3} ?(?:${payments}|${lookUps})\\b${near}\\b${over}\\b`,
  `\\b${over}\\b${near}\\b(?:numero|quantidade|number|volume) (?:\\w+ ){0,3}?(?:${payments}|${lookUps})\\b`,
  `\\b(?:maximum|max|max\\.|maxim[oa]) (?:(?:number|numero|amount|quantidade|volume) )?(?:of |de )?\\d* ?(?:${payments}|${lookUps})\\b(?: \\w+){0,3} ${over}`,
  `\\b(?:too many|muit[oa]s|excesso de|demasiad[oa]s|excessive|so many) (?:\\w+ ){0,2}?(?:${payments}|${lookUps})\\b`,
  `\\b(?:${payments}|${lookUps}) (?:em excesso|excessiv[oa]s|demais|too (?:often|frequent\\w*|quickly|soon))\\b`,
  "\\b(?:too (?:soon|frequent\\w*|often)|cedo demais|muito (?:cedo|frequente\\w*)|com muita frequencia|too fast|rapido demais|muito rapido)\\b",
  "\\b(?:limite|limit|teto|cota|quota|allowance)\\b (?:(?:da|de|do|of|your|sua|seu|the|conta|account|empresa|company|cliente|customer|operacional|transacional|disponivel|available|total|foi|was|has been|have been|been|is|esta|ja|already|pix|saque) ){0,6}(?:exced\\w*|ultrapass\\w*|atingi\\w*|esgot\\w*|estour\\w*|consumid\\w*|utilizad\\w*|insuficiente|exceeded|reached|exhausted|hit|surpassed|insufficient)\\b",
  "\\b(?:exced\\w*|ultrapass\\w*|atingi\\w*|esgot\\w*|estour\\w*|exceed\\w*|reached|exhausted|hit) (?:(?:o|seu|sua|the|your|da|do|its|their|de|of|account|conta|remaining|restante|disponivel|available|maximum|transfer|pix) ){0,4}(?:limites?|limits?|teto|cota|quota|allowance)\\b(?! (?:maxim[oa] )?(?:permitid|per |por |de valor))",
  "\\breach \\w+ limit\\b",
  "\\b(?:sem|no|without|nao (?:ha|possui|tem)|insufficient) (?:mais )?(?:limites?|limits?|teto|cota) (?:\\w+ )?(?:disponive\\w*|available|restante|remaining|left|suficiente|para|pix)\\b",
  "\\blimit ?(?:exceeded|reached|error)\\b|\\blimite ?(?:excedido|atingido)\\b",
  "\\b(?:exceed\\w*|excede\\w*) (?:\\w+ )?(?:daily|diari\\w*|nightly|noturn\\w*|weekly|monthly|mensal)\\b",
  `\\b\\b(?:daily|nightly|weekly|monthly|hourly|diari[oa]s?|noturn[oa]s?|mensal|semanal)\\b${near}\\b(?:exced\\w*|exceed\\w*|ultrapass\\w*|atingi\\w*|reach\\w*|esgot\\w*)`,
  "(?:limited|limitad[oa]s?|restrict\\w*|restrit[oa]s?) (?:a|to|ao) (?:r ?\\$ ?)?(?:\\d|um|uma|one|two|dois)",
  `\\b(?:frequenc\\w*|velocity|velocidade|rate)\\b${near}\\b${over}\\b`,
  `\\b(?:so|apenas|somente|only|no more than|at most|ate|up to)\\b${near}\\b(?:\\d+|um|uma|one|dois|duas|two|tres|three) ${payments} (?:por|per|a|an|each|ao|em cada|every) ${period}\\b`
)

/** When to ask again, which an outage may say as well. */
const ofRetries = anyOf(
  "\\b(?:tent\\w*|solicit\\w*|try|request|retry|repita) (?:\\w+ )?(?:novamente|de novo|again|outra vez)? ?(?:em|in|after|apos|daqui a|dentro de|within) \\d+ ?(?:s|seg\\w*|sec\\w*|min\\w*|h|hora\\w*|hour\\w*)\\b"
)
const ofOutage =
  /indispon|unavailab|manuten|maintenance|fora do ar|instab|busy|ocupad|sobrecarreg|overload|\berr|falh|fail/

/** A wait between two withdrawals, and hours in which none is made. */
const ofWaits = anyOf(
  `\\b(?:aguard\\w*|esper[ae]\\w*|wait)\\b${near}\\b(?:antes de|before|para|to)\\b${near}\\b(?:outr[oa]|nov[oa]|another|new|again|novamente)\\b`,
  `\\b(?:aguard\\w*|esper[ae]\\w*|wait|hold on|respeit\\w*|intervalo|interval|cool ?down|a cada|every|once per|uma vez por|um por|one per|apenas um|only one|so e possivel|somente)\\b${near}\\b${time}${near}(?:\\b(?:antes de|before|para|entre|between|ate|until|e tente|and try|para tentar|por ${payments}|${payments})\\b|$)`,
  `\\b${payments}\\b${near}\\b(?:a cada|every|once (?:every|per|a)|one (?:every|per)|em menos de|within|per|por)\\b ${time}`,
  `\\b(?:intervalo|interval|cool ?down|tempo|espera|carencia)\\b (?:minim[oa] |obrigatori[oa] |de espera |of |de |time |period ){0,3}(?:entre|between) (?:\\w+ ){0,2}?${payments}\\b`,
  "\\b(?:intervalo|interval) minim[oa]\\b|\\bminimum interval\\b|\\bcool ?down\\b",
  "\\b(?:fora|outside|after|apos|beyond) (?:d[oa]s? |of |the |our |de |allowed |permitted |transfer |withdrawal |payout |banking ){0,4}(?:janela|horari[oa]s?|expediente|business hours?|operating hours?|allowed hours?|permitted hours?|hours|window|(?:\\w+ )?window|dias? ute\\w*|business days?|banking hours?|cut ?off)\\b",
  `\\bhorari[oa]s? (?:\\w+ ){0,2}?(?:nao permitid\\w*|permitid[oa]s?|bancari[oa]|comercial|limite|de ${payments}|de funcionamento|de operacao|noturno|para ${payments}|encerrad[oa])`,
  "\\b(?:apenas|somente|only|so) (?:\\w+ ){0,2}?(?:em|nos?|das|entre|on|during|between|from|durante|de) (?:\\w+ ){0,2}?(?:dias? ute\\w*|business days?|weekdays|horari[oa] \\w+|business hours|\\d{1,2} ?(?:h|hs|horas|am|pm|:))",
  `\\b${payments}\\b${near}\\b(?:noturn[oa]s?|madrugada|a noite|at night|overnight|during the night|nighttime|apos as \\d|after \\d{1,2} ?(?:h|pm|p\\.m|:))`,
  "\\b(?:entre|between|das) (?:as )?\\d{1,2} ?(?:h\\w*|:\\d\\d|pm|am)? ?(?:e|and|as|to|ate|a) (?:as )?\\d{1,2} ?(?:h\\w*|:\\d\\d|am|pm)"
)

const holder = group(
  "contas?|accounts?|empresas?|company|companies|lojistas?|merchants?|sellers?|clientes?|customers?|usuarios?",
  "users?|cadastros?|carteiras?|wallets?|estabelecimentos?|titular|correntista|subcontas?|subaccounts?|perfil",
  "profile|organiza\\w*|tenant|cash ?outs?|saques|retiradas|transferencias|withdrawals|payouts|transfers"
)
const stopped = group(
  "bloque\\w*|bloqueio|suspens[oa]s?|suspend\\w*|suspension|congelad[oa]s?|frozen|freeze|block\\w*|lock(?:ed)?",
  "on hold|retid[oa]s?|restrit[oa]s?|restring\\w*|restricted|restric(?:ao|oes)|restriction|pausad[oa]s?|paused",
  "embargad[oa]|quarantin\\w*"
)
const unblocked = "(?:(?!\\b(?:nao|not|nem|never|nunca|sem)\\b)[^.;:!?\\n]){0,40}?"

/** An account that may not pay out for now. */
const ofAccounts = anyOf(
  `\\b${holder}\\b${unblocked}\\b${stopped}\\b`,
  `\\b${stopped}\\b (?:(?:d[aeo]s?|n[ao]s?|of|on|the|your|sua|seu|this|esta|a|o|temporari\\w*|preventiv\\w*|cautelar|judicial|med|by|por|placed|para|for|from|in) ){0,5}${holder}\\b`,
  "\\bbloqueio (?:\\w+ )?(?:cautelar|judicial|preventiv\\w*|med|administrativ\\w*|temporari\\w*)\\b",
  "\\bbloquead[oa] (?:por|pelo) (?:\\w+ )?(?:med|ordem judicial|compliance|seguranca|risco|fraude)\\b"
)

/** Limits of something else, whoever it is that is blocked, or a list of what it may be. */
const ofOthers = anyOf(
  "caracter\\w*|characters?|tamanho|\\bsize|length|comprimento|\\bcampos?\\b|\\bfields?\\b|descri\\w*|tempo limite",
  "limite de tempo|(?<!night[ -])\\btime ?limit|timeout|time ?out|deadline|\\bprazo|data limite|credito|credit\\b",
  "saldo|balance|arquivo|\\bfiles?\\b|payload|bytes?\\b|\\b[km]b\\b|\\bitens\\b|\\bitems\\b|memor\\w*|pagina",
  "\\bpage|metadata|webhook|\\bidade\\b|\\bage\\b|parcel\\w*|installment\\w*|gratuit\\w*|sem custo|\\bfree\\b|senha",
  "password|\\botp\\b|\\bpin\\b|\\btoken|\\blogin|sess(?:ao|ion)|codigo|\\bcodes?\\b|2fa|mfa|\\bapi ?key",
  "chave de api|\\bip\\b|endereco|address|cartao|\\bcard\\b|telefone|phone",
  "minim\\w* (?:de )?(?:volume|monthly|daily|mensal|diari)|timestamp|assinatura|signature|nonce|certificad\\w*",
  "certificate|cadastr\\w*|aprovac\\w*|approval|document\\w*|validac\\w*|favorecid\\w*|destin\\w*",
  "receb(?:edor|imento)\\w*|beneficiari\\w*|beneficiary|recipient|payee|receiver|creditor|credor|contraparte",
  "counterparty|indisponivel no|manutencao|maintenance|unavailable|fora do ar|instabilidade|busy|ocupado",
  "sobrecarreg\\w*|overload\\w*|aprovador\\w*|approver\\w*|score|\\bmust (?:be|have)|\\bdeve (?:ser|ter|conter)",
  "should (?:be|have)",
  "por (?:transac\\w*|operac\\w*|saque|transferencia|pagamento|pix)\\b(?! por| a cada| em )",
  "per[ -](?:transaction|operation|withdrawal|transfer|payout|payment)\\b|\\bunit\\w* limit",
  "cada (?:saque|transferencia|transacao)\\b"
)
/** What a sentence about an account may be about as well. */
const ofOtherAccounts =
  /favorecid|destin|receb(?:edor|imento)|beneficiar|recipient|payee|receiver|creditor|credor|contraparte|counterparty|chave pix|pix ?key|\bapi\b|\bip\b|user agent|cartao|\bcard\b|\b(?:nao|not|nunca|never|no longer) (?:\w+ ){0,2}(?:bloque|suspen|block|frozen|congel|restri)|pedido de bloqueio|desbloque|unblock/
/** A list of what the reason may be. */
const isEither = (sentence: string) =>
  /\b(?:ou|or)\b/.test(sentence) && /saldo|balance|funds|chave|key|invalid/.test(sentence)

/** That requests of any kind are too many: a 429 says it by its status. */
const ofRequests = anyOf(
  "\\brate ?limit|\\bthrottl",
  `\\b(?:too many|muit[oa]s|excesso de|limite de|excess of|number of|numero de|quantidade de) (?:\\w+ ){0,2}?${requests}\\b`,
  `\\b${requests} (?:limit|quota|em excesso|por|per)\\b`
)

const waiting = `(?:antes de|before|para|ate|until|to|entre|between|and|e)`
/** Words of a limit that are no words of a withdrawal that exists: "before another withdrawal", "has already been reached". */
const harmless = new RegExp(
  group(
    `\\b${waiting} (?:(?:de|a|solicit\\w*|ped\\w*|faz\\w*|realiz\\w*|efetu\\w*|request\\w*|mak\\w*|submit\\w*|ask\\w*|tent\\w*|try\\w*|creat\\w*|criar|enviar|send\\w*|iniciar|start\\w*|for|um|uma|an?|the|ao?) ){0,4}(?:outr[oa]s?|nov[oa]s?|another|new|next|proxim[oa]s?)\\b(?: ${payments}| ${requests}| tentativa| attempt)?`,
    "\\b(?:ja|already) (?:(?:foi|foram|was|were|been|has been|have been|esta|estao|is|are|o|a|seu|your|the|tod[oa]|fez|realizou|efetuou|made|used|usou|utilizou) ){0,4}(?:exced\\w*|ultrapass\\w*|esgot\\w*|atingi\\w*|consumi\\w*|alcanc\\w*|reached|exceeded|exhausted|hit|bloque\\w*|suspens\\w*|suspended|blocked|frozen|limit\\w*|numero|quantidade|number|maxim\\w*)",
    "\\b(?:limites?|limits?|teto|cota|quota|allowance)\\b[^.;:,!?\\n]{0,40}\\b(?:ja|already) (?:foi |was |been )?(?:utilizad|usad|used)\\w*",
    "\\b(?:ja|already) (?:utilizou|usou|used) (?:\\w+ ){0,3}(?:limite|limit|teto|cota|quota)\\w*",
    `\\b(?:limit\\w*|numero|quantidade|number|maxim\\w*|max)\\b (?:de |of |o |the )?(?:\\w+ )?\\d* ?${payments} (?:(?:foi|was|is|esta|has been) )?(?:atingid|exced|reach|permitid|allow|executad|realizad|per|por|diari|dia)\\w*`
  ),
  "g"
)

/** That a withdrawal is scheduled or was made last: words that alone make no conflict. */
const isThere = anyOf(
  "\\b(?:agendad[oa]s?|programad[oa]s?|scheduled|em espera|in line)\\b",
  `\\b(?:ultim[oa]s?|last|previous|anterior\\w*|most recent|existing|existente) (?:${payments}|${requests})`,
  `${payments} (?:anterior|existente|previo)`
)

const speaksOfOne = (words: string) =>
  isThere.test(words) || isAboutDuplication(words) || isAskedBefore(words.replaceAll(harmless, " "))

/** Whether folded words name a limit. `isRateLimit`: the status is 429, so that words about requests of any kind say no more. */
export const isLimited = (words: string, isRateLimit: boolean): boolean => {
  const isOfTime = (sentence: string) =>
    ofRequests.test(sentence)
      ? !isRateLimit
      : ofTime.test(sentence) || ofWaits.test(sentence) || (ofRetries.test(sentence) && !ofOutage.test(words))
  const says = (sentence: string) =>
    (ofAccounts.test(sentence) && !ofOtherAccounts.test(sentence) && !isEither(sentence)) ||
    (isOfTime(sentence) && !ofOthers.test(sentence))
  return words.split(/[.;!?](?!\d)|\n/).some(says) && !speaksOfOne(words)
}
