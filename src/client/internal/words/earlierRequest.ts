/**
 * Tests whether the words of a refusal are about an earlier request. They decide an outcome only in two cases (see
 * `error.ts`). In doubt they count as a match: a wrong match costs the caller one repetition.
 */

const request =
  "(?:request|requisic|solicitac|pedido|saque|retirada|transac|transfer|pagamento|payment|payout|operac|operation|withdraw|ordem|order|lancamento|cobranca|charge|pix)\\w{0,12}"
/** What is paid out, as the beginning of a word. */
const payment = "(?:saque|retirada|transferencia|pagamento|withdrawal|payout|payment)"
const identifier =
  "(?:chave|key|ids?|identific\\w{0,12}|identifier|referenc\\w{0,12}|uuid|txid|nonce|external ?id|correlation ?id|numero|codigo|reference)"
/** Words about duplication. They count for every write, since a transport, a proxy or a wrapped client may have repeated a request. */
const duplication = /duplic|\breplay/

/** Words about an idempotency key that is missing or malformed. They do not match if the words also say "asked before". */
const wrongKey =
  /(?:missing|\b(?:inform[ea]|envie|forneca|inclua|provide|send|set|include)) (?:\w+ ){0,3}idempot|idempot\w{0,10}[^.;]{0,40}(?:required|obrigator|missing|ausente|invalid|must|deve\b|informad|empty|vazi|too long)/

