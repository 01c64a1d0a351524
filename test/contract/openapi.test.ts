import { Validator } from "@seriousme/openapi-schema-validator"
import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { vi } from "vitest"
import { plainRequests } from "../../src/contract/internal/plainRequests.ts"
import { PaymentsApi } from "../../src/contract/PaymentsApi.ts"

interface Endpoint {
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Record<string, unknown> }> }
  readonly responses: Record<string, unknown>
}

interface Document {
  readonly paths: Record<string, Record<string, Endpoint>>
}

const document: Document = JSON.parse(JSON.stringify(OpenApi.fromApi(PaymentsApi)))

describe("the OpenAPI document", () => {
  it("npm run openapi prints the document, which is valid OpenAPI 3.1", async () => {
    const print = vi.spyOn(console, "log").mockReturnValue()
    await import("../../.ci/openapi.ts")
    const printed = print.mock.calls.flat().join("\n")
    print.mockRestore()
    assert.deepStrictEqual(JSON.parse(printed), document)
    const validator = new Validator()
    const { errors, valid } = await validator.validate(structuredClone({ ...document }))
    assert.isTrue(valid, JSON.stringify(errors))
    assert.strictEqual(validator.version, "3.1")
  })

  it("the document has the five endpoints of the service, each with its success status", () => {
    const endpoints = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => [
        `${method} ${path}`,
        ...Object.keys(responses).filter((status) => status.startsWith("2"))
      ])
    )
    assert.sameDeepMembers(endpoints, [
      ["post /api/v1/transactions/create", "200"],
      ["get /api/Transaction/company/transactions", "200"],
      ["get /api/Transaction/transactionByTransactionId/{transactionId}", "200"],
      ["get /api/Balance/balance/{companyId}", "200"],
      ["post /api/Withdraw/request", "201"]
    ])
  })

  it("an optional field of a withdrawal may be left out, and is never null", () => {
    const schema = document.paths["/api/Withdraw/request"]?.["post"]?.requestBody?.content["application/json"]?.schema
    assert.deepInclude(schema?.["properties"], {
      pixKey: { type: "string" },
      pixKeyType: { type: "string", enum: ["CPF", "CNPJ", "EMAIL", "PHONE", "EVP"] },
      description: { type: "string", maxLength: 4096 },
      metadata: { anyOf: [{ type: "string" }, { type: "object" }] }
    })
    assert.deepStrictEqual(schema?.["required"], ["amount", "currency"])
  })

  const [text, none, flag] = [{ type: "string" }, { type: "null" }, { type: "boolean" }]
  it.each([
    ["null beside one type", { anyOf: [text, none], title: "a" }, { ...text, title: "a" }],
    ["null beside two types", { anyOf: [text, none, flag], title: "a" }, { anyOf: [text, flag], title: "a" }],
    ["null in a list of fields", { allOf: [{ a: { anyOf: [none, text] } }] }, { allOf: [{ a: text }] }],
    ["a field without null", { a: flag, required: ["a"] }, { a: flag, required: ["a"] }]
  ])("a request body is written without null: %s", (_, schema, plain) => {
    const of = (body: object) => ({ post: { requestBody: { schema: body }, responses: { schema }, summary: "a" } })
    assert.deepStrictEqual(plainRequests(of(schema)), of(plain))
  })
})
