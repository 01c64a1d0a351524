import { assert, describe, expect, it, vi } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { displayCode, displayMessage, maxDisplay } from "../../src/client/internal/words/mask.ts"
import { secretsOfBody } from "../../src/client/internal/words/secrets.ts"
import { readServiceMessage } from "../../src/client/internal/words/serviceMessage.ts"

const show = (words: string, secrets: ReadonlyArray<string> = []) => displayMessage(words, () => secrets)

const bytes = (text: string, write: (hex: string) => string) =>
  Array.from(new TextEncoder().encode(text), (byte) => write(byte.toString(16).padStart(2, "0"))).join("")

const points = (text: string, write: (hex: string, point: number) => string) =>
  Array.from(text, (character) => {
    const point = character.codePointAt(0) ?? 0
    return write(point.toString(16), point)
  }).join("")

const apart = (text: string, between: string) => Array.from(text).join(between)
const inGroups = (text: string, size: number, between: string) =>
  (text.match(new RegExp(`.{1,${size}}`, "gu")) ?? []).join(between)

/** The spellings in which a gateway, a proxy or a log may show a value. */
const spellings: Record<string, (text: string) => string> = {
  plain: (text) => text,
  "percent-encoded": (text) => bytes(text, (hex) => `%${hex}`),
  "percent-encoded twice": (text) => bytes(text, (hex) => `%25${hex}`),
  "percent-encoded with %u": (text) => points(text, (hex) => `%u${hex.padStart(4, "0")}`),
  "percent-encoded as a form": (text) => encodeURIComponent(text).replaceAll("%20", "+"),
  "quoted-printable": (text) => bytes(text, (hex) => `=${hex}`),
  "escaped as JSON": (text) => points(text, (hex) => `\\u${hex.padStart(4, "0")}`),
  "escaped as JSON in JSON": (text) => points(text, (hex) => `\\\\u${hex.padStart(4, "0")}`),
  "escaped with \\x": (text) => points(text, (hex) => `\\x${hex.padStart(2, "0")}`),
  "written as entities": (text) => points(text, (_, point) => `&#${point};`),
  "written as long entities": (text) => points(text, (hex) => `&#x${hex.padStart(6, "0")};`),
  "spaced by escaped line breaks": (text) => apart(text, "\\n"),
  "in capitals": (text) => text.toUpperCase(),
  "in small letters": (text) => text.toLowerCase(),
  decomposed: (text) => text.normalize("NFD"),
  "without accents": (text) => text.normalize("NFKD").replaceAll(/\p{Mn}/gu, ""),
  "full-width": (text) => text.replaceAll(/[!-~]/g, (one) => String.fromCodePoint((one.codePointAt(0) ?? 0) + 0xfe_e0)),
  "with marks between": (text) => apart(text, "."),
  "with spaces between": (text) => apart(text, " "),
  "with invisible characters between": (text) => apart(text, "\u200B"),
  "in groups of four": (text) => inGroups(text, 4, " "),
  "in groups of five, with hyphens": (text) => inGroups(text, 5, "-"),
  "letters and digits alone": (text) => text.replaceAll(/[^\p{L}\p{N}]/gu, ""),
  "in quotes and brackets": (text) => `("${text}"),`,
  "as the value of a member": (text) => `{"value":"${text}"}`,
  "after an equals sign": (text) => `value=${text}`,
  "in base64": (text) => Buffer.from(text).toString("base64"),
  "in hexadecimal": (text) => Buffer.from(text).toString("hex")
}

const values = [
  "sk_live_SECRETvalue42",
  "client-7d9f03",
  "wd_7d9f0335-8dcc-4b1e",
  "6f1b9a3e-2f7c-4f0e-9d53-0c5a7e1b2d44",
  "529.982.247-25",
  "52998224725",
  "11.222.333/0001-81",
  "12.ABC.345/01DE-35",
  "maria.silva@correio.example",
  "+5511987654321",
  "(11) 98765-4321",
  "Zulmira Canária",
  "José Ávila de Assunção",
  "00020126580014br.gov.bcb.pix0136123e4567",
  "E12345678202009091221abcdef12345"
]

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