/** Expressions that say that a request was made before, or is still being processed. */
const askedBefore = [
  "\\bdup(?!l[oa] (?:aprova|autentic|autoriz|checa|fator|verific|custod|valid|confirm))\\w{0,3}\\b|repeti[dc]|repeat(?:ed)?\\b|replicad|reutiliz|re ?us[eo]d?\\b|reenviad|\\breenvios?\\b(?! d[oae]s? (?:codigo|token|sms|e ?mail|document|link|senha|convite))|\\bresent|resubmi(?:tted|ssion)|retried|retransmi|retentativa|\\b(?:retry|resend|re send|resending) (?:was )?detected|detected (?:a )?(?:retry|resend)",
  "\\btwice\\b|\\bduas vezes\\b|em dobro|double (?:sub|spend|pay|charg)",
  "conflit|conflict|collision|colisao|concorren|concurren|simultan|parallel|paralel",
  "\\b(?:ja|already|previously|anteriormente|previamente)\\b(?! (?:esta |is |foi |been )?(?:cancel|expir|encerr|bloque|venc|atingi|inativ|closed|blocked|disabled|reached))",
  "\\b(?:em|in|under|sob) (?:process(?:\\b(?! of)|amento|ing)|andamento|progress\\w*|flight|execucao|execution|curso|(?:\\w+ )?fila|queue|transit\\w*|motion|liquidacao|compensacao|tramitac\\w*)",
  "\\b(?:being|sendo|still|ainda|currently|getting) (?:being )?(?:process|execut|handl|tratad|sent|settled|enviad|criad|liquidad|analisad|reviewed|outstanding|open|running)|\\b(?:still|ainda) (?:working|trabalhando)",
  "processing(?![_ ](?:error|fee|fail))|processando|in ?flight|inprogress|underway|ongoing|unfinished|queued|enfileirad|\\b(?:na|in the) (?:fila|queue)\\b",
  "\\b(?:ainda|still|yet) (?:nao|not) |\\b(?:nao|not) (?:(?:is |esta )?(?:complete\\w*|conclu\\w*)|(?:foi |was |is |esta )?(?:yet|ainda|finaliz\\w*|termin\\w*|finished))\\b",
  "\\b(?:pendentes?|pending|aguardando|awaiting|waiting(?! (?:period|time|list))|outstanding|unresolved)\\b",
  `(?:open|abert[oa]|existing|ativ[oa]|active|current) ${request}|${request} (?:(?!nao|not)\\w+ ){0,2}(?:open\\b(?! (?:at|from|only|between|on)\\b)|(?:em )?abert[oa]s?\\b(?! (?:d[aeo]s?|entre|a partir|apenas|somente|so)\\b)|ativ[oa]s?\\b|em analise|under review)`,
  `\\b(?:exist\\w*|ha|has|have|possui|tem|consta|there (?:is|was)) (?:um|uma|outr[oa]|an?|another|one) (?:\\w+ )?${request}|\\b(?:existem?|ha|constam?) (?:\\d+ )?${payment}`,
  `${request} (?:\\w+ )?(?:exist\\w*|(?:com|for|with) (?:este|esse|esta|essa|o mesmo|a mesma|this|that|the same)\\b(?! (?:account|conta|company|empresa)))`,
  `${identifier} (?:\\w+ ){0,4}(?:usad|utilizad|used|exist|taken|em uso|in use|registrad|consumid|consumed|process)`,
  `(?:identific\\w{0,12}|identifiers?|\\bids?|uuid|txid|nonce|referenc\\w{0,12}|external ?id|correlation ?id) (?:\\w+ ){0,3}(?:(?:nao|not|no longer) (?:\\w+ )?(?:disponive\\w*|available|livre|free|vago|vacant)|indisponive\\w*|unavailable|ocupad|occupied|em uso)`,
  `(?:same|mesm[oa]|identic\\w*|igual|similar|semelhante|equal) (?:\\w+ ){0,3}(?:${request}|${identifier}|payload|body|param\\w*|valor|amount|dados)`,
  `${request} (?:\\w+ )?(?:identic|igual|similar|semelhante|original|anterior|previa|previous)`,
  "(?:modified|altered|changed|edited|alterad[oa]|modificad[oa]|divergente) (?:\\w+ )?(?:request|payload|body|content)|(?:request|requisic\\w*|solicitac\\w*|pedido|payload|body|corpo|conteudo|content|parametros|parameters) (?:\\w+ ){0,3}(?:modified|altered|changed|mismatch|alterad|modificad|diverg|diferente|differ|(?:nao|not) (?:\\w+ )?(?:confere|coincid|correspond|match|corresponde))",
  "(?:different|diferente|other|outr[oa])s? (?:payload|body|param|request|conteudo|corpo|dados|identific)",
  "\\bunique\\b|unicidade|\\bunic[oa]\\b|\\block(?:ed)?\\b|\\bin use\\b|em uso|sqlstate ?\\W?23[05]|restric\\w* (?:de )?(?:exclusiv|integridade|unicidade)|\\b(?:primary key|chave primaria)\\b(?! (?:nao|not|is))|integrity constraint|\\bora ?0*1\\b|\\be11000\\b|violad?\\w* (?:\\w+ )?(?:restric|constraint|indice|index)",
  `(?:another|outr[oa]|previous|anterior|earlier|original|first|last|primeir[oa]|ultim[oa]|most recent) (?:${request}|attempt|tentativa|process|call)(?! method)`,
  `(?:nov[oa]|new|outr[oa]|another|mais um|uma) ${request} (?:\\w+ ){0,3}(?:enquanto|while|until|ate que|ate a|as long as|when there|se (?:ja )?(?:houver|existir))|(?:enquanto|while|until|ate que|as long as) (?:\\w+ ){0,4}(?:outr[oa]|another|anterior|previous|existing|em analise|under review|em aberto)|(?:enquanto|while) (?:(?:o|a|uma?|an?|the|your|seu|sua|this|este|esta|current) ){0,2}${payment}`,
  `(?:saque|retirada|transferencia|pagamento|pix|withdrawal|payout|transfer|payment) (?:\\w+ ){0,2}(?:agendad[oa]|programad[oa]|scheduled)\\b(?! (?:nao|not|is not|must|deve))|\\b(?:scheduled|queued|pending) (?:withdrawal|payout|transfer|payment)\\b`,
  "\\b(?:one|uma?|only|apenas|so|\\d) [^.;:]{0,30}(?:at a time|por vez|one time|uma vez|once)\\b",
  "\\b(?:aguarde|wait|aguardar)\\b[^.;]{0,40}(?:conclu|finish|complet|finaliz|process|anterior|previous|resultado|result)",
  "\\b(?:recebemos|processamos|registramos|enviamos|pagamos)\\b|\\bwe\\W(?:\\w+ )?(?:received|seen)\\b",
  `${request} (?:(?:has|have|was|were|is|foi|been|esta|consta|como|a) ){0,3}(?:process|realizad|efetu|efetivad|executad|executed|solicitad|enviad|sent\\b|submitted|pag[oa]\\b|paid|received|recebid|registrad|registered|accepted\\b(?! only)|aceit[oa]\\b(?! (?:apenas|somente|so)\\b)|conclu|complet|created|started|made|liquidad|settled)`,
  `\\b(?:accepted|registered|recorded|requested|aceit[oa]|registrad[oa]|cadastrad[oa]) (?:\\w+ )?(?:before|earlier|antes|anteriormente)\\b`
].map((expression) => new RegExp(expression))

