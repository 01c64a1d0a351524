/** The bodies of wrong answers of a gateway, in families: words, shapes and unreadable bodies. */
import { gzipSync } from "node:zlib"
import type { Answer, Arrived } from "./gateway.ts"

export interface Body {
  readonly name: string
  /** The library should read all bodies of one family in the same way. */
  readonly family: string
  readonly of: (status: number, request: Arrived) => Pick<Answer, "body" | "headers">
}

const typed = (type: string, body: string | Uint8Array<ArrayBuffer>) => ({ body, headers: { "content-type": type } })
const asJson = (value: unknown) => typed("application/json", JSON.stringify(value))

const words: Readonly<Record<string, ReadonlyArray<string>>> = {
  "plain refusal": ["Recusado", "Dados inválidos", "CPF already registered to another customer", "Invalid amount"],
  "about idempotency": [
    "Idempotency-Key already used with a different payload",
    "Chave de idempotência já utilizada",
    "Duplicate request",
    "Transação em duplicidade"
  ],
  "asked before": [
    "Pagamento já existe",
    "This withdrawal was already requested",
    "Saque já solicitado",
    "Already processed"
  ],
  "under way": [
    "Request is still being processed",
    "Operação em andamento",
    "Já existe uma solicitação em processamento"
  ],
  "no balance": ["Saldo insuficiente para o saque.", "Insufficient funds"],
  "no PIX key": ["Nenhuma chave PIX cadastrada", "No PIX key on file for this account"],
  "below the minimum": ["O valor mínimo para saque é R$ 10,00", "Amount below minimum"],
  credentials: ["Invalid API key", "Credenciais inválidas", "Token expirado"],
  "rate limit": ["Too many requests", "Limite de requisições excedido"],
  "risk rule": ["Chave PIX bloqueada por suspeita de fraude", "Operação não permitida pelo motor de risco"]
}

const worded = Object.entries(words).flatMap(([family, list]) =>
  list.map((text): Body => ({ name: text, family, of: (status) => asJson({ message: text, status }) }))
)

/** The same words in the shapes of gateways. Only a person can read the last shape. */
const shaped = (["about idempotency", "plain refusal", "no balance"] as const).flatMap(
  (family): ReadonlyArray<Body> => {
    const text = words[family]?.[0] ?? ""
    const shapes: Readonly<Record<string, (status: number) => Pick<Answer, "body" | "headers">>> = {
      error: () => asJson({ error: text }),
      "error.message": (status) => asJson({ error: { code: `E${status}`, message: text } }),
      errors: () => asJson({ errors: [{ field: "amount", message: text }, { message: "x" }] }),
      problem: (status) =>
        typed("application/problem+json", JSON.stringify({ type: "about:blank", title: "Erro", status, detail: text })),
      HTML: () => typed("text/html", `<html><head><title>${text}</title></head><body><h1>${text}</h1></body></html>`),
      text: () => typed("text/plain", text),
      code: () => asJson({ code: text.toUpperCase().replaceAll(/\W+/g, "_") })
    }
    return Object.entries(shapes).map(([shape, of]) => ({
      name: `${shape}: ${text}`,
      family: `${family}, in shapes`,
      of
    }))
  }
)

const wordless: ReadonlyArray<Body> = [
  { name: "no body", family: "wordless", of: () => ({}) },
  { name: "{}", family: "wordless", of: () => asJson({}) },
  { name: "null", family: "wordless", of: () => asJson(null) },
  { name: "a status alone", family: "wordless", of: (status) => asJson({ status }) },
  { name: "ok: false", family: "wordless", of: () => asJson({ ok: false, res: null }) }
]

