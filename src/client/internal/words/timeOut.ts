/**
 * Tests whether the words of a refusal say that time ran out behind the service: that a communication timed out, or that a
 * provider, a bank or another system did not answer. What was sent to it may have been executed.
 */

/** A system behind the service, or a connection to one. */
const system =
  /\b(?:prove(?:dor|doras?|dores)|providers?|psps?|spi|dict|bacen|bancos?|banks?|bancari[oa]|banking|instituic\w*|institution|upstream|downstream|back ?end|servidor\w*|servers?|servicos?|services?|sistemas?|systems?|api|gateway|parceir\w*|partners?|adquirente|acquirer|process(?:ador\w*|ors?)|integrac\w*|integration|terceiros?|third party|host|rede|network|conex\w*|connections?|comunica\w*|communicat\w*|core|liquidante|emissor|issuer|socket|proxy|remot[eoa]|peer|plataforma|platform|participante|camara|correspondente)\b/

const over = "(?:esgot|exced|expir|ultrapass|estour|atingi|acab)\\w*"
/** Up to the words that say that the time is over, without a word that denies it. */
const undenied = "(?:(?!\\b(?:nao|not)\\b)[^.;\\n]){0,50}"
const silence =
  "(?:\\bno (?:\\w+ )?(?:response|reply|answer)|\\b(?:nao|not|never|sem|without|didn.?t|doesn.?t|isn.?t|failed to|nenhuma?|nem|falta de|ausencia de|deixou de|parou de|stopped)\\b(?! (?:aceita|permite|accept|allow))[^.;\\n]{0,40}\\b(?:respost\\w*|respond\\w*|response|retorn\\w*|repl(?:y|ied)|answer\\w*)|\\brespo(?:sta|nse)\\b[^.;\\n]{0,30}\\b(?:nao|not|never)\\b[^.;\\n]{0,20}\\b(?:receb|receiv|obtid|arriv|cheg)\\w*)"
const inTime =
  "(?:\\ba tempo\\b|\\btempo habil\\b|\\b(?:em|no|dentro do) tempo\\b|\\bin time\\b|\\bwithin\\b|\\btimely\\b|\\bsegundos\\b|\\bseconds\\b)"

/** Words for time that ran out. */
const timedOut = new RegExp(
  [
    "time[ -]?outs?\\b|timeout|\\btim(?:ed|es|ing)[ -]?out|timedout|context deadline exceeded",
    `\\b(?:tempo|prazo de (?:resposta|retorno|espera|comunicacao|conexao))\\b(?! (?:\\w+ ){0,2}para\\b)${undenied}\\b${over}|\\b${over} (?:\\w+ ){0,3}tempo\\b(?! (?:\\w+ )?para\\b)`,
    `\\btime ?limit\\b(?! (?:for|to)\\b)${undenied}\\b(?:exceed|expir|reach|elaps)|\\bexceed\\w*[^.;\\n]{0,30}\\btime ?limit\\b(?! (?:for|to)\\b)`,
    `\\b(?:response|wait|waiting|processing|execution) time\\b${undenied}\\b(?:exceed|expir|elaps|ran out)|\\bexceed\\w*[^.;\\n]{0,30}\\b(?:response|wait|waiting|processing|execution) time`,
    `\\b(?:conex\\w*|comunicac\\w*|connection)\\b[^.;\\n]{0,40}\\b(?:expirou|expirada|expired)\\b|\\bpor tempo de (?:resposta|espera)|\\b(?:exced|ultrapass)\\w* (?:\\w+ ){0,2}\\d+ ?(?:ms|s|seg\\w*|sec\\w*)\\b|\\btook too long to (?:respond|answer|reply|complete|process)|\\btime (?:has |had )?(?:ran out|run out|elapsed|expired)|\\bran out of time`,
    `(?:${silence}|\\b(?:nao|not)\\b[^.;\\n]{0,30}\\b(?:confirm|receb|receiv)\\w*)[^.;\\n]{0,40}${inTime}`
  ].join("|")
)

/** Words for silence or for a long wait. They count only beside a system. */
const silent = new RegExp(
  `${silence}|unresponsive|deadline exceeded|\\bdemor(?:ou|a|ando)\\b|\\b(?:took|taking|takes) (?:too|so|very) long|\\bwaited too long`
)

/** What a person, or this request's sender, lets run out. */
const ofCaller =
  /\b(?:codigos?|codes?|qr|cobranca|charge|fatura|invoice|boleto|link|convite|invit\w*|aprova\w*|approv\w*|confirm\w*|verif\w*|contesta\w*|disput\w*|devoluc\w*|refunds?|estornos?|agenda\w*|schedul\w*|janela|window|horarios?|prazo|(?<!context )deadline|campos?|fields?|parametros?|parameters?|deve\w*|must|should|between|entre|invalid\w*|webhook|usuario|user|clientes?|customers?|you|your|voce|titular|pagador|payer|document\w*|biometr\w*|credenc\w*|credentials?|certific\w*|chaves?|keys?|assinatura|signature|rate|tentativas?|attempts?|cotacao|quote|proposta|oferta|offer|cadastro|autoriz\w*|authoriz\w*|inatividade|inactivity|idle)\b/
/** What a person logs in with. */
export const session =
  /\b(?:sess(?:ao|oes|ions?)(?! (?:tcp|tls|ssl|http))|tokens?|otp|senha|password|pin|2fa|mfa|autentic\w*|authentic\w*|log ?in)\b/

/** Whether folded words say that time ran out behind the service. */
export const isTimedOut = (words: string): boolean =>
  words.split(/[.;!?\n]/).some((sentence) => {
    if (session.test(sentence)) return false
    if (!system.test(sentence)) return timedOut.test(sentence) && !ofCaller.test(sentence)
    return timedOut.test(sentence) || silent.test(sentence)
  })