describe("displayMessage", () => {
  it("displayMessage masks a value that was encoded in letters of both cases, and shows names in camel case", () => {
    const encoded = Buffer.from("Zuleica Quaresma").toString("base64url")
    expect(encoded).toMatch(/^[A-Za-z]+$/)
    expect(displayMessage(`Erro: ${encoded}.`, () => ["Zuleica Quaresma"])).toBe("Erro: [redacted]")
    const plain =
      "PixKey e pixKeyType: CPFs, IDs, iOS, PicPay, McDonald's, MercadoPago, guarda-chuva, URLParam, SÃO, São."
    expect(displayMessage(plain, () => [])).toBe(plain)
  })

  it("displayMessage shows plain words, codes, small numbers, amounts, dates and times", () => {
    for (const text of [
      "Saldo insuficiente",
      "Valor mínimo de R$ 10,00 (1000 centavos)",
      "Saldo de R$ 12.345.678,90, solicitado R$ 1.000.000",
      "Erro 4001: INSUFFICIENT_AVAILABLE_BALANCE_FOR_WITHDRAWAL",
      "insufficient_available_balance",
      "The company's account is blocked; don't try again!",
      "Segunda-feira, às 10:15",
      "Disponível a partir de 2026-11-21",
      "Em 21/11/2026 10:15, e em 21/11/2026 às 10:15:30",
      "Em 2026-11-21T10:20:30.123Z, ou 2026-11-21T10:20:30-03:00",
      "HTTP 422 - pixKey: \u201Cinválida\u201D"
    ]) {
      expect(show(text, ["Zulmira Canária", "52998224725", "(11) 98765-4321"])).toBe(text)
    }
  })

  it("displayMessage masks every other token, also of a value that was not sent", () => {
    for (const value of [
      "maria.silva+pix@example.com.br",
      "maria%40example.com",
      "529.982.247-25",
      "52998224725",
      "529 982 247 25",
      "11.222.333/0001-81",
      "12ABC34501DE35",
      "+5511987654321",
      "98765-4321",
      "123e4567-e12b-12d1-a456-426655440000",
      "sk_live_51HxAbCdEfGhIjKlMnOpQr",
      "dGhpcyBpcyBhIHNlY3JldA+/dG9rZW4=",
      "M A R I A",
      "https://gateway.example/x"
    ]) {
      assert.strictEqual(show(`Chave ${value} não encontrada`), "Chave [redacted] não encontrada", value)
    }
    expect(show("R$ 529.982.247-25")).toBe("R$ [redacted]")
  })

  it("displayMessage puts a message on one line, without escape sequences and control characters", () => {
    expect(show("\u001B[31mred\u001B[0m \u001B]0;title\u0007end\u009B1m")).toBe("red end")
    expect(show("aa\r\nbb\t cc\u2028dd\u2029ee\u0085ff\u00A0gg")).toBe("aa bb cc dd ee ff gg")
    expect(show("a\u0000b\u007Fc\u0090d\u202Ee\u2066f\u200Bg\uD800h")).toBe("abcdefgh")
  })

  it("displayMessage shortens a message to 200 characters, and never splits a character", () => {
    const words = "palavra ".repeat(25).trim()
    expect(show(words)).toBe(words)
    expect(show(`${words} fim`)).toBe(`${words}…`)
    expect(show(`${"palavra ".repeat(24)}ab 😀😀😀`)).not.toMatch(/\p{Cs}/u)
  })

  it("displayMessage masks a message before it shortens it", () => {
    const secret = "quite a long secret value"
    expect(show(`${"palavra ".repeat(24)}${secret}`, [secret])).not.toContain("quite")
    expect(show("Got ...a long sec...", [secret])).not.toContain("long")
  })

  it.each(Object.entries(spellings))("displayMessage shows nothing of a value of the request %s", (_, spell) => {
    for (const value of values) {
      for (const whole of [value, value.slice(0, 12), value.slice(-12)]) {
        const shown = show(`Aqui: ${spell(whole)} fim`, [value])
        assert.match(shown, /^Aqui: .*\[redacted\]/, value)
        assert.isAtMost(shownOf(shown.replace(/^Aqui: |fim$/g, ""), whole).length, 3, `${value}: ${shown}`)
      }
    }
  })

  it("displayMessage masks each word of four letters that a description holds too", () => {
    const words = "O pagamento das flores foi recusado pelo banco"
    const shown = displayMessage(words, () => ["Pagamento do aluguel de dezembro da Rua das Flores"])
    assert.strictEqual(shown, "O [redacted] foi recusado pelo banco")
  })

  const card = JSON.stringify({
    amount: 2500,
    paymentMethod: "CREDIT_CARD",
    customer: { name: "Ana de Li", document: { number: "52998224725", type: "CPF" }, phone: "11987654321" },
    items: [{ title: "Camiseta azul grande", unitPrice: 2500, quantity: 1 }],
    card: { cvv: 123, pin: "0042", number: "4111111111111111", holder: "ZULMIRA" }
  })
  const showOfCard = (words: string) => displayMessage(words, () => secretsOfBody(card))

  it("displayMessage masks every number of a field that the contract does not name, however short", () => {
    assert.strictEqual(
      showOfCard("CVV 123 inválido, PIN (0042) também"),
      "CVV [redacted] inválido, PIN [redacted] também"
    )
    assert.strictEqual(showOfCard("O cartão de final 1111 foi recusado"), "O cartão de final [redacted] foi recusado")
    assert.strictEqual(showOfCard("Titular zulmira desconhecido"), "Titular [redacted] desconhecido")
  })

  it("displayMessage masks each part of a name except its particles, however short", () => {
    assert.strictEqual(showOfCard("Cliente Ana Li recusado, de novo"), "Cliente [redacted] recusado, de novo")
  })

  it("displayMessage masks consecutive digits of a value, whatever separates them", () => {
    assert.notMatch(showOfCard("Doc 5 e 2 e 9 e 9 e 8 e 2"), /\d/)
    assert.notMatch(showOfCard("Fone (11) 98765-4321"), /\d/)
  })

  it("displayMessage shows the numbers of an order, and numbers that the request does not hold", () => {
    const words = "Pedido: valor R$ 25,00 (2500 centavos) acima de 4001, tente em 10 minutos"
    assert.strictEqual(showOfCard(words), words)
  })

  it("displayMessage shows nothing if a value without letters and digits would remain", () => {
    expect(show("Recebido: R$ - /", ["R$ - /"])).toBe("[redacted]")
  })

  it("displayMessage computes the secrets only if there are words", () => {
    const secrets = vi.fn<() => ReadonlyArray<string>>(() => [])
    expect(displayMessage(" \u0000 ", secrets)).toBe("")
    expect(secrets).not.toHaveBeenCalled()
  })

  it("displayMessage reads each position of the words once, however long a secret is", () => {
    const long = "Pagamento do aluguel ".repeat(50_000)
    const looked = vi.spyOn(Set.prototype, "has")
    const shown = displayMessage("Falhou ".repeat(2000), () => [long])
    const looks = looked.mock.calls.length
    looked.mockRestore()
    expect(shown.startsWith("Falhou Falhou")).toBe(true)
    expect(looks).toBeLessThan(4096 * 4)
  })

  it.prop(
    "displayMessage never throws, and shows one line of at most 200 characters",
    [Schema.String, Schema.String],
    ([body, type]) => {
      for (const shown of [body, JSON.stringify({ message: body }), `<p>${body}`, `{"error":"${body}`]) {
        const text = show(readServiceMessage(shown).words, [type])
        assert.isAtMost(text.length, maxDisplay)
        assert.notMatch(text, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      }
    }
  )

  const Secret = Arbitrary.filter(
    Arbitrary.schema(Schema.String.check(Schema.isMinLength(4), Schema.isMaxLength(40))),
    (secret) => secret.replaceAll(/[\s\p{C}]/gu, "").length >= 4
  )

  it.prop(
    "displayMessage never shows a secret of the request, at any place of the body",
    [Secret, Schema.String, Schema.String, Schema.String],
    ([secret, before, after, key]) => {
      const echo = before + secret + after
      for (const body of [
        echo,
        `<p>${echo}</p>`,
        `<title>${echo}`,
        `{"message":"${echo}`,
        JSON.stringify(echo),
        JSON.stringify({ message: echo, [key]: echo }),
        JSON.stringify({ error: { detail: echo }, errors: { [key + secret]: [echo] } }),
        JSON.stringify({ errors: [{ field: echo, message: echo }] }),
        JSON.stringify({ message: JSON.stringify({ erro: echo }) })
      ]) {
        const shown = show(readServiceMessage(body).words, [before, secret])
        assert.notInclude(shown, secret)
        assert.notInclude(shown, secret.trim())
      }
    },
    { arbitrary: { runs: 300 } }
  )
})

describe("displayCode", () => {
  const display = (code: string, secrets: ReadonlyArray<string> = values) => displayCode(code, () => secrets)

  it("displayCode shows a plain code", () => {
    for (const code of ["INSUFFICIENT_BALANCE", "insufficientBalance", "E1042", "400", "4001.17", "PIX-17", "err_12"]) {
      expect(display(code)).toBe(code)
    }
  })

  it("displayCode shows nothing that looks like a document, a phone or an id", () => {
    for (const code of ["", "529.982.247-25", "52998224725", "5511987654321", "6f1b9a3e-2f7c-4f0e-9d53-0c5a7e1b2d44"]) {
      expect(display(code, [])).toBeUndefined()
    }
  })

  it("displayCode shows nothing that is not in the form of a code, such as base64", () => {
    for (const code of ["bWFyaWE", "TWFyaWEgU2lsdmE", "WnVsbWlyYQ", "two words"]) {
      expect(display(code, [])).toBeUndefined()
    }
  })

  it("displayCode shows nothing that the request holds, in any case and punctuation", () => {
    for (const code of ["sk_live_SECRETvalue42", "CLIENT_7d9f03", "Zulmira", "ZULMIRA_CANARIA", "E_SECRETvalue42"]) {
      expect(display(code, ["SECRETvalue42", ...values])).toBeUndefined()
    }
    expect(display("CVV_123", ["123"])).toBeUndefined()
    expect(display("E123", ["CVV: 123"])).toBeUndefined()
    expect(display("A1", ["a1"])).toBeUndefined()
    expect(display("A1", ["xa1y"])).toBe("A1")
  })
})
