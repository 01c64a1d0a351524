/**
 * The served document of the contract, taken at its word: requests are made from it, some of them spoiled. Every success
 * has to be one that it documents, in the shape that it documents. The service documents no refusal: one of the sandbox has
 * a status of its own kind, and a message.
 */
import { assert, describe } from "@effect/vitest"
import Ajv from "ajv/dist/2020.js"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Effect, Layer } from "effect"
import { runs, seed, seeded } from "../support/seed.ts"
import { live } from "../support/effect.ts"

const served = Layer.provide(
  Sandbox.layerServer,
  Layer.succeed(SandboxOptions, { balance: 100_000_000, seed: "document" })
)

interface Schema {
  readonly $ref?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Schema>
  readonly oneOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly type?: string
  readonly pattern?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: Schema
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
}
interface Operation {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string; readonly schema: Schema }>
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Schema } } }
  readonly responses: Readonly<Record<string, unknown>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const words = [
  "Maria Silva",
  "maria@example.com",
  "12345678909",
  "BRL",
  "PIX",
  "",
  "ção ☃",
  "\u0000",
  "a".repeat(300),
  "7",
  "x/../y"
]
const wild: ReadonlyArray<unknown> = [
  null,
  true,
  -1,
  0,
  1.5,
  2 ** 53,
  1e308,
  "",
  "\ud800",
  [],
  {},
  [[[[]]]],
  { a: { b: [] } },
  "__proto__"
]

const generator = (document: Document, random: () => number) => {
  const pick = <A>(from: ReadonlyArray<A>): A => from[Math.floor(random() * from.length)] as A // never empty
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {})
  const valid = (raw: Schema): unknown => {
    const schema = resolve(raw)
    if (schema.enum !== undefined) return pick(schema.enum)
    const choices = schema.anyOf ?? schema.oneOf
    if (choices !== undefined) return valid(pick(choices))
    if (schema.type === "object") {
      const entries = Object.entries(schema.properties ?? {}).filter(
        ([name]) => schema.required?.includes(name) === true || random() < 0.4
      )
      return Object.fromEntries(entries.map(([name, value]) => [name, valid(value)]))
    }
    if (schema.type === "array")
      return Array.from({ length: 1 + Math.floor(random() * 3) }, () => valid(schema.items ?? {}))
    if (schema.type === "integer" || schema.type === "number") {
      const number = pick([1, 999, 1000, 2500, 36_500, 1e9, 2 ** 53 - 1])
      return Math.min(Math.max(number, schema.minimum ?? number), schema.maximum ?? number)
    }
    if (schema.type === "boolean") return random() < 0.5
    if (schema.type === "null") return null
    // A text that fits its pattern, where one of ours does.
    const pattern = [schema, ...(schema.allOf ?? [])].map((part) => part.pattern).find((text) => text !== undefined)
    const fitting = pattern === undefined ? [] : words.filter((word) => new RegExp(pattern, "u").test(word))
    return pick(fitting.length > 0 && random() < 0.9 ? fitting : words)
  }
  const spoiled = (value: unknown): unknown => {
    if (random() < 0.1) return pick(wild)
    if (typeof value !== "object" || value === null) return random() < 0.5 ? pick(wild) : value
    const names = Object.keys(value)
    const name = pick([...names, "unknown"])
    return random() < 0.3
      ? Object.fromEntries(Object.entries(value).filter(([other]) => other !== name))
      : { ...value, [name]: pick(wild) }
  }
  return { pick, valid, spoiled }
}

const requests = runs(400, 2000)

