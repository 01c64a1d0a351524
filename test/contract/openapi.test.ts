import { Validator } from "@seriousme/openapi-schema-validator"
import { assert, describe, test } from "@effect/vitest"
import { execFile } from "node:child_process"
import { resolve } from "node:path"
import { promisify } from "node:util"

const root = resolve(import.meta.dirname, "../..")

/** Runs `npm run openapi`, and returns its standard output. */
const print = async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [".ci/openapi.ts"], { cwd: root })
  return stdout
}

interface Endpoint {
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Record<string, unknown> }> }
  readonly responses: Record<string, unknown>
}

interface Document {
  readonly openapi: string
  readonly paths: Record<string, Record<string, Endpoint>>
}

const parse = async (): Promise<Document> => JSON.parse(await print())

describe("npm run openapi", () => {
  test("npm run openapi prints a valid OpenAPI 3.1 document", async () => {
    const validator = new Validator()
    const { errors, valid } = await validator.validate(await print())
    assert.isTrue(valid, JSON.stringify(errors))
    assert.strictEqual(validator.version, "3.1")
  })

  test("npm run openapi prints the same document each time", async () => {
    const [first, second] = await Promise.all([print(), print()])
    assert.strictEqual(first, second)
  })

  test("npm run openapi prints the five endpoints of the service, each with its success status", async () => {
    const { paths } = await parse()
    const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => [
        `${method.toUpperCase()} ${path}`,
        Object.keys(responses).filter((status) => status.startsWith("2"))
      ])
    )
    assert.deepStrictEqual(Object.fromEntries(endpoints), {
      "POST /api/v1/transactions/create": ["200"],
      "GET /api/Transaction/company/transactions": ["200"],
      "GET /api/Transaction/transactionByTransactionId/{transactionId}": ["200"],
      "GET /api/Balance/balance/{companyId}": ["200"],
      "POST /api/Withdraw/request": ["201"]
    })
  })

  test("an optional field of a request may be left out in the document, and is never null", async () => {
    const { paths } = await parse()
    const bodies = ["/api/v1/transactions/create", "/api/Withdraw/request"].map((path) => paths[path]?.["post"])
    for (const endpoint of bodies) {
      const text = JSON.stringify(endpoint?.requestBody)
      assert.include(text, '"properties"')
      assert.notInclude(text, '"null"')
    }
    const schema = bodies[1]?.requestBody?.content["application/json"]?.schema
    assert.deepInclude(schema?.["properties"], {
      pixKey: { type: "string" },
      pixKeyType: { type: "string", enum: ["CPF", "CNPJ", "EMAIL", "PHONE", "EVP"] },
      description: { type: "string", maxLength: 4096 },
      metadata: { anyOf: [{ type: "string" }, { type: "object" }] }
    })
    assert.deepStrictEqual(schema?.["required"], ["amount", "currency"])
  })
})
