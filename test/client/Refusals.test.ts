/** How the refusal of a write is read: in the order of docs/errors.md, by its words, and by `GatewayFacts.refusal`. */
import { assert, describe, it } from "@effect/vitest"
import { type GatewayFacts, Payments, type PaymentsError, type ServiceRefusal } from "effect-pix"
import { Duration, Effect } from "effect"
import { constUndefined } from "effect/Function"
import { readFileSync } from "node:fs"
import { fieldsNamed } from "../../src/client/internal/words/fieldsNamed.ts"
import { pathOfRequest } from "../../src/client/internal/words/requestFields.ts"
import { requestWithdrawal as endpoint } from "../../src/contract/Endpoints.ts"
import { FailureReason } from "../../src/contract/FailureReason.ts"
import { effect } from "../support/effect.ts"
import { optionsOf, type Past, reusedClient } from "../support/failing.ts"
import {
  createTransaction,
  keyedWithdrawal,
  type OperationCall,
  requestWithdrawal,
  service,
  withdrawal
} from "../support/operations.ts"
import { phrases } from "../support/phrases.ts"
import { lostConnection, respond, type Script } from "../support/Wire.ts"
import frameworks from "../tables/frameworkShapes.json" with { type: "json" }
import { causeOf, lines, type Refusal as Case } from "../tables/refusals.ts"

type Policy = GatewayFacts["refusal"]
type Write = OperationCall["call"]
type Tag = PaymentsError["_tag"]

let policy: Policy = constUndefined
const { client, wire } = reusedClient({}, { refusal: (refusal) => policy(refusal) })

interface Refusing {
  /** Default: a withdrawal to the key on file. */
  readonly write?: Write
  readonly past?: Past
  readonly refusal?: Policy
}
const toKeyOnFile: Write = (payments, options) => payments.requestWithdrawal(withdrawal, options)

/** The error of a write that gets these answers. */
const refused = Effect.fnUntraced(function* (
  replies: Script,
  { past = "made", refusal = constUndefined, write = toKeyOnFile }: Refusing = {}
) {
  wire.script(...replies)
  policy = refusal
  return yield* Effect.flip(write(yield* service, optionsOf("requestWithdrawal", past)))
})
const tagOf = (status: number, body: unknown, refusing?: Refusing) =>
  Effect.map(refused([respond(status, body)], refusing), ({ _tag }) => _tag)

const given = { past: "None" } as const
const poor = "InsufficientBalance"
const already = "Saque já solicitado"

const everyPast: ReadonlyArray<Past> = ["made", "None"]
interface Refused {
  readonly write?: Write
  readonly statuses?: ReadonlyArray<number>
  readonly pasts?: ReadonlyArray<Past>
}
/** Words, and the error that they make of a withdrawal to the key on file with a 422, unless something else is said. */
const row = (what: string, error: Tag, bodies: ReadonlyArray<unknown>, refused: Refused = {}) =>
  [what, error, { bodies, write: toKeyOnFile, statuses: [422], pasts: everyPast, ...refused }] as const
const messages = (...all: ReadonlyArray<string>) => all.map((message) => ({ message }))
const phrasesOf = (...names: ReadonlyArray<string>) => messages(...names.flatMap(phrases))
const causes = messages("Saldo insuficiente", "Nenhuma chave PIX cadastrada", "Valor abaixo do mínimo")
const echo = "Pagamento duplicado"
const notFound = [400, 404]

