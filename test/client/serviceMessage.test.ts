import { assert, describe, it } from "@effect/vitest"
import { displayMessage, maxDisplay } from "../../src/client/internal/words/mask.ts"
import { readServiceMessage } from "../../src/client/internal/words/serviceMessage.ts"

const messageKeys =
  "message,Message,mensagem,msg,errorMessage,error_description,detail,detalhe,details,description,descricao," +
  "reason,motivo,error,erro,errors,erros,title,titulo"
const poor = "Saldo insuficiente"
const json = (value: unknown) => JSON.stringify(value)

const page = (head: string) =>
  `<!DOCTYPE html><html><head>${head}<style>p{x:"<p>"}</style></head>` +
  `<body><!-- <p>hidden</p> --><script>if (a</b/.x) alert("no")</SCRIPT ><h1>Servi&ccedil;o</h1>\n` +
  `<p>indispon&iacute;vel &amp; fora &#100;o &#x61;r: 1 < 2</p></body></html>`

/** An error in an error, so many times. */
const nested = (levels: number): unknown => (levels === 0 ? { message: "deep" } : { error: nested(levels - 1) })
const many = Array.from({ length: 65 }, (_, at) => `e${at}`)

const notWords = ["", "42", "-1.5e3", "true", "false", "null", " null ", '""', "{}"].map((message) => ({ message }))
const noValues = [{}, [], null, true, 42, { status: 500 }, { errors: 1 }, { errors: {} }]

/** Values in JSON, and the words that are read of them. */
const values: ReadonlyArray<readonly [value: unknown, words: string]> = [
  ...messageKeys
    .split(",")
    .flatMap((key) => [poor, { message: poor }, [poor]].map((value) => [{ ok: false, [key]: value }, poor] as const)),
  ...["data", "res", "response", "result", "body"].map(
    (key) => [{ [key]: { erro: "Chave inválida" } }, "Chave inválida"] as const
  ),
  [{ data: null, message: "Falhou" }, "Falhou"],
  [{ message: "Falhou", data: { description: "what was sent" } }, "Falhou"],
  [
    { errors: ["a é obrigatório", { field: "amount", message: "too low" }, { detail: "x" }, 7] },
    "a é obrigatório; too low; x"
  ],
  [{ message: "Inválido", errors: [{ campo: "pixKey", mensagem: "vazia" }, { campo: "b" }] }, "Inválido; vazia"],
  [{ type: "about:blank", title: "Bad Request", status: 400, detail: poor }, poor],
  [
    { title: "Wrong.", errors: { Amount: ["too low", "no integer"], PixKey: ["is invalid"], Empty: [] } },
    "Wrong.; too low; no integer; is invalid"
  ],
  [{ statusCode: 400, message: ["a", "b"], error: "Bad Request" }, "a; b"],
  [{ message: "Request failed", error: { message: poor } }, `Request failed; ${poor}`],
  [{ message: "Erro", detail: poor }, `Erro; ${poor}`],
  [{ message: "Erro", detail: "Erro" }, "Erro"],
  [nested(4), "deep"],
  [nested(5), ""],
  [{ errors: many }, many.slice(0, 64).join("; ")],
  [{ errors: Object.fromEntries(many.map((one) => [one, one])) }, many.slice(0, 64).join("; ")],
  [poor, poor],
  [[{ message: "a" }, { message: "b" }], "a; b"],
  [{ message: json({ error: { message: "upstream" } }) }, "upstream"],
  [{ message: "<h1>Bad gateway</h1>" }, "Bad gateway"],
  [{ message: "{not json" }, "{not json"],
  ...["42 reais", "nulla", "- 1", "E-1042", "1.000,00"].map((message) => [{ message }, message] as const),
  ...[...notWords, ...noValues].map((value) => [value, ""] as const)
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

const codes: ReadonlyArray<readonly [value: unknown, code: string]> = [
  [{ code: "NO_BALANCE", message: "x" }, "NO_BALANCE"],
  [{ errorCode: 4001 }, "4001"],
  [{ error: { code: "E1", message: "x" } }, "E1"],
  [{ errors: [{ message: "x" }, { codigo: "E2" }] }, "E2"],
  [{ res: { error_code: "E3" } }, "E3"],
  [{ codigoErro: "E4" }, "E4"],
  [{ code: "x".repeat(64) }, "x".repeat(64)],
  [{ error: "invalid_client", error_description: "x" }, "invalid_client"]
]
const noCodes = [
  ...["two words", "x".repeat(65), null, { toString: 1 }].map((code) => ({ code })),
  { error: "Unauthorized" },
  { error: "Bad Request", message: "x" }
]

/** Bodies over which an expression or a recursion without a bound would take minutes. */
const hostile = [
  ...`<|<a|<script>|<script></script|<!--|<title|&#|a@|a|1 |000201|\u001B]| \u0000`.split("|"),
  ..."[|<p>&#999999;&#xfffff;&#xd800;|%ff%c3%28%c3%a9%e0%80%".split("|")
].map((text) => text.repeat(500_000 / text.length))
const nestedBodies = [
  '{"error":'.repeat(100_000),
  `${'{"errors":'.repeat(1000)}1${"}".repeat(1000)}`,
  `${"[".repeat(1000)}"deep"${"]".repeat(1000)}`,
  '"message":"'.repeat(100_000),
  `{"message":"${"\\".repeat(100_000)}`
]

describe("the words of an answer", () => {
  it.each([...values.map(([value, words]) => [json(value), words] as const), ...bodies])(
    "of %s are %j",
    (body, words) => {
      assert.strictEqual(readServiceMessage(body).words, words)
    }
  )

  it("are none of JSON where the body is no JSON, and all texts of it where it is", () => {
    assert.deepInclude(readServiceMessage(""), { texts: [], isJson: false })
    assert.isFalse(readServiceMessage('{"message":"Saldo insuf').isJson)
    const { isJson, texts } = readServiceMessage(json({ a: { b: [poor], duplicated: true }, message: "x" }))
    assert.isTrue(isJson)
    assert.sameMembers([...texts], [poor, "duplicated", "x"])
  })

  it.each([...codes, ...noCodes.map((value) => [value, undefined] as const)])(
    "of %j have the code %s",
    (value, code) => {
      assert.strictEqual(readServiceMessage(json(value)).code, code)
    }
  )

  it("of hostile input are read quickly, and shown within their bound", () => {
    for (const body of [...hostile, ...nestedBodies]) {
      const shown = displayMessage(readServiceMessage(body).words, () => [body.slice(0, 300), "secret-value"])
      assert.isAtMost(shown.length, maxDisplay)
    }
  })
})