const unreadable: ReadonlyArray<Body> = [
  { name: "JSON that breaks off", family: "unreadable", of: () => typed("application/json", '{"message": "Recu') },
  { name: "said to be JSON, and HTML", family: "unreadable", of: () => typed("application/json", "<html></html>") },
  {
    name: "bytes",
    family: "unreadable",
    of: () => typed("application/octet-stream", Uint8Array.of(0, 255, 1, 254, 2))
  },
  { name: "oversize", family: "unreadable", of: () => typed("application/json", " ".repeat(70_000)) },
  {
    name: "HTML page",
    family: "unreadable",
    of: () => typed("text/html", "<html><body><center>nginx</center></body></html>")
  }
]

export const errorBodies: ReadonlyArray<Body> = [...worded, ...shaped, ...wordless, ...unreadable]

/** Some bodies of each family, for slow programs. */
export const someBodies: ReadonlyArray<Body> = errorBodies.filter(
  (body, at) => errorBodies.findIndex(({ family }) => family === body.family) === at
)

/** Bodies of an answer with success, by their mistake. `good` is the good answer of the operation. */
export const successBodies: ReadonlyArray<{
  readonly name: string
  readonly of: (good: string) => Pick<Answer, "body" | "headers">
}> = [
  { name: "good", of: (good) => typed("application/json", good) },
  { name: "good, no content type", of: (good) => ({ body: good }) },
  { name: "good, with a BOM", of: (good) => typed("application/json", `\uFEFF${good}`) },
  { name: "good, said to be gzip", of: (good) => ({ body: good, headers: { "content-encoding": "gzip" } }) },
  {
    name: "good, gzip",
    of: (good) => ({ body: Uint8Array.from(gzipSync(good)), headers: { "content-encoding": "gzip" } })
  },
  {
    name: "another key's record",
    of: (good) => typed("application/json", good.replaceAll(/"idempotencyKey":"[^"]*"/g, '"idempotencyKey":"wd_other"'))
  },
  {
    name: "another value",
    of: (good) => typed("application/json", good.replaceAll('"value":10', '"value":11').replaceAll("2500", "2600"))
  },
  {
    name: "a lower value",
    of: (good) => typed("application/json", good.replaceAll('"value":10', '"value":9').replaceAll("2500", "2400"))
  },
  { name: "another id", of: (good) => typed("application/json", good.replaceAll("8b3da2f3", "8b3da2f4")) },
  { name: "ids as text", of: (good) => typed("application/json", good.replaceAll(/"id":(\d+)/g, '"id":"$1"')) },
  { name: "without its id", of: (good) => typed("application/json", good.replaceAll('"id"', '"no"')) },
  {
    name: "a status nobody knows",
    of: (good) => typed("application/json", good.replaceAll(/Awaiting|Paid|WAITING_PAYMENT|Released/g, "SOMETHING"))
  },
  {
    name: "with an error beside it",
    of: (good) => typed("application/json", good.replace("{", '{"error":"Recusado",'))
  },
  { name: "half", of: (good) => typed("application/json", good.slice(0, -9)) },
  { name: "says it failed: ok false", of: () => asJson({ ok: false, message: "Recusado" }) },
  { name: "says it failed: success false", of: () => asJson({ success: false, error: "Saldo insuficiente" }) },
  { name: "says it failed: status 422", of: () => asJson({ data: null, status: 422, message: "Recusado" }) },
  { name: "says it failed: error", of: () => asJson({ error: { code: "X1", message: "Já existe" } }) },
  { name: "an empty object", of: () => asJson({}) },
  { name: "an array", of: () => asJson([]) },
  { name: "null", of: () => asJson(null) },
  { name: "no body", of: () => ({}) },
  { name: "HTML", of: () => typed("text/html", "<html><title>Login</title></html>") },
  { name: "oversize", of: () => typed("application/json", `{"a":"${" ".repeat(70_000)}"}`) }
]

export const errorStatuses: ReadonlyArray<number> = [
  300, 301, 302, 303, 307, 308, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 415, 418, 421, 422,
  423, 424, 425, 426, 428, 429, 431, 451, 460, 499, 500, 501, 502, 503, 504, 505, 507, 511, 520, 524, 529, 599
]
