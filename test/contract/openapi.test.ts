import { Validator } from "@seriousme/openapi-schema-validator"
import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { vi } from "vitest"
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
})
