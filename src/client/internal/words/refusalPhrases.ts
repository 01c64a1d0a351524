/**
 * The default rules: stems and families of words, written as the head of `RefusalRules` says. The first rule that
 * holds decides, so those about an earlier request come before the others: "Saldo insuficiente: há um saque em
 * processamento" is about the earlier one.
 */

/** What is asked for: a request, or what it moves. */
const order =
  "request*|requisic*|solicitac*|pedido*|saque*|retirada*|resgate*|transac*|transferencia*|pagamento*|payment*|payout*|" +
  "operac*|operation*|transaction*|transfer|transfers|withdraw|withdrawal*|charge|charges|cobranca*|ordem|ordens|order|" +
  "orders|chamada*|processo|process|job|instruc*|instruction*|envio*|movimentac*|lancamento*|pix|repasse*|disbursement*|" +
  "submission*|attempt*|tentativa*|registro|record|entry|invocation|remessa*|liquidacao|deposito*"

/** What a request is known by. */
const name =
  "chave*|key|keys|identificador*|identifier*|id|ids|referenc*|uuid|guid|txid|nonce|token|codigo|code|hash|protocolo|" +
  "external|externalid|correlation*|idempot*|numero|number"

/** What was done with the one before. */
const done =
  "exist*|us|usad*|used|utilizad*|process*|executad*|executed|efetuad*|efetivad*|realizad*|solicitad*|requested|" +
  "enviad*|sent|submit*|submetid*|pag|pago|pagos|paga|pagas|paid|recebid*|received|complet*|criad*|created|gerad*|" +
  "generated|emitid*|issued|lancad*|posted|inserid*|inserted|incluid*|liquidad*|settled|conclu*|finaliz*|atendid*|" +
  "consumid*|consumed|feit*|made|done|transferid*|transferred|sacad*|withdrawn|debitad*|debited|contabilizad*|" +
  "confirmad*|confirmed|aceit*|accepted|protocolad*|registrad*|registered|recorded|seen|claimed|handled|tratad*|" +
  "atribuid*|assigned|apresentad*|initiated|iniciad*|started|recebemos|processamos|registramos|pagamos|enviamos|criamos|" +
  "realizamos|efetuamos|executamos|terminou|acabou"

/** An account, and what belongs to it: what is said of it is not said of a request. */
const party =
  "conta|contas|account|accounts|empresa|company|usuario|user|users|cliente|customer|cadastro|cadastrais|cadastral|" +
  "perfil|profile|merchant|lojista|titular|documento*|document|documents|documentac*|documentation|kyc|kyb|identidade|" +
  "identity|onboarding|credencia*|credentials|certificado|certificate|carteira|wallet|member|contrato|contract"

const funds = "saldo*|fundos|balance*|funds|recursos|dinheiro|money|cash|caixa|provisao"

/** What ends or closes something that was never a request. */
const ended =
  "bloque*|blocked|encerrad*|closed|expir*|inativ*|inactive|desativad*|deactivated|disabled|desabilitad*|excluid*|" +
  "removid*|removed|deleted|atingi*|reached|hit|exced*|exceed*|esgotad*|exhausted|ultrapass*|vencid*|vencer*|suspens*|" +
  "suspended|revog*|revoked|locked|banned|banid*|invalid*"

const waiting = "aguardando|aguarda|aguardo|awaiting|waiting|esperando"

