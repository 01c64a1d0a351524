/**
 * Tests which parts of an echo are shown: a gateway answers with the request, in the shapes and spellings of gateways.
 */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { calls, json, type OperationCall } from "./calls.ts"
import { PaymentsPolicy, paymentsOver, once } from "./doors.ts"
import { type Answer, type Arrived, keyOf, memoryGateway } from "./gateway.ts"
import {
  fieldsOf,
  failureOf,
  normaliser,
  type Observation,
  printed,
  resultOf,
  serviceMessageOf,
  shownBy,
  templateOf
} from "./observation.ts"
import { leaksIn, person, secrets } from "./secrets.ts"

interface Spelling {
  readonly name: string
  readonly of: (value: string) => string
}

const escaped = (value: string, escape: (hex: string) => string) =>
  Array.from(value, (character) => escape(character.charCodeAt(0).toString(16).padStart(4, "0"))).join("")

const spellings: ReadonlyArray<Spelling> = [
  { name: "as sent", of: (value) => value },
  { name: "upper case", of: (value) => value.toUpperCase() },
  { name: "lower case", of: (value) => value.toLowerCase() },
  { name: "percent-encoded", of: encodeURIComponent },
  { name: "percent-encoded twice", of: (value) => encodeURIComponent(encodeURIComponent(value)) },
  { name: "decomposed", of: (value) => value.normalize("NFD") },
  { name: "with pluses", of: (value) => value.replaceAll(" ", "+") },
  { name: "after 190 letters", of: (value) => `${"x".repeat(190)} ${value}` },
  { name: "quoted", of: (value) => `"${value}"` },
  { name: "escaped as JSON", of: (value) => escaped(value, (hex) => `\\u${hex}`) },
  { name: "escaped as HTML", of: (value) => escaped(value, (hex) => `&#x${hex};`) },
  { name: "cut at its end", of: (value) => `${value.slice(0, -3)}...` },
  { name: "cut at its start", of: (value) => `...${value.slice(3)}` },
  { name: "grouped by dots", of: (value) => value.replaceAll(/(\w{3})(?=\w)/g, "$1.") },
  { name: "base64", of: (value) => Buffer.from(value).toString("base64") },
  { name: "reversed words", of: (value) => value.split(" ").toReversed().join(" ") }
]

/** How an answer holds one value. */
const places: Readonly<Record<string, (spelled: string) => Answer>> = {
  "in a sentence": (spelled) => json(422, { message: `O valor ${spelled} é inválido` }),
  "as error and code": (spelled) => json(422, { error: spelled, code: spelled.slice(0, 64) }),
  "as a title": (spelled) => ({
    status: 500,
    headers: { "content-type": "text/html" },
    body: `<title>${spelled}</title>`
  }),
  "as text": (spelled) => ({ status: 400, headers: { "content-type": "text/plain" }, body: spelled }),
  "in a list": (spelled) =>
    json(409, {
      errors: [
        { field: "body", message: "inválido" },
        { field: "x", message: spelled }
      ]
    }),
  "in a success": (spelled) =>
    json(200, { id: spelled, value: spelled, data: { id: spelled, status: spelled }, ok: false })
}

/** Words of the service that the request did not hold: amounts, dates, codes, names and numbers. */
const ownWords: ReadonlyArray<string> = [
  "Saldo disponível: R$ 1.234,56",
  "Tente novamente em 21/11/2026 às 10:30",
  "Código E4711, protocolo 20261121-0099",
  "Limite diário de 5 saques excedido",
  "O documento 111.444.777-35 é de outro cliente",
  "Contact joao.silva@example.com or +55 11 91234-5678",
  "Transaction 0f8fad5b-d9cb-469f-a165-70867728950e not settled",
  "Access denied for key sk-live-abcdef0123456789",
  "ERR_VALIDATION: field 'amount' must be >= 1000",
  "CPF já cadastrado para Maria da Silva",
  "https://gateway.example/docs/errors#E12",
  "\u001B[31mfatal\u001B[0m \u202Eatad",
  "x".repeat(500),
  "Erro ".repeat(100)
]

const texts = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(texts) : []
}

const whole = (request: Arrived) => ({
  headers: request.headers,
  path: request.path,
  body: request.body === "" ? null : JSON.parse(request.body)
})