const rows = [
  row("about the balance", poor, messages("Saldo insuficiente", "INSUFFICIENT_BALANCE"), {
    statuses: [400, 402, 404, 418]
  }),
  row("that name a cause in a text of their own", poor, [
    { message: "Saque recusado", code: "INSUFFICIENT_FUNDS" },
    { message: "Conta 12 da agência 4: erro", info: "Sem saldo" },
    { message: "O saque não foi feito", observacao: "Saldo insuficiente" }
  ]),
  row("about something else beside a cause", "RequestRejected", phrasesOf("noCause", "ordinary", "deadlines"), {
    pasts: ["made"]
  }),
  row("about a cause beside a limit", "LimitReached", messages("Limite excedido.\nSaldo insuficiente")),
  row("of a limit, or of an account that is blocked,", "LimitReached", phrasesOf("limits"), {
    statuses: [400, 403, 422]
  }),
  row("of a limit of withdrawals, with 429", "LimitReached", messages("Limite diário excedido"), { statuses: [429] }),
  row("of a limit of requests, with 429", "RateLimited", messages("Rate limit exceeded", "Muitas requisições"), {
    statuses: [429]
  }),
  row("of a limit, of a charge,", "RequestRejected", messages("Limite diário excedido"), {
    write: createTransaction.call
  }),
  row("about other things", "RequestRejected", phrasesOf("otherThings"), { statuses: [400, 404, 422] }),
  row("about the cause of a withdrawal, for a charge", "RequestRejected", causes, { write: createTransaction.call }),
  // The cause of a withdrawal without a PIX key is documented for a 400 or 404 without words, and only the service says it.
  row(
    "that are absent or repeat the status",
    "NoPixKey",
    ["", "{}", "null", "[]", ...messages("Bad Request", "404 Not Found"), { code: 400 }, { requestId: "req_abc" }],
    { statuses: notFound }
  ),
  row("that are absent from another status", "RequestRejected", [""], { statuses: [402, 405, 410, 418] }),
  row("of a page", "RequestRejected", ["<html><title>404 Not Found</title></html>", "404 Not Found"], {
    statuses: notFound
  }),
  row("about an absent PIX key, for a withdrawal that names one", "RequestRejected", ["", ...causes.slice(1, 2)], {
    statuses: notFound,
    write: requestWithdrawal.call
  }),
  row("about an idempotency key that was used", "IdempotencyConflict", phrasesOf("keyUsed"), {
    statuses: [400, 404, 422, 429]
  }),
  row("about a call that broke behind the service", "OutcomeUnknown", phrasesOf("timeOut", "brokenBehind"), {
    statuses: [400, 403, 422, 429]
  }),
  row("of any kind, with 407", "RequestRejected", phrasesOf("timeOut", "keyUsed", "limits"), { statuses: [407] }),
  row("about an earlier request, of which the caller knows that there was none", "RequestRejected", messages(already), {
    statuses: [400, 404, 422]
  }),
  row(
    "that repeat the status, deny an earlier request or repeat the request",
    "RequestRejected",
    [
      { message: "Conta encerrada", error: "Conflict", statusCode: 422 },
      { message: "Conta encerrada", duplicate: false },
      { message: "Conta encerrada", received: { description: echo } }
    ],
    { write: (payments, options) => payments.requestWithdrawal({ ...keyedWithdrawal, description: echo }, options) }
  )
]

/** Refusals in the shapes of frameworks, whose words are in no known place, and answers that only say where and when. */
const shapes: ReadonlyArray<unknown> = [
  { notifications: [{ key: "Balance", message: "Saldo insuficiente" }] },
  { statusCode: 422, message: ["Saldo insuficiente"], error: "Unprocessable Entity" },
  { status: 422, fieldErrors: [{ field: "amount", defaultMessage: "Saldo insuficiente" }] },
  { violations: [{ propertyPath: "amount", title: "Saldo insuficiente" }] },
  [{ property: "amount", children: [{ constraints: { balance: "Saldo insuficiente" } }] }],
  { amount: ["Saldo insuficiente"] },
  { non_field_errors: ["Saldo insuficiente"] },
  { mensagens: [{ texto: "Saldo insuficiente" }] },
  { retorno: { ocorrencias: [{ texto: "Saldo insuficiente" }] } },
  { type: "INSUFFICIENT_FUNDS", status: 422 }
]
const wordless: ReadonlyArray<unknown> = [
  { type: "https://tools.ietf.org/html/rfc4918", title: "Unprocessable Entity", status: 422, traceId: "00-aaf5-01" },
  { timestamp: "2026-01-01T00:00:00.000+00:00", status: 422, error: "Unprocessable Entity", path: "/api/Withdraw" },
  { success: false, requestId: "req_abcdef", errors: [] },
  { status: "error", idempotencyKey: "wd_1", date: "Thu, 01 Jan 2026 00:00:00 GMT" }
]

/** The phrases that are read as this error. */
const readAs = (tag: Tag, name: string) =>
  Effect.filter(phrases(name), (message) => Effect.map(tagOf(422, { message }, given), (found) => found === tag))

