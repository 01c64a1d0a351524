import { assert, describe, test } from "@effect/vitest"
import { seenIn, withoutSecrets } from "../../src/client/internal/wire/seen.ts"

const paths = { id: ["data", "id"], value: ["data", "amount"], status: ["data", "status"] }
const see = (data: unknown) => ({ ...seenIn(JSON.stringify({ data }), paths, JSON.parse) })

describe("what an error shows of an answer", () => {
  test("an error shows the id, the value and the status of an answer as they were written", () => {
    const uuid = "6f1b9a3e-2f7c-4f0e-9d53-123456789012"
    assert.deepStrictEqual(see({ id: uuid, amount: 12.5, status: "EM ANÁLISE" }), {
      id: uuid,
      value: "12.5",
      status: "EM ANÁLISE"
    })
    assert.deepStrictEqual(see({ id: 55, amount: "-3" }), { id: "55", value: "-3" })
  })

  test("an error shows no text of an answer that could be a document, a phone, an e-mail or a name, and no long text", () => {
    for (const odd of [
      "52998224725",
      52_998_224_725,
      "maria@example.com",
      "+55 11 98765-4321",
      "x".repeat(65),
      {},
      null
    ]) {
      assert.deepStrictEqual(see({ id: odd, amount: odd, status: odd }), {})
    }
    assert.deepStrictEqual({ ...seenIn("no JSON", paths, JSON.parse) }, {})
    assert.deepStrictEqual(see(undefined), {})
  })

  test("an error shows no value of the request and no long part of one, in any case and with any accents", () => {
    const secrets = ["sk_live_SECRETVALUE", "José Ávila", "ord-12", "awaiting rain"]
    assert.deepStrictEqual(withoutSecrets({ id: "x-ORD12-y", value: "10", status: "Jose avila" }, secrets), {
      value: "10"
    })
    assert.isUndefined(withoutSecrets({ id: "SECRETVA", status: "x-secretva-y" }, secrets))
    assert.isUndefined(withoutSecrets({ status: "Awaiting" }, secrets))
    assert.deepStrictEqual(withoutSecrets({ id: "55", status: "Paid" }, secrets), { id: "55", status: "Paid" })
  })
})
