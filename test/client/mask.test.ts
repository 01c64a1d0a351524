import { assert, describe, expect, it, vi } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { displayMessage, freeText, maxDisplay, personal, type Secret } from "../../src/client/internal/words/mask.ts"
import { readServiceMessage } from "../../src/client/internal/words/serviceMessage.ts"

const show = (words: string, secrets: ReadonlyArray<string> = []) => displayMessage(words, () => secrets.map(personal))

const bytes = (text: string, write: (hex: string) => string) =>
  Array.from(new TextEncoder().encode(text), (byte) => write(byte.toString(16).padStart(2, "0"))).join("")

const points = (text: string, write: (hex: string, point: number) => string) =>
  Array.from(text, (character) => {
    const point = character.codePointAt(0) ?? 0
    return write(point.toString(16), point)
  }).join("")

/** What a gateway, a proxy or a log makes of a value. */
const escapings: Record<string, (text: string) => string> = {
  plain: (text) => text,
  "percent-encoded": (text) => bytes(text, (hex) => `%${hex}`),
  "percent-encoded twice": (text) => bytes(text, (hex) => `%25${hex}`),
  "percent-encoded three times": (text) => bytes(text, (hex) => `%2525${hex}`),
  "percent-encoded with %u": (text) => points(text, (hex) => `%u${hex.padStart(4, "0")}`),
  "quoted-printable": (text) => bytes(text, (hex) => `=${hex}`),
  "escaped as JSON": (text) => points(text, (hex) => `\\u${hex.padStart(4, "0")}`),
  "escaped as JSON in JSON": (text) => points(text, (hex) => `\\\\u${hex.padStart(4, "0")}`),
  "escaped with braces": (text) => points(text, (hex) => `\\u{${hex}}`),
  "escaped with \\x": (text) => points(text, (hex) => `\\x${hex.padStart(2, "0")}`),
  "written as entities": (text) => points(text, (_, point) => `&#${point};`),
  "written as long entities": (text) => points(text, (hex) => `&#x${hex.padStart(6, "0")};`),
  "written as entities without an end": (text) => points(text, (hex) => `&#x${hex.padStart(6, "0")}`),
  "written as entities of entities": (text) => points(text, (_, point) => `&amp;#${point};`),
  "spaced by escaped line breaks": (text) => Array.from(text).join("\\n"),
  "in capitals": (text) => text.toUpperCase(),
  "with marks between": (text) => Array.from(text).join("."),
  "in base64": (text) => Buffer.from(text).toString("base64")
}

/** From its first to its last letter or digit. */
const bare = (text: string) => text.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "")

const values = [
  "sk_live_SECRETvalue42",
  "wd_7d9f0335-8dcc",
  "529.982.247-25",
  "maria.silva@correio.example",
  "Zulmira Canária"
]

