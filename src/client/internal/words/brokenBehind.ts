/**
 * Tests whether the words of a refusal say that the call behind the service broke or was cancelled, that the service itself
 * failed, or that the result is not known. What was sent may have been executed.
 *
 * Details: these are the words of platforms and of programs about their own calls, in English and Portuguese. That a system
 * is unavailable, or that a look-up before the payment failed, is a plain refusal.
 */
import { anyOf, group } from "./alternatives.ts"
import { session } from "./timeOut.ts"

/** What is paid, as a noun of the sentence. */
const payment = group(
  "saques?|retiradas?|transferencias?|transac(?:ao|oes)|pagamentos?|operac(?:ao|oes)|ordem|pix|withdrawals?",
  "payouts?|transfers?|transactions?|payments?|operations?|cash ?outs?|cobrancas?|charges?"
)
const request = `(?:${payment}|funds|money|valor|fundos|dinheiro|debito|debit|solicitac(?:ao|oes)|requisic(?:ao|oes)|pedidos?|requests?|calls?|chamadas?)`
const failure = group(
  "err(?:o|os|or|ors)|falhas?|fail(?:ure|ures|ed|s)?|problemas?|problems?|issues?|perda|perdeu|perdemos|queda|caiu",
  "interrupcao|interruption|instabilidade|unable|excec(?:ao|oes)|exceptions?|imposs\\w*|impossivel"
)
/** What is behind the service, or runs in it. */
const behind = group(
  "upstream|downstream|back ?end|provedor\\w*|providers?|psps?|spi|bacen|banco central",
  "bancos?(?! (?:de dados|destin|do (?:receb|favorec)|receb|favorec|invalid|nao (?:encontr|inform|suport)))",
  "banks?(?! (?:account|code))|liquidante|acquirer|adquirente|core|parceir\\w*|partners?|gateway|processador\\w*",
  "processor|instituic\\w*(?! (?:de destin|destin|receb))|institution|servidor\\w*|servers?|host|peer|remote",
  "remot[oa]"
)
const could = group(
  "nao (?:foi possivel|conseg\\w*|pode|podemos|houve|ha|ocorreu)|could ?n[o']?t|can ?not|unable to|failed to",
  "was not able to"
)
const few = "(?:[\\w'-]+ ){0,3}?"
const near = "[^.;!?\\n]{0,40}?"
const broke = group(
  "reset|closed|aborted|lost|broken|broke|dropped|terminated|refused|failed|interrupted|disconnected|severed",
  "shut ?down|encerrad\\w*|fechad\\w*|perdid\\w*|interrompid\\w*|abortad\\w*|recusad\\w*|cort(?:ad|ou)\\w*|caiu",
  "resetad\\w*|reiniciad\\w*|redefinid\\w*|finalizad\\w*|desfeita|derrubad\\w*|cancelad\\w*|falhou|error|failure",
  "exception|unexpectedly|inesperadamente|closing|instavel|unstable|bad|could not be (?:established|made|opened)",
  "(?:nao (?:pode|foi) (?:ser )?|was not )(?:estabelecid\\w*|established|possivel|feita)"
)