describe("the served document of the contract", () => {
  live(
    `the served document describes each success of ${requests} requests made from it, and none is answered 5xx (seed ${seed})`,
    served,
    function* () {
      const { baseUrl } = yield* Sandbox
      const fetchOf = (path: string, init?: RequestInit) => Effect.promise(() => fetch(`${baseUrl}${path}`, init))
      const document: Document = yield* Effect.flatMap(fetchOf("/openapi.json"), (answer) =>
        Effect.promise(() => answer.json())
      )
      const ajv = new Ajv.default({ strict: false, validateFormats: false })
      ajv.addSchema({ ...document, $id: "document" })
      const random = seeded(seed).next
      const { pick, spoiled, valid } = generator(document, random)
      const operations = Object.entries(document.paths).flatMap(([path, item]) =>
        Object.entries(item).map(([method, operation]) => ({ path, method, operation }))
      )
      const seen = new Map<string, number>()
      let known = "nobody"

      for (let count = 0; count < requests; count++) {
        const { method, operation, path } = pick(operations)
        const text = (schema: Schema) =>
          String(random() < 0.7 ? valid(schema) : pick(wild)).replaceAll(/[\ud800-\udfff]/g, "?")
        const parameters = (place: string) => (operation.parameters ?? []).filter((parameter) => parameter.in === place)
        let target = path
        for (const { name, schema } of parameters("path")) {
          const value = name === "companyId" && random() < 0.6 ? "1" : random() < 0.5 ? known : text(schema)
          target = target.replace(`{${name}}`, encodeURIComponent(value === "" ? "0" : value))
        }
        const query = parameters("query").filter(() => random() < 0.5)
        const search = new URLSearchParams(query.map(({ name, schema }) => [name, text(schema)])).toString()
        const body = operation.requestBody?.content["application/json"].schema
        const value = body === undefined ? undefined : valid(body)
        const sent = value === undefined ? undefined : JSON.stringify(random() < 0.5 ? value : spoiled(value))
        const headers: Record<string, string> = {
          "x-client-id": "sandbox-client",
          "x-api-key": random() < 0.95 ? "sandbox-key" : "wrong",
          accept: random() < 0.97 ? "application/json" : "text/html",
          ...(body !== undefined && { "content-type": random() < 0.97 ? "application/json" : "text/plain" }),
          ...(random() < 0.3 && { "idempotency-key": pick(["k1", "k2", `k${count}`, "a b"]) })
        }
        const answer = yield* fetchOf(`${target}${search === "" ? "" : `?${search}`}`, {
          method: method.toUpperCase(),
          headers,
          ...(sent !== undefined && { body: sent })
        })
        const told = yield* Effect.promise(() => answer.text())
        const where = `${operation.operationId} ${target} ${sent ?? ""} -> ${answer.status} ${told.slice(0, 300)}`
        assert.isBelow(answer.status, 500, where)
        const name = `${operation.operationId.split(".").at(-1)} ${answer.status}`
        seen.set(name, (seen.get(name) ?? 0) + 1)
        if (answer.status >= 400) {
          const refusal: unknown = JSON.parse(told)
          assert.hasAllKeys(refusal, ["message", "status"], where)
          assert.propertyVal(refusal, "status", answer.status, where)
          continue
        }
        assert.property(operation.responses, String(answer.status), where)
        const pointer = path.replaceAll("~", "~0").replaceAll("/", "~1")
        const check = ajv.getSchema(
          `document#/paths/${pointer}/${method}/responses/${answer.status}/content/application~1json/schema`
        )
        assert.isDefined(check, where)
        assert.isTrue(check?.(JSON.parse(told)), `${where} ${ajv.errorsText(check?.errors)}`)
        if (name === "createTransaction 200") known = JSON.parse(told).data.id
      }
      // The run is worth something: every operation succeeded, and was refused in more than one way.
      for (const { operation } of operations) {
        const name = operation.operationId.split(".").at(-1) ?? ""
        const statuses = [...seen.keys()].filter((key) => key.startsWith(`${name} `))
        assert.isAbove(statuses.length, 2, [...seen].join(" | "))
        assert.isTrue(
          statuses.some((key) => / 20[01]$/.test(key)),
          [...seen].join(" | ")
        )
      }
    }
  )
})
