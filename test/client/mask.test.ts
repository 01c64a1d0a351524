/** What of the service's words and of its answers is shown, and what of them is masked. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { displayCode, displayMessage, maxDisplay } from "../../src/internal/mask.ts"
import { secretsOfBody } from "../../src/client/internal/words/secrets.ts"
import { readServiceMessage } from "../../src/client/internal/words/serviceMessage.ts"
import { phrases } from "../support/phrases.ts"
import { spellings } from "../support/spellings.ts"

const show = (words: string, secrets: ReadonlyArray<string> = []) => displayMessage(words, () => secrets)

/** The values of a request, in the forms that people and programs write. */
const values = phrases("secrets")

const plain = (text: string) =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll("[redacted]", "|")
    .replaceAll(/[^\p{L}\p{N}|]/gu, "")

/** The longest run of a value's letters and digits that is shown. */
const shownOf = (shown: string, value: string): string => {
  const [text, secret] = [plain(shown), plain(value)]
  for (let length = secret.length; length > 0; length--) {
    for (let at = 0; at + length <= secret.length; at++) {
      if (text.includes(secret.slice(at, at + length))) return secret.slice(at, at + length)
    }
  }
  return ""
}

const card = JSON.stringify({
  amount: 2500,
  paymentMethod: "CREDIT_CARD",
  customer: { name: "Ana de Li", document: { number: "52998224725", type: "CPF" }, phone: "11987654321" },
  items: [{ title: "Camiseta azul sem gola", unitPrice: 2500, quantity: 1 }],
  card: { cvv: 123, pin: "0042", number: "4111111111111111", holder: "ZULMIRA", name: ["Bia Oz"] }
})
const long = "palavra ".repeat(24)
const rent = ["Pagamento do aluguel de dezembro da Rua das Flores"]

/** The words of the service, and how they are shown to the sender of `secrets`; without a third text, as they are. */
const rows: ReadonlyArray<readonly [words: string, secrets: ReadonlyArray<string>, shown?: string]> = [
  ...phrases("shown").map((words) => [words, ["Zulmira Canária", "52998224725", "(11) 98765-4321"]] as const),
  ...phrases("masked").map(
    (value) => [`Chave ${value} não encontrada`, [], "Chave [redacted] não encontrada"] as const
  ),
  ["R$ 529.982.247-25", [], "R$ [redacted]"],
  ["\u001B[31mred\u001B[0m \u001B]0;title\u0007end\u009B1m", [], "red end"],
  ["aa\r\nbb\t cc\u2028dd\u2029ee\u0085ff\u00A0gg", [], "aa bb cc dd ee ff gg"],
  ["a\u0000b\u007Fc\u0090d\u202Ee\u2066f\u200Bg\uD800h", [], "abcdefgh"],
  [`${long}palavra fim`, [], `${long}palavra…`],
  [`${long}palavras`, []],
  // A character of two units is not split.
  [`${long}${"𐐨".repeat(10)}`, [], `${long}𐐨𐐨𐐨…`],
  ["Tente 5 vezes", ["5"]],
  [`${long}quite a long secret value`, ["quite a long secret value"], `${long}[redact…`],
  ["Got ...a long sec...", ["quite a long secret value"], "Got [redacted]"],
  ["Erro: WnVsZWljYSBRdWFyZXNtYQ.", ["Zuleica Quaresma"], "Erro: [redacted]"],
  ["O pagamento das flores foi recusado pelo banco", rent, "O [redacted] foi recusado pelo banco"],
  ["Recebido: R$ - /", ["R$ - /"], "[redacted]"],
  ["CVV 123 inválido, PIN (0042) também", secretsOfBody(card), "CVV [redacted] inválido, PIN [redacted] também"],
  ["O cartão de final 1111 foi recusado", secretsOfBody(card), "O cartão de final [redacted] foi recusado"],
  ["Titular zulmira desconhecido", secretsOfBody(card), "Titular [redacted] desconhecido"],
  ["Titular Oz recusado", secretsOfBody(card), "Titular [redacted] recusado"],
  ["Cliente Ana Li recusado, de novo", secretsOfBody(card), "Cliente [redacted] recusado, de novo"],
  // A name that the request does not hold: what follows a word for a person, in any case, up to a word that is none.
  ["Titular da conta: Maria da Silva", [], "Titular da conta: [redacted]"],
  ["CONTA DE ZULMIRA QUIXADÁ ENCERRADA", [], "CONTA DE [redacted] ENCERRADA"],
  ["favorecido maria silva não encontrado", [], "favorecido [redacted] não encontrado"],
  ["Chave em nome de ANA e BIA SOUZA. Confira", [], "Chave em nome de [redacted] Confira"],
  ["O beneficiário (José Almeida) está inativo", [], "O beneficiário [redacted] está inativo"],
  ["Sr. João dos Santos não pode receber", [], "Sr. [redacted] não pode receber"],
  ["The account holder John Smith is blocked", [], "The account holder [redacted] is blocked"],
  ["CONTA DE DESTINO INVÁLIDA: o titular não confere, conta do favorecido encerrada", []],
  ["Chave de idempotência já usada. Nome do titular divergente", []],
  ["CPF e CREDIT_CARD recusados, tente sem eles", secretsOfBody(card)],
  ["Doc 5 e 2 e 9 e 9", secretsOfBody(card), "Doc [redacted] e [redacted] e [redacted] e [redacted]"],
  ["Pedido: valor R$ 25,00 (2500 centavos) acima de 4001, tente em 10 minutos", secretsOfBody(card)]
]

