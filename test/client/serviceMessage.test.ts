import { assert, describe, expect, it, vi } from "@effect/vitest"
import { displayMessage, maxDisplay } from "../../src/client/internal/words/mask.ts"
import { readServiceMessage } from "../../src/client/internal/words/serviceMessage.ts"

const wordsOf = (body: unknown) => readServiceMessage(JSON.stringify(body)).words

const codeOf = (body: unknown) => readServiceMessage(JSON.stringify(body)).code

const page = (head: string) =>
  `<!DOCTYPE html><html><head>${head}<style>p{x:"<p>"}</style></head>` +
  `<body><!-- <p>hidden</p> --><script>if (a</b/.x) alert("no")</SCRIPT ><h1>Servi&ccedil;o</h1>\n` +
  `<p>indispon&iacute;vel &amp; fora &#100;o &#x61;r: 1 < 2</p></body></html>`

describe("readServiceMessage", () => {
  it("readServiceMessage reads the message under the usual names, in both languages and any case", () => {
    const keys =
      "message,Message,mensagem,msg,errorMessage,error_description,detail,detalhe,details,description,descricao," +
      "reason,motivo,error,erro,errors,erros,title,titulo"
    for (const key of keys.split(",")) {
      assert.strictEqual(wordsOf({ ok: false, [key]: "Saldo insuficiente" }), "Saldo insuficiente", key)
      assert.strictEqual(wordsOf({ [key]: { message: "Saldo insuficiente" } }), "Saldo insuficiente", key)
      assert.strictEqual(wordsOf({ [key]: ["Saldo insuficiente"] }), "Saldo insuficiente", key)
    }
  })

  it("readServiceMessage reads the message inside the service's envelopes", () => {
    expect(wordsOf({ data: { message: "Chave inválida" }, status: 400 })).toBe("Chave inválida")
    expect(wordsOf({ ok: false, res: { erro: "Chave inválida" } })).toBe("Chave inválida")
    expect(wordsOf({ data: null, message: "Falhou" })).toBe("Falhou")
    expect(wordsOf({ message: "Falhou", data: { description: "what was sent" } })).toBe("Falhou")
  })

  it("readServiceMessage reads a list of errors", () => {
    expect(wordsOf({ errors: ["a é obrigatório", { field: "amount", message: "too low" }, { detail: "x" }, 7] })).toBe(
      "a é obrigatório; too low; x"
    )
    expect(wordsOf({ message: "Inválido", errors: [{ campo: "pixKey", mensagem: "vazia" }, { campo: "b" }] })).toBe(
      "Inválido; vazia"
    )
  })

  it("readServiceMessage reads problem+json, with ASP.NET's record of errors", () => {
    expect(wordsOf({ type: "about:blank", title: "Bad Request", status: 400, detail: "Saldo insuficiente" })).toBe(
      "Saldo insuficiente"
    )
    expect(
      wordsOf({
        title: "One or more validation errors occurred.",
        status: 400,
        errors: { Amount: ["must be at least 1000", "must be an integer"], PixKey: ["is invalid"], Empty: [] }
      })
    ).toBe("One or more validation errors occurred.; must be at least 1000; must be an integer; is invalid")
  })

  it("readServiceMessage prefers the message to the reason phrase, and adds a nested error to a general message", () => {
    expect(wordsOf({ statusCode: 400, message: ["a", "b"], error: "Bad Request" })).toBe("a; b")
    expect(wordsOf({ message: "Request failed", error: { message: "Saldo insuficiente" } })).toBe(
      "Request failed; Saldo insuficiente"
    )
    expect(wordsOf({ message: "Erro", detail: "Saldo insuficiente" })).toBe("Erro; Saldo insuficiente")
    expect(wordsOf({ message: "Erro", detail: "Erro" })).toBe("Erro")
  })

  it("readServiceMessage reads a JSON string, an array, and JSON or HTML inside a string", () => {
    expect(wordsOf("Saldo insuficiente")).toBe("Saldo insuficiente")
    expect(wordsOf([{ message: "a" }, { message: "b" }])).toBe("a; b")
    expect(wordsOf({ message: JSON.stringify({ error: { message: "upstream" } }) })).toBe("upstream")
    expect(wordsOf({ message: "<h1>Bad gateway</h1>" })).toBe("Bad gateway")
    expect(wordsOf({ message: "{not json" })).toBe("{not json")
  })

  it("readServiceMessage parses an answer once, and only those of its texts that look like JSON", () => {
    const parse = vi.spyOn(JSON, "parse")
    const count = (body: unknown) => {
      parse.mockClear()
      readServiceMessage(typeof body === "string" ? body : JSON.stringify(body))
      return parse.mock.calls.length
    }
    const counts = [
      count({ message: "Saldo insuficiente para Maria", code: "E-1042", errors: [{ detail: "x" }, { detail: "y" }] }),
      count("Saldo insuficiente"),
      count("<h1>Bad gateway</h1>")
    ]
    parse.mockRestore()
    expect(counts).toEqual([1, 0, 0])
  })

  it("readServiceMessage finds no words in a text that is only a number, true, false or null", () => {
    for (const message of ["42", "-1.5e3", "true", "false", "null", " null ", '""', "{}"]) {
      expect(wordsOf({ message })).toBe("")
    }
    for (const message of ["42 reais", "nulla", "- 1", "E-1042", "1.000,00"]) expect(wordsOf({ message })).toBe(message)
  })

  it("readServiceMessage finds no words in a body without words", () => {
    for (const body of [{}, [], null, true, 42, { status: 500 }, { errors: 1 }, { errors: {} }, { message: "" }]) {
      expect(wordsOf(body)).not.toContain("undefined")
    }
    expect(wordsOf({})).toBe("")
    expect(readServiceMessage("")).toEqual({ words: "", texts: [], isJson: false })
  })

  it("readServiceMessage reads a code at each of its usual places, and no code that is long or has spaces", () => {
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
    expect(codeOf({ code: { toString: 1 } })).toBeUndefined()
  })

  it("readServiceMessage reads the title of a page, or its text without script and style if there is no title", () => {
    expect(readServiceMessage(page("<title>502 Bad Gateway</title>")).words).toBe("502 Bad Gateway")
    expect(readServiceMessage(page("<title> </title>")).words).toBe("Serviço indisponível & fora do ar: 1 < 2")
    expect(readServiceMessage("Erro <script>never closed").words).toBe("Erro <script>never closed")
    expect(readServiceMessage("<p>Erro <script>never closed").words).toBe("Erro")
  })

  it("readServiceMessage reads the words that XML holds as character data", () => {
    const fault = "<fault><code>7</code><text><![CDATA[Saque <b>duplicado</b>]]></text></fault>"
    expect(readServiceMessage(fault).words).toBe("7 Saque duplicado")
    expect(readServiceMessage("<p>a<![CDATA[b").words).toBe("a b")
  })

  it("readServiceMessage reads plain text, with or without a byte order mark", () => {
    expect(readServiceMessage("\uFEFF  Saldo insuficiente \n").words).toBe("Saldo insuficiente")
    expect(readServiceMessage('\uFEFF{"message":"Saldo"}').words).toBe("Saldo")
  })

  it("readServiceMessage reads JSON that is cut off as plain text", () => {
    expect(readServiceMessage('{"message":"Saldo insuf')).toMatchObject({
      words: '{"message":"Saldo insuf',
      isJson: false
    })
  })

  it("readServiceMessage reads hostile input quickly and never throws", () => {
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
    for (const body of bodies) {
      const { words } = readServiceMessage(body)
      expect(displayMessage(words, () => [body.slice(0, 300), "secret-value"]).length).toBeLessThanOrEqual(maxDisplay)
    }
  })
})
