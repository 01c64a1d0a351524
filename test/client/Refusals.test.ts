/** How the refusal of a write is read: by the lines of docs/errors.md, by `GatewayFacts.refusals`, and by the client's own entries. */
import { assert, describe, it } from "@effect/vitest"
import { GatewayFacts, type KnownRefusal, type PaymentsError } from "effect-pix"
import { Duration, Effect } from "effect"
import { readFileSync } from "node:fs"
import { doubtful, neutral, refusals } from "../../src/client/internal/words/refusals.ts"
import { FailureReason } from "../../src/contract/FailureReason.ts"
import { effect } from "../support/effect.ts"
import { optionsOf, type Past, reusedClient } from "../support/failing.ts"
import {
  chargeBody,
  createTransaction,
  type OperationCall,
  requestWithdrawal,
  service,
  withdrawal
} from "../support/operations.ts"
import { lostConnection, respond, type Script } from "../support/Wire.ts"
import frameworks from "../tables/frameworkShapes.json" with { type: "json" }
import { figures, table } from "./words/measure.ts"

/** What the user of this client knows of the gateway. */
const entries: ReadonlyArray<KnownRefusal> = [
  { cause: "InsufficientBalance", phrases: ["E-1042", "1042", "carteira vazia"] },
  { cause: "LimitReached", phrases: ["teto do dia"], waitFor: "1 hour" },
  { cause: "Unknown", phrases: ["saldo insuficiente no parceiro"] },
  { cause: "RequestRejected", phrases: ["cadastro em conflito", "cadastro em falta"], statuses: [409, 429] },
  { cause: "BelowMinimum", phrases: ["PIX_1"], statuses: [422] },
  { cause: "Unknown", phrases: ["nada prova"], statuses: [422] }
]
const { client, wire } = reusedClient({}, { refusals: entries })

type Write = OperationCall["call"]
const toKeyOnFile: Write = (payments, options) => payments.requestWithdrawal(withdrawal, options)
const keyed = requestWithdrawal.call
const pix = createTransaction.call
const boleto: Write = (payments, options) =>
  payments.createTransaction({ ...chargeBody, paymentMethod: "BOLETO" }, options)

interface Refusing {
  /** Default: a withdrawal to the key on file. */
  readonly write?: Write
  readonly past?: Past
}

/** The error of a write that gets these answers. */
const refused = Effect.fnUntraced(function* (replies: Script, { past = "None", write = toKeyOnFile }: Refusing = {}) {
  wire.script(...replies)
  return yield* Effect.flip(
    write(
      yield* service,
      optionsOf(write === pix || write === boleto ? "createTransaction" : "requestWithdrawal", past)
    )
  )
})