describe("the words of a refusal", () => {
  effect.each(rows)("%s make it %s", client, function* ([, error, { bodies, pasts, statuses, write }]) {
    for (const body of bodies)
      for (const status of statuses)
        for (const past of pasts) {
          const found = yield* tagOf(status, body, { past, write })
          assert.strictEqual(found, error, `${status}, ${past}: ${JSON.stringify(body).slice(0, 80)}`)
        }
  })

  effect("a refusal has words if any text of it is a reason, whatever its shape is", client, function* () {
    for (const body of shapes) {
      const error = yield* refused([respond(422, body)], given)
      assert.strictEqual(error._tag, "InsufficientBalance", JSON.stringify(body))
      assert.match(error.message, /Saldo insuficiente|INSUFFICIENT_FUNDS/)
    }
    for (const body of wordless) assert.strictEqual(yield* tagOf(400, body, given), "NoPixKey", JSON.stringify(body))
  })

  effect.each([
    [poor, "insufficientBalance"],
    ["NoPixKey", "noPixKey"],
    ["BelowMinimum", "belowMinimum"]
  ] as const)("at least 90 %% of the ways to say %s are recognised", client, function* ([tag, name]) {
    const found = yield* readAs(tag, name)
    const missed = phrases(name).filter((one) => !found.includes(one))
    assert.isAtLeast(found.length / phrases(name).length, 0.9, `missed: ${missed.join("; ")}`)
  })

  effect("at most 5 % of the other refusals are read as an earlier request", client, function* () {
    for (const name of ["ordinary", "deadlines", "insufficientBalance", "noPixKey", "belowMinimum"]) {
      const wrong = yield* readAs("IdempotencyConflict", name)
      assert.isAtMost(wrong.length / phrases(name).length, 0.05, wrong.join("; "))
    }
  })

  effect("the words of a hostile refusal of any length are read to their end", client, function* () {
    const units = ["pix", "pix ", "idempot", "ja nao ", "em de ", "error while ", "saldo de ", "conta is ", "valor "]
    for (const unit of [...units, "request a ", "same a ", "key a ", "aA", "é ", "<a", "&amp;", "{"]) {
      const body = unit.repeat(32_768 / unit.length)
      assert.include(["IdempotencyConflict", "RequestRejected", "OutcomeUnknown"], yield* tagOf(422, body))
    }
  })

  effect("the error of a conflict has the time that the service asks to wait, also of a 429", client, function* () {
    for (const status of [409, 422, 429]) {
      const error = yield* refused([respond(status, { message: "Idempotency key in use" }, { "retry-after": "7" })])
      assert(error._tag === "IdempotencyConflict")
      assert.deepStrictEqual(error.retryAfter, Duration.seconds(7))
    }
  })

  effect("the error has the code of the service, unless the request holds it", client, function* () {
    const write = requestWithdrawal.call
    const coded = (status: number, code: string) => respond(status, { message: "Valor abaixo do mínimo", code })
    for (const error of [
      ...(yield* Effect.forEach([401, 409, 422], (status) => refused([coded(status, "PIX-17")], { write }))),
      yield* refused([coded(422, "PIX-17")], { write, past: "Unknown" }),
      yield* refused([coded(422, "PIX-17")])
    ]) {
      assert.deepInclude(error, { serviceCode: "PIX-17" })
      assert.include(error.message, "PIX-17")
    }
    for (const code of ["wd_1", "maria", "52998224725"])
      assert.notProperty(yield* refused([coded(422, code)], { write }), "serviceCode")
  })
})

/** Two refusals in one, if they do not contradict each other. */
const merged = (one: Case, other: Case): Case | undefined => {
  if (one.isLimit === true && other.isAboutOne === true) return undefined
  const isEither = (name: "status" | "past" | "policy" | "body") =>
    one[name] === undefined || other[name] === undefined || one[name] === other[name]
  const texts = [...(one.texts ?? []), ...(other.texts ?? [])]
  const isSilent = one.body !== undefined || other.body !== undefined
  if (!(["status", "past", "policy", "body"] as const).every(isEither) || (isSilent && texts.length > 0))
    return undefined
  return { ...one, ...other, ...(texts.length > 0 && { texts }) }
}

/** The error of a withdrawal to the registered key that gets this refusal. */
const errorOf = ({ body, isInDoubt, past, policy, status = 422, texts = ["Recusado"] }: Case) => {
  const reply = respond(status, body ?? Object.fromEntries(texts.map((text, at) => [["message", "info"][at], text])))
  return refused(isInDoubt === true ? [lostConnection, reply] : [reply], {
    past: past ?? "made",
    refusal: () => policy
  })
}

const isUnknown = (error: string) => error === "OutcomeUnknown" || error === "IdempotencyConflict"
const errorsPage = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8")
const sectionOf = (head: string, end: string) => (errorsPage.split(head)[1]?.split(end)[0] ?? "").split("\n")