/** Words that platforms and HTTP clients write of a call that broke. */
const ofPlatforms = anyOf(
  "\\be(?:connreset|connrefused|connaborted|pipe|notfound|ai again|ai_again|hostunreach|netunreach|proto|timedout|sockettimedout)\\b",
  "\\bund err |\\berr (?:network|socket|connection|stream|http2|ssl|tls|bad response|canceled)|\\bxhr\\b",
  "socket ?hang ?up|other side closed|\\bbroken ?pipe|\\bfetch failed|failed to fetch",
  "\\bnetwork ?(?:error|failure|request failed|is unreachable)|\\bunexpected eof|\\beof\\b|eof ?(?:exception|error)",
  "x509|unknown authority|certificate verify failed|request to [^ ]{1,80} failed|server misbehaving|\\bpg::",
  "bad connection|\\bno connection (?:could|can) be|cancelamento (?:de|da) (?:uma )?conexao|\\bpremature\\w*\\b",
  "end of (?:file|stream)\\b|incomplete ?read|chunked ?encoding",
  "remote ?(?:end|host|party|peer|server|disconnected|protocol ?error)\\b[^.;!?\\n]{0,25}(?:closed|disconnect\\w*|reset|error)?",
  "forcibly closed|gone away|server (?:closed|disconnected|hung up|dropped)|empty (?:reply|response) from",
  `\\b(?:connection|conex(?:ao|oes)|socket|stream|channel|canal|transport|tunnel|pipe|link|session handshake|handshake|keep ?alive|underlying connection)\\b(?: (?!(?:de|da|do) (?:internet|cliente))[\\w'-]+){0,6}? ${broke}`,
  "\\b(?:lost|broken|closed|failed|dropped|aborted) connection",
  "\\bconnection ?(?:error|failure|exception|aborted|closed|reset|lost|refused|broken)",
  "\\bconnect(?:ion)? ?(?:error|failure|exception)\\b",
  "\\b(?:task|operation|context|request|call|rpc|query|tarefa|the operation|a operacao|a requisicao|a chamada|a solicitacao)\\b (?:was|were|has been|got|is|foi|esta sendo|foi sendo)? ?(?:cancell?ed|aborted|cancelada|abortada|interrompida|interrupted)(?! (?:pel[oa]s?|por|by|due|because|porque|pois|devido|since|after|apos|em razao))\\b",
  "\\b(?:task|operation|request) ?cancell?ed(?: ?exception)?\\b|\\bcontext cancell?ed|\\babort(?:ed|ad[oa])\\b",
  "\\babort ?(?:error|exception)|user aborted a request",
  "\\b(?:tarefas?|tasks?|requests?|requisic(?:ao|oes)|chamadas?|calls?|jobs?|threads?|workers?|process(?:o|os|es)?|context|contexto|instancias?|instances?|nodes?|pods?|container\\w*|servicos?|services?|servers?|servidor\\w*) (?:(?!por |by )\\w+ ){0,4}?(?:cancell?ed|cancelad[oa]s?|abort\\w*|interrupted|interrompid[oa]s?|terminated|killed|died|crash\\w*|restarted|reiniciad[oa]s?|morreu|evicted|derrubad[oa]s?)\\b(?! (?:pel[oa]s?|por|by) (?:the |o |a |seu |sua )?(?:user|usuario|cliente|customer|titular|operador))",
  "\\bcancelamento d[aeo] (?:tarefa|chamada|requisicao|operacao|conexao)",
  "\\bcancelad[oa]s? pel[oa] (?:servidor|host|sistema|banco|provedor|psp)",
  "(?:\\b|\\w)(?:cancell?ed|cancellation|interrupted|abort\\w*) ?(?:errors?|exceptions?)\\b|\\bclient disconnected",
  "segfault|unhandled (?:promise )?rejection",
  `\\b${behind}\\b (?:\\w+ ){0,3}?(?:encerrou|fechou|terminou|derrubou|cortou|desconectou|interrompeu|closed|dropped|disconnected|hung up|terminated|unreachable|inacessivel|inalcancavel|nao alcancavel|crash\\w*)\\b`,
  "\\b(?:resposta|response|retorno)\\b (?:\\w+ ){0,2}?(?:terminou|ended|encerrad\\w*|interrompid\\w*|cut|cortad\\w*|acabou)\\b",
  "\\bunreachable\\b",
  `\\b(?:${behind}|servico|service|node|no que \\w+)\\b (?:[\\w'-]+ ){0,3}?(?:caiu|reiniciou|travou|crashed|hung|restarted)\\b`,
  `\\b(?:stuck|travad[oa]s?|hung) (?:at|in|with|no|na|em) (?:the |o |a |our |nosso )?${behind}\\b`,
  "\\b(?:resposta|retorno|response|reply)\\b (?:[\\w'-]+ ){0,3}?(?:lost|perdid[oa]s?|perdeu)\\b",
  "\\b(?:http|web|socket|io|i/o|ssl|tls|network|connect|client|transport|remote|rest ?client|resource ?access|soap|rpc|grpc|feign|retryable|no ?http ?response|http ?server ?error|protocol|read|write|pool|sql|db|database|entity|hibernate|persistence|null ?pointer|null ?reference|argument ?null|invalid ?operation|illegal ?state|runtime|key ?not ?found|index ?out ?of ?\\w+|unhandled|uncaught|internal|generic|server|api|http ?request|http ?status|data ?access|rollback|transaction ?system|db ?update|concurrency|json ?\\w*|parse|parser|serializ\\w*|deserializ\\w*|assertion|soap|fault|web ?service|runtime) ?(?:exceptions?|faults?)\\b",
  "\\b(?:read|write|connect|pool|protocol|transport|remote ?protocol|json ?decode|type|attribute|key|index|name|os|io|assertion|runtime|system|recursion|stack ?overflow|range|reference|client|proxy|dns|url|http|https|ssl|socket|operational|interface|programming|decode|encoding|unicode ?\\w*)(?:(?<=\\w)| )error\\b(?! in)",
  "\\bsoap ?fault|\\bfetching http|transient (?:failure|fault|error)|(?:falha|erro) (?:transitori|temporari)[oa]",
  "stack size exceeded|expecting value: line 1 column 1|unexpected character encountered",
  "\\bconnection(?:s)? ?failed",
  "\\bcurl(?:e| error|error)\\b|\\bi/o (?:error|timeout|exception)|\\bioerror|\\bguzzle",
  "\\bupstream\\b[^.;!?\\n]{0,30}(?:error|fail\\w*|reset|closed|disconnect\\w*|prematurely|unreachable|invalid)",
  "before headers|no healthy upstream|\\bdial tcp|\\b(?:read|write) tcp\\b|\\bgoaway\\b|rst[ _]stream|\\bhttp2?: ",
  "stream (?:error|id)|transport is closing|closed network connection|max retries exceeded|max ?retry",
  "https?connectionpool|retries exhausted|no such host|could not be resolved|nao pode ser resolvid",
  "nao foi possivel resolver(?! (?:a |o |esta |sua )?(?:chave|pix|conta|favorecid|recebedor|beneficiari))",
  "name or service not known|getaddrinfo",
  "could not resolve(?! (?:the |this |your )?(?:pix|key|alias|recipient|payee|beneficiary|account|creditor))",
  "no route to host|\\bnameresolution|bad gateway|gateway ?time|internal server error|\\bserver error\\b",
  "(?:ssl|tls)\\b(?: (?:connection|handshake|conexao|de|alert|layer|routines?|socket|error|erro|a|the|session|read|record|channel)){0,4}[^.;!?\\n]{0,20}(?:error|erro|fail\\w*|falh\\w*|could not|cannot|broke|reset|closed|nao pode|aborted|alert|unexpected|estabelec)",
  "(?:error|erro|falha|failure|failed)\\b[^.;!?\\n]{0,25}\\b(?:ssl|tls)\\b",
  "(?:code|statuscode|status ?code|status)\\W{0,4}(?:unavailable|internal|unknown|deadline ?exceeded|aborted|data ?loss|cancell?ed)\\b",
  "\\brpc error|deadline ?exceeded"
)