const body = (words: unknown) => (typeof words === "string" && /^[^<{]/.test(words) ? { message: words } : words)
/** The tag of a refused write, with the reason of an unknown one. */
const told = (status: number, words: unknown, refusing?: Refusing) =>
  Effect.map(refused([respond(status, body(words))], refusing), (error) => endOf(error))
const endOf = (error: PaymentsError): string => ("reason" in error ? `${error._tag} ${error.reason}` : error._tag)

const unknown = "OutcomeUnknown RefusalUnknown"
const page = "<html><title>Erro</title></html>"
const cut = `{"message":"Saldo insuficiente`

/** Each line, and refusals that fit it and no line above it: what they are depends on nothing else. */
const cases: ReadonlyArray<readonly [line: number, status: number, words: unknown, write: Write, end: string]> = [
  [2, 401, "Saldo insuficiente", toKeyOnFile, "AuthError"],
  [2, 407, "Carteira vazia", toKeyOnFile, "RequestRejected"],
  [2, 308, "Timeout", toKeyOnFile, "RequestRejected"],
  [2, 425, "Carteira vazia", toKeyOnFile, "OutcomeUnknown UnderWay"],
  [2, 408, "Saldo insuficiente", pix, "OutcomeUnknown Timeout"],
  [2, 422, cut, toKeyOnFile, "OutcomeUnknown Unreadable"],
  [2, 429, cut, pix, "OutcomeUnknown Unreadable"],
  [3, 409, "Cadastro em conflito", toKeyOnFile, "RequestRejected"],
  [3, 422, { code: "PIX_1" }, toKeyOnFile, "BelowMinimum"],
  [3, 422, "Isto nada prova", pix, unknown],
  [3, 409, "Carteira vazia", toKeyOnFile, "IdempotencyConflict"],
  [3, 409, "", pix, "IdempotencyConflict"],
  [3, 429, "Cadastro em falta", toKeyOnFile, "RequestRejected"],
  [3, 429, "Saque em processamento", toKeyOnFile, unknown],
  [3, 429, "Chamada já feita", pix, unknown],
  [3, 429, "Teto do dia", toKeyOnFile, "LimitReached"],
  [3, 429, "Limite diário excedido", keyed, "LimitReached"],
  [3, 429, "Limite diário excedido", pix, "RateLimited"],
  [3, 429, "Carteira vazia", toKeyOnFile, "RateLimited"],
  [3, 429, "", toKeyOnFile, "RateLimited"],
  [4, 403, "Socket hang up", pix, "AuthError"],
  [4, 422, "Socket hang up", pix, "RequestRejected"],
  [4, 400, page, pix, "RequestRejected"],
  [5, 422, "A carteira vazia do parceiro deu erro já", toKeyOnFile, "InsufficientBalance"],
  [5, 400, { code: "e1042" }, toKeyOnFile, "InsufficientBalance"],
  [5, 400, { code: 1042 }, toKeyOnFile, "InsufficientBalance"],
  [5, 404, "Saldo insuficiente no parceiro", toKeyOnFile, unknown],
  [5, 422, "Teto do dia", boleto, "RequestRejected"],
  [5, 400, "Saldo insuficiente para o saque de R$ 10,00.", toKeyOnFile, "InsufficientBalance"],
  [5, 403, "Limite noturno excedido", toKeyOnFile, "LimitReached"],
  [5, 422, "Nenhuma chave PIX cadastrada", toKeyOnFile, "NoPixKey"],
  [5, 422, "Nenhuma chave PIX cadastrada", keyed, "RequestRejected"],
  [5, 403, "Acesso negado", boleto, "AuthError"],
  [5, 422, "Saldo insuficiente", boleto, "RequestRejected"],
  [6, 400, "", toKeyOnFile, "NoPixKey"],
  [6, 404, page, toKeyOnFile, "NoPixKey"],
  [6, 404, { statusCode: 404, error: "Not Found", traceId: "0HM7" }, toKeyOnFile, "NoPixKey"],
  [6, 404, "", keyed, "RequestRejected"],
  [6, 403, "Forbidden", keyed, "AuthError"],
  [6, 403, page, boleto, "AuthError"],
  [6, 451, "{}", keyed, "RequestRejected"],
  [6, 413, page, keyed, "RequestRejected"],
  [7, 400, "", keyed, unknown],
  [7, 422, { title: "Unprocessable Entity" }, keyed, unknown],
  [7, 404, "Saque não encontrado", toKeyOnFile, unknown],
  [7, 403, "Recusado", toKeyOnFile, unknown],
  [7, 404, { duplicated: true }, toKeyOnFile, unknown],
  [7, 400, { code: 1043 }, toKeyOnFile, unknown],
  [7, 404, "Conflict", toKeyOnFile, unknown],
  [7, 422, "Socket hang up", boleto, unknown],
  [7, 410, "Erro ao comunicar com o banco", toKeyOnFile, unknown]
]

/** What is beside a phrase of an entry of ours, and what the answer is then. */
const texts: ReadonlyArray<readonly [what: string, body: unknown, end: string]> = [
  ["in capitals, as a code", { code: "INSUFFICIENT_FUNDS" }, "InsufficientBalance"],
  ["of a detail", { detail: "Saldo insuficiente." }, "InsufficientBalance"],
  ["of a list of errors", { errors: [{ code: "X9", message: "Saldo insuficiente" }] }, "InsufficientBalance"],
  ["of a record of errors by field", { erros: { amount: ["Saldo insuficiente"] } }, "InsufficientBalance"],
  ["in JSON in a text", { message: `{"error":{"message":"Saldo insuficiente"}}` }, "InsufficientBalance"],
  ["in plain text", "Saldo insuficiente", "InsufficientBalance"],
  [
    "and words that only say that it failed",
    "Não foi possível realizar o saque: saldo insuficiente",
    "InsufficientBalance"
  ],
  ["and a value of the request", "Saldo insuficiente para Aluguel do cofre", "InsufficientBalance"],
  ["beside a text of other words", { title: "Recusa 7", message: "Saldo insuficiente" }, "InsufficientBalance"],
  ["and a withdrawal that was made", { message: "Saque realizado. Limite diário atingido" }, unknown],
  ["and one that is asked for", { message: "Saque solicitado. Limite diário atingido" }, unknown],
  ["and one that is under way", { message: "Account locked: payout in process" }, unknown],
  ["that is denied", { message: "Não foi por saldo insuficiente" }, unknown],
  ["and another word", "Saldo insuficiente: falha ao estornar", unknown],
  ["and a word of doubt in another text", { title: "Timeout", message: "Saldo insuficiente" }, unknown],
  ["and another cause", "Saldo insuficiente. Limite diário excedido.", unknown],
  ["and another cause in another text", { title: "Limite diário excedido", message: "Saldo insuficiente" }, unknown],
  ["of another field", { message: "Recusa", info: "Saldo insuficiente" }, unknown],
  ["of which a part is there", { message: "Saldo" }, unknown],
  ["whose words begin or end others", { message: "Insaldo insuficientemente" }, unknown],
  ["over two sentences", { message: "Confira o saldo. Insuficiente." }, unknown],
  ["that the request holds", { message: "Descrição: saldo insuficiente" }, unknown]
]

describe("the refusal of a write", () => {
  effect.each(cases)("line %s: %s with %j", client, function* ([, status, words, write, end]) {
    assert.strictEqual(yield* told(status, words, { write }), end)
    assert.strictEqual(yield* told(status, words, { write, past: "made" }), end)
  })

  effect("of a key in doubt proves nothing, whatever it says, and has no digest", client, function* () {
    for (const [, status, words, write] of cases) {
      const reply = respond(status, body(words))
      for (const error of [
        yield* refused([reply], { write, past: "Unknown" }),
        yield* refused([lostConnection, reply, reply, reply], { write })
      ]) {
        assert.deepStrictEqual([error._tag, error.outcome], ["OutcomeUnknown", "Unknown"], `${status} ${String(words)}`)
        assert.notPropertyVal(error, "reason", "RefusalUnknown")
        assert.notProperty(error, "digest")
      }
    }
  })

  effect.each(texts)("an entry of ours %s", client, function* ([, words, end]) {
    const description = "Aluguel do cofre"
    const held: Write = (payments, options) => payments.requestWithdrawal({ ...withdrawal, description }, options)
    const holding: Write = (payments, options) =>
      payments.requestWithdrawal({ ...withdrawal, description: "saldo insuficiente" }, options)
    const write = JSON.stringify(words).includes("Descrição") ? holding : held
    assert.strictEqual(yield* told(422, words, { write }), end)
  })

  effect("of a limit has the time that its entry names, else that of the answer", client, function* () {
    for (const [message, hours] of [
      ["Teto do dia", 1],
      ["Limite diário excedido", 2]
    ] as const) {
      const error = yield* refused([respond(422, { message }, { "retry-after": "7200" })])
      assert(error._tag === "LimitReached")
      assert.deepStrictEqual(error.retryAfter, Duration.hours(hours))
    }
  })

  effect("shows the code of the service, unless the request holds it", client, function* () {
    const coded = (status: number, code: string) => respond(status, { message: "Recusado", code })
    for (const status of [401, 409, 422]) {
      const error = yield* refused([coded(status, "PIX-17")], { write: keyed })
      assert.deepInclude(error, { serviceCode: "PIX-17" })
      assert.include(error.message, "PIX-17")
    }
    for (const code of ["wd_1", "maria", "52998224725"])
      assert.notProperty(yield* refused([coded(422, code)], { write: keyed }), "serviceCode")
  })

  it("each reason of an error without an answer is in docs/errors.md", () => {
    const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8")
    const section = page.split("### Why there was no answer")[1]?.split("\n## ")[0] ?? ""
    const items = section.split("\n").filter((line) => /^(?:- | {2})/.test(line))
    const named = items.flatMap((line) => Array.from(line.matchAll(/`([A-Z]\w+)`/g), ([, name]) => name))
    assert.sameMembers(named, [...FailureReason.literals])
  })
})

/** The digest of a withdrawal that is refused so. */
const digestOf = (status: number, words: unknown, refusing?: Refusing) =>
  Effect.map(refused([respond(status, body(words))], refusing), (error) =>
    "digest" in error ? error.digest : undefined
  )

describe("the digest of a refusal that nobody knows", () => {
  effect.each([
    ["a number", "Recusa no lote 17", "Recusa no lote 1.234.567"],
    ["a time and a date", "Recusa de 2026-11-29T10:00:00Z às 8:30", "Recusa de 29/11/2026 às 20h"],
    ["an id", "Recusa 3fa94c1b7e2d4c8f", "Recusa 0d3b6a4e-5b6f-4a3c-8a51-6f1f0f6f9b21"],
    ["case, accents and signs", "Recusa: nao ha convenio!", "RECUSA - NÃO HÁ CONVÊNIO"],
    ["a value of the request", "Recusa para maria@example.com", "Recusa para MARIA@example.com"]
  ])("is that of another sentence that differs by %s", client, function* ([, one, other]) {
    const digest = yield* digestOf(422, one, { write: keyed })
    assert.match(digest ?? "", /^[\da-f]{64}$/)
    assert.strictEqual(yield* digestOf(422, other, { write: keyed }), digest)
  })

  effect.each([
    ["words", 422, "Recusa sem convênio"],
    ["the end of a long text", 422, `${"Recusa longa ".repeat(300)}fim`],
    ["the status", 400, "Recusa"],
    ["a code", 422, { message: "Recusa", code: "E-17" }],
    ["a code of digits", 422, { message: "Recusa", code: 17 }]
  ] as const)("is another one of a sentence that differs by %s", client, function* ([, status, words]) {
    const others = yield* Effect.forEach(
      [
        [422, "Recusa"],
        [422, `${"Recusa longa ".repeat(300)}início`],
        [422, { message: "Recusa", code: "E-18" }],
        [422, { message: "Recusa", code: 18 }]
      ] as const,
      ([status, words]) => digestOf(status, words)
    )
    const digest = yield* digestOf(status, words)
    assert.isString(digest)
    assert.notInclude(others, digest)
  })

  effect("is there of a 409, and not of a refusal without words or by an entry of the user", client, function* () {
    assert.isString(yield* digestOf(409, "Pedido repetido"))
    for (const [status, words] of [
      [409, ""],
      [422, page],
      [422, "Isto nada prova"],
      [422, { info: "Recusa" }]
    ] as const)
      assert.isUndefined(yield* digestOf(status, words, { write: keyed }))
  })

  effect("is named with the masked sentence in the message, which says what to do", client, function* () {
    const error = yield* refused([respond(422, { message: "Recusa de maria@example.com" })], { write: keyed })
    assert(error._tag === "OutcomeUnknown")
    assert.include(error.message, `add it to GatewayFacts.refusals (digest ${error.digest?.slice(0, 12)})`)
    assert.propertyVal(error, "serviceMessage", "Recusa de [redacted]")
  })
})

/** What an answer to a withdrawal says, the fields of the request that it names, and the words that are shown. */
const naming: ReadonlyArray<readonly [body: unknown, fields: Readonly<Record<string, string>>, shown: string]> = [
  [
    { errors: { PixKeyType: ["Campo obrigatório."] } },
    { pixKeyType: "Campo obrigatório." },
    "pixKeyType: Campo obrigatório."
  ],
  [
    { title: "Erros", errors: { Amount: ["Campo obrigatório."], pix_key: ["Campo obrigatório."] } },
    { amount: "Campo obrigatório.", pixKey: "Campo obrigatório." },
    "Erros; amount, pixKey: Campo obrigatório."
  ],
  [{ errors: [{ field: "pixKey", message: "Inválido" }] }, { pixKey: "Inválido" }, "pixKey: Inválido"],
  [
    { detail: [{ loc: ["body", "amount"], msg: "field required" }] },
    { amount: "field required" },
    "amount: field required"
  ],
  [
    { errors: [{ source: { pointer: "/data/attributes/pixKey" }, detail: "Ruim" }] },
    { pixKey: "Ruim" },
    "pixKey: Ruim"
  ],
  [
    { "invalid-params": [{ name: "AMOUNT", reason: "Baixo demais" }] },
    { amount: "Baixo demais" },
    "amount: Baixo demais"
  ],
  [{ error: { param: "amount", message: "Baixo" } }, { amount: "Baixo" }, "amount: Baixo"],
  [{ errors: ["pix_key"] }, { pixKey: "" }, "pix_key; pixKey"],
  [{ erros: { description: "Longa demais" } }, { description: "Longa demais" }, "description: Longa demais"],
  [
    { message: "Not a number. Path: $.amount | LineNumber: 0" },
    { amount: "Not a number. Path: $.amount [redacted] LineNumber: 0" },
    "amount: Not a number. Path: $.amount [redacted] LineNumber: 0"
  ],
  // What names no documented field stays hidden, and what is no error is none.
  [
    { errors: { "529.982.247-25": ["Inválido"], "maria.silva": ["Inválido"], "pixKey.maria": ["Ruim"] } },
    {},
    "Inválido; Ruim"
  ],
  [{ errors: [{ field: "zulmira@example.com", message: "Inválido" }] }, {}, "Inválido"],
  [{ errors: { "pixKey.12345678": ["Inválido"] } }, {}, "Inválido"],
  [{ errors: [{ code: "7", description: "Ruim" }] }, {}, "Ruim"],
  [{ message: "Ruim", pixKeyType: "EMAIL", request: { amount: 1000, description: "Aluguel" } }, {}, "Ruim"],
  [
    { message: "Ruim", value: { description: ["Aluguel"] }, errors: [] },
    { description: "Aluguel" },
    "Ruim; description: Aluguel"
  ],
  [{ message: "Ruim", target: { description: "Aluguel", pixKey: "a@b.co" } }, {}, "Ruim"]
]

/** The same of a charge, whose fields have fields. */
const nested = [
  "customer.email",
  "$.customer.email",
  "Customer[Email]",
  "customer/e_mail",
  "items.0.unitPrice",
  "items[0].UnitPrice"
]

describe("a refusal that names fields", () => {
  effect.each(naming)("says of %j %j", client, function* ([body, fields, shown]) {
    const error = yield* refused([respond(400, body)], { write: requestWithdrawal.call })
    const issues = Object.entries(fields).map(([path, said]) => ({
      path,
      problem: said === "" ? "was refused" : `was refused: ${said}`
    }))
    assert.propertyVal(error, "serviceMessage", shown)
    assert.deepStrictEqual("issues" in error ? error.issues : [], issues)
  })

  effect("is read over the signs of a path, in any case, in the contract's spelling", client, function* () {
    for (const name of nested) {
      const path = name.startsWith("items") ? "items.0.unitPrice" : "customer.email"
      for (const body of [{ errors: { [name]: ["Ruim"] } }, { errors: [{ property: name, message: "Ruim" }] }]) {
        const error = yield* refused([respond(422, body)], { write: createTransaction.call })
        assert.deepInclude(error, { issues: [{ path, problem: "was refused: Ruim" }] }, name)
      }
    }
    const objects = { errors: { customer: { document: { number: ["Ruim"] } }, items: [{ unitPrice: ["Ruim"] }] } }
    const error = yield* refused([respond(422, objects)], { write: createTransaction.call })
    assert.deepInclude(error, {
      issues: ["customer.document.number", "items.0.unitPrice"].map((path) => ({ path, problem: "was refused: Ruim" }))
    })
  })

  effect("is read in the shapes of frameworks", client, function* () {
    const write: Write = (payments, options) =>
      payments.requestWithdrawal({ ...withdrawal, description: "Aluguel" }, options)
    const unread: Array<string> = []
    for (const { body, name } of frameworks) {
      if (!/"\w*description"\s*[:,}\]]/i.test(JSON.stringify(body))) continue
      const error = yield* refused([respond(400, body)], { write })
      const issues = "issues" in error ? (error.issues ?? []) : []
      if (issues.every(({ path }) => path !== "description")) unread.push(name)
    }
    // Its `message: { description: "..." }` may be words without a field.
    assert.deepStrictEqual(unread, ["Flask-RESTful"])
  })
})

