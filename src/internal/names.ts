/**
 * Finds the names of persons in the words of the service: what follows a word such as titular, conta de or em nome de, and is no
 * ordinary word. Where it is not sure, it takes a word for a name.
 */
import { withoutAccents } from "./withoutAccents.ts"

const setOf = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

/** The words for a person, after which the name comes. */
const persons = setOf(`
  titular titulares favorecido favorecida beneficiario beneficiaria recebedor recebedora destinatario destinataria correntista
  portador portadora pagador pagadora cliente credor credora devedor devedora nome senhor senhora sr sra dr dra cotitular
  holder beneficiary payee recipient owner creditor debtor payer customer name mr mrs ms`)

/** The words after which a name comes if one of `links` follows them. */
const owned = setOf(`
  conta contas cpf cnpj chave documento cadastro filho filha favor pertence pertencente registrada registrado account key
  belongs`)
const links = setOf("de do da dos das d a ao aos of to for")

/** Words between such a word and the name, or between two parts of a name. */
const between = setOf(`
  de do da dos das d e a o as os ao aos of the to for is di del van von y conta account chave key pix cpf cnpj completo completa
  cadastrado cadastrada registrado registrada informado informada`)

/** Words that are no names, where a name could be. */
const ordinary = setOf(`
  nao no not foi foram esta estao era sao ser sera tem possui pode podem deve precisa consta ha sem com em na nas nos num numa para
  por pelo pela pelos pelas se ja que ou mas apenas como ate apos antes ainda tambem muito
  ativo ativa inativo inativa invalido invalida invalidos invalidas valido valida encerrado encerrada bloqueado bloqueada
  suspenso suspensa cancelado cancelada recusado recusada recusou recusa rejeitado rejeitada rejeitou negado negada
  diverge diverge divergem divergente divergentes difere confere conferem corresponde coincide
  encontrado encontrada localizado localizada existe existente inexistente desconhecido desconhecida errado errada incorreto incorreta
  irregular restrito restrita restricao falecido falecida menor maior pendente vencido vencida autorizado autorizada permitido permitida
  aceita aceitam aceito participa recebe receber recebeu recebido recebida respondeu confirmou confirmado confirmada confirma
  suporta suportado suportada disponivel indisponivel vazio vazia obrigatorio obrigatoria ausente
  destino origem pagamento pagamentos poupanca corrente salario deposito terceiro terceiros liquidacao cobranca transacao
  empresa empresas banco bancos instituicao instituicoes psp provedor gateway sistema spi bacen receita federal judicial
  juridica fisica pessoa pessoas outro outra outros outras mesmo mesma mesma titularidade seguranca limite limites saldo
  aleatoria aleatorio evp email telefone celular cadastral bancaria bancario dados dado tipo numero agencia
  idempotencia identidade participante registro uso acesso api
  and or does did do is are was were has have had must may can cannot on in at by with without from that which before after
  another participant document this mismatch bank number type closed blocked suspended frozen locked invalid valid inactive active unknown
  required missing found exist exists matches match different data restriction request support supported supports rejected refused
  currency manager accounts third party parties destination origin payment payments pix`)

const fold = (token: string): string =>
  withoutAccents(token)
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, "")

/** The place of the first word of a name after a word for a person, if one follows. */
const startOf = (words: ReadonlyArray<string>, tokens: ReadonlyArray<string>, from: number): number | undefined => {
  for (let at = from; at < tokens.length && !endsSentence(tokens[at - 1] ?? ""); at++) {
    const word = words[at] ?? ""
    if (word === "" || between.has(word)) continue
    return isName(word) ? at : undefined
  }
  return undefined
}

const isName = (word: string) => word !== "" && !ordinary.has(word) && !between.has(word) && !persons.has(word)
/** A full stop after three letters or fewer is of an abbreviation. */
const endsSentence = (token: string) => /[!?;]["')]?$|\p{L}{4}["')]?\.$|\d\.$/u.test(token)

/** The places of the tokens that are a name of a person, by what comes before them. */
export const namesIn = (tokens: ReadonlyArray<string>): ReadonlySet<number> => {
  const words = tokens.map(fold)
  const found = new Set<number>()
  for (const [at, word] of words.entries()) {
    const isOwned = () => links.has(words.slice(at + 1).find((other) => other !== "") ?? "")
    if (!persons.has(word) && !(owned.has(word) && isOwned())) continue
    const start = startOf(words, tokens, at + 1)
    let last = start
    for (let place = start; place !== undefined && place < tokens.length; place++) {
      const [one = "", token = ""] = [words[place], tokens[place]]
      if (isName(one)) last = place
      if (!(isName(one) || between.has(one)) || /[,:]$/.test(token) || endsSentence(token)) break
    }
    if (start === undefined || last === undefined) continue
    for (let place = start; place <= last; place++) found.add(place)
  }
  return found
}
