import { Validator } from "@seriousme/openapi-schema-validator"
import { assert, describe, test } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { OpenApi } from "effect/http-api"
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
  test("npm run openapi prints the document, which is valid OpenAPI 3.1", async () => {
    const printed: unknown = JSON.parse(execFileSync(process.execPath, [".ci/openapi.ts"], { encoding: "utf8" }))
    assert.deepStrictEqual(printed, document)
    const validator = new Validator()
    const { errors, valid } = await validator.validate(structuredClone({ ...document }))
    assert.isTrue(valid, JSON.stringify(errors))
    assert.strictEqual(validator.version, "3.1")
  })

  test("the document has the five endpoints of the service, each with its success status", () => {
    const endpoints = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { responses }]) =>
          `${method} ${path} ${Object.keys(responses)
            .filter((status) => status.startsWith("2"))
            .join()}`
      )
    )
    assert.sameMembers(endpoints, [
      "post /api/v1/transactions/create 200",
      "get /api/Transaction/company/transactions 200",
      "get /api/Transaction/transactionByTransactionId/{transactionId} 200",
      "get /api/Balance/balance/{companyId} 200",
      "post /api/Withdraw/request 201"
    ])
  })

  test("an optional field of a request may be left out, and is never null", () => {
    const [charge, withdrawal] = ["/api/v1/transactions/create", "/api/Withdraw/request"].map(
      (path) => document.paths[path]?.["post"]?.requestBody?.content["application/json"]?.schema
    )
    assert.include(JSON.stringify(charge), '"properties"')
    assert.notInclude(JSON.stringify([charge, withdrawal]), '"null"')
    assert.deepInclude(withdrawal?.["properties"], {
      pixKey: { type: "string" },
      pixKeyType: { type: "string", enum: ["CPF", "CNPJ", "EMAIL", "PHONE", "EVP"] },
      description: { type: "string", maxLength: 4096 },
      metadata: { anyOf: [{ type: "string" }, { type: "object" }] }
    })
    assert.deepStrictEqual(withdrawal?.["required"], ["amount", "currency"])
  })
})
