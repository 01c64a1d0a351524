import { assert, describe, test } from "@effect/vitest"
import { Result, Schema } from "effect"
import { makeRoute } from "../../src/client/internal/call/prepare.ts"
import type { Endpoint } from "../../src/contract/Endpoints.ts"

/** An endpoint that the service does not have: its entry is all that a path and a query are written by. */
const refund: Endpoint = {
  operation: "requestWithdrawal",
  group: "money",
  method: "POST",
  keyPrefix: "wd",
  path: "/api/v1/transactions/:transactionId/refund/:part",
  status: 200,
  params: Schema.Struct({ transactionId: Schema.NonEmptyString, part: Schema.Natural }),
  query: Schema.Struct({ reason: Schema.optional(Schema.String), dry: Schema.optional(Schema.Boolean) }),
  response: Schema.Unknown
}

describe("the place of a request", () => {
  const place = makeRoute(refund).pathOf

  test("the place of a request is the endpoint's path with its parameters, each as one segment, and the query that is there", () => {
    const written = place({ transactionId: "a/b?c", part: 2, reason: "ã & b=c", dry: undefined })
    assert.strictEqual(
      Result.getOrUndefined(written),
      "/api/v1/transactions/a%2Fb%3Fc/refund/2?reason=%C3%A3%20%26%20b%3Dc"
    )
    const bare = place({ transactionId: "x", part: 0 })
    assert.strictEqual(Result.getOrUndefined(bare), "/api/v1/transactions/x/refund/0")
  })

  test("a request that does not fit is refused by the endpoint's schemas, with all that is wrong", () => {
    const refused = Result.getOrThrow(Result.flip(place({ transactionId: "", part: -1, reason: 5, other: 1 })))
    assert.sameMembers(
      refused.map(({ path }) => path),
      ["transactionId", "part", "reason", "other"]
    )
  })
})