/** The whole request, in the shapes that gateways answer in. */
const shapes: Readonly<Record<string, (request: Arrived, status: number) => Answer>> = {
  JSON: (request, status) => json(status, whole(request)),
  "message with JSON": (request, status) =>
    json(status, { message: `Pedido inválido: ${JSON.stringify(whole(request))}`, status }),
  "JSON in JSON": (request, status) =>
    json(status, { error: { message: JSON.stringify(JSON.stringify(whole(request))) } }),
  "JSON that breaks off": (request, status) => ({
    status,
    body: JSON.stringify({ message: `Pedido inválido: ${JSON.stringify(whole(request))}` }).slice(0, 300)
  }),
  details: (request, status) =>
    json(status, { errors: texts(whole(request)).map((message) => ({ field: "body", message })) }),
  problem: (request, status) => ({
    status,
    headers: { "content-type": "application/problem+json" },
    body: JSON.stringify({ title: "Bad Request", detail: request.body, instance: request.path })
  }),
  HTML: (request, status) => ({
    status,
    headers: { "content-type": "text/html" },
    body: `<html><head><title>${request.body}</title></head><body><pre>${JSON.stringify(request.headers)}</pre></body></html>`
  }),
  text: (request, status) => ({
    status,
    headers: { "content-type": "text/plain" },
    body: `${JSON.stringify(request.headers)}\r\n\r\n${request.body}`
  }),
  "percent-encoded": (request, status) => ({ status, body: encodeURIComponent(JSON.stringify(whole(request))) })
}

const values = { ...secrets, ...person }

const one = (
  call: OperationCall,
  kind: string,
  dims: Readonly<Record<string, string>>,
  answer: (request: Arrived) => Answer
) =>
  Effect.gen(function* () {
    const { arrived, layer } = memoryGateway(answer)
    const run = call.run("made").pipe(
      Effect.tapError((error) => Effect.logError("it failed", error)),
      Effect.provide(paymentsOver("https://gateway.example", layer)),
      Effect.provideService(PaymentsPolicy, once)
    )
    const shown = yield* shownBy(run)
    const error = failureOf(shown.exit)
    const clean = normaliser(new Set(arrived.map(keyOf).filter((key) => key !== "")))
    const wasSent = new Set(
      leaksIn(arrived.map(({ body, headers }) => `${body} ${Object.values(headers).join(" ")}`).join(" "))
    )
    const found = leaksIn(`${shown.all()}\n${printed(error)}`)
    const observation: Observation = {
      id: [call.operation, kind, ...Object.values(dims)].join(" | "),
      kind,
      dims: { ...dims, operation: call.operation },
      exact: {
        result: resultOf(shown.exit),
        "shows of what was sent": found.filter((name) => wasSent.has(name)).join(" "),
        "shows of what was not": found.filter((name) => !wasSent.has(name)).join(" ")
      },
      texts: {
        serviceMessage: clean(serviceMessageOf(error)),
        message: clean(templateOf(error)),
        fields: clean(fieldsOf(error)),
        spans: clean(shown.spans)
      }
    }
    return observation
  }).pipe(Effect.provide(TestClock.layer()))

export const echoes = Effect.fnUntraced(function* ({ full }: { readonly full: boolean }) {
  const observations: Array<Observation> = []
  for (const call of calls) {
    for (const [name, value] of Object.entries(values)) {
      for (const spelling of spellings) {
        const all = Object.entries(places)
        const some = full ? all : all.slice(0, 2)
        for (const [place, of] of some) {
          const dims = { value: name, spelling: spelling.name, place }
          observations.push(yield* one(call, `one value ${place}`, dims, () => of(spelling.of(value))))
        }
      }
    }
    for (const [shape, of] of Object.entries(shapes)) {
      for (const status of [400, 401, 404, 409, 422, 429, 500, 503, 200]) {
        observations.push(
          yield* one(call, "the whole request", { shape, status: `${status}` }, (request) => of(request, status))
        )
      }
    }
    for (const [turn, words] of ownWords.entries()) {
      for (const status of [400, 409, 422, 500]) {
        const dims = { words: `${turn}: ${words.slice(0, 30)}`, status: `${status}` }
        observations.push(
          yield* one(call, "the service's own words", dims, () => json(status, { message: words, code: "E12" }))
        )
      }
    }
  }
  return observations
})
