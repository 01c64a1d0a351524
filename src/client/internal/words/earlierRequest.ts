/**
 * Tests whether the words of a refusal are about an earlier request. They decide an outcome only in two cases (see
 * `error.ts`). In doubt they count as a match: a wrong match costs the caller one repetition.
 */

const request =
  "(?:request|requisic|solicitac|pedido|saque|retirada|transac|transfer|pagamento|payment|payout|operac|operation|withdraw|ordem|order|lancamento|cobranca|charge|pix)\\w{0,12}"
const identifier =
  "(?:chave|key|ids?|identific\\w{0,12}|identifier|referenc\\w{0,12}|uuid|txid|nonce|external ?id|correlation ?id|numero|codigo|reference)"
/** Words about duplication. They count for every write, since a transport, a proxy or a wrapped client may have repeated a request. */
const duplication = /duplic|\breplay/

/** Words about an idempotency key that is missing or malformed. They do not match if the words also say "asked before". */
const wrongKey =
  /missing idempot|idempot\w{0,10}[^.;]{0,40}(?:required|obrigator|missing|ausente|invalid|must|deve\b|informad|empty|vazi|too long)/

/** Expressions that say that a request was made before, or is still being processed. */
const askedBefore = [
  "\\bdup\\w{0,3}\\b|repeti[dc]|repeat(?:ed)?\\b|replicad|reutiliz|re ?us[eo]d?\\b|reenviad|resent|resubmi|retried",
  "\\btwice\\b|\\bduas vezes\\b|em dobro|double (?:sub|spend|pay|charg)",
  "conflit|conflict|collision|colisao|concorren|concurren|simultan|parallel|paralel",
  "\\b(?:ja|already|previously|anteriormente|previamente)\\b(?! (?:esta |is |foi |been )?(?:cancel|expir|encerr|bloque|venc|atingi|inativ|closed|blocked|disabled|reached))",
  "\\b(?:em|in|under|sob) (?:process(?:\\b(?! of)|amento|ing)|andamento|progress\\w*|flight|execucao|execution|curso|(?:\\w+ )?fila|queue|transit\\w*|motion|liquidacao|compensacao|tramitac\\w*)",
  "\\b(?:being|sendo|still|ainda|currently|getting) (?:being )?(?:process|execut|handl|tratad|sent|settled|enviad|criad|liquidad|analisad|reviewed|outstanding|open|running)",
  "processing(?![_ ](?:error|fee|fail))|processando|in ?flight|inprogress|underway|ongoing|unfinished|queued|enfileirad",
  "\\b(?:ainda|still|yet) (?:nao|not) |\\b(?:nao|not) (?:foi |was |is |esta )?(?:yet|ainda|complete\\w*|conclu\\w*|finaliz\\w*|termin\\w*|finished)\\b",
  "\\b(?:pendente|pending|aguardando|awaiting|waiting|outstanding|unresolved)\\b",
  `(?:open|abert[oa]|existing|ativ[oa]|active|current) ${request}|${request} (?:\\w+ ){0,2}(?:open|em aberto|ativ[oa]\\b|em analise|under review)`,
  `\\b(?:exist\\w*|ha|has|have|possui|tem|consta|there (?:is|was)) (?:um|uma|outr[oa]|an?|another|one) (?:\\w+ )?${request}`,
  `${request} (?:\\w+ )?(?:exist\\w*|(?:com|for|with) (?:este|esse|esta|essa|o mesmo|a mesma|this|that|the same))`,
  `${identifier} (?:\\w+ ){0,4}(?:usad|utilizad|used|exist|taken|em uso|in use|registrad|consumid|consumed|process)`,
  `(?:same|mesm[oa]|identic\\w*|igual|similar|semelhante|equal) (?:\\w+ ){0,3}(?:${request}|${identifier}|payload|body|param\\w*|valor|amount|dados)`,
  `${request} (?:\\w+ )?(?:identic|igual|similar|semelhante|original|anterior|previa|previous)`,
  "(?:different|diferente|other|outr[oa])s? (?:payload|body|param|request|conteudo|corpo|dados|identific)",
  "\\bunique\\b|unicidade|\\bunic[oa]\\b|\\block(?:ed)?\\b|\\bin use\\b|em uso|sqlstate ?\\W?23505",
  `(?:another|outr[oa]|previous|anterior|earlier|original|first|last|primeir[oa]) (?:${request}|attempt|tentativa|process|call)(?! method)`,
  "\\b(?:one|uma?|only|apenas|so) [^.;:]{0,30}(?:at a time|por vez|one time|uma vez|once)\\b",
  "\\b(?:aguarde|wait|aguardar)\\b[^.;]{0,40}(?:conclu|finish|complet|finaliz|process|anterior|previous|resultado|result)",
  "\\b(?:recebemos|processamos|registramos|enviamos|pagamos)\\b|\\bwe\\W(?:\\w+ )?(?:received|seen)\\b",
  `${request} (?:(?:has|have|was|were|is|foi|been|esta|consta|como|a) ){0,3}(?:process|realizad|efetu|efetivad|executad|executed|solicitad|enviad|sent\\b|submitted|pag[oa]\\b|paid|received|conclu|complet|created|started|made|liquidad|settled)`
].map((expression) => new RegExp(expression))

const account =
  "(?:conta|account|cadastro|empresa|company|document\\w*|e[ -]?mail|cpf|cnpj|phone|telefone|kyc|saldo|balance|cliente|customer|usuario|user|chave pix|pix key|limite?|manutencao|maintenance|verification|verificacao|approval|aprovacao)"

/** Clauses that are not about an earlier request: they deny one, name an error, or are about an account. */
const unrelated = new RegExp(
  [
    "\\b(?:nao|not|no|sem|doesn t|does not|cannot|don t|nenhum\\w*) (?:\\w+ ){0,2}(?:exist|found|encontrad|localizad|registrad|cadastrad|ha |has|have|possui|tem|duplic|taken)\\w*[^.;:,\\n]*",
    "\\b(?:error|erro|fail\\w*|falha|unable|while|when) (?:\\w+ ){0,2}process\\w*|processing (?:\\w+ ){0,2}(?:fee|error|fail|unavailable|time)\\w*",
    `\\b${account}\\b[^.;:,\\n]{0,25}\\b(?:pend\\w*|em analise|in analysis|under review|being reviewed|ja|already|bloque\\w*|locked|em processo|em andamento|in progress|awaiting|aguardando)[^.;:,\\n]*`,
    `\\b(?:pend\\w*|awaiting|aguardando) (?:\\w+ ){0,2}${account}`
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