describe("the client's own table", () => {
  it("has at most 130 phrases, each of which can be one of an entry, and at most 20 words of doubt", () => {
    const phrases = refusals.flatMap((entry) => entry.phrases)
    assert.isAtMost(phrases.length, 130)
    assert.isAtMost(doubtful.length, 20)
    // They are folded without the expressions that a gateway's text needs.
    for (const text of [...phrases, ...neutral, ...doubtful]) assert.match(text, /^[\p{L} ]+$/u)
    // What an entry of the user's may be.
    GatewayFacts.make({ refusals })
    assert.strictEqual(new Set(phrases).size, phrases.length)
  })

  it("knows none of the sentences of what broke or runs, and none under a wrong cause; the figures are those of words/README.md", () => {
    for (const { broken, list, wrong } of figures) assert.deepStrictEqual([broken, wrong], [[], []], list)
    const page = readFileSync(new URL("words/README.md", import.meta.url), "utf8").replaceAll(/ {2,}|-{4,}/g, " ")
    const written = page.split("\n").filter((line) => /^\| [a-z]+/i.test(line))
    const cells = (line: string) => line.split("|").map((cell) => cell.trim())
    assert.deepStrictEqual(
      written.map(cells),
      table
        .split("\n")
        .filter((line) => !line.includes("---"))
        .map(cells),
      "npm run words writes it"
    )
  })
})

