import { assert, describe, expect, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { displayMessage, maxDisplay, readServiceMessage } from "../../src/client/internal/serviceMessage.ts"

const wordsOf = (body: unknown) => readServiceMessage(JSON.stringify(body), "application/json").words

const codeOf = (body: unknown) => readServiceMessage(JSON.stringify(body)).code

const page = (head: string) =>
  `<!DOCTYPE html><html><head>${head}<style>p{x:"<p>"}</style></head>` +
  `<body><!-- <p>hidden</p> --><script>if (a</b/.x) alert("no")</SCRIPT ><h1>Servi&ccedil;o</h1>\n` +
  `<p>indispon&iacute;vel &amp; fora &#100;o &#x61;r: 1 < 2</p></body></html>`

describe("readServiceMessage", () => {
  it("reads the message under the usual names, in both languages and any case", () => {
    const keys =
      "message,Message,mensagem,msg,errorMessage,error_description,detail,detalhe,details,description,descricao," +
      "reason,motivo,error,erro,errors,erros,title,titulo"
    for (const key of keys.split(",")) {
      assert.strictEqual(wordsOf({ ok: false, [key]: "Saldo insuficiente" }), "Saldo insuficiente", key)
      assert.strictEqual(wordsOf({ [key]: { message: "Saldo insuficiente" } }), "Saldo insuficiente", key)
      assert.strictEqual(wordsOf({ [key]: ["Saldo insuficiente"] }), "Saldo insuficiente", key)
    }
  })

  it("looks into the envelopes that the service uses elsewhere", () => {
    expect(wordsOf({ data: { message: "Chave inválida" }, status: 400 })).toBe("Chave inválida")
    expect(wordsOf({ ok: false, res: { erro: "Chave inválida" } })).toBe("Chave inválida")
    expect(wordsOf({ data: null, message: "Falhou" })).toBe("Falhou")
    expect(wordsOf({ message: "Falhou", data: { description: "what was sent" } })).toBe("Falhou")
  })

  it("reads a list of errors with the field that each is about", () => {
    expect(wordsOf({ errors: ["a é obrigatório", { field: "amount", message: "too low" }, { detail: "x" }, 7] })).toBe(
      "a é obrigatório; amount: too low; x"
    )
    expect(wordsOf({ message: "Inválido", errors: [{ campo: "pixKey", mensagem: "vazia" }, { campo: "b" }] })).toBe(
      "Inválido; pixKey: vazia"
    )
  })

  it("reads problem+json, with ASP.NET's record of errors", () => {
    expect(wordsOf({ type: "about:blank", title: "Bad Request", status: 400, detail: "Saldo insuficiente" })).toBe(
      "Saldo insuficiente"
    )
    expect(
      wordsOf({
        title: "One or more validation errors occurred.",
        status: 400,
        errors: { Amount: ["must be at least 1000", "must be an integer"], PixKey: ["is invalid"], Empty: [] }
      })
    ).toBe(
      "One or more validation errors occurred.; Amount: must be at least 1000; must be an integer; PixKey: is invalid"
    )
  })

  it("keeps the message before the reason phrase, and adds a nested error to a general message", () => {
    expect(wordsOf({ statusCode: 400, message: ["a", "b"], error: "Bad Request" })).toBe("a; b")
    expect(wordsOf({ message: "Request failed", error: { message: "Saldo insuficiente" } })).toBe(
      "Request failed; Saldo insuficiente"
    )
    expect(wordsOf({ message: "Erro", detail: "Saldo insuficiente" })).toBe("Erro; Saldo insuficiente")
    expect(wordsOf({ message: "Erro", detail: "Erro" })).toBe("Erro")
  })

  it("reads a JSON string, an array, and JSON or HTML inside a string", () => {
    expect(wordsOf("Saldo insuficiente")).toBe("Saldo insuficiente")
    expect(wordsOf([{ message: "a" }, { message: "b" }])).toBe("a; b")
    expect(wordsOf({ message: JSON.stringify({ error: { message: "upstream" } }) })).toBe("upstream")
    expect(wordsOf({ message: "<h1>Bad gateway</h1>" })).toBe("Bad gateway")
    expect(wordsOf({ message: "{not json" })).toBe("{not json")
  })

  it("finds no words where there are none", () => {
    for (const body of [{}, [], null, true, 42, { status: 500 }, { errors: 1 }, { errors: {} }, { message: "" }]) {
      expect(wordsOf(body)).not.toContain("undefined")
    }
    expect(wordsOf({})).toBe("")
    expect(readServiceMessage("")).toEqual({ words: "" })
  })

  it("reads a code wherever it stands, and takes nothing long or spaced for one", () => {
    expect(codeOf({ code: "NO_BALANCE", message: "x" })).toBe("NO_BALANCE")
    expect(codeOf({ errorCode: 4001 })).toBe("4001")
    expect(codeOf({ error: { code: "E1", message: "x" } })).toBe("E1")
    expect(codeOf({ errors: [{ message: "x" }, { codigo: "E2" }] })).toBe("E2")
    expect(codeOf({ res: { error_code: "E3" } })).toBe("E3")
    expect(codeOf({ error: "invalid_client", error_description: "x" })).toBe("invalid_client")
    expect(codeOf({ error: "Unauthorized" })).toBeUndefined()
    expect(codeOf({ error: "Bad Request", message: "x" })).toBeUndefined()
    expect(codeOf({ code: "two words" })).toBeUndefined()
    expect(codeOf({ code: "x".repeat(65) })).toBeUndefined()
    expect(codeOf({ code: null })).toBeUndefined()
  })

  it("reads the title of a page, and without one its text, without script and style", () => {
    expect(readServiceMessage(page("<title>502 Bad Gateway</title>")).words).toBe("502 Bad Gateway")
    expect(readServiceMessage(page("<title> </title>")).words).toBe("Serviço indisponível & fora do ar: 1 < 2")
    expect(readServiceMessage("Erro<br>grave", "text/html; charset=utf-8").words).toBe("Erro grave")
    expect(readServiceMessage("Erro <script>never closed").words).toBe("Erro <script>never closed")
    expect(readServiceMessage("<p>Erro <script>never closed").words).toBe("Erro")
  })

  it("reads plain text, with or without a byte order mark", () => {
    expect(readServiceMessage("\uFEFF  Saldo insuficiente \n").words).toBe("Saldo insuficiente")
    expect(readServiceMessage('\uFEFF{"message":"Saldo"}').words).toBe("Saldo")
  })

  it("saves the message of JSON that is cut or too long to be parsed", () => {
    expect(readServiceMessage('{"message":"Saldo \\"in\\"suficiente","da').words).toBe('Saldo "in"suficiente')
    expect(readServiceMessage('{"message" : "Saldo insuf').words).toBe("Saldo insuf")
    expect(readServiceMessage('{"message":"bad \\x escape"').words).toBe("bad \\x escape")
    expect(readServiceMessage('{"detail":"Saldo"' + " ".repeat(20_000) + "}").words).toBe("Saldo")
    expect(readServiceMessage("{oops").words).toBe("{oops")
  })

  it("stays quick and quiet on hostile input", () => {
    const bodies = [
      "[".repeat(1_000_000),
      '{"error":'.repeat(100_000),
      '{"errors":'.repeat(1000) + "1" + "}".repeat(1000),
      "[".repeat(1000) + '"deep"' + "]".repeat(1000),
      "<".repeat(1_000_000),
      "<a".repeat(500_000),
      "<script>".repeat(100_000),
      "<script></script".repeat(100_000),
      "<!--".repeat(100_000),
      "<title".repeat(100_000),
      '"message":"'.repeat(100_000),
      '{"message":"' + "\\".repeat(100_000),
      "&#".repeat(100_000),
      "<p>&#999999;&#xfffff;&#xd800;",
      "a@".repeat(100_000),
      "a".repeat(100_000),
      "1 ".repeat(100_000),
      "000201".repeat(10_000),
      "%ff%c3%28%c3%a9%e0%80%".repeat(1000),
      "\u001B]".repeat(100_000),
      " \u0000".repeat(100_000)
    ]
    const started = performance.now()
    for (const body of bodies) {
      const { words } = readServiceMessage(body)
      expect(displayMessage(words, [body.slice(0, 300), "secret-value"]).length).toBeLessThanOrEqual(maxDisplay)
    }
    expect(performance.now() - started).toBeLessThan(5000)
  })
})

describe("displayMessage", () => {
  it("shows an ordinary message as it is", () => {
    for (const text of [
      "Saldo insuficiente",
      "Valor mínimo de R$ 10,00 (1000 centavos)",
      "Saldo de R$ 12.345.678,90, solicitado R$ 1.000.000",
      "Erro 4001: INSUFFICIENT_AVAILABLE_BALANCE_FOR_WITHDRAWAL",
      "insufficient_available_balance"
    ]) {
      expect(displayMessage(text)).toBe(text)
    }
  })

  it("puts it on one line, without escape sequences and control characters", () => {
    expect(displayMessage("\u001B[31mred\u001B[0m \u001B]0;title\u0007end\u009B1m")).toBe("red end")
    expect(displayMessage("a\r\nb\t c\u2028d\u2029e\u0085f\u00A0g")).toBe("a b c d e f g")
    expect(displayMessage("a\u0000b\u007Fc\u0090d\u202Ee\u2066f\u200Bg\uD800h")).toBe("abcdefgh")
  })

  it("cuts at 200 characters, and not within one", () => {
    expect(displayMessage("é".repeat(200))).toBe("é".repeat(200))
    expect(displayMessage("é".repeat(201))).toBe(`${"é".repeat(199)}…`)
    expect(displayMessage(`${"é".repeat(198)}😀 and more`)).toBe(`${"é".repeat(198)}…`)
  })

  it("masks personal data and long tokens of which it was told nothing", () => {
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
      assert.strictEqual(displayMessage(`Chave ${value} não encontrada`), "Chave [redacted] não encontrada", value)
    }
    expect(displayMessage("QR 00020126580014br.gov.bcb.pix5913Fulano de T")).toBe("QR [redacted]")
    expect(displayMessage("R$ 529.982.247-25")).toBe("R$ [redacted]")
  })

  it("masks each secret of the request, however it is punctuated, cased, accented or escaped", () => {
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
      assert.strictEqual(displayMessage(`Valor ${echo} inválido`, secrets), "Valor [redacted] inválido", echo)
    }
  })

  it("masks before it cuts, also what was cut elsewhere", () => {
    const secret = "quite a long secret value"
    expect(displayMessage("x ".repeat(95) + secret, [secret])).not.toContain("quite")
    expect(displayMessage("Value: quite a long sec", [secret])).toBe("Value: [redacted]")
    expect(displayMessage("This is quite", [secret])).toBe("This is quite")
  })

  it("does not search for what is too short to be a secret", () => {
    expect(displayMessage("abc a-b-c", ["abc", "a", "", "\u0000\u0000\u0000\u0000", "a---"])).toBe("abc a-b-c")
  })

  it("says nothing rather than a secret that its own mark would spell", () => {
    expect(displayMessage("x dact y", ["dact"])).toBe("")
    expect(displayMessage("abcd x abcd", ["abcd", "] x ["])).toBe("[redacted]")
  })

  it.prop(
    "never throws, and shows one line of at most 200 characters",
    [Schema.String, Schema.String],
    ([body, type]) => {
      for (const shown of [body, JSON.stringify({ message: body }), `<p>${body}`, `{"error":"${body}`]) {
        const text = displayMessage(readServiceMessage(shown, type).words, [type])
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
    "never shows a secret of the request, wherever the body has it",
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
        const shown = displayMessage(readServiceMessage(body).words, [before, secret])
        assert.notInclude(shown, secret)
        assert.notInclude(shown, secret.trim())
      }
    },
    { arbitrary: { runs: 300 } }
  )

  it.prop(
    "masks a word in any case, spaced, percent-encoded and escaped",
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
        assert.strictEqual(displayMessage(`é ${echo} ê`, [secret]), "é [redacted] ê")
      }
    }
  )
})