describe("the words of the service", () => {
  it.each(rows.map(([words, secrets, shown = words]) => [words, shown, secrets] as const))(
    "%j are shown as %j",
    (words, shown, secrets) => {
      assert.strictEqual(show(words, secrets), shown)
    }
  )

  it.each(Object.entries(spellings))("show nothing of a value of the request %s", (_, spell) => {
    for (const value of values) {
      for (const whole of [value, value.slice(0, 12), value.slice(-12)]) {
        const shown = show(`Aqui: ${spell(whole)} fim`, [value])
        assert.match(shown, /^Aqui: .*\[redacted\]/, value)
        assert.isAtMost(shownOf(shown.replace(/^Aqui: |fim$/g, ""), whole).length, 3, `${value}: ${shown}`)
      }
    }
  })

  const Secret = Arbitrary.filter(
    Arbitrary.schema(Schema.String.check(Schema.isMinLength(4), Schema.isMaxLength(40))),
    (secret) => secret.replaceAll(/[\s\p{C}]/gu, "").length >= 4
  )
  it.prop(
    "are one line of at most 200 characters without a secret of the request, at any place of any body",
    [Secret, Schema.String, Schema.String, Schema.String],
    ([secret, before, after, key]) => {
      const echo = before + secret + after
      for (const body of [
        echo,
        `<title>${echo}`,
        `{"message":"${echo}`,
        JSON.stringify({ message: echo, [key]: echo }),
        JSON.stringify({ error: { detail: echo }, errors: { [key + secret]: [echo] } }),
        JSON.stringify({ message: JSON.stringify({ erro: echo }) })
      ]) {
        const shown = show(readServiceMessage(body, 400).words, [before, secret])
        assert.isAtMost(shown.length, maxDisplay)
        assert.notMatch(shown, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
        assert.notInclude(shown, secret.trim())
      }
    },
    { arbitrary: { runs: 300 } }
  )
})

const plainCodes = ["INSUFFICIENT_BALANCE", "insufficientBalance", "E1042", "400", "4001.17", "PIX-17", "err_12"]
const uuid = "6f1b9a3e-2f7c-4f0e-9d53-123456789012"
const unlike = `|529.982.247-25|52998224725|${uuid}|bWFyaWE|TWFyaWEgU2lsdmE|WnVsbWlyYQ|two words`
const held = "sk_live_SECRETvalue42|CLIENT_7d9f03|Zulmira|ZULMIRA_CANARIA|E_SECRETvalue42"
const hiddenCodes: ReadonlyArray<readonly [code: string, secrets: ReadonlyArray<string>]> = [
  ...unlike.split("|").map((code) => [code, []] as const),
  ...held.split("|").map((code) => [code, ["SECRETvalue42", ...values]] as const),
  ["CVV_123", ["123"]],
  ["ERR_abcd", ["abcd"]],
  ["E123", ["CVV: 123"]],
  ["A1", ["a1"]]
]

describe("the code of the service", () => {
  it.each(plainCodes)("%s is shown", (code) => {
    assert.strictEqual(
      displayCode(code, () => ["xa1y", ...values]),
      code
    )
  })

  it.each(hiddenCodes)("%j is not shown to a sender of %j", (code, secrets) => {
    assert.isUndefined(displayCode(code, () => secrets))
  })
})