/** Codes of Celcoin's public tables of payouts by PIX, each with words for what it says, and what a person types for it. */
const listed: ReadonlyArray<readonly [cause: KnownRefusal["cause"], codes: Readonly<Record<string, string>>]> = [
  [
    "RequestRejected",
    {
      CBE001: "ClientCode é obrigatório",
      CBE039: "A conta informada não vale",
      CBE041: "A conta tem mais de 20 caracteres",
      CBE091: "Informe um dos campos",
      CBE093: "ClientCode longo demais",
      CBE094: "Informe amount",
      CBE095: "amount em formato errado",
      CBE174: "key tem mais de 77 caracteres",
      CBE175: "Não se pode cadastrar a chave",
      CBE176: "A conta está encerrada",
      CBE190: "A chave não é desta conta",
      PBE304: "No entry of this key",
      PBE308: "The account takes no PIX",
      PBE310: "The key has another format",
      PBE316: "Transactions inside of one PSP are not taken",
      PBE326: "No account of this number",
      PBE327: "The account of the creditor takes nothing",
      PBE328: "The account of the creditor is closed"
    }
  ],
  [
    "LimitReached",
    { CBE102: "O valor passa do máximo de uma operação", CBE177: "A conta está bloqueada", PBE105: "No limit left" }
  ],
  ["InsufficientBalance", { CIE040: "Não há saldo" }],
  [
    "Unknown",
    {
      CBE100: "Um lançamento igual está pendente",
      CBE101: "Este clientCode tem um lançamento",
      PBE150: "Rejected",
      PBE300: "The end to end id was used",
      PBE324: "Settlement aborted by a time out",
      PBE325: "The agent of the creditor broke"
    }
  ]
]

const typed = reusedClient({}, { refusals: listed.map(([cause, codes]) => ({ cause, phrases: Object.keys(codes) })) })

effect(
  "a public list of codes, typed as entries, leaves no refusal in doubt, and takes no doubt for one",
  function* () {
    for (const [cause, codes] of listed)
      for (const [code, message] of Object.entries(codes)) {
        typed.wire.script(respond(422, { code, message }))
        const error = yield* Effect.flip(Effect.flatMap(service, (payments) => toKeyOnFile(payments))).pipe(
          Effect.provide(typed.client)
        )
        assert.strictEqual(endOf(error), cause === "Unknown" ? unknown : cause, code)
      }
  }
)