/** What an account, a limit or a key may be blocked for: then the words are about it. */
const moved = `(?:${payment}|operac|operation|transac)`
const account = `(?:conta|account|cadastro|empresa|company|document\\w*|e[ -]?mail|cpf|cnpj|phone|telefone|kyc|saldo|balance|cliente|customer|usuario|user|chave pix|pix key|limite?(?![^.;:,\\n]*\\b(?:${moved}|solicitac|pedido|request))|manutencao|maintenance|verification|verificacao|approval|aprovacao)`

/** Clauses that are not about an earlier request: they deny one, name an error, or are about an account. */
const unrelated = new RegExp(
  [
    "\\b(?:nao|not|no|sem|doesn t|does not|cannot|don t|nenhum\\w*) (?:\\w+ ){0,2}(?:exist|found|encontrad|localizad|registrad|cadastrad|ha |has|have|possui|tem|duplic|taken)\\w*[^.;:,\\n]*",
    "\\b(?:error|erro|fail\\w*|falha|unable|while|when) (?:\\w+ ){0,2}process\\w*|processing (?:\\w+ ){0,2}(?:fee|error|fail|unavailable|time)\\w*",
    `\\b${account}\\b(?:(?!\\b${moved})[^.;:,\\n]){0,25}\\b(?:pend\\w*|em analise|in analysis|under review|being reviewed|ja|already|bloque\\w*|locked|em processo|em andamento|in progress|em liquidacao|awaiting|aguardando|(?:ainda|still|yet) (?:nao|not)|(?:nao|not) (?:\\w+ )?(?:yet|ainda|conclu\\w*|complet\\w*|finaliz\\w*))(?:(?!\\b(?:${moved}|enquanto|while))[^.;:,\\n])*`,
    `\\b(?:pend\\w*|awaiting|aguardando) (?:\\w+ ){0,2}${account}`,
    "\\b(?:(?:ainda|still|yet) (?:nao|not)|not yet|nao ainda) (?:(?:foi|has|have|is|esta) )?(?:been )?(?:cadastr|acab|valid|verific|habilit|ativ|elaps|regist|configur|expir|suport|support|dispon|avail|permit|implement|libera|releas|activ|enabl)\\w*|\\b(?:em|in) process\\w* (?:de|of) (?:portab|reivind|abertura|cadastr|valid|verific)\\w*|\\b(?:status|estado|state) (?:\\w+ )?(?:must|should|deve\\w*)[^;\\n]*|\\b(?:must|should|deve\\w*) (?:be|ser) (?:one|um|uma) (?:of|de|dos|das)\\b[^;\\n]*|plain http request was sent[^.;\\n]*"
  ].join("|"),
  "g"
)

/** Whether folded words are about idempotency or duplication. */
export const isAboutDuplication = (words: string): boolean =>
  duplication.test(words) || (words.includes("idempot") && (!wrongKey.test(words) || isAskedBefore(words)))

/** Whether folded words may say that a request was made before, or is still being processed. */
export const isAskedBefore = (words: string): boolean => {
  const rest = words.replaceAll(unrelated, " ")
  return askedBefore.some((expression) => expression.test(rest))
}
