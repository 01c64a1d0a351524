import { assert, describe, it } from "@effect/vitest"
import { readServiceMessage } from "../../src/client/internal/words/serviceMessage.ts"
import table from "../tables/messages.json" with { type: "json" }

const messageKeys =
  "message,Message,mensagem,msg,errorMessage,error_description,detail,detalhe,details,description,descricao," +
  "reason,motivo,error,erro,errors,erros,title,titulo,defaultMessage,messages,mensagens,notifications,Notifications," +
  "validations,validationErrors,fieldErrors,violations,issues,constraints,ModelState"
const poor = "Saldo insuficiente"
const json = (value: unknown) => JSON.stringify(value)

const page = (head: string) =>
  `<!DOCTYPE html><html><head>${head}<style>p{x:"<p>"}</style></head>` +
  `<body><!-- <p>hidden</p> --><script>if (a</b/.x) alert("no")</SCRIPT ><h1>Servi&ccedil;o</h1>\n` +
  `<p>indispon&iacute;vel &amp; fora &#100;o &#x61;r: 1 < 2</p></body></html>`

/** An error in an error, so many times. */
const nested = (levels: number): unknown => (levels === 0 ? { message: "deep" } : { error: nested(levels - 1) })
const many = Array.from({ length: 65 }, (_, at) => `e${at}`)

/** Values in JSON, and the words that are read of them. Those of plain JSON are in the table. */
const values: ReadonlyArray<readonly [value: unknown, words: string]> = [
  ...messageKeys
    .split(",")
    .flatMap((key) => [poor, { message: poor }, [poor]].map((value) => [{ ok: false, [key]: value }, poor] as const)),
  ...["data", "res", "response", "result", "body"].map(
    (key) => [{ [key]: { erro: "Chave inválida" } }, "Chave inválida"] as const
  ),
  ...table.messages.map(({ body, words }) => [body, words] as const),
  [nested(4), "deep"],
  [nested(6), ""],
  [{ errors: many }, many.slice(0, 64).join("; ")],
  [{ errors: Object.fromEntries(many.map((one) => [one, one])) }, many.slice(0, 64).join("; ")]
]

/** Bodies of other kinds, and their words. */
const bodies: ReadonlyArray<readonly [body: string, words: string]> = [
  [page("<title>502 Bad Gateway</title>"), "502 Bad Gateway"],
  [page("<title> </title>"), "Serviço indisponível & fora do ar: 1 < 2"],
  ["Erro <script>never closed", "Erro <script>never closed"],
  ["<p>Erro <script>never closed", "Erro"],
  [
    "<p>&Agrave;s 9h, n&atilde;o h&aacute; voc&ecirc; &lt;&quot;a&apos;&gt;&nbsp;fim</p>",
    `Às 9h, não há você <"a'> fim`
  ],
  ["<fault><code>7</code><text><![CDATA[Saque <b>duplicado</b>]]></text></fault>", "7 Saque duplicado"],
  ["<p>a<![CDATA[b", "a b"],
  [`\uFEFF  ${poor} \n`, poor],
  [`\uFEFF{"message":"Saldo"}`, "Saldo"],
  [`{"message":"Saldo insuf`, `{"message":"Saldo insuf`],
  ["", ""]
]

describe("the words of an answer", () => {
  it.each([...values.map(([value, words]) => [json(value), words] as const), ...bodies])(
    "of %s are %j",
    (body, words) => {
      assert.strictEqual(readServiceMessage(body, 400).words, words)
    }
  )

  it("that say why are those of its message, error, title, code and list of errors, and of no other member", () => {
    assert.deepInclude(readServiceMessage("", 400), { said: [], isJson: false })
    assert.deepInclude(readServiceMessage(page("<title>Erro</title>"), 400), { said: [], isJson: false })
    assert.isFalse(readServiceMessage('{"message":"Saldo insuf', 400).isJson)
    const body = {
      title: "a",
      message: ["b"],
      errors: [{ code: 7, field: "x" }, { amount: ["c"] }],
      data: { erro: "d" }
    }
    const { isJson, said } = readServiceMessage(json({ ...body, note: "x", received: { message: "x" }, ok: true }), 400)
    assert.isTrue(isJson)
    assert.deepStrictEqual(
      said.map(({ isCode, text }) => (isCode ? `code ${text}` : text)),
      ["a", "b", "code 7", "c", "d"]
    )
  })

  it.each(table.codes)("of $body have the code $code", ({ body, code }) => {
    assert.strictEqual(readServiceMessage(json(body), 400).code, code)
  })
})