/** A status of 5xx that is named in the words. */
const ofStatus =
  /\b(?:status|http|https|code|codigo|statuscode|erro|error|errors|retorno|resposta|response|success|sucesso|returned|retornou|respondeu|responded|replied|answered|got|received|recebid[oa]|com|with|de|failed)(?:\/\d(?:\.\d)?)?(?: (?:http|status|code|codigo|de|is|was|foi|erro|error|of)){0,4}(?: ?[:=(#'"] ?| - | ){0,2}5(?:0[0-9]|1[01]|2[0-9])\b(?![.,]?\d| ?(?:reais|brl|centavos|cents|caracter\w*|characters?|saques|withdrawals|por|per|dias|days|segundos|seconds|minut\w*|ms|itens|items|x|d[ao]s?|invalid\w*))|\b50[0-4]\b[\s:(-]{0,3}(?:internal|bad gateway|service (?:temporarily )?unavailable|gateway|server error)|(?:^|\n)50[0234](?:\n|$)/

/** The program of the service failed by itself. */
const ofPrograms = anyOf(
  "\\b(?:erros?|falhas?|problemas?) (?:sistemic|generic|tecnic|operaciona)\\w*",
  "\\b(?:application|system|generic|technical|server) (?:error|failure|fault)\\b",
  "\\b(?:algo|something) (?:\\w+ )?(?:(?:went|deu|saiu) (?:wrong|errado)|wrong|inesperad[oa]|unexpected|broke|quebrou)",
  `\\b${failure} (?:\\w+ ){0,3}?(?:publicar|publish\\w*|enqueue\\w*|enfileir\\w*|commit\\w*|rollback|emitir evento|fila|queue|efetivar|reverter|revert\\w*|estornar|desfazer|undo)\\b`,
  `\\b${could} (?:\\w+ )?commit\\b|\\b(?:commit|rollback) (?:\\w+ )?(?:failed|error|falhou)`,
  `\\b${failure} (?:[\\w'-]+ ){0,6}?junto (?:ao|a|aos) (?:o |a )?${behind}\\b|\\bcould not execute`,
  "\\b(?:connection )?pool (?:\\w+ )?(?:exhausted|esgotad\\w*|full|error)|\\btoo many connections",
  "\\b(?:prisma|sequelize|hibernate|jdbc|typeorm|query ?failed|operational ?error|psycopg|sqlalchemy|active ?record|mongo|redis|kafka|rabbit\\w*)",
  "\\b(?:internal(?: server| service| system| processing| application| api)?|unexpected|unhandled|uncaught|unknown|fatal|critical) (?:error|failure|exception|fault)\\b",
  "\\b(?:erro|falha|excecao|problema) (?:\\w+ ){0,2}?(?:intern[oa]|inesperad[oa]|desconhecid[oa]|nao (?:identificad|mapead|catalogad|especificad)[oa]|nao tratad[oa]|nao esperad[oa]|fatal|critic[oa]|grave|catastrofic[oa])\\b",
  "\\bintern[oa] (?:do|no) (?:servidor|sistema)",
  "object reference not set|referencia de objeto nao|null ?(?:pointer|reference)|nil pointer|cannot read propert",
  "undefined is not|is not a function\\b|has no attribute|nonetype|invalid memory address|unexpected sign .?<",
  "in json at position 0|unexpected end of (?:\\w+ ){0,2}?(?:from|received)\\b",
  "\\bexce(?:ption|cao) (?:(?:has|have|foi|was|is|been|of type \\S+) ){1,3}(?:thrown|raised|acionada|lancada|gerada)",
  "while parsing value: <|index was outside|indice (?:estava )?fora",
  "undefined (?:index|offset|variable|array key|method|property)|call to a member function|sequence contains no",
  "segmentation fault|stack ?overflow|stack ?trace|out of memory|traceback|\\bpanic\\b|<!doctype",
  "\\bora ?(?!0*1\\b)\\d{5}\\b|\\bdeadlock\\w*|impasse de (?:bloqueio|recursos)|lock wait|expected to affect \\d",
  "database operation|saving the entity|entity changes|could not serialize|serialization failure",
  `\\b(?:database|banco de dados|base de dados|sql|bd|db)\\b${near}\\b(?:err(?:o|or)|falh\\w*|fail\\w*|exception|locked|indisp\\w*|unavailable|unreachable)`,
  `\\b${failure}\\b${near}\\b(?:database|banco de dados|base de dados|no sql|bd|db)\\b|\\brolled back\\b`
)

/** The communication with what is behind broke, or its answer could not be used. */
const ofCalls = anyOf(
  "\\b(?:sem|no|without|loss of|lost|losing|perda de|perdemos|perdeu) (?:a |o |the )?(?:comunicac\\w*|conex\\w*|conectividade|communication|connection|connectivity|contact|contato)\\b",
  `\\b(?:comunicac\\w*|conectividade|communication|connectivity)\\b${near}\\b(?:indisponivel|unavailable|down|fora)\\b`,
  `\\b${failure}\\b (?:\\w+ ){0,4}?(?:comunic\\w*|communicat\\w*|conex(?:ao|oes)|conect\\w*|connect(?:ion|ing|ions)?|contatar|contactar|contacting|reaching|conectividade|connectivity|rede|network|integrac\\w*|integration|integrar|transmi\\w*|transport|infra\\w*)\\b`,
  "\\b(?:communication|infrastructure|connectivity|connection|network|integration|transmission|transport) (?:error|failure|failed|problem|issue|breakdown|lost|interrupted|fault|broke)",
  "\\b(?:comunicacao|conectividade|integracao|transmissao|rede)\\b(?: [\\w'-]+){0,5} (?:falhou|caiu|interrompid\\w*|perdid\\w*|quebr\\w*|encerrad\\w*|com (?:falha|erro)|instavel|cortad\\w*|nao foi (?:concluid\\w*|completad\\w*|possivel|estabelecid\\w*))",
  `\\b${could} ${few}(?:comunica\\w*|communicat\\w*|conectar|conexao|connect|contatar|contactar|contato|contact|reach|estabelecer|establish|integrar|call|chamar|acionar|alcancar)\\b`,
  `\\b${could} ${few}(?:envi\\w*|transmit\\w*|send|submit|encaminh\\w*|forward) (?:[\\w'-]+ ){0,4}?(?:ao|aos?|a|para|to) (?:o |a |the |our )?${behind}\\b`,
  "\\b(?:err(?:o|or)|falh(?:a|ou)|fail(?:ed|ure)?|error occurred|ocorreu um erro|problem\\w*|exception|excecao) (?:[\\w/]+ ){0,2}?(?:ao|a|while|when|in|na|no|on|during|durante|to) (?:o |a |the |tentar |trying to |attempting to |tentativa de ){0,2}(?:envi\\w*|send\\w*|transmit\\w*|transmiti\\w*|receb\\w*|receiv\\w*|falar|talking|encaminh\\w*|forward\\w*|chama\\w*|call\\w*|invoc\\w*|invok\\w*|contat\\w*|contact\\w*|acion\\w*|repass\\w*|despach\\w*|dispatch\\w*|reading from|writing to|copying content|read(?:ing)? (?:the )?response|ler (?:a |o )?(?:resposta|retorno))\\b",
  "\\b(?:resposta|retorno|respostas)\\b(?: [\\w'-]+){0,5}? (?:invalid\\w*|inesperad\\w*|vazi\\w*|incomplet\\w*|ilegive\\w*|corrompid\\w*|malformad\\w*|desconhecid\\w*|inconsistent\\w*|truncad\\w*|nao reconhecid\\w*|interrompid\\w*)",
  "\\b(?:invalid|unexpected|malformed|empty|unreadable|incomplete|bad|corrupt\\w*|unrecogni[sz]ed|unknown|inconsistent|truncated|null) (?:\\w+ )?(?:response|reply|answer)\\b",
  "\\b(?:response|reply)\\b (?:\\w+ ){0,4}?(?:invalid|unexpected|malformed|empty|unreadable|incomplete|corrupt\\w*|not be (?:read|parsed|understood|decoded)|unrecogni[sz]ed|truncated|cut off)",
  `\\b(?:resposta|retorno|response|reply)\\b${near}\\b(?:nao (?:foi possivel|pode|conseg\\w*)|could ?n[o']?t|can ?not|unable)\\b`,
  `\\b(?:returned|responded|replied|answered|sent back|devolv\\w*|retorn\\w*|respond\\w*)\\b${near}\\b(?:unexpected|invalid|malformed|unpars\\w*|unreadable|ilegive\\w*|garbage|html|inesperad\\w*|invalid[oa]|vazi[oa]|an error|um erro|erro|error)\\b(?! (?:saldo|chave|key|account|conta|document|cpf|amount|valor))`,
  "(?:interpretar|desserializar|decodificar|processar|tratar|converter|ler|obter|parse|parsing|deserialize|deserializing|decode|decoding|read|reading|process|processing|understand|handle|handling) (?:\\w+ ){0,2}?(?:resposta|retorno|response|reply)\\b",
  `\\b(?:error|err|erro|falha|fail(?:ed|ure)?|problem\\w*)\\b (?:\\w+ ){0,3}?(?:from|do|da|no|na|by|pelo|pela|in|on|at|with|com o|com a) (?:the |our |o |a |nosso |sistema d[oa] |servico d[oa] |api d[oa] )?(?:${behind}\\b|(?:our )?(?:sistema|system)\\b(?! (?:de|anti|of))|(?:our |nosso )(?:side|end|lado)\\b|side\\b|end\\b|lado\\b)`,
  "\\b(?:upstream|downstream|back ?end|spi|banking|settlement|integration|provider|psp|bank|acquirer|partner|gateway|processor|core) (?:error|failure|failed|fault|crash\\w*|broke)\\b",
  "\\berro bancario\\b",
  "\\b(?:api|remote|external|service|partner|provider|bank|backend|upstream|rpc|http) (?:service )?(?:call|request|invocation) (?:has )?failed",
  "\\bcalls? to (?:[\\w'-]+ ){1,5}failed\\b",
  `\\b(?:invalid|malformed|unexpected) (?:json|xml|html|soap|payload) (?:\\w+ ){0,2}?(?:from|by|do|da) (?:\\w+ )?${behind}\\b`,
  `\\b${behind}: (?:invalid|malformed|unexpected) |\\bchamada (?:\\w+ ){0,4}?(?:falhou|com erro|nao concluida)`,
  "\\b(?:external|externo|externa|dependency|dependencia|third party|remote|integration|integracao) (?:\\w+ )?(?:error|failure|fault|exception|failed|falhou)\\b",
  "\\b(?:error|erro|falha|failure|problema|problem)\\b (?:\\w+ ){0,3}?(?:extern[oa]|external|dependenc\\w*|de terceiros?|third party)\\b"
)

const done = group(
  "efetu\\w*|efetiv\\w*|realiz\\w*|conclu\\w*|complet\\w*|process\\w*|execut\\w*|feit[oa]|creditad\\w*|debitad\\w*",
  "liquidad\\w*|pag[oa]|paid|made|sent|enviad\\w*|registrad\\w*|went through|succe\\w*|settled|credited|debited",
  "caiu|ocorreu|aconteceu|compensad\\w*|aceit[oa]|accepted|sucesso|created|criad[oa]|submitted|initiated",
  "iniciad[oa]|charged|transfer\\w*|left|saido|saiu"
)
const unknown = group(
  "desconhecid\\w*|indefinid\\w*|indetermin\\w*|incert\\w*|inconclusiv\\w*|duvidos\\w*",
  "nao (?:e |foi )?(?:conhecid\\w*|confirmad\\w*|determinad\\w*|definid\\w*)|pendente de confirmac\\w*",
  "nao (?:pode|puderam|pudemos|foi possivel|ha como) (?:ser )?(?:confirm\\w*|determin\\w*|verific\\w*|apura\\w*|obt\\w*|sab\\w*)",
  "unknown|uncertain|undetermined|indeterminate|undefined|unclear|inconclusive|in doubt",
  "not (?:known|confirmed|determined|clear)|could not be (?:determined|confirmed|verified)",
  "cannot be (?:determined|confirmed|verified)|could not be (?:retrieved|obtained|read)|indisponivel|nao disponivel",
  "unavailable|not available|pending|pendente"
)
const state = group(
  "status|situac(?:ao|oes)|resultado|desfecho|estado|result|outcome|state|efetivac\\w*|conclusao|confirmac\\w*",
  "confirmation|liquidacao|execucao|completion|settlement|paradeiro|fate"
)

/** The result is not known, or may be there already. */
const ofResults = anyOf(
  `\\b(?:err(?:o|or)|falha|failure|problema?) (?:\\w+ ){0,2}?(?:apos|depois d[eoa]|after) (?:\\w+ ){0,2}?(?:${request}|envi\\w*|registr\\w*|process\\w*|submi\\w*|debit\\w*|sending)\\b`,
  `\\b(?:verif[iy]\\w*|confir[ae]\\w*|consult\\w*|chec\\w*|check)\\b[^.;!?\\n]{0,20}?\\b${payment} (?:\\w+ ){0,2}?(?:in|on|no|na|pelo) (?:\\w+ ){0,2}?(?:dashboard|painel|panel|portal|app|aplicativo)\\b`,
  `\\b${state}\\b (?:(?:do|da|de|of|the|o|a|is|was|esta|e|for|final|your|seu|sua|remains?|this|deste|desta|permanece|ficou|your|currently|no|na|at|bank|banco|provider|provedor|psp|ainda|still) |${request} ){0,7}${unknown}`,
  `\\b${unknown} (?:\\w+ )?${state}\\b(?! (?:code|da conta|do cadastro))`,
  `\\b${request} (?:\\w+ ){0,3}?(?:com|em|in|with) (?:\\w+ ){0,2}?${state} ${unknown}`,
  `\\b${could} (?:\\w+ )?(?:confirmar|confirm|determinar|determine|verificar|verify|saber|obter|obtain|get|apurar|know|tell|identificar|check|conferir|assegurar|ensure|garantir|recuperar|retrieve|find out) (?:\\w+ ){0,2}?(?:se\\b|whether|if\\b|${state}\\b(?! (?:da conta|do cadastro|of (?:the |your )?account))|${payment}\\b|retorno)`,
  "\\b(?:nao|not|never|did ?n.?t) (?:\\w+ )?(?:receb\\w*|obtiv\\w*|receiv\\w*|got|get|cheg\\w*) (?:\\w+ ){0,3}?(?:confirmac\\w*|confirmation|retorno|resposta|response|answer)\\b",
  "\\b(?:nao|not) (?:\\w+ )?confirm\\w* (?:pel[oa]|by) (?:the |nosso |our )?(?:banco|bank|psp|spi|provedor|provider|liquidante|instituic\\w*|institution|parceir\\w*|partner|adquirente|acquirer|processador\\w*|processor|gateway|core|sistema)",
  `\\b${behind}\\b (?:\\w+ ){0,2}?(?:nao|not|did ?n.?t|never|nunca) (?:\\w+ )?confirm\\w*`,
  `\\b${payment} (?:\\w+ ){0,3}?(?:sem|without) confirmac\\w*`,
  "\\bconfirmac\\w* (?:\\w+ ){0,2}?nao (?:foi )?recebid\\w*",
  `\\b(?:conferencia|verificacao|checagem|reconciliation|verification|check) manual (?:d[aeo]s? |of (?:the )?)?${payment}`,
  `\\bmanual (?:check|verification|reconciliation|review) of (?:the |your )?${payment}`,
  "\\b(?:re)?conciliac(?:ao|oes)\\b|\\breconciliation\\b",
  `\\b(?:nao (?:sabemos|se sabe|e possivel (?:saber|afirmar|confirmar|garantir)|(?:ha|temos|existe|houve|possuimos) (?:a )?(?:como|confirmac\\w*|garantia))|we (?:do not|don ?t|cannot) (?:know|tell)|it is (?:not known|unknown|unclear)|not sure) (?:\\w+ ){0,3}?(?:se\\b|whether|if\\b|do |da |d[oa]s |of |from |${state})`,
  "\\b(?:sem|without|no|aguardando|awaiting|waiting for|aguarde|pendente de|pending) (?:a |o |the |uma? )?(?:confirmac\\w*|confirmation|retorno|resposta|response|reply|answer) (?:\\w+ ){0,2}?(?:do|da|de|from|by|pelo|pela) (?:(?:o|a|the|sistema|seu|our|your) )*(?:banco|bank|psp|spi|provedor|provider|liquidante|instituic\\w*|institution|parceir\\w*|partner|adquirente|acquirer|processador\\w*|processor|gateway|core|bacen)",
  `\\b(?:resposta|retorno|confirmac\\w*|response|confirmation)\\b (?:(?:d[oae]|the|from|of|is|esta|ainda|still) |${behind} |${request} ){0,5}?(?:pendente|pending|outstanding)`,
  "\\b(?:confirm\\w* )?nao recebid[oa] (?:do|da) ",
  `\\b(?:verif[iy]\\w*|confir[ae]\\w*|consult\\w*|chec\\w*|check\\w*|confirm\\w*|review|certifique|see|veja|olhe|acompanhe|look at|conferir|apure)\\b[^.;!?\\n]{0,40}?\\b(?:account activity|${payment} status|extratos?|historico|history|movimentac\\w*|lancamentos|(?:antes de|before) (?:repet\\w*|refazer|redo\\w*)|statement|comprovante|receipt|(?:se|if|whether)\\b (?:\\w+ ){0,2}?${request}\\b (?:\\w+ ){0,3}?${done}|(?:status|situac\\w*|resultado|state|result|outcome) (?:do|da|of|deste|desta|desse|dessa|final|later|depois|mais tarde|antes|before|the)\\b (?!(?:sua |seu |your |the )?(?:conta|cadastro|account|limite|chave|cliente|servic|api|document)))`,
  `\\b(?:nao|not|never|nunca|evite|avoid|sem) (?:\\w+ ){0,2}?(?:envie|enviar|submit|send|solicite|solicitar|pague|pagar|pay|request)\\b${near}\\b(?:novamente|de novo|again|outra vez)\\b`,
  "\\b(?:nao|not|never|nunca|evite|avoid|sem) (?:a |o )?(?:repita|repetir|reenvie|reenviar|refaca|refazer|resubmit\\w*|resend\\w*|repeat\\w*|duplicar)\\b",
  `\\b${request} (?:(?!nao|not)\\w+ ){0,2}?(?:pode|podem|may|might|could) (?:ja |already |have |ter |still |ainda |tambem |vir |a |estar ){0,3}(?:sido |been |ser |be )?(?:${done}\\w*\\b(?! (?:only|apenas|somente|so|exclusivamente)\\b)|(?:em|in|being) (?:process|andamento|progress|execu)\\w*)`,
  "\\b(?:nao|not|nem|sem|no)\\b (?:\\w+ ){0,2}?(?:certeza|certainty|sure (?:if|whether|what))\\b|\\bsem desfecho\\b",
  "\\b(?:nao|not|n't|never|nunca|evite|avoid) (?:tent\\w*|retry\\w*|try|repit\\w*)(?: novamente| de novo| again)? (?:antes|before|ate|until|sem|without|enquanto|while)\\b",
  "\\b(?:estado|state|status)\\b (?:\\w+ ){0,3}?inconsist\\w*|\\binconsist\\w* (?:state|estado|status)\\b",
  "\\b(?:don'?t|do not|nao) (?:know|sabemos) (?:if|whether|what|se|o que)\\b",
  "\\breconcil\\w* (?:\\w+ ){0,3}?before\\b|\\bconcili[ea]\\w* (?:\\w+ ){0,3}?antes\\b",
  `\\b(?:talvez|pode ser que|possivelmente|provavelmente|eventualmente|perhaps|possibly|probably|maybe|possible that|possivel que)\\b${near}\\b${done}`,
  `\\b(?:pode|podem) ter (?:sido |ocorrido |havido )?(?:\\w+ )?${done}`,
  `\\b(?:may|might) (?:\\w+ )?have (?:been |already |still )*${done}`,
  `(?<!\\b(?:nao|not|sem|nenhum|nenhuma|no|if|se) (?:\\w+ ){0,2})\\b${request} (?:foi |was |were |has been |have been |is |esta |ja |already |successfully |com sucesso )*(?:registrad\\w*|criad\\w*|enviad\\w*|salv[oa]s?|processad\\w*|processed|aceit[oa]s?|efetu\\w*ad[oa]s?|efetivad\\w*|realizad\\w*|executad\\w*|iniciad\\w*|debitad\\w*|submetid\\w*|transmitid\\w*|encaminhad\\w*|gravad\\w*|liquidad\\w*|conclu\\w*|pag[oa]s?|feit[oa]s?|succeeded|created|recorded|registered|sent|submitted|executed|initiated|accepted|settled|debited|paid|made|started|completed|placed|stored|saved)\\b(?: [\\w'-]+){0,6}?,? (?:mas|porem|contudo|todavia|no entanto|entretanto|but|however|although|though|embora|yet|so que|falha|falhou|erro|error|failed|failure)\\b(?![^.;\\n]*\\b(?:recus|negad|rejeit|reject|declin|denied|invalid|insuf|estornad|cancel|revers|devolvid|returned|bloque|minim|limit))`,
  `\\b(?:err(?:o|or)|falh(?:a|ou)|fail(?:ed|ure)?|${could})\\b (?:\\w+ ){0,3}?(?:salv\\w*|sav(?:e|ing)|grav\\w*|persist\\w*|armazen\\w*|stor(?:e|ing)|atualiz\\w*|updat\\w*|notific\\w*|notify\\w*|registr(?:ar|ando|o)|record(?:ing)?|finaliz(?:ar|ing|e)|gerar|emitir|generat\\w*|issue) (?:\\w+ ){0,3}?(?:${payment}|retorno|resposta|response|resultado|result|${state}|comprovante|receipt|webhook|recibo|registro|lancamento|livro|ledger|entity|changes|alterac\\w*|protocolo|banco|database|end to end)\\b`,
  `\\b(?:${payment}|mensage(?:m|ns)|messages?|pacs)\\b[\\w. ]{0,15}\\b(?:enviad|encaminhad|transmitid|sent\\b|submitted|transmitted)\\w*[^;!?\\n]{0,50}\\b(?:nao|not|no|sem|without|nenhum\\w*|never)\\b[^;!?\\n]{0,25}\\b(?:receb|receiv|retorn|return|respost|respon|ack|report)\\w*`,
  "\\b(?:processamento|liquidacao|execucao|processing|settlement|execution|transmissao) (?:\\w+ ){0,2}?(?:iniciad[oa]|started|begun|began|interrompid[oa]|interrupted|parcial|partial\\w*|incomplet\\w*|inacabad[oa])",
  "\\b(?:parcialmente|partially) (?:process|execut|conclu|complet|efetu)\\w*",
  "\\b(?:process|execut|conclu|complet|efetu)\\w* (?:parcialmente|partially)\\b",
  "\\b(?:enviad|encaminhad|repassad|submetid|transmitid)[oa]s? (?:\\w+ )?(?:para|ao|a|as|to) (?:o |a |the )?(?:analise|banco|psp|spi|provedor|liquidante|liquidacao|processamento|instituic\\w*)",
  "\\b(?:sent|submitted|forwarded|handed over) (?:\\w+ )?(?:to|for) (?:the )?(?:bank|psp|spi|provider|review|settlement|processing|institution)",
  `\\b${payment} (?:\\w+ ){0,2}?(?:em analise|sob analise|under (?:manual )?review)\\b`
)

/** What a field of a request must be. */
const validation = /\b(?:must|should|deve(?!ria)\w*|campos?|fields?|parametros?|parameters?|required|obrigatori\w*)\b/

/** A look-up before the payment, for which an error of the program is a plain refusal. */
const lookUp =
  /\b(?:consult\w*|valid\w*|busc\w*|verific\w*|checar|autentic\w*|authent\w*|listar|list\w*|look\w*|fetch\w*|check\w*|load\w*) (?:\w+ ){0,3}?(?:chaves?|keys?|saldos?|balance|dados|data|documents?|documentos?|cpf|cnpj|cadastro|limites?|contas?|accounts?|titular\w*|schema|assinatura|signature|payload|body)\b/

/** Other things that the same words are about: an account, a limit or a document under review, a step of a person. */
const ofOthers =
  /\b(?:aumento|increase|limites? (?:esta|is|em)|cadastr\w*|document\w*|abertura|contestac\w*|disput\w*|devoluc\w*|refunds?|med)\b|\b(?:pel[oa]|by)(?: the| your)? (?:usuario|user|cliente|customer|titular|pagador|payer|operador|operator|administrador|admin\w*|holder|owner|gestor|aprovador|approver)\b|\b(?:d[oa]|of the|from the) (?:titular|usuario|cliente|user|customer|holder|e ?mail)\b/

/** Whether folded words say that a call behind the service broke, or that its result is not known. */
export const isBrokenBehind = (words: string): boolean =>
  ofStatus.test(words) ||
  words
    .replaceAll("unexpected token", "unexpected sign")
    .split(/[.;!?]\s|[;!?\n]/)
    .some((sentence) => {
      if (ofPlatforms.test(sentence))
        return !session.test(sentence) && !validation.test(sentence) && !ofOthers.test(sentence)
      if (session.test(sentence) || ofOthers.test(sentence)) return false
      if (ofPrograms.test(sentence)) return !lookUp.test(sentence)
      return ofCalls.test(sentence) || ofResults.test(sentence.replaceAll(": ", " "))
    })