describe("displayMessage", () => {
  it("displayMessage shows an ordinary message as it is", () => {
    for (const text of [
      "Saldo insuficiente",
      "Valor mínimo de R$ 10,00 (1000 centavos)",
      "Saldo de R$ 12.345.678,90, solicitado R$ 1.000.000",
      "Erro 4001: INSUFFICIENT_AVAILABLE_BALANCE_FOR_WITHDRAWAL",
      "insufficient_available_balance"
    ]) {
      expect(show(text)).toBe(text)
    }
  })

  it("displayMessage puts a message on one line, without escape sequences and control characters", () => {
    expect(show("\u001B[31mred\u001B[0m \u001B]0;title\u0007end\u009B1m")).toBe("red end")
    expect(show("a\r\nb\t c\u2028d\u2029e\u0085f\u00A0g")).toBe("a b c d e f g")
    expect(show("a\u0000b\u007Fc\u0090d\u202Ee\u2066f\u200Bg\uD800h")).toBe("abcdefgh")
  })

  it("displayMessage cuts at 200 characters, and not within one", () => {
    expect(show("é".repeat(200))).toBe("é".repeat(200))
    expect(show("é".repeat(201))).toBe(`${"é".repeat(199)}…`)
    expect(show(`${"é".repeat(198)}😀 and more`)).toBe(`${"é".repeat(198)}…`)
  })

  it("displayMessage masks personal data and long tokens of which it was told nothing", () => {
    for (const value of [
      "maria.silva+pix@example.com.br",
      "maria%40example.com",
      "529.982.247-25",
      "52998224725",
      "529 982 247 25",
      "529.982.247\u201125",
      "11.222.333/0001-81",
      "11222333000181",
      "12.ABC.345/01DE-35",
      "12ABC34501DE35",
      "+55 (11) 98765-4321",
      "+5511987654321",
      "(11) 98765-4321",
      "98765-4321",
      "123e4567-e12b-12d1-a456-426655440000",
      "E12345678202009091221abcdef12345",
      "sk_live_51HxAbCdEfGhIjKlMnOpQr",
      "dGhpcyBpcyBhIHNlY3JldA+/dG9rZW4=",
      "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D"
    ]) {
      assert.strictEqual(show(`Chave ${value} não encontrada`), "Chave [redacted] não encontrada", value)
    }
    expect(show("QR 00020126580014br.gov.bcb.pix5913Fulano de T")).toBe("QR [redacted]")
    expect(show("R$ 529.982.247-25")).toBe("R$ [redacted]")
  })

  it("displayMessage masks each secret of the request, however it is punctuated, cased, accented or escaped", () => {
    const secrets = ["Maria José da Silva", "a.b@x.io", "ck-ab12", "123.456-7", "!#!#", "tiny"]
    for (const echo of [
      "Maria José da Silva",
      "MARIA JOSE DA SILVA",
      "Maria Jose\u0301 da  Silva",
      "maria-jose-da-silva",
      "Maria Jos\\u00e9 da Silva",
      "Maria%20Jos%C3%A9%20da%20Silva",
      "Maria+Jos%C3%A9+da+Silva",
      "Maria&#32;José da Silva",
      "A.B@X.IO",
      "a.b%40x.io",
      "a.b\\u0040x.io",
      "a.b\\\\u0040x.io",
      "a.b&#64;x.io",
      "a.b&#x40;x.io",
      "ck-ab12",
      "CK_AB12",
      "ckab12",
      "123.456-7",
      "1234567",
      "123 456 7",
      "１２３４５６７",
      "!#!#",
      "t\u0000i\u200Bny"
    ]) {
      assert.strictEqual(show(`Valor ${echo} inválido`, secrets), "Valor [redacted] inválido", echo)
    }
  })

  it("displayMessage masks before it cuts, also what was cut elsewhere", () => {
    const secret = "quite a long secret value"
    expect(show("x ".repeat(95) + secret, [secret])).not.toContain("quite")
    expect(show("Value: quite a long sec", [secret])).toBe("Value: [redacted]")
    expect(show("Got ...a long sec...", [secret])).toBe("Got ...[redacted]...")
    expect(show("This is quite", [secret])).toBe("This is quite")
  })

  it("displayMessage does not search for what is too short to be a secret", () => {
    expect(show("abc a-b-c", ["abc", "a", "", "\u0000\u0000\u0000\u0000", "a---"])).toBe("abc a-b-c")
  })

  it("displayMessage says nothing rather than a secret that its own mark would spell", () => {
    expect(show("x dact y", ["dact"])).toBe("")
    expect(show("abcd x abcd", ["abcd", "] x ["])).toBe("[redacted]")
  })

  for (const [how, escape] of Object.entries(escapings)) {
    it(`displayMessage masks a value ${how}, and a part of it`, () => {
      for (const value of values) {
        assert.strictEqual(show(`Aqui: ${escape(value)} :fim`, [value]), "Aqui: [redacted] :fim", value)
        if (how === "in base64") continue
        for (const part of [value.slice(0, 12), value.slice(-12), value.slice(2, 13)].map(bare)) {
          assert.strictEqual(show(`Aqui: ${escape(part)}... :fim`, [value]), "Aqui: [redacted]... :fim", part)
        }
      }
    })
  }

  it("displayMessage masks no words that a description has in common with the message, but the description", () => {
    const secrets = (): ReadonlyArray<Secret> => [freeText("Pagamento do aluguel de dezembro da Rua das Flores")]
    expect(displayMessage("Pagamento recusado pelo banco", secrets)).toBe("Pagamento recusado pelo banco")
    expect(displayMessage("Recusa: 'do aluguel de dezembro da rua'!", secrets)).toBe("Recusa: '[redacted]'!")
    expect(displayMessage("Recusado: Pagamento do alug", secrets)).toBe("Recusado: [redacted]")
  })

  it("displayMessage shows amounts, dates, times, statuses and codes", () => {
    const secrets = [...values, "11987654321"]
    for (const text of [
      "R$ 1.234,56",
      "Valor 12.345.678,90 acima de 1.000.000,00",
      "Disponível a partir de 2026-11-21",
      "Em 21/11/2026 10:15, e em 21/11/2026 às 10:15:30",
      "Em 2026-11-21T10:20:30.123Z, ou 2026-11-21 10:20:30-03:00",
      "Vence em 21/11/2026 às 10:20",
      "HTTP 422, erro 4001.17 (E-1042)",
      "insufficientAvailableBalanceForWithdrawal",
      "com.example.payments.DuplicateRequestException"
    ]) {
      assert.strictEqual(show(text, secrets), text)
    }
  })

  it("displayMessage asks for the secrets only when there are words", () => {
    const secrets = vi.fn<() => ReadonlyArray<Secret>>(() => [])
    expect(displayMessage(" \u0000 ", secrets)).toBe("")
    expect(secrets).not.toHaveBeenCalled()
  })

  it("displayMessage looks at each place of the words once for each length of run, however long a secret is", () => {
    const long = "Pagamento do aluguel ".repeat(50_000)
    const looked = vi.spyOn(Set.prototype, "has")
    const shown = displayMessage("Falhou ".repeat(2000), () => [
      freeText(long),
      personal(long),
      ...values.map(personal)
    ])
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
        const text = show(readServiceMessage(shown, type).words, [type])
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
    "displayMessage never shows a secret of the request, wherever the body has it",
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

  it.prop(
    "displayMessage masks a word in any case, spaced, percent-encoded and escaped",
    [Schema.String.check(Schema.isPattern(/^[a-z0-9]{4,20}$/))],
    ([secret]) => {
      const hex = (prefix: string, digits: number) =>
        Array.from(secret, (c) => prefix + c.charCodeAt(0).toString(16).padStart(digits, "0")).join("")
      for (const echo of [
        secret.toUpperCase(),
        Array.from(secret).join("-"),
        Array.from(secret).join(" "),
        hex("%", 2),
        hex("\\u", 4)
      ]) {
        assert.strictEqual(show(`é ${echo} ê`, [secret]), "é [redacted] ê")
      }
    }
  )
})