describe("the refusal of a write", () => {
  for (const [at, { error, refusals, says }] of lines.entries()) {
    const below = lines.slice(at).flatMap((line) => line.refusals)
    effect(`the line "${says}" decides before those below it, by ${error}`, client, function* () {
      for (const own of refusals) {
        for (const other of [own, ...below]) {
          const both = own === other ? own : merged(own, other)
          if (both === undefined) continue
          const found = yield* errorOf(both)
          const tag = error === "that cause" ? causeOf(own) : error
          const outcome = isUnknown(tag) ? "Unknown" : "Rejected"
          assert.deepStrictEqual([found._tag, found.outcome], [tag, outcome], JSON.stringify(both))
        }
      }
    })
  }

  it("the lines of docs/errors.md are those of the table, in this order", () => {
    const rows = sectionOf("### How a refusal of a write is read", "###").filter((line) => line.startsWith("|"))
    const cells = rows.slice(2).map((row) => row.split("|").map((cell) => cell.trim().replaceAll("`", "")))
    assert.strictEqual(cells.length, lines.length)
    for (const [at, { error, says }] of lines.entries()) {
      const [, words = "", named, outcome] = cells[at] ?? []
      assert.include(words, says.replaceAll("`", ""))
      const isOwn = error === "that cause" && !words.startsWith("one of")
      assert.deepStrictEqual([named, outcome], [error, isOwn ? "its own" : isUnknown(error) ? "Unknown" : "Rejected"])
    }
  })

  it("each reason of an error without an answer is in docs/errors.md", () => {
    const items = sectionOf("### Why there was no answer", "\n## ").filter((line) => /^(?:- | {2})/.test(line))
    const named = items.flatMap((line) => Array.from(line.matchAll(/`([A-Z]\w+)`/g), ([, name]) => name))
    assert.sameMembers(named, [...FailureReason.literals])
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
    assert.deepInclude(error, { _tag: "RequestRejected", serviceMessage: shown })
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

  it("is read in the shapes of frameworks", () => {
    const unread = frameworks.filter(({ body }) => {
      const json = JSON.stringify(body)
      const isNamed = /"\w*description"\s*[:,}\]]/i.test(json)
      return isNamed && fieldsNamed(json, pathOfRequest(endpoint)).every(({ path }) => path !== "description")
    })
    // Its `message: { description: "..." }` may be words without a field.
    assert.deepStrictEqual(
      unread.map(({ name }) => name),
      ["Flask-RESTful"]
    )
  })
})

describe("GatewayFacts.refusal", () => {
  effect(
    "a policy that throws leaves the outcome unknown, and one that answers anything else is ignored",
    client,
    function* () {
      const throwing: Policy = () => assert.fail("the user's own error")
      for (const status of [301, 400, 401, 403, 409, 422, 425, 429]) {
        const error = yield* refused([respond(status, { message: "Erro" })], { refusal: throwing })
        assert.deepInclude(error, { _tag: "OutcomeUnknown", reason: "RefusalUnknown", status, attempts: 1 })
        assert.notInclude(JSON.stringify(error), "own error")
      }
      for (const other of [null, true, "Poor", "toString", {}, Promise.resolve("Unknown")]) {
        const answers: unknown = () => other
        // A caller without types.
        const tag = yield* tagOf(422, { message: "Sem saldo" }, { refusal: answers as Policy })
        assert.strictEqual(tag, "InsufficientBalance")
      }
    }
  )

  effect("the policy is given what the service said, without what the request said", client, function* () {
    const said: Array<ServiceRefusal> = []
    const note: Policy = (refusal) => void said.push(refusal)
    const body = { message: "Carteira\nvazia", code: "CARTEIRA_VAZIA", key: "wd_1", info: { note: "ALREADY_PAID" } }
    yield* refused([respond(403, body)], { ...given, refusal: note })
    yield* refused([respond(404, "")], { refusal: note })
    const [first, ...rest] = said
    const operation = "requestWithdrawal"
    assert.deepInclude(first, { operation, status: 403, message: "Carteira\nvazia", code: "CARTEIRA_VAZIA" })
    assert.match(first?.words ?? "", /carteira vazia[^]*already paid/)
    assert.notInclude(first?.words, "wd_1")
    assert.deepStrictEqual(rest, [{ operation, status: 404, message: "", code: undefined, words: "" }])
  })

  effect("the policy is not asked about a write in doubt, about a failure or about a read", client, function* () {
    let asked = 0
    const counting: Policy = () => (asked++, "InsufficientBalance")
    const no = respond(422, { message: "Carteira vazia" })
    for (const error of [
      yield* refused([lostConnection, no], { refusal: counting, ...given }),
      yield* refused([no], { refusal: counting, past: "Unknown" }),
      yield* refused([respond(503)], { refusal: counting }),
      yield* refused([respond(424)], { refusal: counting })
    ]) {
      assert.deepStrictEqual([error._tag, error.outcome], ["OutcomeUnknown", "Unknown"])
    }
    yield* Effect.flip((yield* Payments).getTransaction("id"))
    assert.strictEqual(asked, 0)
  })

  effect("a cause of the policy replaces what the status means, where the write can have it", client, function* () {
    const refusal: Policy = ({ status }) => (status === 418 ? "NoPixKey" : "RequestRejected")
    assert.strictEqual(yield* tagOf(418, "", { refusal }), "NoPixKey")
    assert.strictEqual(yield* tagOf(400, "", { refusal }), "RequestRejected")
    assert.strictEqual(yield* tagOf(418, "", { refusal, write: createTransaction.call }), "RequestRejected")
  })
})