export const rules = [
  {
    cause: "IdempotencyKeyInFlight",
    words: [
      "em|in|under|sob ~ andamento|processamento|curso|execucao|progress*|flight|process|processing|execution|transit|" +
        "transito|analise|review|fila|queue|tramitac*|tratamento|liquidacao|compensac*|espera|way|course",
      "inprogress|inflight|underway|ongoing|unfinished|pend|pending*|pendent*|pendenc*|queued|enqueued|enfileirad*",
      "processing|processando|executing|executando|in-process|enviando",
      "being|sendo|currently|still|ainda|atualmente ~ process*|executad*|executed|tratad*|handled|worked|criad*|created|" +
        "enviad*|sent|submitted|analisad*|reviewed|realizad*|efetuad*|liquidad*|settled|running|open|active|waiting|" +
        "working|queued|ativ*|abert*|avaliad*|verified|busy|finaliz*|conclu*",
      "ainda|still|yet ~ nao|not ~ " + done,
      "nao|not|hasn|isn|wasn ~ t ~ yet|ainda ~ " + done,
      "nao|not ~ yet|ainda ~ " + done + "|termin*|finish*|cleared|compensad*|respond*",
      "em|in|under fase|estado|etapa|stage|processo|process ~ processamento|execucao|liquidacao|analise|processing|conclusao",
      "unresolved|unsettled|uncompleted|running|motion|superseded",
      "on ~ way",
      "current|atual|corrente ~ " + order,
      "um|uma|one|only|apenas|so|somente|single ... vez|time",
      "ha|houve|existe|existem|possui|tem|have|has|there ~ um|uma|outr*|a|an|one ~ " + order,
      waiting,
      "aguarde|wait|espere|esperar|aguardar ... process*|conclu*|complet*|finaliz*|finish*|termin*|fim|end|previous|anterior*|" +
        "primeir*|first|resultado|result|outcome|" +
        "outr*|other|another|retorno",
      "until|ate|apos|after|quando|when|once|assim|enquanto|while ... conclu*|complet*|finaliz*|finish*|termin*|previous|" +
        "anterior*|settle*",
      "concorren*|concurren*|simultane*|parallel*|paralel*|race",
      "lock|locks|locked|locking|deadlock*|mutex|semaphore*|travad*|trava|travamento",
      "busy|ocupad*",
      "another|outr*|other|previous*|earlier|prior|anterior*|previa|first|primeir*|original*|preceding|precedente ~ " +
        order,
      order + " ~ original*|anterior*|previo|previa|precedente*|antecedente*|earlier|before",
      "stale*|optimistic*",
      "etag|tag mismatch",
      "processamento ~ ativ*|abert*|iniciad*|anterior*",
      "nao|not ~ terminou|acabou|finalizou|terminad*|finished",
      order + " ~ nao|not ~ finalizad*|finalized",
      "nao|not|hasn|isn ~ " + done + " ~ yet|ainda",
      "na|no fila|queue",
      "open|active|ativ*|abert*|outstanding|existing|unprocessed ~ " + order,
      order + " ~ em|esta|is|are|estao ~ abert*|aberto|ativ*|active|open|outstanding"
    ],
    except: [
      // A failure of what processes, or its price.
      "processing ~ fee*|error*|failure*|failed|cost*|charge|charges|unavailable|time*|limit*|hours|window|service|company|" +
        "region|center|system|engine|rules|exception*|problem*|is|not|agreement|bank",
      "error*|failed|failure|falha*|erro*|problem*|exception|unable|cannot|timeout|impossible ~ while|when|during|before|" +
        "occurred|processing|processando ~ processing|executing|processando",
      "error*|failed|failure|falha*|erro*|problem*|exception|unable|cannot ~ processing|processando|executing",
      "payment|payments|data|order ~ processing ~ is|not|unavailable|disabled|suspended|partner|agreement|provider|network",
      "while|when|during|ao ~ processing|executing|running",
      "one|uma time|vez password|code|otp|pin|link|senha|codigo",
      "nao|not|never|no|don|doesn|sem ~ ha|houve|existe|existem|possui|tem|have|has|there",
      "nao|not|no ~ t ~ have|has",
      "tente|try|tentar|repita|repeat|again|novamente ... vez|time|once",
      "mais|more uma|one vez|time",
      party + " ~ being|sendo ~ review*|analis*|verif*|valida*|avalia*",
      // Of an account, its papers or its money, not of a request.
      party + " pend*|locked|travad*|" + waiting,
      party + " is|esta|ainda|still|are|estao|status pend*|locked|travad*|" + waiting,
      party + " ~ em|in|under|sob analise|review|verific*|validac*",
      party + " is|esta ainda|still pend*|locked",
      "pend*|" + waiting + " ~ " + party + "|verificac*|verification|ativacao|activation|assinatura|signature",
      "verificac*|verification|approval|ativacao|activation ~ pend*|incomplet*",
      "pend*|" + waiting + " ~ aprov*|approval|valida*|envio|submission ~ " + party + "|contratual",
      "pend*|" + waiting + " ~ approval|aprov*|valida*|regulariz* ~ " + party,
      "pend* ~ financeir*|fiscal|fiscais|tribut*|judicia*|regulat*|legal|compliance|juridic*|debt*|debit*|divid*",
      funds +
        "|valor*|credito*|credit* ~ pend*|locked|" +
        waiting +
        "|em|in ~ transit*|processamento|processing|analise|liquidac*",
      funds + " ~ pend*|locked|travad*|outstanding",
      "pend* ~ " + funds + "|release|liberac*|credit*",
      "ainda|still|yet ~ nao|not ~ registrad*|registered|criad*|created|aceit*|accepted|atribuid*|assigned|complet*|confirmad* ~ chave|pix|" +
        party,
      "analise|review|em|in ~ analise|review ~ risco|fraude|fraud|risk|credito|credit|compliance|cadastr*|kyc",
      // What the reader shall do, or may do otherwise.
      "faca|tente|tentar|fazer|realize|envie|enviar|crie|gere|abra|submit|try|make|send|create|open|use|informe|escolha|choose|" +
        "select|selecione|utilize ~ another|outr*|other|again|mais",
      "another|outr*|other|primeir*|first|previous|anterior* ~ " +
        order +
        " ~ method*|metodo*|type|tipo*|option*|provider*|meio*|forma*|name",
      "another|outr*|other ~ pix|chave|codigo|token",
      "em|in ~ process ~ of ~ maintenance|migra*",
      "server|system|service|sistema|servico|servidor|line|linha|we|gateway|banco|bank ~ busy|ocupad*",
      "primeir*|first ~ " + party,
      "active|ativ*|open|abert* pix|chave|token|codigo",
      "queue|fila ~ is|esta ~ full|chei*|lotad*",
      "manutencao|maintenance ~ em|in|is ~ andamento|progress|curso|execucao|underway|ongoing",
      "em|in|under ~ manutencao|maintenance",
      "ongoing|scheduled|in|em ~ progress|andamento ~ maintenance|manutencao",
      "ongoing|underway ~ maintenance|incident|outage",
      "maintenance|manutencao|incident*|outage|migra* ... underway|ongoing|progress|andamento|curso"
    ]
  },
  {
    cause: "IdempotencyKeyReused",
    words: [
      "idempot*",
      "duplic*|dup|dupl*|dupe*|dublic*|replica*|23505|p2002|e11000|twice|doubled",
      "double|duplo|dupla|dobrad* ~ click*|clique*|spend*|gasto|debito|debit|post*|entry|envio|" + order,
      "identificador*|identifier*|id|referenc*|nonce|txid ~ nao|not ~ available|disponive*|permitid*",
      "repetid*|repetic*|repeated*|repetition*|replay*|reutiliz*|reus*|reenviad*|reenvio|resent|resubmi*|retransmi*|redundan*",
      "tentando|tentativa|trying|attempt* ~ repetir|repeat*|reenviar|resend",
      "recebemos|processamos|registramos|pagamos|enviamos|executamos|efetuamos|realizamos ~ " + order,
      order + " ~ liquidad*|settled|pag|pago|paga|pagos|pagas|paid|quitad*|efetivad*|baixad*",
      "completed|concluid*|finalizad*|finalized ~ " + order,
      "em dobro",
      "reapresent*|reprocess*",
      "resultado*|result|outcome|desfecho|situacao ... indefinid*|indetermin*|desconhecid*|unknown|undetermined|incert*|uncertain",
      "unknown|undetermined|uncertain|indefinid*|indetermin* ~ resultado*|result|outcome|desfecho",
      "sem ~ desfecho|resultado|retorno|confirmac*",
      order + "|call ~ succeeded",
      "not|nao ~ repeat|repita|repetir|reenvi*|resend|resubmit",
      "twice|second|segunda|duas|mais|more|multiple|uma|apenas|only|single|unic* ~ time|times|vez|vezes|once|than|use|usage|uso",
      "same|mesm*|identic*|igual|iguais|equal|similar*|semelhant*|parecid* ... " +
        order +
        "|" +
        name +
        "|dados|payload|body|parameter*|parametro*|amount|valor",
      order + " ~ identic*|igual|iguais|similar*|semelhant*|repeat*",
      "ja|jah|already*|alredy",
      "been|was|were|foi|foram|sido|is|estao ~ previously|previamente|anteriormente|recently|recentemente",
      "previously|previamente|anteriormente|recently|recentemente|earlier ~ " + done,
      done + " ~ previously|previamente|anteriormente|recently|recentemente|earlier|before|antes",
      "been|has|have ~ " + done,
      "was|were|foi|foram ~ process*|executad*|executed|efetuad*|efetivad*|realizad*|solicitad*|enviad*|sent|submitted|" +
        "pag|pago|paga|paid|usad*|used|utilizad*|consumid*|consumed|complet*|conclu*|liquidad*|settled|seen|recebid*",
      name + " ~ usad*|used|utilizad*|consumid*|consumed|ocupad*|taken|tomad*",
      "taken|em|in ~ uso|use",
      "inuse",
      "been|is|already|was|id|key|identifier|reference|name|value ~ taken",
      "unique*|unic*|unicidade|uniqueness|nonunique",
      "exists|preexist*|existent*|coexist*",
      "existe|existem|existing|existia|exist|consta|constam|found|encontrad*|encontram*|localizad*|localizam*|ha|houve|possui|tem|have|has|there ~ outr*|another|mais ~ " +
        order +
        "|" +
        name,
      "existe|existem|existing|existia|exist|consta|constam ~ outr*|um|uma|one|a|an|mesm*|igual ~ " +
        order +
        "|" +
        name +
        "|registro|record",
      "existe|existem|existing|exist|consta|constam ~ " + order,
      order + "|" + name + " ~ existe|existem|exist|consta|constam|existing",
      "recent|recente*|recently|poucos|few|ultimos|last ... " + order,
      order + " ... recent*|recently|recentemente|poucos|few ~ minut*|segund*|second*|instant*",
      order + " ~ recente*|recent|recently|recentemente",
      "use|utilize|informe|envie|gere|provide|choose|send|try|escolha ~ different|diferente*|outr*|another|new|nov*|unic*|unique|distint* ~ identificador*|identifier*|id|referenc*|external|externalid|txid|uuid|nonce|idempot*|request|numero",
      "different|diferente*|other|another|outr*|distint* ~ payload|body|corpo|parameter*|parametro*|conteudo|content|request|requisic*|pedido|amount",
      "payload|body|corpo|parametro*|parameter*|request|requisic* ... difer*|differ*|mismatch*|diverg*|diffent|match|confere|corresponde*",
      "use|utilize|informe|envie|gere|provide|choose|send|try|escolha ... identificador*|identifier*|id|referenc*|externalid|txid|nonce ~ diferente*|different|distint*|unic*|unique|nov*",
      "only|apenas|somente|so|most ... vez|once",
      "collision*|colis*|collid*|clash*"
    ],
    except: [
      // Of a key that is not there, or not well formed.
      "idempot* ... required|requerid*|missing|obrigator*|ausente|faltando|necessar*|provided|informad*|fornecid*|absent|" +
        "empty|vazi*|long|longa|longo|short|curta|malformed|must|deve|header|format|formato|blank|supplied|caracter*|character*",
      "missing|required|no|sem|invalid*|informe|provide|without|falta* ~ idempot*",
      "idempot* ~ key|chave|header|is ~ invalid*",
      "chave*|key|header ~ idempot* ... required|missing|obrigator*|ausente|faltando|necessar*|informad*|must|deve|invalid*|vazi*|empty|long|longa",
      // What does not exist.
      "nao|not|never|nunca|longer|doesn|dont|don|t|if|se|whether|cannot|nenhum*|jamais|no|sem|without|neither|nem ~ exist*|consta|constam|encontrad*|found|existing|ha|tem|possui|localizad*|houve",
      "nao|not|no ~ longer|mais ~ exist*",
      "ja|already ~ nao|not|no|que|longer|don|doesn|isn",
      "desde|ate|from|for|por ~ ja",
      "for|if|se|caso ~ voce|you ~ ja|already ~ " + party,
      // What has ended, and was never a request.
      "ja|already ~ " + ended,
      party + "|chave|pix|key|token|qr|qrcode|code ... ja|already ~ cancel*|deletad*|associad*|linked|paga",
      "limit*|cota|quota*|allowance|franquia|saldo|balance|funds|credito*|teto|cap ... ja|already|been|was|foi ~ used|utilizad*|usad*|consum*|atingid*|comprometid*|reached|exhausted|esgotad*|spent|gast*|exced*|exceed*",
      "limit*|cota|quota*|allowance|franquia|saldo|balance|credito*|teto|cap ~ used|utilizad*|usad*|consum*",
      "horario*|prazo*|janela*|expediente|window|deadline|period*|cutoff ... ja|already|been ~ encerr*|passou|passed|closed|ended|terminou|expir*|venc*|acab*",
      "dia|hoje|mes|today ~ ja|already ~ acab*|ended",
      "ja|already ~ ser|be|em ~ breve|back|soon",
      "been|has|have|was|were|foi|foram ~ nao|not ~ " + done,
      "nao|not|could|can|cannot|couldn|cant|unable|impossible|possivel ~ be|foi|been|foram ~ " + done,
      "nao|not ~ was|were|foi|foram ~ " + done,
      "was|were|foi|foram ~ nao|not ~ " + done,
      "value|parameter|field|campo|parametro|format|formato|version|versao|method|metodo ~ used|utilizad*|usad*",
      party + "|receiver|recipient|recebedor|destinatario ~ been|was|foi|foram|not|nao ~ " + done,
      "mesm*|same ~ titular*|owner*|banco|bank|instituic*|institution|cpf|cnpj|dia|day|document*|nome|currency|moeda|ispb",
      "mesm*|same|igual* ... titular*|owner*|ownership|titularidade",
      "igual*|equal* ~ maior|greater|menor|less|ou|or|than|zero|#|que|" + funds,
      "maior|menor|greater|less|superior|inferior|higher|lower ~ igual*|equal*",
      "unic* ~ sistema|banco|pessoa|cadastro|documento|tarifa|conta|federal|contribuinte",
      "cadastro|sistema|registro|numero|juizo|tributo ~ unic*",
      "action*|money|medidas|steps|nothing|care|funds|acao ~ been|is|was|were|no|will ~ taken",
      "error*|erro*|falha*|problem*|failure* ~ found|encontrad*|has|exist*|occurred|existe|existem|recent*|been",
      "existe*|existem|ha|there|houve|exist* ~ erro*|error*|campo*|field*|restric*|pendenc*|problem*|inconsist*|um|uma ~ erro|error|problema|problem|limit*|restric*",
      "ha|there|has|have|tem|possui ~ limit*|restric*|permiss*",
      "mais|more|few|last|ultimos ~ than|que|de ~ #",
      "mais|more ~ vezes|times|uma|once ~ tarde|later|tarde",
      "try|tente|tentar|repita|repeat|again ~ more|mais|uma|once|later|novamente ~ vez|time|once|tarde|later",
      "tente|try|tentar ~ mais|again|uma|novamente|once ~ vez|uma|more|tarde|time|again",
      "tente|try|tentar|repita|repeat ... vez|time|once",
      "segunda ~ feira*",
      "second|seconds|minut*|segund* ~ #",
      "per|por|a|cada ~ second|segundo|segunda"
    ]
  },
  { cause: "Conflict", words: ["conflict*|conflit*|precondition*"] },
  {
    cause: "InsufficientBalance",
    words: [
      funds +
        "|limite ... insufic*|insuffic*|indisponive*|unavailable|inadequa*|negativ*|zerad*|esgotad*|baix*|low|short*",
      funds + " ... menor|inferior|less|lower|smaller|exced*|exceed*|maior|superior|greater|below|abaixo",
      "insufic*|insuffic*|inadequa*|low|lack|falta*|without|sem|no|not|short*|exced*|exceed* ~ " + funds,
      "insufic*|insuffic*|exced*|exceed* ~ available|disponivel",
      "sem|no|not|nao|without available|disponivel ~ " + funds,
      "valor|amount|montante|quantia ~ indisponive*|unavailable",
      "insufic*|insuffic*|not|nao|enough|sufficient|suficien*|exced*|exceed*|supera*|ultrapass* ... " + funds,
      funds +
        " ... nao|not|cannot|cant|don|doesn|isn|aren ... suficien*|sufficient|enough|cobre*|cover*|permit*|allow*|" +
        "disponi*|available|comport*|atend*|bast*|alcanc*|support*",
      "nao|not ~ ha|tem|possui|existe|have|dispoe|enough|sufficient ~ " + funds,
      "valor|amount|montante|quantia|saque|withdrawal|total ... maior|superior|exced*|exceed*|greater|more|higher|larger|" +
        "above|acima|supera*|ultrapass* ... " +
        funds +
        "|disponivel|available",
      "overdraft*|overdraw*|overdrawn|insufficientfund*|insufficientbalance*|saldoinsuficiente*|nsf|outoffunds",
      "out of ~ " + funds,
      "enough|suficiente ~ " + funds,
      "cannot|nao|not|can|couldn|unable ... cover|cobrir ... " + order + "|amount|valor"
    ],
    except: [
      "servico|service|consulta*|consultar|query|api|endpoint|permiss*|acesso|access|lookup ... " + funds,
      funds + " ~ minim*|minimum|invalid*|currency|id",
      "sem|no|not|nao|without ~ acesso|permiss*|access|permission|authorized|autoriz* ... " + funds
    ]
  },
  {
    cause: "NoPixKey",
    words: [
      "sem|nenhum*|no|missing|without|lack*|falta* ~ default|registered|valid|active|cadastrad*|registrad*|padrao|ativ*|configured|known|usable|bank ~ chave*|pix|pixkey*",
      "sem|nenhum*|no|missing|without|lack*|falta*|faltando|falta ~ chave*|pix|pixkey*",
      "nao|not|doesn|don|t|hasn ~ possui|tem|ha|existe*|encontr*|localiz*|consta*|have|has|find|found|dispoe|identific*|locate ~ nenhum*|uma|any|a|registered|valid|default ~ chave*|pix|pixkey*",
      "nao|not|doesn|don|t|hasn ~ possui|tem|ha|existe*|encontr*|localiz*|consta*|have|has|find|found|dispoe|identific*|locate ~ chave*|pix|pixkey*",
      "chave*|pix|pixkey* ... nao|not|never|nunca|isn|wasn|doesn|hasn|nenhum* ... cadastr*|regist*|encontr*|configur*|inform*|" +
        "defin*|localiz*|exist*|vincul*|associa*|preench*|fornec*|found|set|provided|available|linked|specified|supplied|" +
        "given|present|present*|identific*|consta*|received|sent|enviad*|on|indicad*|selecion*",
      "chave*|pix|pixkey* ... missing|inexist*|ausente|obrigator*|required|faltando|falta|vazi*|empty|necessar*|null|absent|" +
        "unknown|unavailable|pend*|desconhecid*|unregistered|undefined|nonexist*|indefinid*",
      "register|registre|registrar|cadastr*|configur*|inform*|provide|add|adicion*|set|supply|indique|defina|define|forneca|especifi*|specify|vincul*|link ... chave*|pix|pixkey*",
      "no|nenhum*|sem key|keys|chave*",
      "no|nenhum*|sem ~ associated|associad*|linked|vinculad* ~ key|keys|chave*|pix",
      "key|keys|chave* ~ not|nao|never|nunca ~ found|encontrad*|set|registered",
      "preciso|necessar*|precisa|need|needs|requires|exige ... chave*|pixkey*|pix",
      "chave*|pix|pixkey* ... must|deve|should|shall|precisa ... provided|inform*|sent|present|specified|fornec*|preench*|supplied|given",
      "nao|not|hasn|didn|haven|t ~ regist*|cadastr*|set|added|configur*|provided|inform* ~ chave*|pix|pixkey*",
      "not|nao|nenhum*|no ... chave*|pixkey* ... cadastrad*|registrad*|encontrad*|registered|found|file"
    ],
    except: [
      "tipo|type|kind|formato|format ~ chave*|pix|pixkey* ~ key",
      "chave*|key|pix ~ type|kind|tipo",
      "chave* ~ api|acesso|secret*|privad*|publica|seguranca|assinatura",
      "servico|service|sistema|system|rede|network|infraestrutura|operac* ~ pix",
      "pix ~ nao|not|is|esta ~ disponi*|available|habilit*|enabled|permitid*|allowed|supported|suportad*|down|offline",
      "saque*|pagamento*|transferencia*|transac*|withdrawal*|payment*|transfer|via|por|metodo|limite* ~ pix"
    ]
  },
  {
    cause: "BelowMinimum",
    words: [
      "minim*|belowmin*|piso",
      "menor|inferior|abaixo|below|under|less|lower|smaller|beneath ~ que|do|de|than|a|o|r|brl|rs ~ r|brl|rs|#|permitid*|allowed|limite|limit|floor|threshold",
      "menor|inferior|abaixo|below|under|less|lower|smaller|beneath ~ que|than ~ permitid*|allowed|r|rs|brl|#",
      "pelo|ao|at|a|no ~ menos|least|partir ... #",
      "menos|least ... #",
      "menor|smallest|lowest|minor ~ valor|amount|value|quantia|saque|withdrawal|payout",
      "min ~ valor|amount|value|saque|withdrawal|payout",
      "withdrawal*|saque*|payout* ~ start*|comecam|iniciam",
      "menor|inferior|abaixo|below|under|less|lower ... reais|centavos|real|brl",
      "valor*|amount*|quantia*|montante|saque*|withdrawal*|retirada*|payout*|value*|quantidade ... baix*|pequen*|low|small|insuficiente|insufficient|reduzid*|irrisori*",
      "baix*|pequen*|low|small|toosmall|toolow|amounttoolow ~ valor*|amount*|quantia*|value*",
      "valor*|amount*|quantia*|montante|saque*|withdrawal*|value* ... maior|superior|greater|above|acima|exceed|larger|higher|more ... #"
    ],
    except: [
      "minim* ~ caracter*|character*|length|digit*|idade|age|versao|version|tamanho|comprimento|nivel|level|" + funds,
      funds + " ~ minim*",
      "intervalo|interval|tempo|time|prazo|version|versao|length|tamanho|idade ~ minim*",
      "nao|not|cannot|never|nunca|t ... maior|superior|greater|exceed*|exced*|above|acima|more ... #",
      "valor*|amount* ... maior|superior|greater|above|acima|exceed* ... limit*|permitid*|maxim*|allowed"
    ]
  },
  {
    cause: "Other",
    words: [
      "bloque*|blocked|suspens*|suspend*|desativad*|disabled|inativ*|inactive|limite*|limit*|moeda*|currency|metadata|metadad*|" +
        "descri*|manutencao|maintenance|horario*|fraude*|fraud*|compliance|kyc|kyb|permiss*|forbidden|json|content|amount|valor|" +
        "maxim*|proibid*|encerrad*|closed|expirad*|expired|documento*|document*|cpf|cnpj|certificad*|certificate",
      "tipo ~ chave",
      "key|pix ~ type",
      "empresa|company ... nao|not|does|inexist*|invalid*",
      "invalid ... company"
    ]
  }
] as const
