/**
 * Gateways that echo the request, in the shapes and spellings of real gateways.
 */
import { Fault } from "effect-pix/sandbox"
import { person, secrets } from "./canary.ts"
import type { MarkedCall } from "./marked.ts"
import * as Raw from "./rawReplies.ts"

const { cnpj, copyAndPaste, cpf, email, evp, name, phone } = person

/** A description of the answer, and the answer. */
export type Answer = readonly [how: string, fault: Fault.Fault]

const headers = (call: MarkedCall) => ({
  host: "gateway.example",
  "x-client-id": secrets.clientId,
  "x-api-key": secrets.apiKey,
  "user-agent": "node",
  url: call.path
})

/** The spellings in which a gateway may show a value. */
const spellings = (value: string): ReadonlyArray<string> => [
  value,
  value.toUpperCase(),
  value.toLowerCase(),
  encodeURIComponent(value),
  value.normalize("NFD"),
  value.replaceAll(" ", "+"),
  `${"x".repeat(190)} ${value}`,
  `"${value}"`
]

/** Escapes each character by its code. */
export const escaped = (value: string, escape: (hex: string) => string) =>
  Array.from(value, (character) => escape(character.charCodeAt(0).toString(16).padStart(4, "0"))).join("")

/** Spellings in which each character is escaped. Only values of the request are recognised in these spellings. */
const escapings = (value: string): ReadonlyArray<string> => [
  encodeURIComponent(encodeURIComponent(value)),
  escaped(value, (hex) => `\\u${hex}`),
  escaped(value, (hex) => `&#x${hex};`),
  escaped(value, (hex) => `\\u{${hex}}`),
  `${value.slice(0, -3)}...`,
  `...${value.slice(3)}`
]

const formatted = [
  "529.982.247-25",
  "529 982 247 25",
  "12.ABC.345/01DE-35",
  "12.abc.345/01de-35",
  "+55 (11) 98765-4321",
  "(55) 11 98765-4321",
  evp.toUpperCase()
]

/** Values that are recognised by their shape. */
const shaped = [cpf, cnpj, email, phone, evp, copyAndPaste]

const texts = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return value.length < 8 ? [] : [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(texts) : []
}

/** The values of a call that must not be shown. */
const carried = ({ body }: MarkedCall): ReadonlyArray<string> => [...Object.values(secrets), ...texts(body)]

const json = { "content-type": "application/json" }

/** The request, in the shapes of gateways' answers. */
const shapesOf = (call: MarkedCall) => {
  const record = { document: cpf, company: cnpj, email, phone, pixKey: evp, qrcode: copyAndPaste }
  const echo = { headers: headers(call), body: call.body, record }
  const text = JSON.stringify(echo)
  const plain = Object.entries(headers(call))
    .map(([name, value]) => `${name}: ${value}`)
    .join("\r\n")
  const bodies: Record<string, readonly [string, Readonly<Record<string, string>>]> = {
    JSON: [text, json],
    "JSON, indented": [JSON.stringify(echo, undefined, 2), json],
    "message with JSON": [JSON.stringify({ message: `Pedido inválido: ${text}`, status: 400 }), json],
    "JSON in JSON": [JSON.stringify({ error: { message: JSON.stringify(text) } }), json],
    "JSON that breaks off": [JSON.stringify({ message: `Pedido inválido: ${text}` }).slice(0, 300), json],
    details: [JSON.stringify({ errors: texts(echo).map((value) => ({ field: "body", message: value })) }), json],
    problem: [
      JSON.stringify({ title: "Bad Request", detail: text, instance: call.path }),
      { "content-type": "application/problem+json" }
    ],
    HTML: [
      `<html><head><title>${text}</title></head><body><pre>${plain}\n${text}</pre></body></html>`,
      { "content-type": "text/html" }
    ],
    "HTML without a title": [`<h1>Erro</h1><pre>${plain}\n${text}</pre>`, { "content-type": "text/html" }],
    text: [`${plain}\r\n\r\n${text}`, { "content-type": "text/plain" }],
    "percent-encoded": [encodeURIComponent(text), { "content-type": "application/x-www-form-urlencoded" }],
    "upper case": [text.toUpperCase(), json]
  }
  return Object.entries(bodies)
}

const statuses = [400, 401, 409, 422, 429, 500, 200]

/**
 * The answers that echo a call: every shape, each with two of the statuses. Over seven calls, every shape has every status.
 */
export const echoes = (call: MarkedCall, turn: number): ReadonlyArray<Answer> =>
  shapesOf(call).flatMap(([shape, [body, headers]], at) =>
    [0, 3].map((apart): Answer => {
      const status = statuses[(at + turn + apart) % statuses.length] ?? 400
      const withEcho = { body, headers: { ...headers, "x-echo": secrets.apiKey } }
      return [`${status} with ${shape}`, Fault.answer(status, withEcho)]
    })
  )

const shapesOfOne = [
  (spelling: string) => JSON.stringify({ message: `O valor ${spelling} é inválido` }),
  (spelling: string) => JSON.stringify({ error: spelling, code: spelling.slice(0, 64) }),
  (spelling: string) => `<title>${spelling}</title>`
]

/**
 * Refusals that echo one value in one spelling. Every value is echoed in every spelling, to one of the calls that send it.
 */
export const spelled = (calls: ReadonlyArray<MarkedCall>): ReadonlyArray<readonly [MarkedCall, Answer]> => {
  const all = new Map<string, Array<MarkedCall>>()
  for (const call of calls) {
    const own = [...carried(call).flatMap(escapings), ...[...shaped, ...carried(call)].flatMap(spellings), ...formatted]
    for (const spelling of new Set(own)) all.set(spelling, [...(all.get(spelling) ?? []), call])
  }
  return [...all].flatMap(([spelling, carriers], turn) => {
    const call = carriers[turn % carriers.length]
    const shape = shapesOfOne[turn % shapesOfOne.length]
    if (call === undefined || shape === undefined) return []
    const body = shape(spelling)
    return [[call, [`422 with ${body}`, Fault.answer(422, { body })]] as const]
  })
}

/** Failures that echo nothing, and answers that hold the marks in unusual places. */
export const unhelpful: ReadonlyArray<Answer> = Object.entries({
  refuse: Fault.refuse,
  resetBefore: Fault.resetBefore,
  resetAfter: Fault.resetAfter,
  hangUpAfter: Raw.hangUpAfter,
  truncated: Fault.truncated,
  truncatedByReset: Raw.truncatedByReset,
  silence: Fault.silence(),
  headersThenSilence: Raw.headersThenSilence,
  drip: Raw.drip("1 minute"),
  latency: Fault.latency("1 hour"),
  oversize: Raw.oversize(5_000_000),
  gzipBomb: Raw.gzipBomb(5_000_000, "memory"),
  otherKey: Raw.otherKey(),
  html: Fault.html(),
  empty: Fault.empty(),
  malformed: Raw.malformed(),
  tooMany: Fault.retryAfter("1 hour"),
  redirect: Fault.redirect(`https://elsewhere.example/?api_key=${secrets.apiKey}&cpf=${cpf}`),
  seeOther: Fault.redirect(`https://elsewhere.example/${email}`, 303),
  "a body of another shape": Fault.answer(200, {
    headers: json,
    body: JSON.stringify({ id: cpf, value: email, data: { id: 7, amount: name, status: [phone] }, ok: evp, res: cnpj })
  }),
  "a body with other names": Fault.answer(200, { headers: json, body: JSON.stringify({ [cpf]: { [email]: name } }) }),
  "a body that is one value": Fault.answer(200, { headers: json, body: JSON.stringify(copyAndPaste) })
})
